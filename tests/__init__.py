"""A package, so that test files can share what they need; programs of tests import it, too."""
