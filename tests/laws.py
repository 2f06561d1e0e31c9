"""Laws of which the rate is a fraction, as a release asks for them."""

from fractions import Fraction

from isdp.mechanisms.base import Energy, Law


def l1(epsilon):
    """Weight exp(-epsilon ||u||_1)."""
    return Law("l1 noise", Energy(1, False, Fraction(epsilon)))


def gaussian(variance):
    """Weight exp(-||u||_2^2 / (2 variance))."""
    return Law("Gaussian noise", Energy(2, False, 1 / (2 * Fraction(variance))))
