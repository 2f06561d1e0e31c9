"""Exact samplers under totals that overlap."""
