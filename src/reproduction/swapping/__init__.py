"""Permutation swapping: results of the slides, and a comparison with noise."""
