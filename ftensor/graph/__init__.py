"""Graphs: a function's launches as data, fused into one launch."""
