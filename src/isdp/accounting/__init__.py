"""What a release costs: guarantees as values, their composition, and conversions by name."""

from isdp.accounting.guarantees import Guarantee, upper

__all__ = ["Guarantee", "upper"]
