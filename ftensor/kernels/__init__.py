"""Which kernel computes a plan: keys, program texts, and how a backend gets the program."""
