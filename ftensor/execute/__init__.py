"""From a call to a launch, which is prepared once and run many times; results; host fallback."""
