"""Exact draws by variable elimination on a tree of partial sums."""

from isdp.exact.elimination.bounded_sampler import BoundedEliminationSampler

__all__ = ["BoundedEliminationSampler"]
