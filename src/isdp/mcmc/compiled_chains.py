"""Compiled steps of the Markov chains, single and coupled, and their arguments."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isdp.compiled import njit


class Vectors(NamedTuple):
    """Sparse vectors: entries ``indptr[j]`` to ``indptr[j + 1]`` are of the j-th.

    `data` is int64; `indptr` and `indices` are uint64, so that the loops need
    no check for negative indices.
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


class Walk(NamedTuple):
    """Arguments of the compiled loops for a walk: its jumps, acceptance rule and energy.

    `power`, `root` and `rate` are those of `isdp.mechanisms.base.Energy`.
    """

    jumps: Vectors
    proposal: float
    joint: bool
    power: int
    root: bool
    rate: float


class Scratch(NamedTuple):
    """Work arrays of a coupled sweep: two rows of jumps over cells, and of steps over coordinates.

    `powers` holds 1, a, a^2, ... of the proposal's parameter a, down to 0.
    """

    jumps: np.ndarray
    steps: np.ndarray
    powers: np.ndarray


class Table(NamedTuple):
    """Guide table of the double geometric distribution near zero, for draws by inversion.

    Attributes
    ----------
    cumulative : float64 array, shape (2 * reach + 1,)
        Cumulative probabilities of -reach to reach; the end points include the tails.
    guide : int64 array
        Start of the search for each of 2^k equal parts of [0, 1].
    scale : float
        Scale of the exponential variable whose integer part is the excess over an end point.
    """

    cumulative: np.ndarray
    guide: np.ndarray
    scale: float


class Proposals(NamedTuple):
    """Arguments of the compiled loop for an independence sampler.

    Attributes
    ----------
    free : int64 array
        Cells that are drawn, in order.
    solved : int64 array
        Cells that follow, ``u[solved] = offset + follow @ u``, in the order in
        which they are determined.
    stages : int64 array, shape (solved + 2,)
        Solved cell i is determined by ``free[:stages[i + 1]]``.
    offset : int64 array, shape (solved,)
    follow : Vectors
        The rows of the matrix.
    floor : int64 array, shape (cells,)
        Lower bound on the noise of each cell.
    gap : float
        Scale of the exponential variable whose integer part is the number of proposals with a free
        cell below its lower bound, before the next without.
    others : Vectors
        The other inequalities, row by row.
    least : int64 array
        Their lower sides.
    rate : float
        Rate of the double geometric distribution of the free cells.
    table : Table
        Guide table of that distribution.
    """

    free: np.ndarray
    solved: np.ndarray
    stages: np.ndarray
    offset: np.ndarray
    follow: Vectors
    floor: np.ndarray
    gap: float
    others: Vectors
    least: np.ndarray
    rate: float
    table: Table


@njit(cache=True)
def _double_geometric(rng, p_zero, log_a):
    """Draw from the double geometric distribution."""
    r = rng.random()
    if r < p_zero:
        return 0
    k = 1 + int(rng.standard_exponential() / -log_a)
    return k if r < 0.5 * (1.0 + p_zero) else -k


@njit(cache=True)
def _nonzero_step(rng, scale):
    """Draw a double geometric variable with a = exp(-1 / scale), given that it is not zero."""
    k = 1 + int(rng.standard_exponential() * scale)
    return k if rng.random() < 0.5 else -k


@njit(cache=True)
def _zeros(rng, scale, most):
    """Draw the number of zero steps before the next nonzero one, geometric and at most `most`."""
    return int(min(rng.standard_exponential() * scale, float(most)))


@njit(cache=True)
def _growth(old, new, power):
    """Change of |u_i|^power when a cell goes from `old` to `new`, in integers."""
    if power == 1:
        return abs(new) - abs(old)
    return new * new - old * old


@njit(cache=True)
def _vector_growth(noise, start, stop, indices, data, k, power):
    """Growth of the size when `k` times one basis vector is added."""
    growth = 0
    for entry in range(start, stop):
        old = noise[indices[entry]]
        growth += _growth(old, old + k * data[entry], power)
    return growth


@njit(cache=True)
def _jump_growth(noise, jump, power):
    """Growth of the size when a whole jump is added."""
    growth = 0
    for i in range(len(noise)):
        if jump[i] != 0:
            growth += _growth(noise[i], noise[i] + jump[i], power)
    return growth


@njit(cache=True)
def _rise(size, growth, root, rate):
    """Rise of the energy, minus the log-weight, when the size grows by `growth`."""
    return rate * (math.sqrt(size + growth) - math.sqrt(size) if root else float(growth))


@njit(cache=True)
def metropolis(rng, rise):
    """Metropolis rule: accept with probability min(1, exp(-rise))."""
    return rise <= 0 or rng.standard_exponential() > rise


@njit(cache=True)
def _stays_within(slack, walls, j, k):
    """Test that every inequality holds after `k` times the j-th basis vector."""
    for entry in range(walls.indptr[j], walls.indptr[j + 1]):
        if slack[walls.indices[entry]] + k * walls.data[entry] < 0:
            return False
    return True


@njit(cache=True)
def _use_up(slack, walls, j, k):
    """Change the slack as `k` times the j-th basis vector does."""
    for entry in range(walls.indptr[j], walls.indptr[j + 1]):
        slack[walls.indices[entry]] += k * walls.data[entry]


@njit(cache=True)
def _move_along(slack, walls, moved, steps, count, sign):
    """Change the slack as a whole jump does, or take that back."""
    for i in range(count):
        _use_up(slack, walls, moved[i], sign * steps[i])


@njit(cache=True)
def _copy(values, into):
    """Assign one by one: for `into[:] = values` the words of an error take seconds to compile."""
    for i in range(len(values)):
        into[i] = values[i]


@njit(cache=True)
def run_chain(rng, noise, walked, slack, size, walk, walls, thins, kept):
    """Run ``thins[i]`` sweeps, changing `noise`, and put where that ends into ``kept[i]``.

    `walked` follows the chain in the basis: noise changes by C times the change of `walked`.
    `slack`, one entry an inequality, follows how far the chain is from each.
    """
    proposed = 0
    accepted = 0
    for draw in range(len(kept)):
        thin = thins[draw]
        if walk.joint:
            size, jumps, taken = _joint_sweeps(rng, noise, walked, slack, size, walk, walls, thin)
        else:
            size, jumps, taken = _coordinate_sweeps(
                rng, noise, walked, slack, size, walk, walls, thin
            )
        proposed += jumps
        accepted += taken
        _copy(noise, kept[draw])
    return size, proposed, accepted


@njit(cache=True)
def _scales(proposal):
    """Scales of the exponential variables whose whole parts are a step, and a run of zeros."""
    return -1.0 / math.log(proposal), -1.0 / math.log((1.0 - proposal) / (1.0 + proposal))


@njit(cache=True)
def _joint_sweeps(rng, noise, walked, slack, size, walk, walls, sweeps):
    """Propose whole jumps, each drawn vector by vector and taken back if it is refused.

    Only vectors with a step are visited. Returns the size, the jumps proposed and those accepted.
    """
    indptr, indices, data = walk.jumps.indptr, walk.jumps.indices, walk.jumps.data
    power, root, rate = walk.power, walk.root, walk.rate
    jump_scale, zero_scale = _scales(walk.proposal)
    dimension = len(walked)
    moved = np.empty(dimension, dtype=np.int64)
    steps = np.empty(dimension, dtype=np.int64)
    confined = len(slack) > 0
    proposed = 0
    accepted = 0
    for _ in range(sweeps):
        count = 0
        growth = 0
        j = _zeros(rng, zero_scale, dimension)
        while j < dimension:
            k = _nonzero_step(rng, jump_scale)
            for entry in range(indptr[j], indptr[j + 1]):
                cell = indices[entry]
                old = noise[cell]
                new = old + k * data[entry]
                noise[cell] = new
                growth += _growth(old, new, power)
            moved[count] = j
            steps[count] = k
            count += 1
            j += 1 + _zeros(rng, zero_scale, dimension)
        if count == 0:
            continue
        proposed += 1
        if confined:
            _move_along(slack, walls, moved, steps, count, 1)
        least = 0  # one by one: an array's minimum takes most of a second to compile
        for value in slack:
            least = min(least, value)
        allowed = least >= 0
        if allowed and metropolis(rng, _rise(size, growth, root, rate)):
            accepted += 1
            size += growth
            for i in range(count):
                walked[moved[i]] += steps[i]
            continue
        if confined:
            _move_along(slack, walls, moved, steps, count, -1)
        for i in range(count):
            j = moved[i]
            for entry in range(indptr[j], indptr[j + 1]):
                noise[indices[entry]] -= steps[i] * data[entry]
    return size, proposed, accepted


@njit(cache=True)
def _coordinate_sweeps(rng, noise, walked, slack, size, walk, walls, sweeps):
    """Propose a step along each vector in turn; return the size, steps proposed and accepted."""
    indptr, indices, data = walk.jumps.indptr, walk.jumps.indices, walk.jumps.data
    power, root, rate = walk.power, walk.root, walk.rate
    jump_scale, zero_scale = _scales(walk.proposal)
    dimension = len(walked)
    confined = len(slack) > 0
    proposed = 0
    accepted = 0
    for _ in range(sweeps):
        j = _zeros(rng, zero_scale, dimension)
        while j < dimension:
            k = _nonzero_step(rng, jump_scale)
            start, stop = indptr[j], indptr[j + 1]
            growth = _vector_growth(noise, start, stop, indices, data, k, power)
            proposed += 1
            allowed = not confined or _stays_within(slack, walls, j, k)
            if allowed and metropolis(rng, _rise(size, growth, root, rate)):
                accepted += 1
                size += growth
                walked[j] += k
                if confined:
                    _use_up(slack, walls, j, k)
                for entry in range(start, stop):
                    noise[indices[entry]] += k * data[entry]
            j += 1 + _zeros(rng, zero_scale, dimension)
    return size, proposed, accepted


@njit(cache=True)
def coupled_double_geometric(rng, apart, powers, p_zero, log_a):
    """Draw double geometric steps e and f from the maximal coupling of e and apart + f.

    With the overlap as probability both come from the mass that the two distributions share, else
    each from its residual. There is no rejection. `powers` holds a^0, a^1, ... down to 0.
    """
    if apart == 0:
        e = _double_geometric(rng, p_zero, log_a)
        return e, e
    last = len(powers) - 1
    distance = abs(apart)
    sign = 1 if apart > 0 else -1
    m = distance // 2
    if distance % 2 == 0:
        shared = powers[min(last, m)]
    else:
        shared = powers[min(last, m + 1)] * (1.0 + p_zero)  # 2 a^(m + 1) / (1 + a)
    if rng.random() < shared:
        if distance % 2 == 0:  # the shared mass is p around the middle
            e = m + _double_geometric(rng, p_zero, log_a)
        else:  # two equal halves, falling away from the middle on either side
            r = rng.random()
            if r < 0.5:
                e = m + 1 + int(math.log(1.0 - 2.0 * r) / log_a)
            else:
                e = m - int(math.log(2.0 - 2.0 * r) / log_a)
        return sign * e, sign * (e - distance)
    e = _unshared(rng, distance, 1.0 - shared, powers, p_zero, log_a)
    f = _unshared(rng, distance, 1.0 - shared, powers, p_zero, log_a)
    return sign * e, -sign * f


@njit(cache=True)
def _unshared(rng, distance, mass, powers, p_zero, log_a):
    """Draw k with probability (p(k) - p(k - distance)) / mass, where that is positive."""
    last = len(powers) - 1
    gone = powers[min(last, distance)]
    r = rng.random() * mass
    below = 0.5 * (1.0 + p_zero) * (1.0 - gone)  # mass at 0, -1, -2, ...
    if r < below:
        return -int(math.log(1.0 - r / below) / log_a)
    r -= below
    k = 1
    while 2 * (k + 1) < distance:
        r -= p_zero * (powers[min(last, k)] - powers[min(last, distance - k)])
        if r < 0.0:
            return k
        k += 1
    return k


@njit(cache=True)
def _passes(log_uniform, size, growth, root, rate):
    """Metropolis rule with the logarithm of the common uniform variable of both chains."""
    return growth <= 0 or log_uniform < -_rise(size, growth, root, rate)


@njit(cache=True)
def coupled_sweeps(rng, first, second, apart, sizes, walk, scratch, most):
    """Move both chains, in place, until they meet, for at most `most` sweeps.

    `apart` is their difference in the basis. Returns the sweep after which the chains are equal,
    counted from 1, or 0. All sweeps are in one loop, as a call takes as long as a quarter of a
    sweep.
    """
    indptr, indices, data = walk.jumps.indptr, walk.jumps.indices, walk.jumps.data
    power, root, rate, joint = walk.power, walk.root, walk.rate, walk.joint
    steps, powers = scratch.steps, scratch.powers
    log_a = math.log(walk.proposal)
    p_zero = (1.0 - walk.proposal) / (1.0 + walk.proposal)
    first_jump, second_jump = scratch.jumps[0], scratch.jumps[1]
    for sweep in range(1, most + 1):
        if joint:
            for i in range(len(first)):
                first_jump[i] = 0
                second_jump[i] = 0
        for j in range(len(apart)):
            if apart[j] == 0:
                e = _double_geometric(rng, p_zero, log_a)
                f = e
            else:
                e, f = coupled_double_geometric(rng, apart[j], powers, p_zero, log_a)
            start, stop = indptr[j], indptr[j + 1]
            if joint:
                steps[0, j] = e
                steps[1, j] = f
                if e != 0:
                    for entry in range(start, stop):
                        first_jump[indices[entry]] += e * data[entry]
                if f != 0:
                    for entry in range(start, stop):
                        second_jump[indices[entry]] += f * data[entry]
                continue
            log_uniform = math.log(rng.random())
            if e != 0:
                growth = _vector_growth(first, start, stop, indices, data, e, power)
                if _passes(log_uniform, sizes[0], growth, root, rate):
                    sizes[0] += growth
                    apart[j] -= e
                    for entry in range(start, stop):
                        first[indices[entry]] += e * data[entry]
            if f != 0:
                growth = _vector_growth(second, start, stop, indices, data, f, power)
                if _passes(log_uniform, sizes[1], growth, root, rate):
                    sizes[1] += growth
                    apart[j] += f
                    for entry in range(start, stop):
                        second[indices[entry]] += f * data[entry]
        if joint:
            log_uniform = math.log(rng.random())
            growth = _jump_growth(first, first_jump, power)
            if _passes(log_uniform, sizes[0], growth, root, rate):
                sizes[0] += growth
                for j in range(len(apart)):
                    apart[j] -= steps[0, j]
                for i in range(len(first)):
                    first[i] += first_jump[i]
            growth = _jump_growth(second, second_jump, power)
            if _passes(log_uniform, sizes[1], growth, root, rate):
                sizes[1] += growth
                for j in range(len(apart)):
                    apart[j] += steps[1, j]
                for i in range(len(second)):
                    second[i] += second_jump[i]
        together = True
        for j in range(len(apart)):
            if apart[j] != 0:
                together = False
                break
        if together:
            return sweep
    return 0


@njit(cache=True)
def meet(rng, second, walk, walls, scratch, lag, cap):
    """Return the meeting time of two chains that start at zero, or -1 beyond the cap.

    The second value is the number of jumps that the leading chain accepted within the lag.
    """
    first = second.copy()
    lead = np.zeros(len(walk.jumps.indptr) - 1, dtype=np.int64)
    kept = np.empty((1, len(first)), dtype=np.int64)
    sizes = np.zeros(2, dtype=np.int64)
    slack = np.zeros(0, dtype=np.int64)
    thins = np.empty(1, dtype=np.int64)
    thins[0] = lag
    # a literal 0 in place of the size would have the whole chain compiled once more
    sizes[0], _, accepted = run_chain(rng, first, lead, slack, sizes[0], walk, walls, thins, kept)
    met = coupled_sweeps(rng, first, second, -lead, sizes, walk, scratch, cap - lag)
    return lag + met if met > 0 else -1, accepted


@njit(cache=True)
def run_independence(rng, noise, size, proposals, energy, thin, kept):
    """Make `len(kept) * thin` proposals, changing `noise`; the states kept go into `kept`.

    A proposal with a free cell below its lower bound is refused. The number of such proposals in a
    row is drawn at once, and then a proposal without such a cell.
    """
    power, root, rate = energy.power, energy.root, energy.rate
    proposal = np.empty(len(noise), dtype=np.int64)
    spread = 0  # l1 norm of the free cells, which decides the proposal density
    for cell in proposals.free:
        spread += abs(noise[cell])
    accepted = 0
    for draw in range(len(kept)):
        left = thin
        while left > 0:
            left -= 1 + _zeros(rng, proposals.gap, left)
            if left < 0:
                break
            new_spread = _propose(rng, proposal, proposals)
            if new_spread < 0 or not _above(proposal, proposals):
                continue
            new_size = 0
            for value in proposal:
                new_size += abs(value) if power == 1 else value * value
            rise = _rise(size, new_size - size, root, rate) - proposals.rate * (new_spread - spread)
            if metropolis(rng, rise):
                accepted += 1
                size = new_size
                spread = new_spread
                _copy(proposal, noise)
        _copy(noise, kept[draw])
    return size, accepted


@njit(cache=True)
def _looked_up(rng, table):
    """Draw a double geometric variable by guide-table inversion."""
    u = rng.random()
    entry = table.guide[int(u * len(table.guide))]
    while table.cumulative[entry] <= u:
        entry += 1
    reach = len(table.cumulative) // 2
    value = entry - reach
    if abs(value) < reach:
        return value
    beyond = int(rng.standard_exponential() * table.scale)
    return value + beyond if value > 0 else value - beyond


@njit(cache=True)
def _propose(rng, proposal, proposals):
    """Draw the free cells above their lower bounds, and solve each other cell when determined.

    Returns the l1 norm of the free cells, or -1 as soon as a solved cell is below its lower bound.
    """
    free, floor, follow, table = proposals.free, proposals.floor, proposals.follow, proposals.table
    spread = 0
    for stage in range(len(proposals.stages) - 1):
        for i in range(proposals.stages[stage], proposals.stages[stage + 1]):
            cell = free[i]
            value = _looked_up(rng, table)
            while value < floor[cell]:
                value = _looked_up(rng, table)
            proposal[cell] = value
            spread += abs(value)
        if stage < len(proposals.solved):
            value = proposals.offset[stage]
            for entry in range(follow.indptr[stage], follow.indptr[stage + 1]):
                value += follow.data[entry] * proposal[follow.indices[entry]]
            cell = proposals.solved[stage]
            if value < floor[cell]:
                return -1
            proposal[cell] = value
    return spread


@njit(cache=True)
def _above(proposal, proposals):
    """Test the inequalities other than lower bounds on single free cells."""
    others = proposals.others
    for row in range(len(proposals.least)):
        value = 0
        for entry in range(others.indptr[row], others.indptr[row + 1]):
            value += others.data[entry] * proposal[others.indices[entry]]
        if value < proposals.least[row]:
            return False
    return True
