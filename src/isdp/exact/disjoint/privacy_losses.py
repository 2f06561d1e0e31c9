"""The privacy loss of noise under totals of disjoint blocks, if one person changes cell.

Let one person move from cell j to cell i of a block of n cells. Let f be the characteristic
function of the noise of a cell without a total, and let I_n be the mean of f^n over all angles.

For Laplace noise of rate r, let a = exp(-r). The noise of a cell is 0 with the probability p =
I_(n-1) (1 - a) / (I_n (1 + a)). The loss is not 0 with the probability p (1 + a^2) / (1 - a^2). By
Hoelder's inequality, both probabilities fall as n grows.

For Gaussian noise, the expectation of (-1)^(u_i + u_j) is the mean of f(t + pi)^2 f(t)^(n-2),
divided by I_n. By Poisson's summation formula, f is positive and decreases from 0 to pi. The
expectation is therefore positive, and it falls as n grows, because f^n concentrates around 0.

Cells without a total are the limit of large n.
"""

from __future__ import annotations

import math

from isdp.accounting.guarantees import upper_product
from isdp.accounting.loss_distributions import LOSSES, GaussianLoss, Loss, PureLoss
from isdp.arrays import IntArray
from isdp.checks import check_in_range
from isdp.constraints.blocks import block_sizes
from isdp.errors import InputError
from isdp.exact.distributions import Part, sum_distribution
from isdp.mechanisms.base import Energy

ERROR = 1e-9  # bound on the error of a probability of `isdp.exact.distributions`


def loss_of_move(energy: Energy, blocks: IntArray) -> Loss:
    """Return the privacy loss if one person moves between any two cells with the same totals.

    Parameters
    ----------
    energy : Energy
        The energy of l1 generalized Laplace noise or of generalized Gaussian noise.
    blocks : int64 array, shape (cells,)
        The result of `blocks_of`.

    Raises
    ------
    InputError
        If no two cells have the same totals, the loss is out of range, or the distribution needs a
        grid that is too large.
    """
    sizes = block_sizes(blocks)
    several = sizes[1:][sizes[1:] > 1].tolist()
    # from the smallest block to cells without a total
    extremes = [min(several), max(several)] if several else []
    if sizes[0] > 1:
        extremes = [*extremes[:1], 0]
    if not extremes:
        raise InputError("exact: no two cells have the same totals. Use other invariants.")
    loss = check_in_range("exact: the loss", float(upper_product(energy.rate, 2, 1.0)), *LOSSES)
    if energy.power == 1:
        at_zero = sum_distribution(energy, [Part(extremes[0], 1)]).pmf
        moved = (at_zero[len(at_zero) // 2] + ERROR) / math.tanh(energy.rate)
        return PureLoss(loss, min(1.0, float(moved)))
    return GaussianLoss(loss, tuple(_parities(energy, cells) for cells in set(extremes)))


def _parities(energy: Energy, cells: int) -> tuple[float, float]:
    """Bound the probabilities that the noise of two cells of a block has an even or an odd sum."""
    pmf = sum_distribution(energy, [Part(cells, 2)]).pmf
    even = float(pmf[len(pmf) // 2 % 2 :: 2].sum())
    return min(1.0, even + ERROR), min(1.0, 1 - even + ERROR)
