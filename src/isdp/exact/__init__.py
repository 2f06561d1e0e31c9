"""Exact laws and exact draws: no Markov chain, no convergence error."""

from isdp.exact.laws import EnumeratedLaw, TotalLaw, enumerate_law, total_law

__all__ = ["EnumeratedLaw", "TotalLaw", "enumerate_law", "total_law"]
