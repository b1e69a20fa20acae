"""The OpenCL kernels that one kernel of an image for Intel FPGAs consists of."""

from __future__ import annotations

from collections.abc import Sequence

from .manifest import StageRecord

# In beats: as deep as one block memory is.
CHANNEL_DEPTH = 512
COMMON = ("opcode", "n", "ft_unit", "ft_units")


def uses_channels(skeleton: str, structure: str) -> bool:
    """Whether load, compute and store are kernels of their own, joined by channels. Of a graph the
    stages are, whose manifest names them."""
    return skeleton == "map" and structure == "dataflow"


def copy_name(name: str, copy: int) -> str:
    """The name of a compute unit's own kernel; there is one for each, as all run at once."""
    return name if copy == 0 else f"{name}_{copy}"


def stages(
    name: str, skeleton: str, structure: str, arguments: Sequence[str], copy: int = 0
) -> tuple[StageRecord, ...]:
    """The OpenCL kernels of one compute unit, to be launched together."""
    own = copy_name(name, copy)
    if not uses_channels(skeleton, structure):
        return (StageRecord(own, tuple(arguments)),)
    inputs = [a for a in arguments if a.startswith("in_")]
    wanted = {
        "load": [*inputs, *COMMON],
        "compute": [*(a for a in arguments if a.startswith("value")), "out0_offset", *COMMON],
        "store": ["out0", "out0_offset", *COMMON[1:]],
    }
    if not inputs:
        del wanted["load"]
    return tuple(
        StageRecord(f"{own}_{stage}", tuple(a for a in arguments if a in names)) for stage, names in wanted.items()
    )
