"""Scorecard, notebooks and front page, which compare the results with the papers' claims."""
