"""Noise conditioned on sums and on non-negative counts (CDP)."""
