"""Subspace differential privacy (SDP): its mechanisms, both examples, and the guarantees."""
