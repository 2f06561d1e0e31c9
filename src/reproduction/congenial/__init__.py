"""Conditional noise under sums and without negative counts (CDP)."""
