"""Permutation swapping (SWAP): results of the slides, and a comparison with noise."""
