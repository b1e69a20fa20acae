"""HLS sources, compiled by g++ and compared with the C simulation's kernels."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ftensor.dtypes import dtype
from ftensor.execute.dispatch import Observer
from ftensor.execute.launch import Launch
from ftensor.kernels.key import Port
from ftensor.kernels.skeleton import board_skeleton_of
from ftensor.runtime.csim.backend import FLAGS
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain.group import KernelGroup, arguments, call_tokens, launch_parameters
from ftensor.toolchain.vitis.source import copy_headers, source, vitis_headers

from ..kept import headers_read
from ..places import CSIM_HEADERS, HLS_HEADERS

C_TYPES = {
    "*": ctypes.c_void_p,
    "int": ctypes.c_int,
    "long": ctypes.c_long,
    "uchar": ctypes.c_uint8,
    "char": ctypes.c_int8,
    "short": ctypes.c_int16,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
# A beat of 512 bits, and guard bytes after it.
ALIGNMENT, GUARD = 64, 192


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """The folder of the tests' kernels, with the headers they include."""
    scratch = tempfile.TemporaryDirectory(prefix="ftensor-hls-")
    copy_headers(Path(scratch.name))
    return scratch


@cache
def compiler() -> list[str]:
    """Returns the compiler of HLS sources with all warnings as errors."""
    place = folder().name
    quiet = ("unknown-pragmas", "unused-function", "unused-label", "parentheses")
    quiet += ("tautological-compare", "unused-parameter", "unused-variable")
    command = [*(csim_compiler() or ["g++"]), *FLAGS, "-Wall", "-Wextra", "-Werror"]
    command += [f"-Wno-{w}" for w in (*quiet, "unused-const-variable")]
    command += [f"-I{place}", "-isystem", str(vitis_headers())]
    return [*command, *headers_read(command, [*HLS_HEADERS, "hls_stream.h"], Path(place) / "read-group")]


@cache
def plain_compiler() -> list[str]:
    """Returns the compiler of the C simulation's programs."""
    command = [*(csim_compiler() or ["g++"]), *FLAGS]
    return [*command, *headers_read(command, CSIM_HEADERS, Path(folder().name) / "read-plain")]


@cache
def library(text: str, name: str) -> ctypes.CDLL:
    """Returns a kernel's text as a loaded library, compiled like the C simulation's kernels."""
    place = Path(folder().name)
    stem = place / f"{name}-{abs(hash(text)):x}"
    stem.with_suffix(".cpp").write_text(text)
    path = stem.with_suffix(".so")
    done = subprocess.run([*compiler(), str(stem.with_suffix(".cpp")), "-o", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    return ctypes.CDLL(str(path))


@cache
def reference(member: Any) -> Any:
    """Returns the member's kernel of the C simulation on one compute unit, except that products are
    rounded before they are added, as in hardware."""
    name = member.entry
    text = board_skeleton_of(member).program(member, "vitis", float64=True, grid="slab")
    text = f"#define FT_NO_FMA 1\n{text}"
    function = getattr(plain_library(text, name), name)
    types = [what for what, _, _ in launch_parameters(member)]
    function.argtypes = [C_TYPES[t] for t in types] + [ctypes.c_int, ctypes.c_int]
    function.restype = None
    return function


@cache
def plain_library(text: str, name: str) -> ctypes.CDLL:
    """Returns a self-contained program of the C simulation as a library."""
    stem = Path(folder().name) / f"{name}-{abs(hash(text)):x}-plain"
    path = stem.with_suffix(".so")
    command = [*plain_compiler(), "-x", "c++", "-", "-o", str(path)]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(path))


@cache
def built(group: KernelGroup) -> Any:
    """Returns the group's kernel from its HLS source."""
    function = getattr(library(source(group), group.name), group.name)
    function.argtypes = [C_TYPES[a.what] for a in arguments(group)]
    function.restype = None
    return function


def launch(
    group: KernelGroup, opcode: int, arguments: Sequence[Any], units: int = 1, unused: int | None = None
) -> None:
    """Runs a member of the group with the arguments of its own launch, on `units` compute units.

    `unused` is passed for ports that the member does not use.
    """
    tokens = call_tokens(group, opcode).split()
    passed = [_argument(token, arguments) for token in tokens]
    if unused is not None:
        passed = [unused if t[0] == "@" else x for t, x in zip(tokens, passed)]
    function = built(group)
    for unit in range(units):
        function(*passed, unit, units)


def _argument(token: str, arguments: Sequence[Any]) -> Any:
    """Returns the argument that a token of `group.call_tokens` names."""
    if token[0] == "=":
        return int(token[1:])
    if token[0] == "@":
        return arguments[int(token[1:])]
    if token[0] == "f":
        return struct.unpack("<q", struct.pack("<f", arguments[int(token[1:])]) + bytes(4))[0]
    if token[0] == "d":
        return struct.unpack("<q", struct.pack("<d", arguments[int(token[1:])]))[0]
    return arguments[int(token.removeprefix("q"))]


def memory(nbytes: int, seed: int = 0) -> np.ndarray:
    """Returns aligned random bytes followed by a guard."""
    size = nbytes + GUARD
    raw = np.random.default_rng(seed).integers(0, 256, size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


def numpy_dtype(of: dtype) -> np.dtype[Any]:
    """Returns the dtype that stores a tensor dtype's elements; bfloat16 as bits."""
    return np.dtype(np.uint16 if of.name == "bfloat16" else of.name)


def values(of: dtype, count: int, seed: int) -> np.ndarray:
    """Returns elements of a dtype: ordinary and special ones."""
    rng = np.random.default_rng(seed)
    if of.name == "bool":
        return rng.integers(0, 2, count).astype(np.uint8)
    if of.kind in "ui":
        info = np.iinfo(of.name)
        small = rng.integers(-5 if of.kind == "i" else 0, 9, count)
        edges = np.array([info.min, info.max, 0, 1], info.dtype)
        picked = rng.choice(edges, count)
        return np.where(rng.random(count) < 0.2, picked, small).astype(of.name)
    if of.is_complex:
        parts = values_of_floats(rng, 2 * count)
        return parts.astype(of.to_real().name).view(of.name)
    floats = values_of_floats(rng, count).astype(np.float32)
    if of.name == "bfloat16":
        return (floats.view(np.uint32) >> 16).astype(np.uint16)
    return floats.astype(of.name)


def values_of_floats(rng: Any, count: int) -> np.ndarray:
    """Returns floats of all magnitudes, including zeros, infinities, NaNs and subnormals."""
    ordinary = rng.standard_normal(count) * np.exp2(rng.integers(-6, 7, count))
    special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-6, -1.0, 1.0, 0.5], count)
    return np.where(rng.random(count) < 0.15, special, ordinary)


def same(mine: np.ndarray, theirs: np.ndarray, of: dtype) -> bool:
    """Returns whether bytes are equal; a NaN equals any NaN."""
    if np.array_equal(mine, theirs):
        return True
    if of.kind not in "fc":
        return False
    if of.name == "bfloat16":
        x, y = (m[: m.size // 2 * 2].view(np.uint16) for m in (mine, theirs))
        nans = ((x & 0x7FFF) > 0x7F80) & ((y & 0x7FFF) > 0x7F80)
        return bool(((x == y) | nans).all()) and np.array_equal(mine[2 * x.size :], theirs[2 * x.size :])
    real = of.to_real() if of.is_complex else of
    whole = mine.size // real.itemsize * real.itemsize
    x, y = (m[:whole].view(real.name) for m in (mine, theirs))
    equal = (x.view(f"u{real.itemsize}") == y.view(f"u{real.itemsize}")) | ((x != x) & (y != y))
    return bool(equal.all()) and np.array_equal(mine[whole:], theirs[whole:])


def port_values(port: Port, count: int, seed: int) -> np.ndarray:
    """Returns a buffer with `count` elements of a port's dtype."""
    noise = memory(count * port.dtype.itemsize, seed)
    numbers = values(port.dtype, count, seed)
    noise[: numbers.nbytes] = numbers.view(np.uint8)
    return noise


class Kernels(Observer):
    """Replaces a device's launches: kernels run as `other(key, kernel)` returns."""

    def __init__(self, other: Callable[[Any, Any], Any]) -> None:
        self.other = other

    def launch(self, launch: Launch, stream: Any, tensors: Any, numbers: Any) -> None:
        bound = zip(launch.steps, launch.bound or ())
        other = replace(launch)
        other.bind(tuple([of._replace(kernel=self.other(s.key, of.kernel)) for s, of in bound]))
        super().launch(other, stream, tensors, numbers)
