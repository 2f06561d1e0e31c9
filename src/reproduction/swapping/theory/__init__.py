"""Privacy losses, attacks and estimates for swapping that only this study needs."""
