"""Comparison of the Markov chains of *Integer Subspace Differential Privacy* with exact draws."""
