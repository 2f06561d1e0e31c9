"""Mechanisms of real-valued noise on the null space of the invariants."""
