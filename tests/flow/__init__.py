"""Builds, emulation, processes, commands: these tests open their own devices. Runs once."""
