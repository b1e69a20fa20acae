"""Inventories: which kernels an image shall hold, read, checked and expanded into keys."""
