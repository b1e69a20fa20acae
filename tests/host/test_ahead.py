"""Kernels compiled before the tests: the record run, in which kernels are only recorded."""

from __future__ import annotations

import ast

from ftensor.runtime.interfaces import KernelSource
from ftensor.runtime.launch_cache import batches

from .. import ahead


def test_assertions_are_evaluated_but_not_checked() -> None:
    seen: list[int] = []
    text = "assert seen.append(1), 'nothing'\ndef test():\n    assert not seen.append(2)\ntest()"
    exec(compile(ahead.EvaluateAssertions().visit(ast.parse(text)), "a test", "exec"), {"seen": seen})
    assert seen == [1, 2]


def test_listed_files_exist() -> None:
    assert all((ahead.HERE / file).is_file() for file in ahead.FILES)


def test_source_with_several_kernels_is_compiled_alone() -> None:
    """Such a source includes its own dialect header."""
    head, own = "#define FT_KERNEL __kernel", "\n#define FT_NAME {}\nFT_KERNEL void FT_NAME();"
    few = [KernelSource(head + own.format(name), name, ()) for name in ("a", "b")]
    held = [KernelSource(head + own.format("m") + own.format(name), name, ()) for name in ("c", "d")]
    assert batches([*few, *held]) == [few, held[:1], held[1:]]
