"""Results on implied constraints and noise that only this study needs."""
