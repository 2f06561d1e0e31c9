"""Mechanisms, guarantees and examples of *Subspace Differential Privacy*."""
