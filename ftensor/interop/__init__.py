"""Exchange of tensors with NumPy, torch and anything that speaks DLPack."""
