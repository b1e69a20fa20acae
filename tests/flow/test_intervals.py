"""The model's initiation intervals are at least those that the kernels' IR allows, for every
skeleton.

The checker finds the dependence of a loop in small kernels, and nothing in their corrections.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

from .. import forked
from ..ir.compiler import clang
from ..ir.intervals import intervals

# Kernels of CPUs, losses (on a board these are rows and reductions), and a user's kernel.
NOT_ON_BOARDS = {"nll", "nll_input", "own"}
# No op launches one; tests/flow/test_networks.py checks their loops.
EXPORTED = {"network", "network_part"}


@pytest.mark.long
def test_no_interval_of_the_model_is_below_what_the_text_allows() -> None:
    """A loop without a name in the model belongs to all of its loops."""
    clang()
    env = {**os.environ, "FTENSOR_DEVICE": "csim"}
    words = ("-m", "tests.flow.estimate_intervals")
    done = forked.run(*words, env=env, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    kernels = report["kernels"]
    assert {k["skeleton"] for k in kernels} == set(report["skeletons"]) - NOT_ON_BOARDS - EXPORTED
    known = defaultdict(set)
    for k in kernels:
        known[k["skeleton"]] |= k["model"].keys()
    waited = set()
    for k in kernels:
        model = k["model"]
        for name, (cycles, why) in k["text"].items():
            if name in model or name not in known[k["skeleton"]]:
                at = model.get(name, min(model.values()))
                assert cycles <= at, f"{k['entry']}: {name} takes {cycles} cycles ({why}), not {at}"
                waited |= {k["skeleton"]} if cycles > 1 else set()
    assert waited >= {"scan", "search", "dense_lu", "gemm_direct"}


KERNEL = """
#include <hls_math.h>
extern "C" void kernel(float *out, const float *a, const float *b, const int *at, int *c, int n)
{
%s
}
"""
LOOP = """
loop:
    for (int k = 0; k < n; k++) {
%s
        %s
    }"""
PIPELINE = "#pragma HLS PIPELINE II=1"
LOCAL = """
    int t[64], j = 0;
    for (int i = 0; i < 64; i++) t[i] = at[i];"""
# Runs of 64 elements in local memory. The least of four is taken, and the next elements of its run
# replace it.
RUNS = """
    int t[256], node[4], next[4][4], oldest[4] = {}, count[4] = {};
    int took = 0, took_slot = 0, asked = 0, asked_slot = 0, place = 0, came = 0, came_slot = 0, value = 0;
#pragma HLS ARRAY_PARTITION variable=node complete
#pragma HLS ARRAY_PARTITION variable=next dim=1 complete
#pragma HLS ARRAY_PARTITION variable=next dim=2 complete
#pragma HLS ARRAY_PARTITION variable=oldest dim=1 complete
#pragma HLS ARRAY_PARTITION variable=count dim=0 complete
    for (int i = 0; i < 256; i++) t[i] = at[i];
    for (int i = 0; i < 4; i++) { node[i] = 0; for (int a = 0; a < 4; a++) next[i][a] = 0; }"""
MERGED = """
        int way = 0;
        for (int w = 1; w < 4; w++) {
#pragma HLS UNROLL
            if (node[w] < node[way]) way = w;
        }
        c[k] = node[way];"""
NEXT_AT_ONCE = """
        node[way] = next[way][0];
        next[way][0] = t[64 * way + (count[way]++ & 63)];"""
NEXT_AHEAD = """
        next[came][came_slot] = value;
        came = asked;
        came_slot = asked_slot;
        value = t[place];
        asked = took;
        asked_slot = took_slot;
        place = 64 * took + (count[took]++ & 63);
        node[way] = next[way][oldest[way]];
        took = way;
        took_slot = oldest[way];
        oldest[way] = oldest[way] + 1 & 3;"""
# A loop's body, the minimum cycles of an iteration, and a corrected loop with one cycle each.
WAITS = {
    "a sum": ("float s = 0;", "s += a[k]; out[k] = s;", 7, "float s = 0; out[k] = a[k] + s;"),
    "an address just read": ("int j = 0;", "j = at[j]; c[k] = j;", 64, "j = at[k]; c[k] = j;"),
    "which is the next": (
        "int i = 0, j = 0;",
        "const float x = a[i], y = b[j]; if (y < x) { out[k] = y; j++; } else { out[k] = x; i++; }",
        66,
        "const float x = a[k], y = b[k]; out[k] = y < x ? y : x;",
    ),
    "memory written before": ("", "out[k + 4] = out[k] * 2.0f;", 132, "out[k] = out[k] * 2.0f;"),
    "columns of one matrix": (
        "",
        "out[k + n] = out[k + n] - out[k] * 2.0f;",
        139,
        "out[2 * k + 1] = out[2 * k] * 2.0f;",
    ),
    "sums in local memory": (
        "float s[64] = {};",
        "s[at[k] & 63] += a[k]; out[k] = s[k & 63];",
        8,
        "s[at[k] & 63] = a[k]; out[k] = s[k & 63];",
    ),
    "an address just read in local memory": (LOCAL, "j = t[j & 63]; c[k] = j;", 3, "j = t[k & 63]; c[k] = j;"),
    "a choice by local memory": (
        LOCAL,
        "if (t[j & 63] > 3) j += 2; else j++; c[k] = j;",
        3,
        "if (t[k & 63] > 3) j += 2; else j++; c[k] = j;",
    ),
    "the next element of one of several runs": (RUNS, MERGED + NEXT_AT_ONCE, 2, MERGED + NEXT_AHEAD),
    "two reads of a port": ("", "out[k] = a[2 * k] + a[2 * k + 1];", 2, "out[k] = a[k] + b[k];"),
    "a function": ("float s = 1;", "s = hls::exp(s) ; out[k] = s;", 16, "out[k] = hls::exp(a[k]);"),
}


def least(tmp_path: Path, before: str, turn: str, pipeline: str = PIPELINE) -> int:
    """Returns the cycles of an iteration."""
    path = tmp_path / "kernel.cpp"
    path.write_text(KERNEL % (before + LOOP % (pipeline, turn)))
    (interval,) = [one for one in intervals(path, "kernel") if one.label == "loop"]
    return interval.cycles


@pytest.mark.parametrize("what", WAITS)
def test_dependence_of_a_loop_is_found_and_its_correction_is_not(what: str, tmp_path: Path) -> None:
    before, turn, cycles, repaired = WAITS[what]
    assert least(tmp_path, before, turn) == cycles
    (tmp_path / "repaired").mkdir()
    assert least(tmp_path / "repaired", before, repaired) == 1


def test_loop_may_state_that_it_has_no_dependence(tmp_path: Path) -> None:
    apart = PIPELINE + "\n#pragma HLS DEPENDENCE class=pointer inter false"
    assert least(tmp_path, "", WAITS["columns of one matrix"][1], apart) == 2


@pytest.mark.parametrize(
    ("turns", "registers", "cycles"),
    [(8, "", 2), (9, "", 1), (7, "#pragma HLS ARRAY_PARTITION variable=s complete", 1)],
)
def test_interleaved_sums_take_the_stated_distance(turns: int, registers: str, cycles: int, tmp_path: Path) -> None:
    """An addition takes 7 cycles; a read and a write of memory take one each."""
    before = f"float s[{turns}] = {{}}; int q = 0;\n{registers}\n"
    turn = f"s[q] += a[k]; out[k] = s[q]; q = q + 1 == {turns} ? 0 : q + 1;"
    said = f"{PIPELINE}\n#pragma HLS DEPENDENCE variable=s inter RAW distance={turns} true"
    assert least(tmp_path, before, turn, said) == cycles


@pytest.mark.parametrize(("written", "cycles"), [("a[k]", 64), ("held", 64), ("k", 1)])
def test_memories_that_a_port_fills_are_not_read_in_the_same_iteration(
    written: str, cycles: int, tmp_path: Path
) -> None:
    """`intra false` lets HLS read before the write. A port answers after many iterations."""
    before = "float s[256] = {}, w[4] = {};"
    turn = f"w[k & 3] = a[k]; const float held = w[k + 1 & 3]; s[k & 255] = {written}; out[k] = s[k + 32 & 255] + held;"
    said = f"{PIPELINE}\n#pragma HLS DEPENDENCE variable=s inter false\n#pragma HLS DEPENDENCE variable=s intra false"
    assert least(tmp_path, before, turn, said) == cycles


def test_loop_without_pipeline_runs_its_iterations_in_sequence(tmp_path: Path) -> None:
    assert least(tmp_path, "", "out[k] = a[k] * 2.0f;", "") == 64 + 4 + 1
