"""Compiled loops of single and coupled Markov chains, and their arguments.

The size of a noise vector u is the integer sum of |u_i|^power, on which its energy depends. The
discrete Laplace distribution is called double geometric in *Integer Subspace Differential Privacy*
(ISDP).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isdp.compiled import njit


class Vectors(NamedTuple):
    """Sparse vectors, of which vector j has the entries ``indptr[j]:indptr[j + 1]``.

    `data` is int64. `indptr` and `indices` are uint64, so that the compiled loops do not check for
    negative indices.
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


class Walk(NamedTuple):
    """Jumps, proposal parameter, acceptance rule and `isdp.mechanisms.base.Energy` of a walk."""

    jumps: Vectors
    proposal: float
    joint: bool
    power: int
    root: bool
    rate: float


class Scratch(NamedTuple):
    """Work arrays of a coupled sweep.

    Attributes
    ----------
    jumps : int64 array, shape (2, cells)
        The proposed jump of each chain.
    steps : int64 array, shape (2, dimension)
        The coefficients of the jumps.
    powers : float64 array
        The powers 1, a, a^2, ... of the proposal parameter a, and 0 at the end.
    """

    jumps: np.ndarray
    steps: np.ndarray
    powers: np.ndarray


class Table(NamedTuple):
    """Guide table for draws from the discrete Laplace distribution by inversion.

    Attributes
    ----------
    cumulative : float64 array, shape (2 * max_value + 1,)
        Cumulative probabilities of the values from -max_value to max_value. The probability of each
        end point includes the tail beyond it.
    guide : int64 array
        Start of the search for each of 2^k equal parts of [0, 1].
    scale : float
        Scale of the exponential variable whose integer part is added beyond an end point.
    """

    cumulative: np.ndarray
    guide: np.ndarray
    scale: float


class Proposals(NamedTuple):
    """Arguments of the compiled loop for an independence sampler.

    Attributes
    ----------
    free : int64 array
        The cells that are drawn, in the order of the draws.
    solved : int64 array
        The cells that are computed as ``u[solved] = offset + follow @ u``, in the order of the
        computation.
    stages : int64 array, shape (solved + 2,)
        Solved cell i depends on ``free[:stages[i + 1]]``.
    offset : int64 array, shape (solved,)
    follow : Vectors
        Rows of the matrix `follow`.
    lower : int64 array, shape (cells,)
        Lower bound on the noise of each cell.
    refusal_scale : float
        Scale of the exponential variable whose integer part is the length of a run of proposals
        with a free cell below its lower bound.
    inequalities : Vectors
        Rows of the inequalities on several cells.
    lower_bounds : int64 array
        Right-hand sides of these inequalities.
    rate : float
        Rate of the discrete Laplace distribution of the free cells.
    table : Table
        Guide table of this distribution.
    """

    free: np.ndarray
    solved: np.ndarray
    stages: np.ndarray
    offset: np.ndarray
    follow: Vectors
    lower: np.ndarray
    refusal_scale: float
    inequalities: Vectors
    lower_bounds: np.ndarray
    rate: float
    table: Table


@njit
def _double_geometric(rng, p_zero, log_a):
    r = rng.random()
    if r < p_zero:
        return 0
    k = 1 + int(rng.standard_exponential() / -log_a)
    return k if r < 0.5 * (1.0 + p_zero) else -k


@njit
def _nonzero_step(rng, scale):
    """Draw a nonzero discrete Laplace variable with a = exp(-1 / scale)."""
    k = 1 + int(rng.standard_exponential() * scale)
    return k if rng.random() < 0.5 else -k


@njit
def _run_length(rng, scale, max_length):
    """Draw the geometric length of a run, and limit it to `max_length`."""
    return int(min(rng.standard_exponential() * scale, float(max_length)))


@njit
def _growth(old, new, power):
    """Return the change of |u_i|^power if a cell changes from `old` to `new`."""
    if power == 1:
        return abs(new) - abs(old)
    return new * new - old * old


@njit
def _vector_growth(noise, start, stop, indices, data, k, power):
    """Return the change of the size if `k` times one basis vector is added."""
    growth = 0
    for entry in range(start, stop):
        old = noise[indices[entry]]
        growth += _growth(old, old + k * data[entry], power)
    return growth


@njit
def _jump_growth(noise, jump, power):
    growth = 0
    for i in range(len(noise)):
        if jump[i] != 0:
            growth += _growth(noise[i], noise[i] + jump[i], power)
    return growth


@njit
def _rise(size, growth, root, rate):
    """Return the decrease of the log-weight if the size grows by `growth`."""
    return rate * (math.sqrt(size + growth) - math.sqrt(size) if root else float(growth))


@njit
def metropolis(rng, rise):
    """Accept with probability min(1, exp(-rise)) (the Metropolis rule)."""
    return rise <= 0 or rng.standard_exponential() > rise


@njit
def _stays_within(slack, slack_changes, j, k):
    """Test whether every inequality holds after `k` times basis vector j is added."""
    for entry in range(slack_changes.indptr[j], slack_changes.indptr[j + 1]):
        if slack[slack_changes.indices[entry]] + k * slack_changes.data[entry] < 0:
            return False
    return True


@njit
def _update_slack(slack, slack_changes, j, k):
    for entry in range(slack_changes.indptr[j], slack_changes.indptr[j + 1]):
        slack[slack_changes.indices[entry]] += k * slack_changes.data[entry]


@njit
def _copy(values, into):
    """Copy entry by entry, because ``into[:] = values`` takes seconds to compile."""
    for i in range(len(values)):
        into[i] = values[i]


@njit
def run_chain(rng, noise, walked, slack, size, walk, slack_changes, thins, kept):
    """Run ``thins[i]`` sweeps for each draw i, and store the state after them in ``kept[i]``.

    The function updates `noise`, its coordinates `walked` in the basis, and the slack of each
    inequality in place. The return values are the size and the numbers of proposed and accepted
    jumps.
    """
    proposed = 0
    accepted = 0
    for draw in range(len(kept)):
        thin = thins[draw]
        if walk.joint:
            size, jumps, taken = _joint_sweeps(
                rng, noise, walked, slack, size, walk, slack_changes, thin
            )
        else:
            size, jumps, taken = _coordinate_sweeps(
                rng, noise, walked, slack, size, walk, slack_changes, thin
            )
        proposed += jumps
        accepted += taken
        _copy(noise, kept[draw])
    return size, proposed, accepted


@njit
def _scales(proposal):
    """Return the scales of exponential variables for nonzero steps and for runs of zero steps."""
    return -1.0 / math.log(proposal), -1.0 / math.log((1.0 - proposal) / (1.0 + proposal))


@njit
def _joint_sweeps(rng, noise, walked, slack, size, walk, slack_changes, sweeps):
    """Propose one jump along all vectors in each sweep, and undo the jump if it is refused.

    The loop skips vectors with a zero step. The function returns the size and the numbers of
    proposed and accepted jumps.
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
        j = _run_length(rng, zero_scale, dimension)
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
            j += 1 + _run_length(rng, zero_scale, dimension)
        if count == 0:
            continue
        proposed += 1
        if confined:
            for i in range(count):
                _update_slack(slack, slack_changes, moved[i], steps[i])
        min_slack = 0  # the compilation of np.min takes most of a second
        for value in slack:
            min_slack = min(min_slack, value)
        allowed = min_slack >= 0
        if allowed and metropolis(rng, _rise(size, growth, root, rate)):
            accepted += 1
            size += growth
            for i in range(count):
                walked[moved[i]] += steps[i]
            continue
        for i in range(count):
            j = moved[i]
            if confined:
                _update_slack(slack, slack_changes, j, -steps[i])
            for entry in range(indptr[j], indptr[j + 1]):
                noise[indices[entry]] -= steps[i] * data[entry]
    return size, proposed, accepted


@njit
def _coordinate_sweeps(rng, noise, walked, slack, size, walk, slack_changes, sweeps):
    """Propose a step along each vector in turn.

    The function returns the size and the numbers of proposed and accepted nonzero steps.
    """
    indptr, indices, data = walk.jumps.indptr, walk.jumps.indices, walk.jumps.data
    power, root, rate = walk.power, walk.root, walk.rate
    jump_scale, zero_scale = _scales(walk.proposal)
    dimension = len(walked)
    confined = len(slack) > 0
    proposed = 0
    accepted = 0
    for _ in range(sweeps):
        j = _run_length(rng, zero_scale, dimension)
        while j < dimension:
            k = _nonzero_step(rng, jump_scale)
            start, stop = indptr[j], indptr[j + 1]
            growth = _vector_growth(noise, start, stop, indices, data, k, power)
            proposed += 1
            allowed = not confined or _stays_within(slack, slack_changes, j, k)
            if allowed and metropolis(rng, _rise(size, growth, root, rate)):
                accepted += 1
                size += growth
                walked[j] += k
                if confined:
                    _update_slack(slack, slack_changes, j, k)
                for entry in range(start, stop):
                    noise[indices[entry]] += k * data[entry]
            j += 1 + _run_length(rng, zero_scale, dimension)
    return size, proposed, accepted


@njit
def coupled_double_geometric(rng, difference, powers, p_zero, log_a):
    """Draw discrete Laplace steps e and f from the maximal coupling of e and difference + f.

    With a probability equal to the overlap of their distributions, e = difference + f is drawn from
    the overlap. Otherwise each is drawn from its residual distribution. Neither draw uses
    rejection.
    """
    if difference == 0:
        e = _double_geometric(rng, p_zero, log_a)
        return e, e
    last = len(powers) - 1
    distance = abs(difference)
    sign = 1 if difference > 0 else -1
    m = distance // 2
    if distance % 2 == 0:
        shared = powers[min(last, m)]
    else:
        shared = powers[min(last, m + 1)] * (1.0 + p_zero)  # 2 a^(m + 1) / (1 + a)
    if rng.random() < shared:
        if distance % 2 == 0:  # the overlap is a discrete Laplace distribution around the midpoint
            e = m + _double_geometric(rng, p_zero, log_a)
        else:  # the overlap has two equal halves that decrease away from the midpoint
            r = rng.random()
            if r < 0.5:
                e = m + 1 + int(math.log(1.0 - 2.0 * r) / log_a)
            else:
                e = m - int(math.log(2.0 - 2.0 * r) / log_a)
        return sign * e, sign * (e - distance)
    e = _residual(rng, distance, 1.0 - shared, powers, p_zero, log_a)
    f = _residual(rng, distance, 1.0 - shared, powers, p_zero, log_a)
    return sign * e, -sign * f


@njit
def _residual(rng, distance, mass, powers, p_zero, log_a):
    """Draw k with probability max(0, p(k) - p(k - distance)) / mass."""
    last = len(powers) - 1
    r = rng.random() * mass
    below = 0.5 * (1.0 + p_zero) * (1.0 - powers[min(last, distance)])  # probability mass of k <= 0
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


@njit
def _passes(log_uniform, size, growth, root, rate):
    """Apply the Metropolis rule with the uniform variable that both chains share."""
    return growth <= 0 or log_uniform < -_rise(size, growth, root, rate)


@njit
def coupled_sweeps(rng, first, second, difference, sizes, walk, scratch, max_sweeps):
    """Run both chains in place until they meet.

    `difference` contains the coordinates of the second chain minus those of the first. The
    function returns the sweep after which the chains are equal, counted from 1, or 0 if they do not
    meet. All sweeps are in one call, because a call takes as long as a quarter of a sweep.
    """
    indptr, indices, data = walk.jumps.indptr, walk.jumps.indices, walk.jumps.data
    power, root, rate, joint = walk.power, walk.root, walk.rate, walk.joint
    steps, powers = scratch.steps, scratch.powers
    log_a = math.log(walk.proposal)
    p_zero = (1.0 - walk.proposal) / (1.0 + walk.proposal)
    first_jump, second_jump = scratch.jumps[0], scratch.jumps[1]
    for sweep in range(1, max_sweeps + 1):
        if joint:
            for i in range(len(first)):
                first_jump[i] = 0
                second_jump[i] = 0
        for j in range(len(difference)):
            if difference[j] == 0:
                e = _double_geometric(rng, p_zero, log_a)
                f = e
            else:
                e, f = coupled_double_geometric(rng, difference[j], powers, p_zero, log_a)
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
                    difference[j] -= e
                    for entry in range(start, stop):
                        first[indices[entry]] += e * data[entry]
            if f != 0:
                growth = _vector_growth(second, start, stop, indices, data, f, power)
                if _passes(log_uniform, sizes[1], growth, root, rate):
                    sizes[1] += growth
                    difference[j] += f
                    for entry in range(start, stop):
                        second[indices[entry]] += f * data[entry]
        if joint:
            log_uniform = math.log(rng.random())
            growth = _jump_growth(first, first_jump, power)
            if _passes(log_uniform, sizes[0], growth, root, rate):
                sizes[0] += growth
                for j in range(len(difference)):
                    difference[j] -= steps[0, j]
                for i in range(len(first)):
                    first[i] += first_jump[i]
            growth = _jump_growth(second, second_jump, power)
            if _passes(log_uniform, sizes[1], growth, root, rate):
                sizes[1] += growth
                for j in range(len(difference)):
                    difference[j] += steps[1, j]
                for i in range(len(second)):
                    second[i] += second_jump[i]
        together = True
        for j in range(len(difference)):
            if difference[j] != 0:
                together = False
                break
        if together:
            return sweep
    return 0


@njit
def meet(rng, second, walk, slack_changes, scratch, lag, cap):
    """Return the meeting time of two chains that start at zero, and a number of accepted jumps.

    The meeting time is -1 if it exceeds the cap. The jumps are those of the first chain within the
    lag.
    """
    first = second.copy()
    lead = np.zeros(len(walk.jumps.indptr) - 1, dtype=np.int64)
    kept = np.empty((1, len(first)), dtype=np.int64)
    sizes = np.zeros(2, dtype=np.int64)
    slack = np.zeros(0, dtype=np.int64)
    thins = np.empty(1, dtype=np.int64)
    thins[0] = lag
    # a literal 0 in place of sizes[0] has another type, for which run_chain is compiled again
    sizes[0], _, accepted = run_chain(
        rng, first, lead, slack, sizes[0], walk, slack_changes, thins, kept
    )
    met = coupled_sweeps(rng, first, second, -lead, sizes, walk, scratch, cap - lag)
    return lag + met if met > 0 else -1, accepted


@njit
def run_independence(rng, noise, size, proposals, energy, thin, kept):
    """Make `thin` proposals for each row of `kept`, and store the state after them in the row.

    A proposal with a free cell below its lower bound is refused. The length of a run of these
    refusals is one geometric draw. In the next proposal, no free cell is below its bound.
    """
    power, root, rate = energy.power, energy.root, energy.rate
    proposal = np.empty(len(noise), dtype=np.int64)
    norm = 0  # l1 norm of the free cells, which determines the proposal density
    for cell in proposals.free:
        norm += abs(noise[cell])
    accepted = 0
    for draw in range(len(kept)):
        left = thin
        while left > 0:
            left -= 1 + _run_length(rng, proposals.refusal_scale, left)
            if left < 0:
                break
            new_norm = _propose(rng, proposal, proposals)
            if new_norm < 0 or not _satisfies(
                proposal, proposals.inequalities, proposals.lower_bounds
            ):
                continue
            new_size = 0
            for value in proposal:
                new_size += abs(value) if power == 1 else value * value
            rise = _rise(size, new_size - size, root, rate) - proposals.rate * (new_norm - norm)
            if metropolis(rng, rise):
                accepted += 1
                size = new_size
                norm = new_norm
                _copy(proposal, noise)
        _copy(noise, kept[draw])
    return size, accepted


@njit
def _draw_from_table(rng, table):
    """Draw a discrete Laplace variable by guide-table inversion."""
    u = rng.random()
    entry = table.guide[int(u * len(table.guide))]
    while table.cumulative[entry] <= u:
        entry += 1
    max_value = len(table.cumulative) // 2
    value = entry - max_value
    if abs(value) < max_value:
        return value
    beyond = int(rng.standard_exponential() * table.scale)
    return value + beyond if value > 0 else value - beyond


@njit
def _propose(rng, proposal, proposals):
    """Draw each free cell above its lower bound, and compute solved cells as early as possible.

    The function returns the l1 norm of the free cells. The result is -1 if a solved cell is below
    its lower bound.
    """
    free, lower, follow, table = proposals.free, proposals.lower, proposals.follow, proposals.table
    norm = 0
    for stage in range(len(proposals.stages) - 1):
        for i in range(proposals.stages[stage], proposals.stages[stage + 1]):
            cell = free[i]
            value = _draw_from_table(rng, table)
            while value < lower[cell]:
                value = _draw_from_table(rng, table)
            proposal[cell] = value
            norm += abs(value)
        if stage < len(proposals.solved):
            value = proposals.offset[stage]
            for entry in range(follow.indptr[stage], follow.indptr[stage + 1]):
                value += follow.data[entry] * proposal[follow.indices[entry]]
            cell = proposals.solved[stage]
            if value < lower[cell]:
                return -1
            proposal[cell] = value
    return norm


@njit
def _satisfies(proposal, inequalities, lower_bounds):
    for row in range(len(lower_bounds)):
        value = 0
        for entry in range(inequalities.indptr[row], inequalities.indptr[row + 1]):
            value += inequalities.data[entry] * proposal[inequalities.indices[entry]]
        if value < lower_bounds[row]:
            return False
    return True
