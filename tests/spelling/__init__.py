"""What a call says, takes, refuses and prints, on the default device. Runs once."""
