"""Ops that return views of the same memory."""
