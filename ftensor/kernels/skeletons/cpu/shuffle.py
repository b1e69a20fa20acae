"""shuffle: the order of random keys (hls/skeleton/shuffle.h)."""

from __future__ import annotations

from dataclasses import dataclass

from ....dtypes import dtype, int64
from ...geometry import Geometry
from ...skeleton import Parameter, Skeleton, c_parameters, register

BUCKETS, ORDER = range(2)  # modes of a launch


@dataclass(frozen=True)
class ShuffleKey:
    """Key of the shuffle kernel."""

    lanes: int = 1
    skeleton = "shuffle"
    entry = "ft_shuffle"


@dataclass(frozen=True)
class ShuffleGeometry(Geometry):
    """Geometry buffer: `n` keys in 2 ** `bits` buckets, and the mode."""

    mode: int
    n: int
    bits: int


class Shuffle(Skeleton[ShuffleKey]):
    """Sorts evenly spread keys by buckets."""

    name = "shuffle"
    geometry = ShuffleGeometry

    def parameters(self, key: ShuffleKey) -> tuple[Parameter, ...]:
        return c_parameters("long *out, const long *keys, int *moved, int *ends", "out keys")

    def compute(self, key: ShuffleKey) -> dtype:
        return int64

    def title(self, key: ShuffleKey) -> str:
        return "randperm"


register(Shuffle())
