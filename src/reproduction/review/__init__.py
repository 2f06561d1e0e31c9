"""Scorecard, notebooks and front page: what the results say of the papers' claims."""
