"""The refusal of noise whose sums could exceed the range of exact arithmetic."""

from __future__ import annotations

from isdp.checks import refuse_overflow
from isdp.mechanisms.generalized_laplace import bound_gamma


def refuse_large_sums(cells: int, epsilon: float) -> None:
    """Raise `InputError` if the sum of noise reaches 2^53 with a probability of 1e-20 or more."""
    name = f"the sum of noise in {cells} cells at epsilon {epsilon:g}"
    advice = "Use a larger epsilon or fewer cells."
    refuse_overflow("exact", name, bound_gamma(cells, epsilon), 53, advice)
