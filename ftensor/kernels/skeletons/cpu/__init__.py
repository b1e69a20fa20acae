"""Skeletons that no image has: for devices that compile kernels as they are needed and take vectors
anywhere."""

from . import conv_depthwise, conv_direct, conv_weight, extreme, max_pool, radix_sort, series, sort_rows, take

__all__ = [
    "conv_depthwise",
    "conv_direct",
    "conv_weight",
    "extreme",
    "max_pool",
    "radix_sort",
    "series",
    "sort_rows",
    "take",
]
