"""Permutation swapping (SWAP): the slides' numbers and tables, and a comparison with noise."""
