"""What devices compute and hold: runs on every target."""
