"""Convolutions: planes and panels are packed, and products summed over windows where they lie."""

from .conv import ConvGeometry, Strip, conv_key, most_taps, strip
from .depthwise import DepthwiseGeometry, depthwise_conv_key
from .direct import DirectConvGeometry, Pieces, direct_conv_key
from .key import ConvKey, Part, Phase, serves
from .pack import ConvPackGeometry, conv_pack_key
from .weight import ConvWeightGeometry, conv_weight_key

__all__ = [
    "ConvGeometry", "ConvKey", "ConvPackGeometry", "ConvWeightGeometry", "DepthwiseGeometry",
    "DirectConvGeometry", "Part", "Phase", "Pieces", "Strip", "conv_key", "conv_pack_key",
    "conv_weight_key", "depthwise_conv_key", "direct_conv_key", "most_taps", "serves", "strip",
]  # fmt: skip
