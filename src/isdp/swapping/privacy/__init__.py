"""The published privacy bound of permutation swapping, and its exact worst-case loss."""
