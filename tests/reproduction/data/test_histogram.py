import numpy as np
import pytest

from isdp import InputError
from reproduction.data.histogram import (
    CELLS,
    QUARTERS_KINDS,
    read_demonstration_histogram,
    read_group_quarters,
    read_histogram,
)
from reproduction.data.published import read_published
from tests import ROOT
from tests.reproduction.data.nhgis import write_demonstration

FILE = ROOT / "data/census2010_race_hispanic_adult_county.csv"
QUARTERS = ROOT / "data/census2010_group_quarters_county.csv"
PUBLISHED = read_published(ROOT / "data/census2010_county_population.csv")
SOME = PUBLISHED.iloc[[0, 700, 3200]].reset_index(drop=True)


@pytest.fixture(scope="module")
def whole():
    return read_histogram(FILE, PUBLISHED)


def test_the_histogram_is_that_of_the_2010_census(whole):
    """Known from the published tables: persons with and without Puerto Rico, and its sparsity."""
    assert whole.counts.shape == (3221, 252)
    assert whole.counts.sum() == 312_471_327
    at_home = (whole.counties["state"] != "PR").to_numpy()
    assert whole.counts[at_home].sum() == 308_745_538
    assert (whole.counts > 0).sum() == 220_892
    assert (whole.counts.sum(axis=0) > 0).all()


def test_the_hispanic_and_the_adults_of_the_united_states_are_the_published_ones(whole):
    """P9: 50,477,594 Hispanic; P10: 234,564,071 adults, in the fifty states and DC."""
    at_home = (whole.counties["state"] != "PR").to_numpy()
    table = whole.counts[at_home].sum(axis=0).reshape(63, 2, 2)
    assert table[:, 1].sum() == 50_477_594
    assert table[:, :, 1].sum() == 234_564_071
    assert table[0].sum() == 223_553_265  # white alone
    assert table[:6].sum() == 299_736_465  # one race


def test_group_quarters_fit_the_counties():
    counties, people = read_group_quarters(QUARTERS, PUBLISHED)
    assert people.shape == (3221, len(QUARTERS_KINDS))
    at_home = (counties["state"] != "PR").to_numpy()
    assert people[at_home].sum() == 7_987_323
    assert counties["housing_units"][at_home].sum() == 131_704_730
    assert counties["occupied"][at_home].sum() == 116_716_292


def lines_of(path, fips):
    lines = path.read_text().splitlines()
    return [lines[0], *(line for line in lines if line[:5] in set(fips))]


def rewrite(tmp_path, change, path=FILE):
    target = tmp_path / path.name
    target.write_text("\n".join(change(lines_of(path, SOME["fips"]))) + "\n")
    return target


def spoil(row, column, value):
    def change(lines):
        cells = lines[row].split(",")
        cells[column] = value
        return [*lines[:row], ",".join(cells), *lines[row + 1 :]]

    return change


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (spoil(1, 1, "-3"), "negative"),
        (spoil(1, 1, "2.5"), "decimal point"),
        (spoil(2, 9, "x"), "line 3, column I:n:c"),
        (spoil(1, 1, "7"), "published population"),
        (spoil(1, 0, "1001"), "five digits"),
        (spoil(1, 0, "99999"), "1 counties are missing, 1 are unknown"),
        (spoil(0, 3, "W:n:x"), "line 1"),
        (lambda lines: lines[:-1], "1 counties are missing"),
        (lambda lines: [*lines, lines[-1]], "1 are repeated"),
        (lambda lines: [*lines[:-1], lines[-1][:40]], "complete the file"),
    ],
)
def test_a_spoiled_histogram_is_refused(tmp_path, change, match):
    with pytest.raises(InputError, match=match):
        read_histogram(rewrite(tmp_path, change), SOME)


def test_an_extract_is_read_as_it_stands(tmp_path, whole):
    found = read_histogram(rewrite(tmp_path, lambda lines: lines), SOME)
    at = [whole.counties["fips"].tolist().index(code) for code in SOME["fips"]]
    assert (found.counts == whole.counts[at]).all()


def test_impossible_group_quarters_are_refused(tmp_path):
    with pytest.raises(InputError, match="group quarters"):
        read_group_quarters(rewrite(tmp_path, spoil(1, 3, "99999999"), QUARTERS), SOME)
    with pytest.raises(InputError, match="missing"):
        read_group_quarters(rewrite(tmp_path, spoil(1, 3, ""), QUARTERS), SOME)


def test_the_four_cells_of_a_race_come_back_from_the_four_tables(tmp_path):
    rng = np.random.default_rng(2)
    private, public = rng.integers(0, 99, (2, 3, len(CELLS)))
    path = write_demonstration(tmp_path, SOME, private, public)
    assert "H72071_dp" in path.read_text()
    assert "H75073_sf" in path.read_text()
    dp, sf, vintage = read_demonstration_histogram(path, SOME)
    assert (dp.counts == private).all()
    assert (sf.counts == public).all()
    assert vintage == "20210608"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda frame: frame.drop(columns="H73020_dp"), "H73020_dp"),
        (lambda frame: frame.assign(H72003_dp=0), "P8 to P11"),
        (lambda frame: frame.iloc[:2], "1 counties are missing"),
        (lambda frame: frame.assign(H75005_sf=-1), "negative"),
    ],
)
def test_a_demonstration_file_that_is_off_is_refused(tmp_path, change, match):
    counts = np.random.default_rng(3).integers(1, 99, (3, len(CELLS)))
    path = write_demonstration(tmp_path, SOME, counts, counts, change)
    with pytest.raises(InputError, match=match):
        read_demonstration_histogram(path, SOME)
