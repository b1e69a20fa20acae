"""C simulation: the host's compiler as a device."""
