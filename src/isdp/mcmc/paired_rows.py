"""A Markov chain for tables under all their margins that redraws two rows at once, exactly.

Given its column sums and row totals, two rows of a table have one free number a column, and their
law is a product over the columns under one sum: messages along the columns draw from it. Of a table
of three categories with all two-way margins, two fibres by two fibres are redrawn in the same way.
Each redraw is a Gibbs step: it leaves the law of the noise as it is.

Cells that stand in the same totals count as one, by the law of the sum of their noise; `spread_out`
shares the sums out. Where such sums are wide and smooth, what their columns leave when divided by a
step h is uniform, and is drawn first; then there are messages for every h-th value alone, see
`isdp.mcmc.lattices`. Messages are in floating point by fast Fourier transforms. A step is within
1e-13 of its law in total variation by the lattice, and within about as much by rounding: for
experiments, not for a release.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from isdp.checks import whole
from isdp.constraints.invariants import Invariants
from isdp.errors import InputError
from isdp.exact.compositions import share, words_from
from isdp.io.progress import tracked
from isdp.mcmc.lattices import lattice_step
from isdp.mcmc.pair_kernels import Side, column_laws, draw_columns, products, rolled
from isdp.mcmc.sum_laws import sum_log_law
from isdp.mcmc.table_shapes import shape_of
from isdp.mechanisms.base import Mechanism, energy_served

FAR = 9.0  # standard deviations of a sum to either side, beside the columns' own windows
MOST_VALUES = 4_000_000  # of the messages of a step
SHARED = 5  # columns that a group has in common with the next
WIDER = 4  # times a group's first lattice step, at which the next group begins
REACH = 120  # scales, of the tables of laws, beside 14 standard deviations
MOST_TABLED = 20_000_000


class Columns(NamedTuple):
    """What a step knows of the laws of its columns, see `isdp.mcmc.pair_kernels.column_laws`."""

    pmf: np.ndarray
    least: np.ndarray
    length: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    step: int

    @property
    def centre(self) -> np.ndarray:
        """Steps from the least value to about the mean, int64 (columns,)."""
        return np.rint(self.mean).astype(np.int64)

    @property
    def values(self) -> np.ndarray:
        """Mean values, float64 (columns,)."""
        return self.least + self.step * self.mean

    @property
    def zero(self) -> np.ndarray:
        """Values at the centres, from which steps are counted; int64 (columns,)."""
        return self.least + self.step * self.centre


class PairedRows:
    """The chain that redraws two rows at once.

    Parameters
    ----------
    invariants : Invariants
        Both margins of a complete table, or all two-way ones of three categories; cells may share
        their places.
    law : Mechanism
        Of weight exp(-rate ||u||_1), such as `GeneralizedLaplace`.

    Attributes
    ----------
    shape : tuple of int
        Of the table, its shorter side first.
    sizes : int64 array, shape (places,)
        Cells in each place.
    distance : float64 array, shape (places,)
        Squared distance between the law of a place and itself moved by one, in deviations of
        normal laws that overlap as much.

    Raises
    ------
    InputError
        For other totals or another law, or where a step would take too much memory.

    Examples
    --------
    >>> from isdp import GeneralizedLaplace
    >>> chain = PairedRows(Invariants.margins((6, 8)), GeneralizedLaplace(0.25))
    >>> rng = np.random.default_rng(1)
    >>> noise = chain.draw(rng, sweeps=5)
    >>> int(abs(noise.reshape(6, 8).sum(axis=0)).max())
    0
    """

    method = "Markov chain of paired rows"

    def __init__(self, invariants: Invariants, law: Mechanism):
        self.rate = energy_served("paired rows", law, [(1, False)]).rate
        self.invariants = invariants
        found = shape_of(invariants)
        self.shape, self.sizes = found.shape, found.sizes
        self._order = np.argsort(found.kind, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._places = np.arange(math.prod(self.shape)).reshape(self.shape)
        kinds, self._kind_of = np.unique(self.sizes, return_inverse=True)
        sd = math.sqrt(2 * kinds[-1] * math.exp(-self.rate)) / -math.expm1(-self.rate)
        reach = int(14 * sd + REACH / self.rate) + 2
        values = max(self.shape) * (FAR * sd * math.sqrt(max(self.shape)) + reach)
        if values > MOST_VALUES or len(kinds) * reach > MOST_TABLED:
            raise InputError(
                f"paired rows: noise this wide (a place has a standard deviation of {sd:.3g}) "
                f"would take messages of {values:.3g} numbers a step, more than {MOST_VALUES}; "
                f"use a larger epsilon or fewer cells a place"
            )
        self._lattice_steps: dict[tuple[int, int, int], int] = {}
        self._laws = np.array([sum_log_law(int(m), self.rate, reach) for m in kinds])
        self.distance = np.array([_distance(law) for law in self._laws])[self._kind_of]

    @property
    def places(self) -> int:
        """Places of the table: the numbers of a state."""
        return len(self.sizes)

    def steps(self, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
        """Places (rows, columns) and signs (rows,) of one sweep's steps, in their order.

        Rows are put in a random order and matched in rounds, with the next, the next but one, the
        next but three and so on. Of three categories one is chosen along which the fibres run;
        those across it are matched in both directions, a round of one in all rounds of the other.
        Where places have very different numbers of cells, a step takes a group of columns.
        """
        if len(self.shape) == 2:
            signs = np.array([1, -1])
            rows = [self._places[[i, j]] for i, j in _matches(rng, self.shape[0])]
        else:
            signs = np.array([1, -1, -1, 1])
            table = np.moveaxis(self._places, rng.integers(3), -1)
            across = _matches(rng, table.shape[1])
            rows = [
                table[[i, i, j, j], [k, m, k, m]]
                for i, j in _matches(rng, table.shape[0])
                for k, m in across
            ]
        return [(places, signs) for whole in rows for places in self._grouped(whole)]

    def _grouped(self, places: np.ndarray) -> list[np.ndarray]:
        """Places (rows, columns) in groups of columns that go well on lattices of one step.

        The column with the fewest cells sets the step for all that are drawn together, and a short
        step for a wide law is slow. Groups that follow each other share columns, through which they
        exchange.
        """
        kinds = self._kind_of[places].min(axis=0)
        if kinds.min() == kinds.max():
            return [places]
        order = np.argsort(kinds, kind="stable")
        steps = [self._lattice_step(int(kinds[k]), len(places), 2) for k in order]
        groups, first = [], 0
        for k in range(1, len(order) - SHARED):
            if steps[k] >= WIDER * steps[first]:
                groups.append(places.take(order[first : k + SHARED], axis=1))
                first = k
        return [*groups, places.take(order[first:], axis=1)]

    def step_of(self, places: np.ndarray) -> int:
        """Step h of the lattices on which the columns of a step can be drawn."""
        return self._lattice_step(int(self._kind_of[places].min()), *places.shape)

    def _lattice_step(self, kind: int, rows: int, columns: int) -> int:
        key = kind, rows, columns
        if key not in self._lattice_steps:
            self._lattice_steps[key] = lattice_step(self._laws[kind], rows, columns)
        return self._lattice_steps[key]

    def remainders(
        self, rng: np.random.Generator, state: np.ndarray, places: np.ndarray
    ) -> np.ndarray:
        """Draw what the first row's values leave when divided by h, int64 (columns,).

        They are uniform but for the last, which is what the row's total leaves for it.
        """
        step, columns = self.step_of(places), places.shape[1]
        if step == 1:
            return np.zeros(columns, dtype=np.int64)
        drawn = rng.integers(step, size=columns)
        drawn[-1] = (state[places[0]].sum() - drawn[:-1].sum()) % step
        return drawn

    def columns(
        self, state: np.ndarray, places: np.ndarray, signs: np.ndarray, remainders: np.ndarray
    ) -> Columns:
        """Laws of the columns of a step from a state, int64 (places,), given their remainders."""
        step = self.step_of(places)
        found = column_laws(state, places, signs, self._kind_of, self._laws, step, remainders)
        return Columns(*found, step)

    def side(
        self, state: np.ndarray, places: np.ndarray, columns: Columns, order: np.ndarray
    ) -> Side:
        """Prepare the draw of a step, its columns in an order; any will do."""
        centre = columns.centre
        goal = int(state[places[0]].sum() - columns.zero.sum()) // columns.step
        messages = _messages(columns, centre, order)
        return Side(columns.pmf, columns.length, centre, *messages, goal)

    def redraw(
        self,
        uniforms: np.ndarray,
        state: np.ndarray,
        places: np.ndarray,
        signs: np.ndarray,
        columns: Columns,
        order: np.ndarray,
    ) -> None:
        """Redraw the rows of a step in place.

        Parameters
        ----------
        uniforms : float64 array, shape (columns + 1,)
        state : int64 array, shape (places,)
        places, signs
            From `steps`.
        columns : Columns
            Of the step from this state.
        order : int64 array, shape (columns,)
            In which the columns are taken; any will do.

        Raises
        ------
        ArithmeticError
            If the state is so improbable that its messages are all rounding.
        """
        drawn = draw(uniforms, self.side(state, places, columns, order), order)
        move(state, places, signs, columns.zero + columns.step * drawn)

    def sweep(self, rng: np.random.Generator, state: np.ndarray) -> None:
        """One sweep, in place, from a state of sums, int64 (places,)."""
        for places, signs in self.steps(rng):
            remainders = self.remainders(rng, state, places)
            columns = self.columns(state, places, signs, remainders)
            order = np.arange(places.shape[1])
            self.redraw(rng.random(len(order) + 1), state, places, signs, columns, order)

    def run(self, rng: np.random.Generator, state: np.ndarray, sweeps: int) -> np.ndarray:
        """State after so many sweeps; the one given is left as it is."""
        state = np.array(state, dtype=np.int64)
        for _ in tracked("running the chain", range(whole("paired rows", "sweeps", sweeps))):
            self.sweep(rng, state)
        return state

    def draw(self, rng: np.random.Generator, sweeps: int) -> np.ndarray:
        """Noise, int64 (cells,), after so many sweeps from zero, checked against the invariants."""
        sums = self.run(rng, np.zeros(self.places, np.int64), sweeps)
        noise = self.spread_out(rng, sums)
        self.invariants.check(noise)
        return noise

    def spread_out(self, rng: np.random.Generator, sums: np.ndarray) -> np.ndarray:
        """Share the sums of places, int64 (places,), out among their cells: noise (cells,).

        The noise of m cells is the difference of two vectors of geometric counts. Of their sums
        x and y, y is drawn given x - y, then each is shared out as a uniform composition.
        """
        less = np.array(
            [
                _lesser(rng.random(), abs(total), cells, self.rate)
                for total, cells in zip(sums.tolist(), self.sizes.tolist(), strict=True)
            ]
        )
        more = less + np.abs(sums)
        up = np.where(sums >= 0, more, less)[None]
        down = np.where(sums >= 0, less, more)[None]
        noise = np.empty((1, self.invariants.cells), dtype=np.int64)
        share(words_from(rng), self._order, self._starts, up, down, noise)
        return noise[0]


def draw(uniforms: np.ndarray, side: Side, order: np.ndarray) -> np.ndarray:
    """Draw the columns in steps from their centres, int64 (columns,).

    Raises
    ------
    ArithmeticError
        If all messages are rounding.
    """
    drawn = draw_columns(uniforms, side, order)
    if not len(drawn):
        raise ArithmeticError(
            "paired rows: a state as improbable as this cannot be redrawn in floating point"
        )
    return drawn


def move(state: np.ndarray, places: np.ndarray, signs: np.ndarray, values: np.ndarray) -> None:
    """Give the first row of a step its new values, and the others what follows."""
    change = values - state[places[0]]
    for row, sign in zip(places, signs.tolist(), strict=True):
        state[row] += sign * change


def _distance(log_law: np.ndarray) -> float:
    """Squared distance of a law from itself moved by one, as of normal laws that are as alike."""
    both = np.concatenate([log_law[:0:-1], log_law])
    alike = np.exp((both[1:] + both[:-1]) / 2).sum() / np.exp(both).sum()
    return -8 * math.log(alike)


def _matches(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    """Pairs of a random order of 0 to n - 1, round by round.

    In a round all those match whose places in the order differ in one binary digit.
    """
    order = rng.permutation(n).tolist()
    apart = [2**digit for digit in range((n - 1).bit_length())]
    return [(order[i + d], order[i]) for d in apart for i in range(n - d) if not i & d]


def _messages(
    columns: Columns, centre: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Laws of the sums before each pair of columns, and of each pair, modulo their width."""
    spread = FAR * math.sqrt(columns.variance.sum())
    n = scipy.fft.next_fast_len(int(2 * spread) + 2 * int(columns.length.max()) + 2, real=True)
    spectra = scipy.fft.rfft(rolled(columns.pmf, centre, order, n), axis=1)
    half = (len(order) + 1) // 2
    both = products(spectra)
    # one transform of both: what a call costs is most of a small table's step
    laws = scipy.fft.irfft(both, n, axis=1)
    return laws[:half], laws[half:]


def _lesser(uniform: float, total: int, cells: int, rate: float) -> int:
    """Draw y given x - y = `total` >= 0, x and y sums of so many geometric counts each.

    P(y) is in proportion to C(y + m - 1, y) C(y + total + m - 1, m - 1) exp(-2 rate y), which is
    log-concave: it is tabled around its mode.
    """
    if cells == 1:
        return 0  # nothing follows from it: the noise is the total
    m, a2 = float(cells), math.exp(-2 * rate)
    # where the law is level, (y + m)(y + total + m) a^2 = (y + 1)(y + total + 1)
    p, q, r = 1 - a2, (2 + total) - a2 * (2 * m + total), (total + 1) - a2 * m * (m + total)
    mode = max(0, int((-q + math.sqrt(max(q * q - 4 * p * r, 0.0))) / (2 * p)))
    half = 64 + int(40 / rate)
    while True:
        y = np.arange(max(0, mode - half), mode + half + 1, dtype=float)
        steps = np.log(y[:-1] + m) + np.log(y[:-1] + total + m) - np.log(y[1:])
        steps -= np.log(y[1:] + total) + 2 * rate
        log_weight = np.concatenate([[0.0], np.cumsum(steps)])
        log_weight -= log_weight.max()
        if log_weight[-1] < -40 and (y[0] == 0 or log_weight[0] < -40):
            break
        half *= 2
    running = np.cumsum(np.exp(log_weight))
    return int(y[np.searchsorted(running, uniform * running[-1], side="right")])
