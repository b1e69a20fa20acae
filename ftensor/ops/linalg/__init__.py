"""Products of matrices, and ops based on them."""

CATEGORY = "products"
