"""The number of compilers that run at once, and the memories and compute units of a csim image."""

from __future__ import annotations

import os

from ftensor import dtypes
from ftensor.image.description import complete
from ftensor.kernels.key import KernelKey, Port
from ftensor.toolchain import make as toolchain
from ftensor.toolchain.csim import describe
from ftensor.toolchain.group import KernelGroup

F = dtypes.float32
NEG = KernelKey("neg", "map", F, 16, (Port(F, "v"),), (Port(F, "v"),), ("(-a)",))
GIB = 1 << 30


def test_compiler_count_is_limited_by_cores_and_memory(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(8), raising=False)
    monkeypatch.setattr(toolchain, "free_memory", lambda: 20 * GIB)
    assert toolchain.workers(None, 1 * GIB) == 8
    assert toolchain.workers(None, 6 * GIB) == 3
    assert toolchain.workers(None, 64 * GIB) == 1
    assert toolchain.workers(5, 64 * GIB) == 5


def test_memory_of_this_machine_is_read():
    assert 1 << 20 < toolchain.free_memory() < 1 << 50


def test_image_lists_memories_named_by_kernels():
    groups = [
        KernelGroup("k", (NEG,), units=2, banks="HBM[0:2]"),
        KernelGroup("m", (NEG,), banks="HBM[*]"),
        KernelGroup("n", (NEG,), banks="DDR[1]"),
    ]
    image = complete(describe(groups, "some", "board", 300.0))
    assert [(b.name, b.type, b.size) for b in image.banks] == [
        ("DDR[1]", "DDR4", 16 * GIB),
        *((f"HBM[{i}]", "HBM", GIB // 2) for i in range(5)),
    ]
    k, m, n = image.kernels
    assert [u.name for u in k.units] == ["k_1", "k_2"] and len(m.units) == 1
    assert [a.banks for a in k.arguments[:2]] == [("HBM[0]", "HBM[1]", "HBM[2]")] * 2
    assert [a.banks for a in m.arguments[:2]] == [("HBM[3]",), ("HBM[4]",)]  # includes k
    assert [a.banks for a in n.arguments] == [("DDR[1]",)] * 2 + [()] * (len(n.arguments) - 2)


def test_kernels_without_named_memory_share_one():
    image = complete(describe([KernelGroup("k", (NEG,))], "some", "", 300.0))
    assert len(image.banks) == 1 and image.kernels[0].arguments[0].banks == (image.banks[0].name,)
