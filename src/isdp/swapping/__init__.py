"""Permutation swapping: the mechanism of three censuses, with its exact privacy loss."""
