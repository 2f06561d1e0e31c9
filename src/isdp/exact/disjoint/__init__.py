"""Exact samplers under totals of disjoint blocks of cells."""
