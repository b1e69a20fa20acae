"""Which kernel computes a plan: keys, program texts, and how a backend gets the program."""

# Whoever asks for any of it finds the skeletons registered.
from . import skeletons as skeletons
