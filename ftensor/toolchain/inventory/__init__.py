"""Inventories: lists of an image's kernels, read, checked and expanded into keys."""
