"""Layers over space: convolutions, pools, windows, interpolation."""
