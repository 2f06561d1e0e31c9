"""Runs too many for one machine: all states by all systems at many budgets, and down to blocks."""
