"""Ops that move elements: joined, repeated, flipped, padded."""
