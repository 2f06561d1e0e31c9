"""Noise with a term for each measured total, compared with TopDown on the 2010 counts."""
