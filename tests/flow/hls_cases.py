"""Members and groups for the tests of HLS sources, and launches compared with those of the C
simulation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import ftensor as ft
from ftensor.dtypes import dtype
from ftensor.kernels.key import BY_VALUE, KernelKey, Port, Reduction
from ftensor.toolchain.group import KernelGroup

from .hls_kernels import launch, memory, port_values, reference, same, values

STRUCTURES = ("dataflow", "burst", "loop")


def port(of: dtype, kind: str = "v", sees: str = "V") -> Port:
    return Port(of, kind, sees)


def key(
    name: str,
    body: str,
    out: Port,
    *ins: Port,
    lanes: int = 16,
    skeleton: str = "map",
    compute: dtype = ft.float32,
    **more: Any,
) -> KernelKey:
    return KernelKey(name, skeleton, compute, lanes, (out,), ins, (body,), **more)


F = ft.float32


RUN, ONE = port(F), port(F, "s")


ARITHMETIC = (
    key("add", "a + b", RUN, RUN, RUN),
    key("add", "a + b", RUN, RUN, ONE),
    key("relu", "a > K(0) ? a : K(0)", RUN, RUN),
    key("mul", "a * b", RUN, RUN, Port(F, BY_VALUE)),
    key("fill", "value", RUN, params=("value",)),
    key("clamp", "ft_within(a, lo, hi)", RUN, RUN, params=("lo", "hi")),
    key("bitwise_xor", "a ^ b", port(ft.int32), port(ft.int32), port(ft.int32), compute=ft.int32),
    key("amax", "ft_max(a, b)", port(ft.int32), port(ft.int32, "s"), port(ft.int32), compute=ft.int32),
)


STRIDED = (
    key("add", "a + b", port(F, "x"), port(F, "v"), port(F, "s"), lanes=1, skeleton="rows"),
    key("neg", "-a", port(F, "x"), port(F, "x"), lanes=1, skeleton="rows"),
    key("mul", "a * b", port(F), Port(F, BY_VALUE), port(F, "x"), lanes=1, skeleton="rows"),
    key("fill", "value", port(F, "x"), lanes=1, skeleton="rows", params=("value",)),
)


SUMS = tuple(
    replace(
        key(name, finish, port(of), port(of), skeleton="reduce_inner", compute=of),
        params=("n",) if name == "mean" else (),
        reduction=Reduction("a", fold, identity, vectors=4),
    )
    for name, finish, of, fold, identity in (
        ("sum", "x", F, "x + y", "K(0)"),
        ("mean", "x / n", F, "x + y", "K(0)"),
        ("amax", "x", ft.int32, "ft_max(x, y)", "FT_LOWEST"),
    )
)


@cache
def arithmetic(structure: str) -> KernelGroup:
    """A mixed group: two dtypes, inputs that some members lack, numbers, single elements."""
    return KernelGroup("arithmetic", ARITHMETIC, structure=structure)


def check_map(group: KernelGroup, opcode: int, n: int, units: int, offset: int = 0, seed: int = 1) -> None:
    """Compares a launch of a member by the group's kernel and by its own kernel, on equal
    memory."""
    member = group.keys[opcode]
    pointers = [p for p in (*member.outs, *member.ins) if p.kind != BY_VALUE]
    buffers, offsets = [], []
    for k, p in enumerate(pointers):
        single = p.kind == "s"
        # A vector starts at a multiple of its width, a single element anywhere.
        start = offset * group.lanes if not single else 3 + offset
        count = start + (1 if single else n)
        written = k < len(member.outs)
        fresh = memory(count * p.dtype.itemsize, seed) if written else port_values(p, count, seed + k)
        buffers.append(fresh)
        offsets.append(start)
    scalars = scalar_values(member, seed)
    results = []
    for run in ("mine", "theirs"):
        mine = [b.copy() for b in buffers]
        aligned = [place(b) for b in mine]
        arguments = [a.ctypes.data for a in aligned] + offsets + scalars + [n]
        if run == "mine":
            launch(group, opcode, arguments, units)
        else:
            for unit in range(units):
                reference(member)(*arguments, unit, units)
        results.append(aligned)
    for p, x, y in zip(pointers, *results):
        assert same(x, y, p.dtype), (member.name, p, n, units)
    assert n < 8 or not np.array_equal(results[0][0], buffers[0])


def check_rows(
    group: KernelGroup, opcode: int, shape: tuple[int, ...], strides: list[tuple[int, ...]], units: int, chunk: int = 7
) -> None:
    """Compares a launch of a strided member by the group's kernel and by its own kernel."""
    member = group.keys[opcode]
    pointers = [p for p in (*member.outs, *member.ins) if p.kind != BY_VALUE]
    inner, outer = shape[-1], shape[:-1]
    chunks = -(-inner // chunk)
    rows = int(np.prod(outer, dtype=int))
    geometry = [len(outer), inner, chunk, chunks, rows * chunks, 0, *outer]
    for s in strides:
        geometry += s[:-1]
    geometry += [s[-1] for s in strides]
    buffers, offsets = [], []
    for k, (p, s) in enumerate(zip(pointers, strides)):
        low = sum(min(0, (n - 1) * step) for n, step in zip(shape, s))
        high = sum(max(0, (n - 1) * step) for n, step in zip(shape, s))
        offsets.append(3 - low)
        count = high - low + 4
        written = k < len(member.outs)
        buffers.append(memory(count * p.dtype.itemsize) if written else port_values(p, count, k))
    steps = np.array(geometry, np.int32)
    results = []
    for run in ("mine", "theirs"):
        aligned = [place(b) for b in buffers]
        arguments = [a.ctypes.data for a in aligned] + offsets + scalar_values(member, 1)
        arguments.append(steps.ctypes.data)
        if run == "mine":
            launch(group, opcode, arguments, units)
        else:
            for unit in range(units):
                reference(member)(*arguments, unit, units)
        results.append(aligned)
    for p, x, y in zip(pointers, *results):
        assert same(x, y, p.dtype), (member.name, p, shape, units)
    assert not np.array_equal(results[0][0], buffers[0])


def place(b: np.ndarray) -> np.ndarray:
    """Returns a copy that starts at a multiple of 64 bytes."""
    raw = np.empty(b.size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    raw[start : start + b.size] = b
    return raw[start : start + b.size]


def scalar_values(member: KernelKey, seed: int) -> list[Any]:
    """Returns numbers for the scalar arguments of a member."""
    names = sum(p.kind == BY_VALUE for p in member.ins) + len(member.params)
    real = member.compute.to_real() if member.compute.is_complex else member.compute
    count = names * (2 if member.compute.is_complex else 1)
    if real.kind == "f":
        return [0.5 + 0.25 * k for k in range(count)]
    return [int(v) & 1 for v in values(real, count, seed)] if real.kind == "b" else [3 + k for k in range(count)]
