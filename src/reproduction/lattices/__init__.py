"""The experiments on integer lattices of *Integer Subspace Differential Privacy*."""
