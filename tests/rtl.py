"""`make rtl`: kernels as hardware. Bambu, an open HLS tool, compiles HLS sources to Verilog, and
the memory contents after Verilator's simulation must equal those of the same text compiled by g++.

A family is a skeleton: one small call of the library on the C simulation, whose launches are
recorded with the bytes of their buffers. Bambu is `bambu` on the PATH, or the program named by
BAMBU. It pipelines nothing, so its cycles don't predict a board's. The test shows that a text means
the same as hardware.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.dispatch import observed
from ftensor.kernels.key import KernelKey
from ftensor.runtime.targets import CSIM, csim_compiler
from ftensor.toolchain.group import KernelGroup, arguments, call_tokens
from ftensor.toolchain.vitis.source import copy_headers, source, standins

from .flow.hls_kernels import Kernels, _argument, built

LIMIT = 3600  # seconds of one kernel: minutes on an idle machine
OPTIONS = [
    "--compiler=I386_CLANG16",
    "-m64",
    "--std=gnu++14",
    "-O2",
    "-Iinc",
    "-fwrapv",
    "-ffp-contract=off",
    "--device-name=xcu55c-2Lfsvh2892-VVD",
    "--clock-period=3.33",
    "-v2",
    "--simulate",
    "--simulator=VERILATOR",
]
# Stages run one after another, so a stream is a list that is complete when it is read.
STREAM = """#pragma once
namespace hls {
template <typename T, int N = 0> struct stream {
    T held[%d];
    unsigned first = 0, behind = 0;
    T read() { return held[first++]; }
    void write(const T &value) { held[behind++] = value; }
};
}  // namespace hls
"""
DEPTH = 256
# Kernels that crash Bambu with AXI ports use its own memory bus.
PLAIN_BUS = ("rtl_gemm_direct",)


def floats(*shape: int) -> ft.Tensor:
    """Returns numbers of several magnitudes and signs."""
    n = int(np.prod(shape))
    return ft.tensor([(37 * k % 101 - 50) * 0.375 for k in range(n)]).reshape(shape)


FAMILIES: dict[str, Callable[[], Any]] = {
    "map": lambda: floats(40) * 2.5 + floats(40),
    "rows": lambda: floats(6, 14)[:, ::2] - floats(7, 6).t(),
    "gather": lambda: floats(5, 6)[ft.tensor([4, 0, 2, 2])],
    "reduce_inner": lambda: floats(4, 50).sum(1),
    "reduce_outer": lambda: floats(12, 5).amax(0),
    "scan": lambda: floats(3, 20).cummax(1),
    "sort": lambda: floats(32).to(ft.int32).sort(),
    "search": lambda: ft.searchsorted(floats(30).sort()[0], floats(9)),
    "compact": lambda: ft.nonzero(floats(40) > 0),
    "gemm_direct": lambda: floats(4, 6) @ floats(6, 5),
    "fft": lambda: ft.fft.fft(floats(2, 16)),
    "dense": lambda: ft.linalg.cholesky(floats(4, 4) @ floats(4, 4).t() + 900 * ft.eye(4)),
    "conv": lambda: ft.conv2d(floats(1, 2, 6, 6), floats(3, 2, 3, 3)),
}
# Families that are known to pass, which are selected by default.
SEEN = ("map", "rows", "gather", "reduce_inner", "scan", "search", "compact", "gemm_direct")
# The skeleton of a family, if its name is different.
SKELETON = {"gather": "rows"}


@dataclass(frozen=True)
class Call:
    """A launch of a kernel: each argument's C type and value, or the bytes of its memory."""

    group: KernelGroup
    values: tuple[Any, ...]
    before: tuple[bytes | None, ...]
    after: tuple[bytes | None, ...]


def calls(make: Callable[[], Any]) -> list[Call]:
    """Returns the launches of a call of the library, each with its memory before and after."""
    backend = default_backend()
    launches: list[Call] = []

    def noted(key: Any, run: Any) -> Any:
        structure = {"structure": "loop"} if isinstance(key, KernelKey) else {}
        group = KernelGroup(f"rtl_{key.skeleton}", (key,), **structure)  # type: ignore[arg-type]
        tokens = call_tokens(group, 0).split()

        def launch(stream: Any, units: int, *args: Any) -> None:
            values = [_argument(token, args) for token in tokens]
            pointers = [a.what == "*" for a in arguments(group)]
            before = [_memory(v) if p else None for v, p in zip(values, pointers)]
            for unit in range(units):
                built(group)(*values, unit, units)
            after = [_memory(v) if p else None for v, p in zip(values, pointers)]
            assert units == 1
            launches.append(Call(group, (*values, 0, 1), (*before, None, None), (*after, None, None)))

        return launch

    # Ports of one element: Bambu supports no wider ones.
    narrow = replace(CSIM, lanes_bytes=1)
    with backend.preparing_for(narrow, 1, True), observed(backend, Kernels(noted)):
        make()
    return launches


def _memory(address: int) -> bytes:
    """Returns the bytes of the buffer that begins at an address."""
    for block in tuple(default_backend().pool.blocks):
        if block.ptr is not None and block.ptr <= address < block.ptr + block.size:
            return ctypes.string_at(address, block.ptr + block.size - address)
    raise AssertionError(f"{address:#x} is in no buffer")


def adapted(text: str, name: str = "") -> str:
    """Returns a text without constructs that Bambu lacks: names of streams, and pragmas except
    those of the ports of kernel `name`, in Bambu's form."""
    ports = re.findall(r"#pragma HLS INTERFACE m_axi port=(\w+) bundle=(\w+)", text)
    text = re.sub(r"#pragma HLS .*\n|_Pragma\(#?\w+\)", "", text)
    pragmas = [
        f"#pragma HLS interface port = {port} mode = m_axi offset = direct bundle = {bundle}\n"
        for port, bundle in ports
    ]
    head = f'extern "C" void {name}('
    text = text.replace(head, "".join(pragmas) + head) if name else text
    return re.sub(r'(\b[a-z_0-9]+)\("[a-z_0-9]+"\)', r"\1", text)


def bench(of: Call) -> str:
    """Returns Bambu's simulation program: the recorded memory, the call, and the comparison."""
    parameters = arguments(of.group)
    lines = ["#include <cstdio>", "#include <cstdlib>", "#include <cstring>", "#include <mdpi/mdpi_user.h>"]
    types = ", ".join("void *" if a.what == "*" else a.what for a in parameters)
    lines.append(f'extern "C" void {of.group.name}({types});')
    for k, (before, after) in enumerate(zip(of.before, of.after)):
        if before is not None and after is not None:
            lines.append(f"static const unsigned char before{k}[] = {{{_bytes(before)}}};")
            lines.append(f"static const unsigned char after{k}[] = {{{_bytes(after)}}};")
    lines.append("int main() {")
    words = []
    for k, (a, value, before) in enumerate(zip(parameters, of.values, of.before)):
        if before is None:
            words.append(f"({a.what}){value!r}")
            continue
        n = len(before)
        lines.append(f"  unsigned char *m{k} = (unsigned char *)aligned_alloc(64, {n});")
        lines.append(f"  memcpy(m{k}, before{k}, {n}); m_param_alloc({k}, {n});")
        words.append(f"m{k}")
    lines.append(f"  {of.group.name}({', '.join(words)});")
    lines.append("  int wrong = 0;")
    lines += [
        f"  for (int i = 0; i < {len(before)}; i++) wrong += m{k}[i] != after{k}[i];"
        for k, before in enumerate(of.before)
        if before is not None
    ]
    lines.append('  printf("wrong bytes: %d\\n", wrong);')
    return "\n".join([*lines, "  return wrong != 0;", "}", ""])


def _bytes(data: bytes) -> str:
    return ", ".join(map(str, data))


def run(tool: str, of: Call, folder: Path) -> tuple[str, int]:
    """Returns the outcome of a call as hardware, "" or the error, and its cycles."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "inc").mkdir(parents=True)
    copy_headers(folder / "inc")
    shutil.copytree(standins(), folder / "inc", dirs_exist_ok=True)
    for header in (folder / "inc").rglob("*.h"):
        header.write_text(adapted(header.read_text()))
    (folder / "inc" / "hls_stream.h").write_text(STREAM % DEPTH)
    name = of.group.name
    bus = name in PLAIN_BUS
    (folder / f"{name}.cpp").write_text(adapted(source(of.group), "" if bus else name))
    (folder / f"tb_{name}.cpp").write_text(bench(of))
    words = [tool, f"{name}.cpp", f"--top-fname={name}", *OPTIONS, f"--generate-tb=tb_{name}.cpp"]
    words.append(f"--generate-interface={'MINIMAL' if bus else 'INFER'}")
    words.append(f"--tb-extra-gcc-options=-I{folder / 'inc'}")
    with open(folder / "log", "w") as log:
        try:
            done = subprocess.run(words, cwd=folder, stdout=log, stderr=log, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return f"no end in {LIMIT} s", 0
    said = (folder / "log").read_text(errors="replace")
    cycles = re.findall(r"Total cycles\s*:\s*(\d+)", said)
    if done.returncode == 0 and cycles:
        return "", int(cycles[-1])
    errors = re.findall(r"^.*(?:error|Error|wrong bytes|exception).*$", said, re.M)
    return (errors or said.splitlines() or ["nothing was said"])[-1].strip()[:160], 0


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns 1 if a kernel's RTL differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", choices=[*FAMILIES, []], metavar="FAMILY")
    parser.add_argument("--out", type=Path, default=Path("out"))
    asked = parser.parse_args(argv)
    tool = shutil.which(os.environ.get("BAMBU") or "bambu")
    lacking = [] if tool else ["Bambu (bambu on the PATH, or BAMBU=...)"]
    lacking += [] if shutil.which("verilator") else ["Verilator (apt-get install verilator)"]
    lacking += [] if csim_compiler() else ["g++"]
    if tool is None or lacking:
        print(f"skipped: RTL needs {' and '.join(lacking)}")
        return 0
    ft.set_device_mapping("csim")
    failed = 0
    for family in asked.families or SEEN:
        wanted = SKELETON.get(family, family)
        launches = [c for c in calls(FAMILIES[family]) if wanted in c.group.name]
        assert launches, f"{family} launches no kernel of {wanted}"
        start = time.monotonic()
        problem, cycles = run(tool, launches[-1], (asked.out / "rtl" / family).resolve())
        took = f"{time.monotonic() - start:.0f} s"
        failed += bool(problem)
        said = problem or f"RTL memory equals C's after {cycles} cycles"
        print(f"{family:14}{launches[-1].group.name:22}{took:>7}  {said}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
