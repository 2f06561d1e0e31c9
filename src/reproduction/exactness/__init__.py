"""Comparison of the Markov chains with exact draws (ISDP, Section 6)."""
