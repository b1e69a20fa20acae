"""Thresholds of a device's family as `ftensor tune` measured them on the device at hand, kept in
the user's cache of compiled kernels."""

from __future__ import annotations

import json
import os
from dataclasses import replace

from .. import errors
from . import cache
from .targets import TUNED, Target


def as_tuned(target: Target, name: str) -> Target:
    """The family with what is kept under a name; as it was where that is nothing, and where
    FTENSOR_TUNED is 0."""
    text = os.environ.get("FTENSOR_TUNED", "").strip()
    if text not in ("", "0", "1"):
        raise errors.environment_value("FTENSOR_TUNED", text, "0 or 1")
    kept = cache.get(name) if text != "0" else None
    return target if kept is None else replace(target, **json.loads(kept))


def keep(target: Target, name: str) -> bool:
    """Keep a family's thresholds for later processes; False where the cache can't be written."""
    kept = {field: getattr(target, field) for field in TUNED}
    return cache.put(name, json.dumps(kept).encode()) is not None


def forget(name: str) -> None:
    """Have the family's own thresholds again, in later processes."""
    cache.drop(name)
