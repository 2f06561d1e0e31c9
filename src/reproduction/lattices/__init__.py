"""Experiments on integer lattices (ISDP, Sections 5, E.2 and E.3)."""
