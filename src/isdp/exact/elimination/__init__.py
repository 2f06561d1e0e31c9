"""Exact draws by variable elimination: messages along a tree of partial sums."""

from isdp.exact.elimination.bounded_sampler import DynamicSampler

__all__ = ["DynamicSampler"]
