"""The host memory that a process keeps for each new length."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .. import forked

PROGRAM = """
import gc, json, random, sys
import ftensor as ft, ftensor.nn.functional as F
from ftensor._device import default_backend
from ftensor.graph import fused

width, heads = 64, 4
gain, shift = ft.ones(width), ft.zeros(width)
weights = [ft.randn(3 * width, width) * 0.1, ft.randn(width, width) * 0.1, ft.randn(4 * width, width) * 0.1]
down = ft.randn(width, 4 * width) * 0.1

def attention(x):
    q, k, v = F.linear(x, weights[0]).view(x.shape[0], 3, heads, -1).permute(1, 2, 0, 3).unbind(0)
    return F.scaled_dot_product_attention(q, k, v).transpose(0, 1).reshape(x.shape)

def encoder(x):
    x = x + F.linear(attention(F.layer_norm(x, (width,), gain, shift)), weights[1])
    return x + F.linear(F.gelu(F.linear(F.layer_norm(x, (width,), gain, shift), weights[2])), down)

def resident():
    gc.collect()
    lines = open("/proc/self/smaps_rollup").read().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Anonymous:"))

def grown(function, lengths):
    before = resident()
    for n in lengths:
        for _ in range(2):  # the second call traces what the first ran op by op
            function(ft.ones(n, width))
    ft.synchronize()
    return (resident() - before) / len(lengths)

name, jitted, most, first, count = json.loads(sys.argv[1])
function = {"softmax": lambda x: x.t().softmax(-1), "layer_norm": lambda x: F.layer_norm(x.t(), x.shape[:1])} | {
    "attention": attention, "encoder": encoder}
function = ft.jit(function[name]) if jitted else function[name]
if most:
    default_backend().launches.most = most
fused.MAX_EAGER_GRAPHS = 8  # from there on a length that is new runs op by op
lengths = random.Random(0).sample(range(96, 400), first + count)
function(ft.ones(400, width))
grown(function, lengths[:first])  # kernels are loaded, and the pool has its blocks
print(grown(function, lengths[first:]))
"""
NEEDS_PROC = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the system has no smaps_rollup")


def each(name: str, jitted: bool, most: int, first: int, count: int) -> float:
    """Returns the bytes kept for each of `count` lengths, after `first` other lengths."""
    env = {k: v for k, v in os.environ.items() if k != "FTENSOR_POISON"}
    done = forked.run("-c", PROGRAM, json.dumps([name, jitted, most, first, count]), env=env)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@NEEDS_PROC
@pytest.mark.parametrize(
    ("name", "jitted"),
    [
        ("softmax", False),
        ("attention", True),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in [
                ("softmax", True),
                ("layer_norm", False),
                ("layer_norm", True),
                ("attention", False),
                ("encoder", False),
                ("encoder", True),
            ]
        ),
    ],
)
def test_new_length_takes_less_than_a_tenth_of_a_megabyte(name: str, jitted: bool) -> None:
    assert each(name, jitted, 0, 64, 40) < 1e5


@NEEDS_PROC
def test_memory_stops_growing_once_the_cache_is_full() -> None:
    """There are 300 lengths, and a cache of 1 MiB holds a few."""
    assert each("encoder", False, 1 << 20, 100, 200) < 2e4
