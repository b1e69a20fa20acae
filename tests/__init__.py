"""A package, so that test files can share helpers; programs of tests import it too."""
