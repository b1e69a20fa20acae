"""What the HLS C++ of packed products and of their panels has in common."""

from __future__ import annotations

from collections.abc import Sequence

from ...ports import PORT_BYTES
from ...words import Argument
from .key import GemmKey, turns


def places(key: GemmKey) -> dict[str, str]:
    """What the places of the templates hold."""
    return {
        "distance": str(turns(key)),
        "parts": str(key.parts),
        "vectors": str(key.vectors),
        "step": str(key.columns * key.parts),
    }


def wide_arguments(key: GemmKey, own: Sequence[Argument]) -> tuple[Argument, ...]:
    """The arguments with panels and rows of results as vectors."""
    lanes = {
        "out": key.lanes * key.parts,
        "a_panels": key.rows * key.parts,
        "b_panels": min(key.columns * key.parts, PORT_BYTES * key.parts // key.dtype.compute.itemsize),
    }
    arguments = []
    for a in own:
        of = a.c.removeprefix("const ").removesuffix(" *")
        wide = a.c.replace(of, f"hls::vector<{of}, {lanes[a.name]}>") if a.name in lanes else a.c
        arguments.append(a._replace(c=wide))
    return tuple(arguments)
