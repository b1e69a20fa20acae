"""Matrix products: small matrices in place, large matrices from packed panels."""

from .direct import AlongGeometry, DirectGeometry, along_key, along_serves, direct_key, near_key
from .key import GemmKey, ProductGeometry
from .packed import PackGeometry, PackSide, pack_key, packed_key

__all__ = [
    "AlongGeometry", "DirectGeometry", "GemmKey", "PackGeometry", "PackSide", "ProductGeometry",
    "along_key", "along_serves", "direct_key", "near_key", "pack_key", "packed_key",
]  # fmt: skip
