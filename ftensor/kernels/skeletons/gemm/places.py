"""What the HLS C++ of packed products and of their panels has in common."""

from __future__ import annotations

from ...ports import PORT_BYTES
from .key import GemmKey, turns


def places(key: GemmKey) -> dict[str, str]:
    """What the places of the templates hold."""
    return {
        "distance": str(turns(key)),
        "parts": str(key.parts),
        "vectors": str(key.vectors),
        "step": str(key.columns * key.parts),
    }


def panel_beats(key: GemmKey) -> dict[str, int]:
    """Numbers of a beat of each panel."""
    most = PORT_BYTES * key.parts // key.dtype.compute.itemsize
    return {"a_panels": key.rows * key.parts, "b_panels": min(key.columns * key.parts, most)}
