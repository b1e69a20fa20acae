"""Exchange of tensors with NumPy, torch, DLPack producers and consumers, pickle and files."""
