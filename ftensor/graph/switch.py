"""Turning fusion off: with FTENSOR_FUSE=0 every op is launched by itself, so that a wrong value can
be bisected."""

from __future__ import annotations

import os

from .. import errors

VARIABLE = "FTENSOR_FUSE"


def fusion_enabled() -> bool:
    """True if calls may be traced and fused; the default. False if FTENSOR_FUSE is 0.

    Graphs that the process has already made are kept, so the variable is set before the first op.
    Raises ValueError if the variable is neither 0 nor 1.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if text not in ("", "0", "1"):
        raise errors.environment_value(VARIABLE, text, "0 or 1")
    return text != "0"
