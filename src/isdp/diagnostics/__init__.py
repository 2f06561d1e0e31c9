"""How good draws are: agreement of chains, distances from known laws, summaries."""

from isdp.diagnostics.chains import convergence

__all__ = ["convergence"]
