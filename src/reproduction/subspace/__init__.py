"""Subspace differential privacy (SDP): mechanisms, guarantees, and both examples of the paper."""
