"""Derivatives, under the names by which torch asks a backend for them."""

CATEGORY = "gradient"
