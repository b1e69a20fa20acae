"""Layers over sequences: attention and recurrent cells."""
