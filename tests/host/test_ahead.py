"""Kernels compiled before the tests: the record run, in which kernels are only recorded."""

from __future__ import annotations

import ast

from ftensor.runtime.interfaces import KernelSource
from ftensor.runtime.launch_cache import batches

from .. import ahead


def test_what_is_asserted_is_computed_and_goes_on() -> None:
    seen: list[int] = []
    text = "assert seen.append(1), 'nothing'\ndef test():\n    assert not seen.append(2)\ntest()"
    exec(compile(ahead.Asked().visit(ast.parse(text)), "a test", "exec"), {"seen": seen})
    assert seen == [1, 2]


def test_files_are_there() -> None:
    assert all((ahead.HERE / file).is_file() for file in ahead.FILES)


def test_kernels_that_hold_kernels_are_compiled_alone() -> None:
    """Each of them includes its own dialect."""
    head, own = "#define FT_KERNEL __kernel", "\n#define FT_NAME {}\nFT_KERNEL void FT_NAME();"
    few = [KernelSource(head + own.format(name), name, ()) for name in ("a", "b")]
    held = [KernelSource(head + own.format("m") + own.format(name), name, ()) for name in ("c", "d")]
    assert batches([*few, *held]) == [few, held[:1], held[1:]]
