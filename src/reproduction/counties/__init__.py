"""Noise in county populations under the total of each state (ISDP, Sections 5 and E.4)."""
