"""Spatial layers: convolutions, pools, windows, interpolation."""
