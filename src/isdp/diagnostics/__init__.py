"""Convergence of chains, distances from known distributions, and summaries of draws."""

from isdp.diagnostics.chains import convergence

__all__ = ["convergence"]
