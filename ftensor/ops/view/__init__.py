"""Ops that look at the same memory otherwise."""
