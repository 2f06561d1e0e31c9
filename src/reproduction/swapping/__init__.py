"""Permutation swapping (SWAP): numbers and tables of the slides, and a comparison with noise."""
