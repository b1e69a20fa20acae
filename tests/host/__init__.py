"""No device is asked for: plans, formats, descriptions and texts. Runs once."""
