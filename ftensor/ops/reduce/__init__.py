"""Reductions over dims."""

CATEGORY = "reductions"
