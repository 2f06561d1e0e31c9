"""Noise conditioned on totals and on non-negative counts (CDP)."""
