"""Convolutions: packing of planes and panels, and sums of products over windows of packed
planes."""

from .bytes import bytes_keys, supports_operands
from .conv import ConvPackGeometry, conv_key, conv_pack_key, most_taps
from .key import ConvGeometry, ConvKey, Phase, PhasePart, Strip, serves, strip

__all__ = [
    "ConvGeometry",
    "ConvKey",
    "ConvPackGeometry",
    "Phase",
    "PhasePart",
    "Strip",
    "bytes_keys",
    "conv_key",
    "conv_pack_key",
    "most_taps",
    "serves",
    "strip",
    "supports_operands",
]  # fmt: skip
