"""A package, so that test files can share helpers. Programs run by tests import it too."""
