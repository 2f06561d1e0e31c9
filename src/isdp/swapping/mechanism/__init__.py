"""Permutation swapping, and uniform draws of derangements."""
