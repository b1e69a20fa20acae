"""A package, so that test files can share strategies; and how hypothesis runs in all of them."""

import os

from hypothesis import HealthCheck, settings

# How long an example takes, to make or to run, is a matter of how busy the machine is.
settings.register_profile(
    "any speed",
    settings(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
# Every run sees the same examples, so that what fails was changed; HYPOTHESIS_PROFILE="any speed"
# looks for others.
settings.register_profile(
    "the same", settings.get_profile("any speed"), derandomize=True, database=None
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "the same"))
