"""The loops and accesses of kernels that state none for the model, counted: g++ compiles a kernel's
HLS C++ with counters (hls/standin/counts.h), and a run in memory of zeros gives the counts.

Loops that depend on data have the trips of zeros. Numbers that a kernel takes by value are zeros, too.
A child process runs the kernel, since one that divides by such a zero ends its process.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import re
import signal
import struct
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import commands as errors
from ..errors import kernel_build_failed
from ..kernels.skeleton import board_skeleton_of
from ..kernels.source import hls_root, width
from ..kernels.workload import SCATTERS, Access, KernelLaunch, PipelinedLoop
from ..runtime import cache as disk
from ..runtime.csim.backend import FLAGS, cpu_name
from ..runtime.targets import csim_compiler
from .group import KernelGroup, arguments, call_tokens
from .vitis.source import inline_headers, source

_LABEL = re.compile(r"^\s*(\w+):\s*$")
_PIPELINE = re.compile(r"^\s*#pragma HLS PIPELINE(?: +II ?= ?(\d+))?")
_CALL = re.compile(r"^\s*(\w+)\s*(<[^;]*>)?\(")
_STAGES, _LOOPS, _PORTS, _PORT_BITS = 32, 256, 32, 36  # as in counts.h
_TYPES: dict[str, Any] = {"*": ctypes.c_void_p, "int": ctypes.c_int, "long": ctypes.c_long, "float": ctypes.c_float}
_TYPES |= {"double": ctypes.c_double, "uchar": ctypes.c_ubyte, "uint": ctypes.c_uint, "char": ctypes.c_byte}
_TYPES |= {"short": ctypes.c_short, "ushort": ctypes.c_ushort}
_BITS = {"f": "<fi", "d": "<d", "q": "<q"}
_COUNTS = hls_root() / "standin" / "counts.h"


class _LoopCounts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("trips", "entries", "reads")]


class _PortCounts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("width", "beats", "requests", "low", "high")]


class CountedText:
    """HLS C++ with a counter in each pipelined loop, and a mark at each call in a DATAFLOW region.

    `names` are the loops, `intervals` their initiation intervals, `stages` the called functions; a
    counter is known by its index in them.
    """

    def __init__(self, text: str) -> None:
        self.names: list[str] = []
        self.intervals: dict[str, int] = {}
        self.stages = [""]
        lines = text.splitlines()
        after: dict[int, str] = {}
        before: dict[int, str] = {}
        for k, line in enumerate(lines):
            if pipeline := _PIPELINE.match(line):
                head = next(j for j in range(k, -1, -1) if lines[j].lstrip().startswith("for "))
                label = _LABEL.match(lines[head - 1])
                name = self.name_of(label[1] if label else f"line_{head}")
                self.intervals[name] = int(pipeline[1] or 1)
                before[head - bool(label)] = "FT_COUNTED_LOOP"
                after[k] = f"ft_trip({self.counter(name)}, ft_entry);"
            elif "#pragma HLS DATAFLOW" in line:
                self._mark_stages(lines, k, before)
        assert len(self.names) <= _LOOPS and len(self.stages) <= _STAGES, "counts.h has too few counters"
        marked = ([before.get(k, ""), line, after.get(k, "")] for k, line in enumerate(lines))
        self.text = "\n".join(line for parts in marked for line in parts if line)

    def name_of(self, label: str) -> str:
        """Returns the loop that a label counts for."""
        return label

    def counter(self, name: str) -> int:
        """Returns the index of a name."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def _mark_stages(self, lines: Sequence[str], begin: int, before: dict[int, str]) -> None:
        for k in range(begin + 1, len(lines)):
            if lines[k].startswith("}"):
                before[k] = "ft_stage = 0;"
                return
            if (call := _CALL.match(lines[k])) and (lines[k - 1].endswith(";") or lines[k - 1].startswith("#pragma")):
                before[k] = f"ft_stage = {len(self.stages)};"
                self.stages.append(call[1])


class CountedKernel:
    """A group's kernel, compiled with counters. `ports` includes those of accesses."""

    def __init__(self, group: KernelGroup, text: type[CountedText] = CountedText, ports: bool = False) -> None:
        self.group = group
        self.text = text(inline_headers(source(group)))
        loaded = _library(group.name, f'#include "{_COUNTS}"\n{self.text.text}\n', ports)
        self._loops = (_LoopCounts * _LOOPS * _STAGES).in_dll(loaded, "ft_loops")
        self.ports = (_PortCounts * _PORTS).in_dll(loaded, "ft_ports")
        self._kernel = getattr(loaded, group.name)
        self._kernel.argtypes = [_TYPES[a.what] for a in arguments(group)]
        self._kernel.restype = None
        loaded.ft_reserve.restype = ctypes.c_void_p
        self.reserve, self.release = loaded.ft_reserve, loaded.ft_release

    def run(self, args: Sequence[Any], unit: int, units: int) -> list[PipelinedLoop]:
        """Returns the loops that one compute unit runs in a launch with these arguments."""
        ctypes.memset(self._loops, 0, ctypes.sizeof(self._loops))
        passed = [_argument(token, args) for token in call_tokens(self.group, 0).split()]
        self._kernel(*passed, unit, units)
        found = []
        for stage, counts in zip(self.text.stages, self._loops):
            for name, c in zip(self.text.names, counts):
                if c.trips:
                    every = self.text.intervals[name]
                    found.append(PipelinedLoop(name, c.trips, c.entries, every, bool(c.reads), True, stage))
        return found


def _argument(token: str, args: Sequence[Any]) -> Any:
    """Returns the kernel's argument for a call token (`call_tokens`)."""
    if token[0] == "=":
        return int(token[1:])
    if token[0] in _BITS:
        value = args[int(token[1:])]
        packed = struct.pack(_BITS[token[0]], value, *[0] * (token[0] == "f"))
        return int.from_bytes(packed, "little", signed=True)
    return args[int(token.lstrip("@"))]


def _library(name: str, text: str, ports: bool) -> ctypes.CDLL:
    """Compiles a text, or finds its library in the cache."""
    compiler = csim_compiler()
    if compiler is None:
        raise errors.counts_need_a_compiler()
    # counts.h replaces the sanitizer's library. With -O1, local variables would be accesses to memory, too.
    libraries = ("-nodefaultlibs", "-lstdc++", "-lm", "-lgcc_s", "-lc")
    words = [*compiler, *FLAGS, "-w", "-x", "c++", "-", *(("-fsanitize=thread", *libraries) if ports else ("-O1",))]
    version = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=True).stdout
    key = disk.key("counts", text, _COUNTS.read_text(), " ".join(words), version, cpu_name())
    if disk.get(key) is not None:
        return ctypes.CDLL(str(disk.path(key)))
    with tempfile.TemporaryDirectory(prefix="ftensor-") as folder:
        library = Path(folder) / "kernel.so"
        done = subprocess.run([*words, "-o", str(library)], input=text, text=True, capture_output=True)
        if done.returncode != 0:
            raise kernel_build_failed(name, "the model's counts", done.stderr, text)
        disk.put(key, library.read_bytes())
        return ctypes.CDLL(str(library))


def _in_child(work: Callable[[], Any], name: str) -> Any:
    """Returns the result of `work` in a child process; raises EstimateError if the process ends otherwise."""
    reads, writes = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks beside threads. This child takes no lock of another thread: it only computes.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            os.close(reads)
            with os.fdopen(writes, "wb") as pipe:
                pickle.dump(work(), pipe)
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        result = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status or not result:
        raise errors.counts_ended(name, signal.Signals(-status).name if status < 0 else "an error")
    return pickle.loads(result)


def loops(launch: KernelLaunch, unit: int, widened: bool = False) -> list[PipelinedLoop]:
    """Returns the pipelined loops of one compute unit, as the skeleton states them, else counted."""
    nest = board_skeleton_of(launch.key).loops(launch, unit, widened)
    return list(_counted(launch)[0][unit]) if nest is None else nest


def traffic(launch: KernelLaunch, widened: bool = False) -> list[Access]:
    """Returns the accesses of the operands, as the skeleton states them, else counted."""
    accesses = board_skeleton_of(launch.key).traffic(launch, widened)
    return list(_counted(launch)[1]) if accesses is None else accesses


_kernel = cache(CountedKernel)


@lru_cache(maxsize=4096)
def _counted(launch: KernelLaunch) -> tuple[list[list[PipelinedLoop]], list[Access]]:
    skeleton = board_skeleton_of(launch.key)
    structure = "loop" if launch.structure == SCATTERS else launch.structure
    kernel = _kernel(KernelGroup("counted", (launch.key,), structure), ports=True)
    parameters = skeleton.parameters(launch.key)
    wide = {a.of or a.name: a for a in reversed(kernel.group.arguments)}
    integer = np.int64 if parameters[-1][1].startswith("const long") else np.int32
    geometry = np.array(launch.geometry, integer)
    operands = [(c, name) for what, c, name in parameters if what == "*" and name != "geometry"]
    begin = kernel.reserve(len(operands))
    if begin is None:
        raise errors.counts_need_addresses(len(operands) << (_PORT_BITS - 30))
    places = {name: begin + (2 * k + 1 << _PORT_BITS - 1) for k, (_, name) in enumerate(operands)}
    last = geometry.ctypes.data if launch.geometry else launch.n
    args = [places.get(name, 0) for _, _, name in parameters[:-1]] + [last]

    def run() -> tuple[list[list[PipelinedLoop]], bytes]:
        ctypes.memset(kernel.ports, 0, ctypes.sizeof(kernel.ports))
        for (_, name), port in zip(operands, kernel.ports):
            port.width = width(wide[name].c)
        return [kernel.run(args, unit, launch.units) for unit in range(launch.units)], bytes(kernel.ports)

    try:
        units, ports = _in_child(run, launch.key.entry)
    finally:
        kernel.release()
    accesses = []
    for (c, name), port in zip(operands, (_PortCounts * _PORTS).from_buffer_copy(ports)):
        vector, written = "hls::vector" in wide[name].c, not c.startswith("const")
        burst, short = port.beats // max(port.requests, 1), skeleton.short_bursts(vector, written)
        nbytes = port.beats * port.width
        accesses.append(Access(name, written, nbytes, port.beats, burst, port.high - port.low, short))
    return units, accesses
