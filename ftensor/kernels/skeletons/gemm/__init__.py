"""Matrix products: of small matrices where they lie, of large ones from packed panels."""

from .along import AlongGeometry, along_key, along_serves
from .direct import DirectGeometry, direct_key, near_key
from .key import GemmKey, ProductGeometry
from .pack import PackGeometry, PackSide, pack_key
from .packed import packed_key

__all__ = [
    "AlongGeometry", "DirectGeometry", "GemmKey", "PackGeometry", "PackSide", "ProductGeometry",
    "along_key", "along_serves", "direct_key", "near_key", "pack_key", "packed_key",
]  # fmt: skip
