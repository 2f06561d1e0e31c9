"""Reproduction of the papers with `isdp`: experiments, figures, data and review pages."""
