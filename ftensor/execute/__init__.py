"""From a call to a launch: prepared once, run many times; results, fallback."""
