"""Losses and distances: what a result costs, and how far two are apart."""
