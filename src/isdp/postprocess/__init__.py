"""Post-processing of noisy tables, which does not change their privacy guarantee."""

from isdp.postprocess.projection import nearest_l1, nearest_l2

__all__ = ["nearest_l1", "nearest_l2"]
