"""Convolutions: packing of planes and panels, and sums of products over windows of packed
planes."""

from .bytes import bytes_keys, supports_operands
from .conv import ConvPackGeometry, conv_key, conv_pack_key, most_taps
from .key import ConvGeometry, ConvKey, InputStrip, Phase, PhasePart, input_strip, serves

__all__ = [
    "ConvGeometry",
    "ConvKey",
    "ConvPackGeometry",
    "InputStrip",
    "Phase",
    "PhasePart",
    "bytes_keys",
    "conv_key",
    "conv_pack_key",
    "input_strip",
    "most_taps",
    "serves",
    "supports_operands",
]  # fmt: skip
