"""Ops that fold dims away."""

CATEGORY = "reductions"
