"""Results on implied constraints that only this study needs."""
