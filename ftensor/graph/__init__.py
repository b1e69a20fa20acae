"""Graphs: what a function's launches compute, as data, and one launch made of all of them."""
