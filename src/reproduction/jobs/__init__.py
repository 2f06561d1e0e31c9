"""Modules that the jobs of all studies share."""
