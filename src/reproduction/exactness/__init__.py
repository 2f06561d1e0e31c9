"""Exact draws instead of every Markov chain (ISDP, Section 6)."""
