"""The examples in docstrings: every public name has one, and it prints what it shows."""

from __future__ import annotations

import importlib.util
import inspect
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

import ftensor as ft
from ftensor.ops.examples import FILE, HEADING

from .. import examples
from ..docs_pages import site_modules

PUBLIC = dict(examples.public())
SAMPLE = {path for path in PUBLIC if zlib.crc32(path.encode()) % 12 == 0}


@pytest.fixture
def settings() -> Iterator[None]:
    """Restores settings that the examples of their functions change."""
    fallback, printing, seed = ft.get_fallback(), ft.get_printoptions(), ft.initial_seed()
    yield
    ft.set_fallback(fallback)
    ft.set_printoptions(**printing)
    ft.manual_seed(seed)


def problems(paths: Any) -> list[str]:
    found = []
    for path in paths:
        found += [f"{path}: {problem}" for problem in examples.problems(PUBLIC[path].__doc__)]
    return found


def test_every_public_name_has_an_example() -> None:
    assert len(PUBLIC) > 1200
    without = [path for path, value in PUBLIC.items() if f"\n\n{HEADING}\n\n    >>> " not in (value.__doc__ or "")]
    assert not without, "write them by `make stubs`"
    written = {part.partition("\n")[0] for part in f"\n{FILE.read_text()}".split("\n@ ")[1:]}
    assert written == set(PUBLIC), "write them again by `make stubs`"


def test_help_names_torchs_function() -> None:
    for path in ("add", "special.expit", "nn.functional.gelu", "linalg.det", "Tensor.add_"):
        assert f"See also `torch.{path}`." in PUBLIC[path].__doc__
    assert "See also" not in ft.jit.__doc__
    shared = inspect.getdoc(ft.Tensor.mul)  # the row's function is the method, too
    assert shared is not None and ">>> ft.mul(x, y)" in shared


def test_some_examples_print_what_they_show(settings: None) -> None:
    assert not problems(sorted(SAMPLE))


@pytest.mark.long
def test_all_examples_print_what_they_show(settings: None) -> None:
    assert not problems(sorted(set(PUBLIC) - SAMPLE))


def test_different_output_is_a_problem() -> None:
    text = f"{HEADING}\n\n    >>> ft.tensor([1.0, 2.0]) + 1\n    tensor([2., 3.])\n"
    assert not [*examples.problems(text)]
    for old, new in (("3.", "4."), ("    tensor([2", "    tensor([[2"), ("+ 1", "+ 1.01")):
        wrong = text.replace(old, new)
        assert [*examples.problems(wrong)]


def test_example_of_each_namespace_runs() -> None:
    """pages/namespaces.py has them. Lines that use other libraries run if these are installed."""
    names = {"ft": ft, "x": ft.randn(4, 8), "ftensor": ft}
    with site_modules() as modules:
        lines = modules["namespaces"].LINES
    for title, line in lines.items():
        library = title.rpartition(".")[2]
        if library in ("torch", "dask"):
            if importlib.util.find_spec(library) is None:
                continue
            names[library] = importlib.import_module(library)
            importlib.import_module(f"ftensor.{library}")
        assert eval(line.example, names) is not None, title
