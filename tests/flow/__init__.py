"""Builds, emulation, processes, commands. These tests open their own devices, and run once."""
