"""HLS sources compiled by g++ have the bits of the C simulation's own kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftensor as ft
from ftensor.dtypes import dtype
from ftensor.kernels.key import lanes_for
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain.group import KernelGroup

from .hls_cases import ARITHMETIC, RUN, STRIDED, STRUCTURES, arithmetic, check_map, check_rows, key, place, port
from .hls_kernels import launch, memory, port_values

pytestmark = [pytest.mark.skipif(csim_compiler() is None, reason="the C simulation needs a C++ compiler")]


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("opcode", range(len(ARITHMETIC)))
def test_map_opcodes(structure: str, opcode: int) -> None:
    """Runs every member of a mixed group, with remainders, offsets and several units."""
    for n, units, offset in ((1, 1, 0), (16, 1, 2), (37, 1, 1), (1040, 3, 0), (1027, 2, 5)):
        check_map(arithmetic(structure), opcode, n, units, offset)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(STRUCTURES),
    st.integers(0, len(ARITHMETIC) - 1),
    st.integers(1, 2300),
    st.integers(1, 5),
    st.integers(0, 40),
)
def test_any_length_offset_and_units(structure: str, opcode: int, n: int, units: int, offset: int) -> None:
    """Blocks, beats and slabs fit or don't. Memory around the output stays unchanged."""
    check_map(arithmetic(structure), opcode, n, units, offset)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_one_lane_needs_no_alignment(structure: str) -> None:
    """Ports of single elements may start anywhere."""
    members = tuple(replace(k, lanes=1) for k in ARITHMETIC[:4])
    group = KernelGroup("narrow", members, structure=structure)
    for opcode, offset in enumerate((0, 1, 7, 13)):
        check_map(group, opcode, 41, 3, offset)


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128")  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name: str) -> None:
    """Each dtype is read, computed and written, and converted to others of its width."""
    of: dtype = getattr(ft, name)
    lanes = lanes_for([of], of.compute, 64)
    both = "ft_cadd(a, b)" if of.is_complex else "a | b" if name == "bool" else "a + b"
    less = "ft_cneg(a)" if of.is_complex else "a" if name == "bool" else "K(0) - a"
    members = [
        key("add", both, port(of), port(of), port(of), lanes=lanes, compute=of.compute),
        key("neg", less, port(of), port(of), lanes=lanes, compute=of.compute),
        key("where", "a ? b : K(1)", port(of), port(of, "v", "M"), port(of), lanes=lanes, compute=of.compute),
    ]
    if of.is_complex:
        members[2] = key("real", "a.re", port(of, "v", "R"), port(of), lanes=lanes, compute=of)
    twins = [d for d in map(ft.__dict__.get, DTYPES) if d.itemsize == of.itemsize and d is not of]
    members += [
        key("copy", "a", port(d), port(of), lanes=lanes, compute=of.compute)
        for d in twins
        if lanes_for([d, of], of.compute, 64) == lanes
    ]
    structure = STRUCTURES[DTYPES.index(name) % 3]
    group = KernelGroup(f"of_{name}", tuple(members), structure=structure)
    for opcode in range(len(members)):
        check_map(group, opcode, 5 * lanes + lanes // 2 + 1, 2, 1)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_positions(structure: str) -> None:
    """One op uses its elements' positions, the other does not."""
    place_ = "FT_CONVERT(FT_T, FT_POSITION) * step + start"
    members = (
        key("arange", place_, RUN, params=("start", "step")),
        key("neg", "-a", RUN, RUN),
        key("steps", "FT_POSITION < K(40) ? FT_POSITION : -FT_POSITION", port(ft.int32), compute=ft.int32),
    )
    group = KernelGroup("places", members, structure=structure)
    for opcode in range(len(members)):
        for n, units, offset in ((1, 1, 0), (1500, 3, 0), (77, 2, 3)):
            check_map(group, opcode, n, units, offset)


def test_port_unused_by_the_opcode_is_not_read() -> None:
    """Its address is invalid."""
    for structure in STRUCTURES:
        group = arithmetic(structure)
        out, inside = place(memory(64 * 4)), place(port_values(RUN, 64, 1))
        given_ = [out.ctypes.data, inside.ctypes.data, 0, 0, 64]
        launch(group, 2, given_, unused=64)
        assert (out[: 64 * 4].view(np.float32) >= 0).sum() > 50


@pytest.mark.parametrize("opcode", range(len(STRIDED)))
def test_rows_opcodes(opcode: int) -> None:
    """Strides have every sign and order. Each opcode finds its own in the geometry."""
    group = KernelGroup("strided", STRIDED)
    pick = {
        0: [(100, 30, 2), (40, 9, 1), (1, 5, 0)],
        1: [(100, -30, 2), (1, 4, 16)],
        2: [(200, 20, 1), (60, -20, 3)],
        3: [(1, 3, 14)],
    }
    for units in (1, 3):
        check_rows(group, opcode, (3, 4, 9), pick[opcode], units)
    check_rows(group, opcode, (9,), [s[-1:] for s in pick[opcode]], 2)


def test_rows_read_results_of_earlier_rows() -> None:
    """The geometry orders the rows: w[1:] += w[:-1], for half of each row."""
    add = key("add", "a + b", *[port(ft.float32, "x")] * 3, lanes=1, skeleton="rows")
    held = place(np.arange(24, dtype=np.float32).view(np.uint8))
    x = held[: 24 * 4].view(np.float32).reshape(4, 6)
    wanted = x.copy()
    wanted[:, :3] = x[:, :3].cumsum(0)
    geometry = np.array([1, 3, 3, 1, 3, 1, 3, 6, 6, 6, 1, 1, 1], np.int32)
    arguments = [*[held.ctypes.data] * 3, 6, 6, 0, geometry.ctypes.data]
    launch(KernelGroup("strided", (add,)), 0, arguments)
    np.testing.assert_array_equal(x, wanted)
