"""A package, so that test files can share strategies; and how hypothesis runs in all of them."""

from hypothesis import settings

# An example that is slow on a busy machine, or that waits for a kernel's build, has not failed.
settings.register_profile("no deadline", settings(), deadline=None)
settings.load_profile("no deadline")
