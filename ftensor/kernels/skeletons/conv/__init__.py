"""Convolutions: planes and panels are packed, and products summed over windows where they lie."""

from .conv import ConvGeometry, Strip, conv_key, most_taps, strip
from .key import ConvKey, Part, Phase, serves
from .pack import ConvPackGeometry, conv_pack_key

__all__ = [
    "ConvGeometry", "ConvKey", "ConvPackGeometry", "Part", "Phase", "Strip", "conv_key",
    "conv_pack_key", "most_taps", "serves", "strip",
]  # fmt: skip
