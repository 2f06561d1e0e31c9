"""Exact draws by messages along a tree of partial sums, for product laws."""

from isdp.exact.messages.sampler import DynamicSampler

__all__ = ["DynamicSampler"]
