"""Spectral ops: Fourier transforms, windows, filters."""
