"""Dtypes, devices and printing of tensors."""
