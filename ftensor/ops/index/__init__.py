"""Ops that select by indices and masks."""

CATEGORY = "indexing"
