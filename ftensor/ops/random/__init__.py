"""Random tensors, distributions and choices."""

CATEGORY = "random"
