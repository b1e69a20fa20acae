"""Tests without a device: plans, formats, descriptions and texts. Runs once."""
