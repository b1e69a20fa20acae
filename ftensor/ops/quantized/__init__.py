"""Integers that stand for real numbers: (integer - zero point) * scale."""

CATEGORY = "quantized"
