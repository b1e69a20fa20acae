"""From an inventory of kernels to an image for a board, and what such an image holds."""
