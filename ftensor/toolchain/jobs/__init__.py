"""Runs compilers: parallel jobs, a build folder's state, progress."""
