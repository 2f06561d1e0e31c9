"""Theory of subspace mechanisms that only this study needs."""
