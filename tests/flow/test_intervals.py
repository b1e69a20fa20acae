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

# Processors' own, on a board losses are rows and reductions; a user's own.
NOT_ON_BOARDS = {"nll", "nll_input", "own"}
# No op launches one; tests/flow/test_networks.py looks at its loops.
EXPORTED = {"network"}


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
# A loop's body, the least cycles of an iteration, and a loop next to it with one cycle each.
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
def test_what_a_loop_waits_for_is_found_and_its_repair_is_not(what: str, tmp_path: Path) -> None:
    before, turn, cycles, repaired = WAITS[what]
    assert least(tmp_path, before, turn) == cycles
    (tmp_path / "repaired").mkdir()
    assert least(tmp_path / "repaired", before, repaired) == 1


def test_a_loop_may_say_that_it_reads_nothing_that_it_wrote(tmp_path: Path) -> None:
    apart = PIPELINE + "\n#pragma HLS DEPENDENCE class=pointer inter false"
    assert least(tmp_path, "", WAITS["columns of one matrix"][1], apart) == 2


def test_a_loop_that_is_not_pipelined_takes_a_turn_after_the_other(tmp_path: Path) -> None:
    assert least(tmp_path, "", "out[k] = a[k] * 2.0f;", "") == 64 + 4 + 1
