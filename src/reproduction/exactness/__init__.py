"""Exact draws in place of every Markov chain (ISDP, Section 6)."""
