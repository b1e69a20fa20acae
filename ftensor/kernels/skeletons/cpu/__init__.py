"""Skeletons that no image has: for devices that compile kernels as they are needed and take vectors
anywhere."""

from . import extreme, max_pool, series, take

__all__ = ["extreme", "max_pool", "series", "take"]
