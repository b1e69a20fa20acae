"""Ops that go by the order of elements: scans, sorting, searching, selecting, counting."""
