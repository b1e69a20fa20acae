"""Signatures: each op declares its own once, and its help shows it."""

from __future__ import annotations

import inspect

import pytest

from ftensor.ops.bind import make_reduction
from ftensor.rows.catalogue import ENTRIES, Entry
from ftensor.rows.op import Promote, Reduce
from ftensor.rows.spelling import signature_text

FOR_OPS = (Promote.WIDE, Promote.FLOATING, Promote.SINGLE)  # of rows that no user calls
CALLED = {name: entry for name, entry in ENTRIES.items() if not entry.prop}


def one_form(entry: Entry, name: str) -> bool:
    """Returns whether an op has only one form, that of its function's parameters."""
    return entry.forms == (signature_text(name, entry.call, method=not entry.function),)


@pytest.mark.parametrize("name", CALLED)
def test_help_begins_with_the_signature(name: str) -> None:
    entry = CALLED[name]
    doc = entry.call.__doc__
    forms, _, text = doc.partition("\n\n")
    assert text and not text.startswith(("\n", f"{entry.name}("))
    # The help of an alias begins with the forms of its op.
    shared = [other for other in CALLED.values() if other.call is entry.call]
    assert tuple(forms.split("\n")) in [other.forms for other in shared]
    for form in entry.forms:
        assert form.startswith(f"{name}(") or name in ("__getitem__", "__setitem__")


def test_signatures_equal_inspect_signature() -> None:
    alike = [name for name, entry in CALLED.items() if one_form(entry, name)]
    assert len(alike) > 370
    for name in alike:
        entry = CALLED[name]
        plain = inspect.signature(entry.call)
        seen = list(plain.parameters.values())[not entry.function :]
        seen = [p.replace(annotation=inspect.Parameter.empty) for p in seen]
        bare = inspect.Signature(seen)
        assert entry.forms[0].partition(" -> ")[0] == f"{name}{bare}"


def test_signatures_state_the_result() -> None:
    silent = [n for n, e in CALLED.items() if not all(" -> " in form for form in e.forms)]
    # With `output` "sos" a filter design returns an array, otherwise a tuple of arrays.
    designs = {f"signal.{name}" for name in ("bessel", "butter", "cheby1", "cheby2", "ellip")}
    assert set(silent) <= {"__setitem__", *designs}


@pytest.mark.parametrize("promote", [p for p in Promote if p not in FOR_OPS])
def test_a_reduction_of_every_promotion_has_help(promote: Promote) -> None:
    function = make_reduction(Reduce("own", "a", "x + y", "K(0)", promote=promote))
    assert function.__doc__ and "`dim` is an int" in function.__doc__
