"""Convolutions: planes and panels are packed, and products summed over windows where they lie."""

from .bytes import bytes_keys, serves_bytes
from .conv import conv_key, most_taps
from .geometry import ConvGeometry, Strip, strip
from .key import ConvKey, Part, Phase, serves
from .pack import ConvPackGeometry, conv_pack_key

__all__ = [
    "ConvGeometry", "ConvKey", "ConvPackGeometry", "Part", "Phase", "Strip", "bytes_keys",
    "conv_key", "conv_pack_key", "most_taps", "serves", "serves_bytes", "strip",
]  # fmt: skip
