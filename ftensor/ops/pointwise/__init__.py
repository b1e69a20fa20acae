"""Ops on one element of each input at a time."""
