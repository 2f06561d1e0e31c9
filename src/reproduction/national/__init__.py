"""Runs for a cluster: all states by all systems at many budgets, and TopDown down to blocks."""
