"""Images of a few hand-written kernels, whose content tests know."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ftensor.emulation.environment import available
from ftensor.image.contents import AFTER, ArgumentDescription, Bank, ComputeUnit, Description, KernelDescription
from ftensor.image.description import content_uuid, pack
from ftensor.image.manifest import ArgumentRecord, KernelRecord, Manifest, MemberRecord

from . import forked

ROOT = Path(__file__).resolve().parent.parent

SOURCE = """
#include <time.h>
#include <string.h>
static long now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

// When this unit of this launch began and ended. It ends after so many milliseconds, and not before
// `parts` units of all launches have counted themselves in out[0].
extern "C" void nap(long *out, long offset, int milliseconds, int parts, int unit, int units)
{
    const long begin = now(), hang = begin + 60000000000L;
    __atomic_add_fetch(out, 1, __ATOMIC_SEQ_CST);
    while (now() - begin < milliseconds * 1000000L
           || (__atomic_load_n(out, __ATOMIC_SEQ_CST) < parts && now() < hang)) {
        timespec t = {0, 1000000};
        nanosleep(&t, 0);
    }
    out[offset + 3 * unit] = begin;
    out[offset + 3 * unit + 1] = now();
    out[offset + 3 * unit + 2] = units;
}

// out = scale * a + b, in slabs.
extern "C" void axpy(float *out, const float *a, const float *b, long scale, int opcode, int n,
                     int unit, int units)
{
    int bits = (int)scale;
    float factor;
    memcpy(&factor, &bits, 4);
    for (int i = (int)((long)n * unit / units); i < (int)((long)n * (unit + 1) / units); i++)
        out[i] = opcode == 0 ? factor * a[i] + b[i] : a[i] + opcode;
}

// The raw bits of what was passed.
extern "C" void bits(long *out, long f, long d, long q, float g, short h, int unit, int units)
{
    out[0] = f; out[1] = d; out[2] = q; out[3] = (long)(g * 2); out[4] = h; out[5] = units;
}
"""
# For each kernel: (name, kind, C type) of its arguments, and the arguments of its entries.
KERNELS: dict[str, tuple[tuple[tuple[str, str, str], ...], dict[str, str]]] = {
    "nap": (
        (("out", "*", "long *"), ("offset", "long", "long"), ("milliseconds", "int", "int"), ("parts", "int", "int")),
        {"nap": "0 1 2 3"},
    ),
    "axpy": (
        (
            ("out", "*", "float *"),
            ("a", "*", "const float *"),
            ("b", "*", "const float *"),
            ("scale", "long", "long"),
            ("opcode", "int", "int"),
            ("n", "int", "int"),
        ),
        {"axpy": "0 1 2 f3 =0 4", "add_five": "0 1 @0 =0 =5 2"},
    ),
    "bits": (
        (
            ("out", "*", "long *"),
            ("f", "long", "long"),
            ("d", "long", "long"),
            ("q", "long", "long"),
            ("g", "float", "float"),
            ("h", "short", "short"),
        ),
        {"bits": "0 f1 d2 q3 4 5"},
    ),
}
# A launch's params by entry.
PARAMS = {
    "nap": ("*", "long", "int", "int"),
    "axpy": ("*", "*", "*", "float", "int"),
    "add_five": ("*", "*", "int"),
    "bits": ("*", "float", "double", "ulong", "float", "short"),
}
_library: bytes | None = None


def library(folder: Path) -> bytes:
    """Returns the kernels as a shared object, compiled once per process."""
    global _library
    if _library is None:
        (folder / "kernels.cpp").write_text(SOURCE)
        command = ["g++", "-O2", "-shared", "-fPIC", "kernels.cpp", "-o", "kernels.so"]
        subprocess.run(command, cwd=folder, check=True)
        _library = (folder / "kernels.so").read_bytes()
    return _library


def describe(
    name: str,
    kernels: tuple[str, ...],
    units: int = 1,
    banks: dict[str, str] | None = None,
    platform: str = "",
    bank_bytes: int = 1 << 30,
    shared: bool = False,
) -> tuple[Description, Manifest]:
    """Returns an image's description and manifest. `banks` gives the bank of arguments by name.
    `shared` banks have one base address."""
    where = banks or {}
    names = sorted(set(where.values())) or ["DDR[0]"]
    described, records = [], []
    for kernel in kernels:
        arguments, calls = KERNELS[kernel]
        both = (*arguments, ("unit", "int", "int"), ("units", "int", "int"))
        described.append(
            KernelDescription(
                kernel,
                tuple(ArgumentDescription(n, c, banks=(where[n],) if n in where else ()) for n, _, c in both),
                tuple(ComputeUnit(f"{kernel}_{k + 1}") for k in range(units)),
            )
        )
        records.append(
            KernelRecord(
                kernel,
                "map",
                "loop",
                1,
                units,
                "",
                tuple(ArgumentRecord(n, w, c, where.get(n, "")) for n, w, c in both),
                tuple(
                    MemberRecord(entry, k, entry, (), (), "", "float32", call)
                    for k, (entry, call) in enumerate(calls.items())
                ),
            )
        )
    description = Description(
        tuple(described), tuple(Bank(b, bank_bytes, 0 if shared else AFTER) for b in names), platform, name=name
    )
    return description, Manifest(name, "csim", platform, "", f"{name}.xclbin", tuple(records))


def make(
    folder: Path,
    name: str,
    kernels: tuple[str, ...],
    units: int = 1,
    banks: dict[str, str] | None = None,
    bank_bytes: int = 1 << 30,
    shared: bool = False,
) -> Path:
    """Returns an image file of some of the kernels."""
    description, manifest = describe(name, kernels, units, banks, bank_bytes=bank_bytes, shared=shared)
    code = library(folder)
    manifest = replace(manifest, uuid=str(content_uuid(description, code)))
    path = folder / f"{name}.xclbin"
    path.write_bytes(pack(description, code, manifest.to_json()))
    return path


def require_xrt() -> None:
    """Skips the test if XRT can't be emulated; raises an error if all targets are required."""
    why = available()
    if why and os.environ.get("FTENSOR_REQUIRE_TARGETS") == "1":
        pytest.fail(f"XRT is required, but {why}")
    if why:
        pytest.skip(why)


def on_xrt(program: str, *images: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a Python program on the real XRT with the software device, in a new session."""
    words = [word for image in images for word in ("--image", str(image))] or ["--no-build"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "FTENSOR_DEVICE": "xilinx", **environment}
    env.pop("FTENSOR_IMAGE", None)
    command = ("-m", "ftensor", "emulate", *words, "--", sys.executable, "-c", program)
    return forked.run(*command, env=env)
