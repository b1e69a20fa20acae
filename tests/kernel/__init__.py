"""Results and memory of devices. These tests run on every target."""
