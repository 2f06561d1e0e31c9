"""Draws by variable elimination on a tree of partial sums."""

from isdp.exact.elimination.truncated_sampler import TruncatedEliminationSampler

__all__ = ["TruncatedEliminationSampler"]
