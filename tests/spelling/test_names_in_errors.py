"""Errors name the function that the user called, not an op that it is composed of."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor.rows.catalogue import ENTRIES, Entry  # noqa: E402

from ..oracle import lookup, ours, outcome  # noqa: E402

LEADING = re.compile(r'^"?([A-Za-z_][\w.]*)(?:\(|: |" not)')
PUBLIC = {name for entry in ENTRIES.values() for name in (entry.name, *entry.aliases)}


def named_in(error: object) -> str | None:
    """Returns the public op with which an error's text begins, without its namespace."""
    found = LEADING.match(str(error))
    name = found and found[1].rpartition(".")[2]
    return name if name and (name in PUBLIC or name.rstrip("_") in PUBLIC) else None


def names_of(entry: Entry) -> set[str]:
    """Returns the names of a function: those of all entries that share it."""
    shared = [e for e in ENTRIES.values() if e.call is entry.call]
    return {name for e in shared for name in (e.name, *e.aliases)}


def foreign(entry: Entry, in_place: bool, error: object) -> bool:
    """Returns whether an error of a function's call begins with the name of another op."""
    name = named_in(error)
    return name is not None and name.removesuffix("_" if in_place else "") not in names_of(entry)


def forms(key: str, entry: Entry) -> Iterator[tuple[bool, Callable[..., Any]]]:
    """Returns (whether it works in place, the call) for the function, or else the method, and for
    the in-place method."""
    if not entry.prop:
        yield False, lookup(ft, key) if entry.function else getattr(ft.Tensor, entry.name, entry.call)
    method = None if entry.namespace else getattr(ft.Tensor, f"{entry.name}_", None)
    if method is not None:
        yield True, method


def arguments(entry: Entry, tensor: Callable[[int], ft.Tensor]) -> list[Any]:
    """Returns values for the arguments that a call needs; `tensor(k)` is its k-th tensor."""
    values: list[Any] = []
    for k, parameter in enumerate(inspect.signature(entry.call).parameters.values()):
        kind = str(parameter.annotation)
        if parameter.default is not parameter.empty or parameter.kind is parameter.KEYWORD_ONLY:
            continue
        if "Sequence[Tensor" in kind or "list[Tensor" in kind:
            values.append([tensor(k), tensor(k + 1)])
        elif "Tensor" in kind:
            values.append(tensor(k))
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        else:
            values.append((1,) if "Sequence" in kind else 0.5 if "float" in kind else 1)
    return values


# No elements, so that no kernel is compiled if a call computes.
MISTAKES: dict[str, Callable[[int], Any]] = {
    "uint16": lambda k: ft.zeros(0, 3, dtype=ft.uint16),
    "complex": lambda k: ft.zeros(0, 3, dtype=ft.complex64),
    "bool": lambda k: ft.zeros(0, 3, dtype=ft.bool),
    "devices": lambda k: ft.zeros(0, 3, device="fpga" if k == 0 else "cpu"),
    "shapes": lambda k: ft.zeros(0, 3 + k, 2),
    "many dims": lambda k: ft.zeros(1, 2, 0, 3, 2, 2, 2),
    "vectors": lambda k: ft.zeros(0),
    "texts": lambda k: "text",
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.filterwarnings("ignore")
def test_no_error_begins_with_another_ops_name(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks every function, and every in-place method."""
    monkeypatch.setenv("FTENSOR_FUSE", "0")  # composed ops raise without a trace, which takes longer
    wrong, named = [], 0
    for key, entry in ENTRIES.items():
        for in_place, call in forms(key, entry):
            error = outcome(partial(call, *arguments(entry, MISTAKES[mistake])))
            if isinstance(error, Exception) and not isinstance(error, AttributeError):
                named += named_in(error) is not None
                if foreign(entry, in_place, error):
                    wrong.append((key, in_place, str(error)))
    assert wrong == []
    assert named > 200  # messages that do name an op


@pytest.mark.filterwarnings("ignore")
def test_no_error_of_an_output_begins_with_another_ops_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks every function with `out`."""
    monkeypatch.setenv("FTENSOR_FUSE", "0")
    wrong, named = [], 0
    for key, entry in ENTRIES.items():
        if "out" not in inspect.signature(entry.call).parameters:
            continue
        values = arguments(entry, lambda k: ft.zeros(0, 3))
        for out in ("text", ft.zeros(0, dtype=ft.bool), ft.zeros(0, device="cpu"), ft.zeros(1).expand(3)):
            error = outcome(partial(lookup(ft, key), *values, out=out))
            if isinstance(error, Exception):
                named += named_in(error) is not None
                if foreign(entry, False, error) or isinstance(error, AttributeError):
                    wrong.append((key, str(error)))
    assert wrong == []
    assert named > 300


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_no_error_of_torchs_database_begins_with_another_ops_name() -> None:
    """torch's op database lists error inputs for its ops."""
    pytest.importorskip("expecttest", reason="torch's op database needs it")
    from torch.testing._internal.common_methods_invocations import op_db

    wrong, named = [], 0
    for op in op_db:
        entry = ENTRIES.get(op.name)
        if entry is None or op.error_inputs_func is None:
            continue
        for mistake in op.error_inputs("cpu"):
            sample = mistake.sample_input
            arguments = [outcome(partial(ours, x)) for x in (sample.input, *sample.args)]
            words = {k: outcome(partial(ours, v)) for k, v in sample.kwargs.items()}
            error = outcome(partial(entry.call, *arguments, **words))
            if isinstance(error, Exception):
                named += named_in(error) is not None
                if foreign(entry, False, error):
                    wrong.append((op.name, str(error)))
    assert wrong == []
    assert named > 200


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        (lambda x: x.__itruediv__(2), "div_"),
        (lambda x: x.__ifloordiv__(2.5), "floor_divide_"),
        (lambda x: x.__imul__(2.5), "mul_"),
        (lambda x: x.__iadd__(2.5), "add_"),
        (lambda x: x.__ipow__(2.5), "pow_"),
        (lambda x: x[None] @ x.float()[None], "matmul"),
    ],
)
def test_operator_errors_name_its_function(operator: Callable[[ft.Tensor], Any], name: str) -> None:
    with pytest.raises(RuntimeError, match=rf"^{name}\(\): "):
        operator(ft.ones(3, dtype=ft.int64))


@pytest.mark.parametrize("name", ["squeeze_copy", "t_copy", "unbind_copy", "expand_copy"])
def test_view_copy_is_named_if_python_refuses_its_arguments(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'wrong'"):
        lookup(ft, name)(ft.ones(3), wrong=1)


F = ft.nn.functional
x = ft.arange(12.0).view(3, 4)
# Functions that index out of range when jitted, keyed by the name in the error.
INDEXED: dict[str, Callable[[ft.Tensor], Any]] = {
    "index_select": lambda i: x.index_select(0, i),
    "gather": lambda i: x.gather(0, i[None]),
    "take": lambda i: x.take(i * 10),
    "take_along_dim": lambda i: x.take_along_dim(i[None], 0),
    "embedding": lambda i: F.embedding(i, x),
    "embedding_bag": lambda i: F.embedding_bag(i[None], x),
    "__getitem__": lambda i: x[i],
    "__getitem__ by column": lambda i: x[:, i],
    "__getitem__ by two": lambda i: x[i, i],
    "__getitem__ from behind": lambda i: x[-i],
    "__setitem__": lambda i: x.clone().__setitem__(i, 1.0),
    "__setitem__ of a tensor": lambda i: x.clone().__setitem__(i, x[:1]),
    "scatter": lambda i: x.scatter(0, i[None], 1.0),
    "scatter of a tensor": lambda i: x.scatter(0, i[None], x),
    "scatter_": lambda i: x.clone().scatter_(0, i[None], 1.0),
    "scatter_add": lambda i: x.scatter_add(0, i[None], x),
    "scatter_add_": lambda i: x.clone().scatter_add_(0, i[None], x),
    "scatter_reduce": lambda i: x.scatter_reduce(0, i[None], x, "amax"),
    "index_add": lambda i: x.index_add(0, i, x[:1]),
    "index_add_": lambda i: x.clone().index_add_(0, i, x[:1]),
    "index_copy": lambda i: x.index_copy(0, i, x[:1]),
    "index_copy_": lambda i: x.clone().index_copy_(0, i, x[:1]),
    "index_fill": lambda i: x.index_fill(0, i, 2.0),
    "index_fill_": lambda i: x.clone().index_fill_(0, i, 2.0),
    "index_reduce": lambda i: x.index_reduce(0, i, x[:1], "amax"),
    "put": lambda i: x.put(i * 10, x[0, :1]),
    "put_": lambda i: x.clone().put_(i * 10, x[0, :1]),
    "nll_loss": lambda i: F.nll_loss(x[:1], i),
    "cross_entropy": lambda i: F.cross_entropy(x[:1], i),
    "multi_margin_loss": lambda i: F.multi_margin_loss(x[:1], i),
}
OFTEN = {"index_select", "embedding_bag", "__getitem__", "__setitem__", "scatter_add_", "nll_loss"}


@pytest.mark.parametrize("form", [pytest.param(f, marks=[] if f in OFTEN else [pytest.mark.long]) for f in INDEXED])
def test_jitted_index_error_names_the_op_and_line(form: str) -> None:
    """The error comes at the trace or at a later call."""
    call, name = INDEXED[form], form.partition(" ")[0]
    function = ft.jit(call)
    for _ in range(2):
        with pytest.raises((IndexError, RuntimeError), match=r"\b7\b|70") as caught:
            function(ft.tensor([7]) + 0)
        assert f"; found in {name} at {__file__}:{call.__code__.co_firstlineno}: " in str(caught.value)


def test_jitted_op_with_a_deferred_check_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without fusion the op itself runs, and the error comes with the next wait."""
    monkeypatch.setenv("FTENSOR_FUSE", "0")
    function = ft.jit(ft.index_select)
    ft.set_index_check("deferred")
    try:
        function(x, 0, ft.tensor([7]) + 0)
        with pytest.raises(IndexError, match="in an earlier call of index_select at "):
            ft.synchronize()
    finally:
        ft.set_index_check("now")


def test_op_that_is_a_graph_names_no_line() -> None:
    """Calls from other lines share its graph."""
    with pytest.raises(RuntimeError, match=r"index 7 is out of bounds for dimension 1 with size 4$"):
        F.multi_margin_loss(x[:1], ft.tensor([7]) + 0)
