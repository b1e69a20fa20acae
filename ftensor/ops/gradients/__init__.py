"""Derivatives, under the names of torch's backend functions."""

CATEGORY = "gradient"
