"""Subspace differential privacy: its mechanisms, both of its examples, and what they guarantee."""
