"""Exact one-dimensional draws from random bits."""
