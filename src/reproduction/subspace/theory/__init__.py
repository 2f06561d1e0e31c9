"""Results on subspace mechanisms that only this study needs."""
