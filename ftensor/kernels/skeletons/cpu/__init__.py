"""Skeletons that no image contains, for devices that compile kernels on demand and have unaligned
vectors."""

from . import extreme, max_pool, merged_launch, recurrent, take

__all__ = ["extreme", "max_pool", "merged_launch", "recurrent", "take"]
