"""Every shipped kernel as LLVM IR has nothing that v++ refuses or turns into slow hardware.

Each defect in a small kernel is found, and its correction is not.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import builtin_inventories, expand, read
from ftensor.toolchain.vitis.source import copy_headers, source

from ..ir.findings import findings

PARTS = 8  # for workers in parallel; the first has some kernels of every inventory


@cache
def kernels() -> list[KernelGroup]:
    """Returns the kernels of all inventories."""
    return [group for path in builtin_inventories().values() for group in expand(read(path))]


@pytest.mark.parametrize("part", [pytest.param(n, marks=[pytest.mark.long] if n else []) for n in range(PARTS)])
def test_no_kernel_has_a_finding(part: int, tmp_path: Path) -> None:
    """No selection between memories, recursion, unknown call, unbounded pipeline, conditional
    lane."""
    copy_headers(tmp_path)
    by_kernel = {}
    for group in kernels()[part::PARTS]:
        path = tmp_path / f"{group.name}.cpp"
        path.write_text(source(group))
        by_kernel[group.name] = findings(path, group.name)
    assert len(by_kernel) > 20
    assert not {name: lines for name, lines in by_kernel.items() if lines}


KERNEL = """
#include <ap_int.h>
#include <hls_math.h>
#include <hls_stream.h>
#include <hls_vector.h>
#include <cstdlib>
struct state { float value; int index; };
typedef hls::vector<float, 16> beat;
%s
extern "C" void kernel(
    float *out, const float *a, const float *b, const beat *wide, const long *geometry, int opcode, int n)
{
%s
}
"""
ADD = """
static state add(const state &x, const state &y) { return {x.value + y.value, y.index}; }
static state either(bool first, state x, state y) { if (first) return x; return y; }
"""
SUMS = """
    state sum[8], none = {0.0f, opcode};
    for (int k = 0; k < 8; k++) sum[k] = {a[k], k};
    for (int k = 0; k < n; k++) sum[k % 8] = add(CHOICE, {a[k], k});
    out[0] = sum[opcode & 7].value;"""
PIPELINE = """
    for (int k = 0; k < n; k++) {
#pragma HLS PIPELINE II=1
        float total = 0;
        for (int l = 0; l < END; l++) total += a[k + l];
        out[k] = total;
    }"""
SUM = """
static float sum(const float *a, int n)
{
    float total = 0;
    for (int l = 0; l < END; l++) total += a[l];
    return total;
}"""
CALLED = """
    for (int k = 0; k < n; k++) {
#pragma HLS PIPELINE II=1
        out[k] = sum(a + k, n) + sum(b + k, n);
    }"""
LANES = """
    float w[16];
    for (int l = 0; l < 16; l++) {
#pragma HLS UNROLL
        w[l] = READ;
    }
    for (int l = 0; l < 16; l++) out[l] = w[opcode & l];"""
STORES = """
    for (int l = 0; l < 16; l++) {
#pragma HLS UNROLL
        STORE;
    }"""
GET = "static float get(const float *a, int l, int n) { return READ; }"
TABLE = "static const float values[4] = {0, 1, 2, LAST};"
POINTED = """
    const float *from = a;
    if (opcode) from = b;
    for (int k = 0; k < n; k++) out[k] = from[k];"""
WALKED = """
    const float *from = a;
    for (int k = 0; k < n; k++) { out[k] = *from; from += opcode ? 1 : 2; }"""
POWER = "static float power(float x, int n) { return n ? hls::floor(x * power(x, n - 1)) : 1.0f; }"
TWO = """
static float one(float x) { return x + 1; }
static float two(float x) { return x * 2; }
static float (*const either[])(float) = {one, two};"""
HELD = """
    float w[16] = {};
    for (int k = 0; k < n; k++) {
#pragma HLS PIPELINE II=1
        READ
        out[k] = w[k & 15];
    }"""
HELD_BEAT = "{ const beat x = wide[k / 16]; for (int l = 0; l < 16; l++) w[l] = x[l]; }"
ITEMS = """
    const long step = geometry[1];
    for (int k = 0; k < n; k++) out[k] = a[k * STEP];"""
STEPS = """
static float steps(float *a, const long *of, int begin, int n)
{
    const long step = of[1];
    for (int k = begin; k < n; k++) a[k] = a[k * STEP];
    return a[step];
}"""
EACH = "for (int k = 0; k < n; k++) out[k] = "

# The finding; the text before the kernel, in it, and in its correction (both, if both change).
DEFECTS = {
    "a struct chosen by reference": (
        "a choice between 2 memories",
        (ADD, SUMS.replace("CHOICE", "k < 8 ? none : sum[k % 8]")),
        (ADD, SUMS.replace("CHOICE", "either(k < 8, none, sum[k % 8])")),
    ),
    "one pointer for two ports": ("a choice between 2 memories", ("", POINTED), ("", WALKED)),
    "recursion": (
        "calls itself",
        (POWER, EACH + "power(a[k], k);"),
        (POWER.replace("power(x, n - 1)", "n"), EACH + "power(a[k], k);"),
    ),
    "a table of functions": (
        "a call of what a pointer leads to",
        (TWO, EACH + "either[opcode](a[k]);"),
        (TWO, EACH + "either[1](a[k]);"),
    ),
    "a constructor": (
        "before the kernel begins",
        (TABLE.replace("LAST", "hls::exp(3.0f)"), EACH + "values[k & 3];"),
        (TABLE.replace("LAST", "20.0f"), EACH + "values[k & 3];"),
    ),
    "a function of the host": ("rand is called", ("", EACH + "a[k] + rand();"), ("", EACH + "a[k] + opcode;")),
    "mathematics of the C library": ("sinf is called", ("", EACH + "std::sin(a[k]);"), ("", EACH + "hls::sin(a[k]);")),
    "an intrinsic of clang's": (
        "llvm.floor.f32 is called",
        ("", EACH + "std::floor(a[k]);"),
        ("", EACH + "hls::floor(a[k]);"),
    ),
    "a variable loop in a pipeline": (
        "a loop of variable length",
        ("", PIPELINE.replace("END", "opcode")),
        ("", PIPELINE.replace("END", "4")),
    ),
    "a variable loop below a pipeline": (
        "a loop of variable length",
        (SUM.replace("END", "n"), CALLED),
        (SUM.replace("END", "4"), CALLED),
    ),
    "a conditional read in each lane": (
        "on a condition in each lane",
        ("", LANES.replace("READ", "l < n ? a[l * 3] : 0.0f")),
        ("", LANES.replace("READ", "a[(l < n ? l : 0) * 3]")),
    ),
    "a conditional write in each lane": (
        "on a condition in each lane",
        ("", STORES.replace("STORE", "if (l < n) out[l] = opcode")),
        ("", STORES.replace("STORE", "out[l] = l < n ? opcode : 0")),
    ),
    "a conditional read below a lane": (
        "on a condition in each lane",
        (GET.replace("READ", "l < n ? a[l * 3] : 0.0f"), LANES.replace("READ", "get(a, l, n)")),
        (GET.replace("READ", "a[(l < n ? l : 0) * 3]"), LANES.replace("READ", "get(a, l, n)")),
    ),
    "an element of a beat": (
        "4 bytes of a port whose beats are 64",
        ("", EACH + "wide[k][opcode];"),
        ("", "for (int k = 0; k < n; k++) { const beat w = wide[k]; out[k] = w[opcode]; }"),
    ),
    "a beat where the last one ends": (
        "on a condition in a pipelined loop",
        ("", HELD.replace("READ", "if (k % 16 == 0) " + HELD_BEAT)),
        ("", HELD.replace("READ", HELD_BEAT)),
    ),
    "the geometry in each item": (
        "the geometry is read in each iteration",
        ("", ITEMS.replace("STEP", "geometry[1]")),
        ("", ITEMS.replace("STEP", "step")),
    ),
    "the geometry in a function": (
        "the geometry is read in each iteration",
        (STEPS.replace("STEP", "of[1]"), "out[0] = steps(out, geometry, opcode, n);"),
        (STEPS.replace("STEP", "step"), "out[0] = steps(out, geometry, opcode, n);"),
    ),
}


@pytest.mark.parametrize("pointers", ["", "-opaque-pointers"])
@pytest.mark.parametrize("defect", DEFECTS)
def test_defect_is_found_and_its_correction_is_not(defect: str, pointers: str, tmp_path: Path) -> None:
    """For clang with typed pointers (up to 14) and with opaque pointers (from 15)."""
    expected, bad, good = DEFECTS[defect]
    flags = ["-Xclang", pointers] if pointers else []
    path = tmp_path / "kernel.cpp"
    path.write_text(KERNEL % bad)
    lines = findings(path, "kernel", flags)
    assert lines and all(expected in line for line in lines), lines
    path = tmp_path / "repaired.cpp"
    path.write_text(KERNEL % good)
    assert not findings(path, "kernel", flags)
