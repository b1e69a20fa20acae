"""Quantized ops: an integer represents the real number (integer - zero point) * scale."""

CATEGORY = "quantized"
