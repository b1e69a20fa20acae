"""Ops that put elements in other places: joined, repeated, turned, padded."""
