"""ftensor as a device of torch: features one by one, against torch's CPU."""

import os

import pytest

if os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1":  # CI has torch; without it, CI fails
    pytest.importorskip("torch", reason="torch is not installed")
