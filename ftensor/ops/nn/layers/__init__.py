"""Layers: activations, normalizations, dropout, embeddings, and optimizer updates."""
