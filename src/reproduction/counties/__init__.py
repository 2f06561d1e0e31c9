"""The county experiment of *Integer Subspace Differential Privacy*."""
