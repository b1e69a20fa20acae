"""Neural networks' functions."""
