"""Comparison of all systems on the 2010 counts by race, Hispanic origin and adulthood."""
