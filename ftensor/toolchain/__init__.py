"""Builds an image for a board from an inventory of kernels, and describes its contents."""
