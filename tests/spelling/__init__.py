"""Spellings, arguments, refusals and output of calls, on the default device. Runs once."""
