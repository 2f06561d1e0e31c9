import re

import pytest

from isdp.errors import InputError
from reproduction.jobs.descriptions import read_descriptions
from reproduction.jobs.yaml_files import read_yaml
from tests import ROOT

SWAPS = """\
category: Swapping
settings: Seed {{ snakemake.config["seed"] }}.
columns:
  rate: Swap rate (probability).
tables:
  fit:
    title: Fit of the swap rate
    caption: Chi-square by rate.
    columns:
      chi_square: Chi-square statistic.
  draw_{law}:
    title: One draw
    in_report: false
    columns:
      "*": Noise (persons).
figures:
  fit:
    title: The likely rate
    gallery: Chi-square by rate.
"""


@pytest.fixture
def write(tmp_path):
    def write(text, study="swapping"):
        path = tmp_path / study / "descriptions.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


def test_columns_are_described_by_the_table_then_by_the_study(write):
    found = read_descriptions([write(SWAPS)])
    assert found.columns_of("tables", "fit", ["chi_square", "rate"]) == {
        "chi_square": "Chi-square statistic.",
        "rate": "Swap rate (probability).",
    }
    assert found.columns_of("tables", "draw_l1", ["Low"]) == {"Low": "Noise (persons)."}
    with pytest.raises(InputError, match="fit: column p "):
        found.columns_of("tables", "fit", ["p"])


def test_names_with_wildcards_describe_all_that_fit(write):
    found = read_descriptions([write(SWAPS)])
    for name in ("draw_l1", "draw_{law}", "draw_gaussian"):
        assert found.find("tables", name)[0] == "draw_{law}"
    with pytest.raises(InputError, match="figures: draw_l1"):
        found.find("figures", "draw_l1")


def test_a_caption_has_the_title_and_the_settings_of_the_run(write):
    caption = read_descriptions([write(SWAPS)]).caption_of("tables", "fit")
    assert caption.startswith("**Fit of the swap rate.**")
    assert caption.rstrip().endswith('Seed {{ snakemake.config["seed"] }}.')


def test_the_dictionary_has_every_column_of_a_file_once(write, tmp_path):
    files = [tmp_path / "tables" / f"{name}.csv" for name in ("fit", "draw_l1", "draw_l2")]
    files[0].parent.mkdir()
    files[0].write_text("rate,chi_square\n")
    for file in files[1:]:
        file.write_text("rate\n")
    table = read_descriptions([write(SWAPS)]).dictionary(files)
    found = list(zip(table["file"], table["column"], strict=True))
    assert ("tables/fit.csv", "rate") in found
    assert ("tables/fit.csv", "chi_square") in found
    assert len(found) == 3  # both draws are of one pattern
    assert set(table["study"]) == {"swapping"}


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (SWAPS.replace("    title: Fit of the swap rate\n", ""), "tables.fit.title"),
        (SWAPS.replace("gallery", "galery"), "figures.fit.galery"),
        (SWAPS.replace("Chi-square statistic.", "3"), "tables.fit.columns.chi_square"),
        ("category: 3", "category"),
    ],
)
def test_what_does_not_fit_is_refused_by_file_and_key(write, wrong, named):
    path = write(wrong)
    with pytest.raises(InputError, match=named) as refused:
        read_descriptions([path])
    assert str(path) in str(refused.value)


EXPERIMENTS = """\
category: Lattices
tables:
  "{experiment}_draw_{law}":
    title: "One draw: {experiment}, {law}"
    caption: Noise of *{experiment}*. Seed {{ snakemake.config["seed"] }}.
  "{experiment}_noise":
    title: Noise
  "exact_{experiment}":
    title: Distributions
  exact_counties:
    title: Counties
"""


def test_wildcards_of_a_name_are_filled_in_its_title_and_caption(write):
    found = read_descriptions([write(EXPERIMENTS, "lattices")])
    assert found.title_of("tables", "small_draw_l1") == "One draw: small, l1"
    caption = found.caption_of("tables", "small_draw_l1")
    assert caption.startswith("**One draw: small, l1.**\n\nNoise of *small*. Seed {{ snakemake")


def test_the_first_pattern_that_fits_describes_a_name_and_an_exact_name_comes_first(write):
    found = read_descriptions([write(EXPERIMENTS, "lattices")])
    assert found.find("tables", "exact_small_noise")[0] == "{experiment}_noise"
    assert found.find("tables", "exact_small")[0] == "exact_{experiment}"
    assert found.find("tables", "exact_counties")[0] == "exact_counties"


# what is in the name of a column, and the word for it in the column's description
STATISTICS = {
    r"q(?!50)(?=\d\d$)0?(\d+)$": r"(?<![0-9])\g<1> %",
    r"(^|_)(low|from)$": "lower|lowest|smallest|0.5 %",
    r"(^|_)(high|to)$": "upper|highest|largest|99.5 %",
    r"(^|_)max(_|$)": "largest|maximum|highest",
    r"(^|_)min(_|$)": "smallest|minimum|lowest",
    r"(^|_)(l1|l2)(_(?!eff)|$)": r"\g<2>|absolute",
    r"(^|_)(bulk|tail)$": r"\g<2>",
    r"_se$": "standard error",
    r"median": "median",
    r"(^|_)seconds(_|$)": "seconds",
    r"(^|_)(memory|mb)(_|$)": "mi?b",
    r"^(rmse|rms)(_|$)": "root mean square|standard error",
}


def described(node):
    """All columns below a key of a file of descriptions, with their descriptions."""
    for key, each in node.items():
        if isinstance(each, dict):
            yield from each.items() if key == "columns" else described(each)


def test_the_description_of_a_column_has_the_statistic_in_its_name():
    found, wrong = 0, []
    for path in sorted((ROOT / "src/reproduction").glob("*/descriptions.yaml")):
        for name, text in described(read_yaml(path)):
            for pattern, words in STATISTICS.items():
                if match := re.search(pattern, name):
                    found += 1
                    if not re.search(match.expand(words), text.lower()):
                        wrong.append((path.parent.name, name, text))
    assert not wrong
    assert found > 80


# the levels of intervals by the word that follows; all others are at 99 %
LEVELS = {("lattices", "likelihood"): "95", ("subspace", "interval"): "90"}


def test_every_interval_has_the_level_of_its_study():
    found = 0
    for path in sorted((ROOT / "src/reproduction").glob("*/descriptions.yaml")):
        pattern = (
            r"([\d.]+) % (confidence|likelihood|Monte Carlo|interval|limit|band|of the statistics)"
        )
        for level, kind in re.findall(pattern, " ".join(path.read_text().split())):
            assert level == LEVELS.get((path.parent.name, kind), "99"), (path.parent.name, kind)
            found += 1
    assert found > 15
