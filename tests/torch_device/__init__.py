"""ftensor as a device of torch: features one by one against torch's CPU."""

import os

import pytest

if os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1":  # in CI torch is there, or it is an error
    pytest.importorskip("torch", reason="torch is not installed")
