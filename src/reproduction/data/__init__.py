"""Published counts and demonstration data."""
