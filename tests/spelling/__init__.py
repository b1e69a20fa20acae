"""Forms, arguments, errors and output of calls on the default device. These tests run once."""
