"""The privacy loss of permutation swapping: the published bound, and exact losses."""
