"""Convergence of chains, distances between samples, and summaries of draws."""

from isdp.diagnostics.chains import convergence

__all__ = ["convergence"]
