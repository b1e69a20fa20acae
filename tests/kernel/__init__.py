"""Results and memory of devices: runs on every target."""
