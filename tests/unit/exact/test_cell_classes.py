"""Cell classes, parts, tied cells and bounds: set up rightly, or refused with the reason."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from isdp import GeneralizedGaussian, GeneralizedLaplace, InputError, Invariants
from isdp.constraints.independent_parts import independent_parts
from isdp.errors import MisfitError, NoSamplerError
from isdp.exact import select_sampler
from isdp.exact.disjoint.bounded_laplace import BoundedCompositionSampler
from isdp.exact.overlapping.cell_classes import CellClassSampler
from isdp.exact.overlapping.class_sums import CellClassSums
from isdp.exact.tied_cells import merge_tied_cells
from tests.exact_noise import exact_noise


def pseudo(seed=5):
    return np.random.default_rng(seed).bytes


def states_by_class(cells, states, classes):
    """Totals of states and of classes of the nation, over cells at random."""
    rng = np.random.default_rng(7)
    rows = np.concatenate(
        [rng.integers(0, states, cells), states + rng.integers(0, classes, cells)]
    )
    columns = np.tile(np.arange(cells), 2)
    shape = (states + classes, cells)
    return Invariants(csr_array((np.ones(2 * cells, dtype=np.int64), (rows, columns)), shape=shape))


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_states_by_national_classes_are_drawn_at_any_size(classes):
    invariants = states_by_class(20_000, 12, classes)
    chosen = select_sampler(GeneralizedLaplace(0.25), invariants)
    assert chosen.method == "sums of types"
    assert chosen.error < 1e-9
    noise = chosen.sample(np.random.default_rng(1), 2)
    assert not invariants.apply(noise).any()
    assert len(np.unique(noise)) > 20
    again = select_sampler(GeneralizedLaplace(0.25), invariants).sample(np.random.default_rng(1), 2)
    assert (noise == again).all()
    released = exact_noise(GeneralizedLaplace("1/4"), invariants, source=pseudo())
    assert not invariants.apply(released).any()
    assert len(np.unique(released)) > 20


def test_too_many_classes_are_refused():
    with pytest.raises(NoSamplerError):
        select_sampler(GeneralizedLaplace(0.25), states_by_class(30_000, 51, 20))


def test_sums_beyond_64_bits_are_refused():
    with pytest.raises(InputError):
        CellClassSums(
            Invariants([[2**30, 1, 0], [0, 1, 2**30]]), np.ones(3, int), Fraction(1, 10**9)
        )
    with pytest.raises(InputError, match="epsilon"):
        CellClassSampler(Invariants.margins((3, 3)), GeneralizedLaplace(1001.0))


def test_parts_split_cells_and_rows():
    matrix = np.array([[0, 1, 0, 1, 0, 0], [0] * 6, [3, 0, 0, 0, 0, -1], [0, 1, 0, 2, 0, 0]])
    parts = independent_parts(Invariants(matrix, ["a", "empty", "b", "c"]))
    assert [part.cells.tolist() for part in parts] == [[0, 5], [1, 3], [2, 4]]
    assert [part.invariants.names for part in parts] == [("b",), ("a", "c"), ()]
    assert [part.invariants.matrix.tolist() for part in parts] == [
        [[3, -1]],
        [[1, 1], [1, 2]],
        [],
    ]


@pytest.mark.parametrize(
    ("matrix", "times", "left"),
    [
        (Invariants.margins((3, 2)).matrix, 2, [[1, 1, 1]]),
        (Invariants.margins((2, 2, 2), ((0, 1), (0, 2), (1, 2))).matrix, 8, []),
        ([[1, 0, -1, 0], [0, 2, 0, 2], [1, 1, 1, 2]], 2, [[2, -1]]),
        (Invariants.margins((3, 3)).matrix, None, None),  # no total of two cells
        ([[1, 1, 0], [1, 1, 1]], None, None),  # a set of two and a cell alone
        ([[1, 1], [1, -1]], None, None),  # its own opposite: both are zero
        ([[1, 2, 0, 0], [0, 0, 1, 1]], None, None),  # two cells, not of one size
    ],
)
def test_cells_that_are_tied_are_merged(matrix, times, left):
    invariants = Invariants(matrix)
    merged = merge_tied_cells(invariants)
    assert (merged and merged.times) == times
    if merged:
        assert merged.invariants.matrix.tolist() == left
        kept = np.random.default_rng(1).integers(-9, 9, (50, merged.invariants.cells))
        kept = kept[~merged.invariants.apply(kept).any(axis=1)]
        assert len(kept)
        assert not invariants.apply(merged.expand(kept)).any()


def test_separate_tables_are_drawn_apart():
    tables = [Invariants.margins((14, 24)).sparse] * 20
    invariants = Invariants(csr_array(block_diag(tables, format="csr")).astype(np.int64))
    chosen = select_sampler(GeneralizedGaussian(3.0), invariants)
    assert (chosen.method, invariants.cells) == ("independent parts", 6720)
    assert "20 by crossed totals" in chosen.reason
    noise = chosen.sample(np.random.default_rng(1), 2)
    assert not invariants.apply(noise).any()
    assert not (noise[:, :336] == noise[:, 336:672]).all(axis=1).any()


def test_bounded_noise_at_any_size():
    rng = np.random.default_rng(9)
    counts = rng.poisson(np.repeat([0.2, 4.0, 900.0], 10_000))
    invariants = Invariants.partition(rng.integers(0, 4, len(counts)).tolist())
    chosen = select_sampler(GeneralizedLaplace(0.1), invariants, -counts)
    assert chosen.method == "bounded compositions"
    assert chosen.error < 1e-9
    noise = chosen.sample(rng, 2)
    assert (noise >= -counts).all()
    assert not invariants.apply(noise).any()
    assert (noise < 0).any()


def test_bounds_that_no_noise_meets_are_refused():
    lower = np.array([0, -1, 3, -1])
    with pytest.raises(InputError, match="block 1"):
        BoundedCompositionSampler(
            Invariants.partition([0, 0, 1, 1]), GeneralizedLaplace(1.0), lower
        )
    for invariants, law, lower in (
        (Invariants.margins((2, 2)), GeneralizedLaplace(1.0), np.zeros(4, int)),
        (Invariants.total(2), GeneralizedGaussian(1.0), np.zeros(2, int)),
    ):
        with pytest.raises(MisfitError):
            BoundedCompositionSampler(invariants, law, lower)
