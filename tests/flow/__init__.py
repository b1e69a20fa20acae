"""Builds, emulation, processes, commands: these open their own devices. Runs once."""
