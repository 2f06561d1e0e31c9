"""Accuracy and exact samplers of noise with a term for each set of a nested family."""
