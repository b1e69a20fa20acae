"""Ops based on the order of elements: scans, sorting, searching, selecting, counting."""
