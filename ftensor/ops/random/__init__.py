"""Random numbers: tensors of them, distributions, choices."""

CATEGORY = "random"
