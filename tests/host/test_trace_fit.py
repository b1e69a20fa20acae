"""Inventories of a program for a board: lanes, layouts and images that fit
(`toolchain/trace_fit.py`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from ftensor.boards import find
from ftensor.kernels.key import KernelKey, Key
from ftensor.kernels.workload import COMPACT, KernelLaunch
from ftensor.toolchain import trace_fit
from ftensor.toolchain.area.fit import Fit, fit
from ftensor.toolchain.folding import SHARE
from ftensor.toolchain.inventory.keys import fallback_key
from ftensor.toolchain.inventory.read import expand, parse
from ftensor.toolchain.inventory.text import inventory_text

U55C, KV260 = find("u55c"), find("kv260")
# Two expensive ops with equal ports as separate kernels, and one kernel for any strides.
INVENTORY = b"""
[[kernel]]
ops = ["tanh", "exp"]
dtypes = ["float32"]
layouts = ["linear"]
[[kernel]]
ops = ["mul"]
dtypes = ["complex64"]
layouts = ["linear"]
[[kernel]]
ops = ["sum"]
dtypes = ["float32"]
layouts = ["inner"]
vectors = [8]
"""


def keys_of(text: bytes) -> dict[str, Key]:
    groups = expand(parse(text, Path("mine.toml")))
    return {getattr(member, "name", member.entry): member for group in groups for member in group.members}


def compact(asked: Iterable[Key]) -> Fit:
    """Returns the area of an image of these kernels at their narrowest."""
    return fit(trace_fit.groups_of((k for key in asked for k in trace_fit.forms(key)[-1].keys), COMPACT), KV260)


@pytest.fixture(scope="module")
def keys() -> dict[str, Key]:
    return keys_of(INVENTORY)


def test_each_form_serves_launches_of_the_previous_form(keys: dict[str, Key]) -> None:
    """A launch halves its lanes until it finds a kernel. At last it uses the one for any strides."""
    wide = keys["exp"]
    assert isinstance(wide, KernelKey)
    found = trace_fit.forms(wide)
    assert [form.lanes for form in found] == [16, 8, 4, 2, 1]
    assert [form.terms.entry for form in found] == [form.keys[0].entry for form in found]
    assert found[-1].keys == (fallback_key(wide),)
    assert [form.lanes for form in trace_fit.forms(keys["sum_whole"])] == [16, 1]


def test_an_op_that_needs_positions_keeps_its_layout() -> None:
    """It has no kernel for any strides, so its last form has one lane."""
    (key,) = keys_of(b'[[kernel]]\nops = ["arange"]\ndtypes = ["int32"]\n').values()
    found = trace_fit.forms(key)
    assert [form.lanes for form in found] == [16, 8, 4, 2, 1]
    assert {form.keys[0].skeleton for form in found} == {"map"}


def test_kernels_narrow_until_they_fit(keys: dict[str, Key]) -> None:
    asked = list(keys.values())
    cycles = dict.fromkeys(asked, 1000.0)
    wide = trace_fit.narrowed(asked, cycles, U55C)
    assert all(form.terms.entry == key.entry for key, form in wide.forms.items())
    small = trace_fit.narrowed(asked, cycles, KV260)
    assert trace_fit.fits(small.usage) and not trace_fit.fits(fit(wide.usage.groups, KV260))
    # The next wider form of any kernel would not fit, or would save no time.
    assert max(share / most for share, most in zip(small.usage.shares.values(), SHARE)) > 0.5


def test_the_kernels_that_run_most_stay_wide(keys: dict[str, Key]) -> None:
    lanes = {}
    for busy in ("mul", "exp"):
        cycles = {key: 1e6 if name == busy else 1.0 for name, key in keys.items()}
        found = trace_fit.narrowed(list(keys.values()), cycles, KV260)
        lanes[busy] = {name: found.forms[key].lanes for name, key in keys.items()}
    assert lanes["mul"]["mul"] > lanes["exp"]["mul"]


def test_inventory_has_exactly_the_estimated_kernels(keys: dict[str, Key]) -> None:
    """Otherwise the image would be larger than what fits."""
    asked = [*keys.values(), *keys_of(b'[[kernel]]\nops = ["add()", "fill"]\ndtypes = ["float32"]\n').values()]
    image = trace_fit.narrowed(asked, dict.fromkeys(asked, 1.0), KV260)
    text = inventory_text([form.terms for form in image.forms.values()], "mine")
    groups = expand(parse(text.encode(), Path("mine.toml")))
    entries = {member.entry for group in groups for member in group.members}
    assert entries == {key.entry for form in image.forms.values() for key in form.keys}
    assert fit(groups, KV260).shares == pytest.approx(image.usage.shares)
    assert {member.params for group in groups for member in group.keys if member.name == "add"} == {()}


def test_kernels_too_many_for_one_image_are_divided() -> None:
    """Images follow the order of the launches. A kernel that fits into a second image is in both."""
    asked = list(keys_of(b'[[kernel]]\nops = ["sort"]\ndtypes = ["float32", "int32", "int64"]\n').values())
    asked += keys_of(INVENTORY).values()
    order = [asked[0], asked[-1], asked[1], asked[-1], asked[2], *asked, asked[0]]
    sets = trace_fit._divided({key: order.count(key) for key in order}, KV260)
    assert len(sets) > 1 and set().union(*sets) == set(asked)
    assert all(trace_fit.fits(compact(one)) for one in sets)
    assert trace_fit._switches(order, sets) >= len(sets) - 1
    assert trace_fit._switches("aabba", [["a"], ["b"]]) == 2
    assert trace_fit._switches("aabba", [["a"], ["b", "a"]]) == 1


SORTS = b"""
[[kernel]]
ops = ["sort"]
dtypes = ["float32", "int32", "int64"]
"""


def launches_of(asked: list[Key]) -> dict[KernelLaunch, int]:
    return {KernelLaunch(key, 1, 1 << 22): 2 for key in asked if isinstance(key, KernelKey)}


def test_host_computes_what_costs_it_least() -> None:
    """The image keeps the kernels with the most work for their area, and graphs, which the host
    can't compute."""
    sorts, others = list(keys_of(SORTS).values()), list(keys_of(INVENTORY).values())
    asked = [*sorts, *others]
    found = {key: trace_fit.Times(1e-3, 2e-3, 1.0) for key in asked}
    found[sorts[1]] = trace_fit.Times(1e-3, 5.0, 1.0)
    kept = trace_fit.kept_on_board(asked, found, KV260)
    assert sorts[1] in kept and len(kept) < len(asked)
    assert trace_fit.fits(compact(kept))
    # None of the kernels left out fits into the rest.
    for key in set(asked).difference(kept):
        assert not trace_fit.fits(compact([*kept, key])), key.entry


def test_host_is_used_instead_of_reloading_images() -> None:
    """Several images are used only if loading them takes less time than the host."""
    ops = b'[[kernel]]\nops = ["erf", "tanh", "pow", "lgamma"]\ndtypes = ["float32", "complex64"]\n'
    launches = launches_of(list(keys_of(ops).values()))
    order = [launch.key for launch in launches] * 2
    board = replace(KV260, load=replace(KV260.load, value=100.0))
    one = trace_fit.images_for(launches, order, board)
    assert len(one.images) == 1 and one.switches == 0 and one.on_host and not one.too_large
    assert set(one.images[0].forms) | set(one.on_host) == set(order)
    assert one.seconds == pytest.approx(
        sum(t.host if key in one.on_host else t.board for key, t in trace_fit.times(launches, board).items())
    )
    several = trace_fit.images_for(launches, order, replace(board, load=replace(KV260.load, value=0.0)))
    assert len(several.images) > 1 and several.switches and not several.on_host


def test_kernel_of_half_the_board_is_refused() -> None:
    """A launch then uses other kernels: a pipeline of butterflies is too large for a KV260."""
    (stream,) = keys_of(b'[[kernel]]\nops = ["fft_stream"]\ndtypes = ["complex64"]\n').values()
    (plain,) = keys_of(b'[[kernel]]\nops = ["fft"]\ndtypes = ["complex64"]\n').values()
    assert trace_fit.accepts(U55C)(stream) and not trace_fit.accepts(KV260)(stream)
    assert trace_fit.accepts(KV260)(plain)
    assert not trace_fit.accepts(U55C, 0.05)(stream) and trace_fit.accepts(U55C, 0.0)(plain)
