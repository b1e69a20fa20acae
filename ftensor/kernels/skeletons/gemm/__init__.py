"""Matrix products: small matrices in place, large matrices from packed panels."""

from .direct import (
    DirectGeometry,
    DotProductGeometry,
    cpu_direct_key,
    direct_key,
    dot_product_key,
    supports_dot_product,
)
from .key import GemmKey, ProductGeometry
from .packed import PackGeometry, PackSide, pack_key, packed_key

__all__ = [
    "DirectGeometry", "DotProductGeometry", "GemmKey", "PackGeometry", "PackSide", "ProductGeometry", "cpu_direct_key",
    "direct_key", "dot_product_key", "pack_key", "packed_key", "supports_dot_product",
]  # fmt: skip
