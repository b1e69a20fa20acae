"""What a manifest says of a group."""

from __future__ import annotations

from collections.abc import Mapping

from ..image.manifest import ArgumentRecord, KernelRecord, MemberRecord
from ..kernels.board_skeleton import board_skeleton_of
from .group import Group, arguments, call
from .joint import hardware


def record(group: Group, sha256: str, banks: Mapping[str, str] | None = None) -> KernelRecord:
    """The record of one kernel of an image; `banks` are the memories of its pointer arguments."""
    where = banks or {}
    return KernelRecord(
        group.name,
        group.skeleton,
        group.structure,
        group.lanes,
        group.units,
        sha256,
        tuple(ArgumentRecord(a.name, a.what, a.c, where.get(a.name, "")) for a in arguments(group)),
        tuple(_member(group, opcode) for opcode in range(len(group.members)) if group.started),
    )


def _member(group: Group, opcode: int) -> MemberRecord:
    key = group.members[opcode]
    r, how = board_skeleton_of(key).record(key), call(group, opcode)
    if not group.keys:
        opcode = group.bodies.index(hardware(key))
    return MemberRecord(key.entry, opcode, r.op, r.outs, r.ins, r.kinds, r.compute, how, r.params)
