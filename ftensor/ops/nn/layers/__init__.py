"""Layers: activations, normalizations, dropout, embeddings, and what trains them."""
