"""The skeletons that come with ftensor: a module for each, which registers it."""

from . import compact, gemm, map, reduce, rows

__all__ = ["compact", "gemm", "map", "reduce", "rows"]
