"""Inventories: what the files may say, and that their kernels are those that launches ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import ftensor as ft
import ftensor.execute
import ftensor.ops
from ftensor._device import default_backend
from ftensor.execute.observe import Observer, observed
from ftensor.kernels.key import BY_VALUE, KernelKey
from ftensor.kernels.skeletons.gemm import GemmKey
from ftensor.rows.catalogue import ENTRIES, ROWS
from ftensor.rows.op import Op, Reduce
from ftensor.toolchain.group import Group, arguments, call
from ftensor.toolchain.grouping import MOST_UNITS, bundles
from ftensor.toolchain.inventory.keys import generic
from ftensor.toolchain.inventory.read import Inventory, expand, known, parse, read
from ftensor.toolchain.inventory.rows import categories, named, rows
from ftensor.toolchain.inventory.signatures import pointwise, reduction, spelled, text_of

HERE = Path("here.toml")


def inventory(text: str) -> Inventory:
    return parse(text.encode(), HERE)


def keys(text: str) -> list[Any]:
    return [m for g in expand(inventory(f"[[kernel]]\n{text}")) for m in g.members]


def signatures(text: str) -> set[str]:
    found = set()
    for key in keys(text):
        ins = ["number" if p.kind == BY_VALUE else p.dtype.name for p in key.ins]
        found.add(f"{key.name} {key.skeleton}: {key.outs[0].dtype.name}({', '.join(ins)})")
    return found


# --- What a launch asks for is what an inventory has.


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[KernelKey | GemmKey | str]]:
    """The keys that launches ask for on a target whose vectors keep to their alignment."""
    from dataclasses import replace

    backend = default_backend()
    if backend.target.grid != "slab" or backend.target.lanes_bytes != 64:
        pytest.skip("the device's launches are cut for a GPU, not for compute units")
    if backend.images is not None:
        pytest.skip("the device's kernels come from an image, which decides what is asked for")
    noted: list[Any] = []

    class Asked(Observer):
        def launch(self, launch: Any, stream: Any, tensors: Any, numbers: Any) -> None:
            noted.extend(s.key for s in launch.steps if s.key not in noted)
            super().launch(launch, stream, tensors, numbers)

    target = replace(backend.target, unaligned=False)
    with (
        backend.preparing_for(target, 1, backend.host_shared),
        observed(backend, Asked()),
    ):
        yield noted


FULL: dict[str, Any] = {}


def full() -> set[Any]:
    """The members of `full`."""
    if not FULL:
        FULL["members"] = {m for g in expand(read("full")) for m in g.members}
    members: set[Any] = FULL["members"]
    return members


def served(keys: list[Any], held: set[Any]) -> list[Any]:
    """Those keys that neither their own layout nor the one for any strides serves."""
    return [
        key for key in keys
        if key not in held and not (isinstance(key, KernelKey) and generic(key) in held)
    ]  # fmt: skip


def arange(n: int, of: Any = None) -> Any:
    return ft.arange(n, dtype=of or ft.float32)


CALLS: dict[str, Any] = {
    "add": lambda: arange(64) + arange(64),
    "number": lambda: 2 - arange(64) * 0.5,
    "lifted": lambda: ft.arange(64) * 0.5,
    "int to float": lambda: ft.exp(ft.arange(64)),
    "compare": lambda: arange(64) < 3,
    "in place": lambda: arange(64).lt_(3),
    "convert": lambda: arange(64).to(ft.bfloat16).to(ft.float64).to(ft.uint8),
    "strided": lambda: arange(64).reshape(8, 8).t() + arange(8),
    "where": lambda: ft.where(arange(64) < 3, arange(64), 0.0),
    "ranges": lambda: (ft.linspace(0, 1, 5), ft.ones(3), ft.zeros(3, dtype=ft.bool)),
    "sum": lambda: (arange(4096).sum(), arange(4096).reshape(4, 1024).sum(0), ft.arange(9).sum()),
    "mean": lambda: (arange(64).mean(), arange(64).std(), arange(64).reshape(8, 8).var(0)),
    "extremes": lambda: (arange(64).max(), arange(64).argmax(), arange(64).reshape(8, 8).min(1)),
    "truth": lambda: ((arange(64) > 3).any(), arange(64).all(), arange(64).count_nonzero()),
    "norm": lambda: ft.linalg.vector_norm(arange(64)) + arange(64).norm(3),
    "softmax": lambda: ft.softmax(arange(64).reshape(8, 8), 1).logsumexp(0),
    "complex": lambda: (arange(64).to(ft.complex64) * 1j).exp().abs().sum(),
    "dot": lambda: (arange(64).dot(arange(64)), ft.arange(64).dot(ft.arange(64))),
    "matmul": lambda: (arange(64).reshape(8, 8) @ arange(8), ft.ones(99, 99) @ ft.ones(99, 99)),
    "batched": lambda: ft.ones(3, 4, 5) @ ft.ones(3, 5, 6),
    "gather": lambda: arange(64)[ft.tensor([3, 1])],
    "scatter": lambda: ft.zeros(8).index_add_(0, ft.tensor([3, 1]), ft.ones(2)),
    "mask": lambda: (arange(64)[arange(64) > 60], (arange(64) > 60).nonzero()),
    "activation": lambda: ft.nn.functional.gelu(arange(64)) + ft.nn.functional.relu(arange(64)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_full_serves(asked: list[Any], name: str) -> None:
    CALLS[name]()
    assert asked
    assert served(asked, full()) == []


def test_exact_keys(asked: list[Any]) -> None:
    arange(64).add(arange(64)).sum()
    arange(64).reshape(8, 8) @ arange(64).reshape(8, 8)
    own = expand(read("minimal"))
    assert not served(asked[1:], {m for g in own for m in g.members})  # the first one is arange
    exact = {m for g in own for m in g.members} & set(asked)
    assert {type(m) for m in exact} == {KernelKey, GemmKey}


def test_two_stages(asked: list[Any]) -> None:
    backend = default_backend()
    backend.units = 2
    ft.ones(1 << 16).sum()
    stages = [k for k in asked if isinstance(k, KernelKey) and k.reduction]
    assert [k.reduction.stage for k in stages if k.reduction] == ["first", "second"]
    text = 'ops = ["sum"]\nlayouts = ["inner", "strided"]\nunits = 2'
    assert served(stages, set(keys(text))) == []


# --- The tables.


@pytest.mark.parametrize("name", sorted(known()))
def test_known(name: str) -> None:
    groups = expand(read(name))
    assert groups == expand(read(name))
    assert len({g.name for g in groups}) == len(groups)
    assert sum(g.units for g in groups) <= MOST_UNITS
    for group in groups:
        for opcode in range(len(group.members)):
            assert len(call(group, opcode).split()) == len(arguments(group)) - 2
    if not read(name).repeat:
        entries = [m.entry for g in groups for m in g.members]
        assert len(set(entries)) == len(entries)


def test_minimal_has_typed_ports() -> None:
    for group in expand(read("minimal")):
        assert len(group.members) == 1
        words = {a.c for a in arguments(group) if a.what == "*" and a.name != "geometry"}
        assert all("float" in word for word in words), (group.name, words)


def test_steps_are_one_op() -> None:
    groups = {g.name: g for g in expand(read("steps"))}
    assert {g.keys[0].name for g in groups.values()} == {"add"}
    assert [g.structure for g in groups.values()][:3] == ["loop", "burst", "dataflow"]
    assert groups["vadd_vectorized"].lanes == 16 and groups["vadd_dataflow"].lanes == 1
    assert groups["vadd_units"].units == 4 and groups["vadd_units"].banks == "HBM[*]"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('ops = ["exp"]\ndtypes = ["int64"]', {"exp map: float32(int64)"}),
        ('ops = ["eq"]\nlayouts = ["linear", "scalar"]',
         {"eq map: bool(float32, float32)", "eq map: bool(float32, number)"}),
        ('ops = ["neg"]\nlayouts = ["strided"]', {"neg rows: float32(float32)"}),
        ('ops = ["copy"]\nto = ["int32"]', {"copy map: int32(float32)"}),
        ('ops = ["ne"]\nto = ["@same"]', {"ne map: float32(float32, float32)"}),
        ('ops = ["mul"]\ndtypes = ["float32(int32, number)"]', {"mul map: float32(int32, number)"}),
        ('ops = ["sum"]\ndtypes = ["bool"]\nlayouts = ["strided"]',
         {"sum_whole reduce_inner: int64(bool)"}),
        ('ops = ["amax"]\nlayouts = ["outer"]\nvectors = [8]',
         {"amax_whole reduce_outer: float32(float32)"}),
        ('ops = ["copy"]\nlayouts = ["gather"]\nindices = [2]',
         {"copy rows: float32(float32, int64, int64)"}),
        ('ops = ["add_at"]\nlayouts = ["scatter"]\nindex = ["int32"]',
         {"add_at rows: float32(float32, float32, int32)"}),
        ('ops = ["@bitwise"]\nbut = ["bitwise_or", "bitwise_left_shift", "bitwise_right_shift"]\n'
         'dtypes = ["bool"]',
         {"bitwise_and map: bool(bool, bool)", "bitwise_xor map: bool(bool, bool)"}),
        ('ops = ["add", "sub"]\nbut = ["add"]\ndtypes = ["int8"]', {"sub map: int8(int8, int8)"}),
        ('ops = ["fill"]', {"fill map: float32()"}),
        ('ops = ["mul"]\nlayouts = ["map vvs"]', {"mul map: float32(float32, float32)"}),
    ],
)  # fmt: skip
def test_members(text: str, wanted: set[str]) -> None:
    assert signatures(text) == wanted


def test_parameters_choose_a_row() -> None:
    assert [k.params for k in keys('ops = ["add"]')] == [(), ("alpha",)]
    assert [k.params for k in keys('ops = ["add()"]')] == [()]
    assert [k.params for k in keys('ops = ["add(alpha)"]')] == [("alpha",)]


def test_lanes_fill_the_port() -> None:
    lanes = {d: keys(f'ops = ["add()"]\ndtypes = ["{d}"]')[0].lanes
             for d in ("int8", "float16", "float32", "float64", "complex64")}  # fmt: skip
    assert lanes == {"int8": 16, "float16": 16, "float32": 16, "float64": 8, "complex64": 8}
    assert keys('ops = ["add()"]\nlanes = 1')[0].lanes == 1


def test_shared_grouping() -> None:
    text = 'ops = ["add", "neg", "where", "exp"]\ndtypes = ["float32", "int32"]'
    groups = expand(inventory(f"[[kernel]]\n{text}"))
    assert [g.name for g in groups] == ["ft_map_4_4x4", "ft_map_4_1x4x4"]
    assert "int32" in {k.ins[0].dtype.name for k in groups[0].keys}
    single = expand(inventory(f'[[kernel]]\ngrouping = "single"\n{text}'))
    assert {len(g.members) for g in single} == {1}
    assert sum(len(g.members) for g in groups) == len(single)


def test_tables_of_one_name_share() -> None:
    text = (
        '[[kernel]]\nname = "a"\nops = ["add()"]\n[[kernel]]\nname = "a"\nops = ["mul", "add()"]\n'
    )
    (group,) = expand(inventory(text))
    assert (group.name, [k.name for k in group.keys]) == ("a", ["add", "mul"])


def test_first_table_has_it() -> None:
    text = (
        '[[kernel]]\nname = "a"\nops = ["add()"]\n[[kernel]]\nname = "b"\nops = ["add()", "mul"]\n'
    )
    assert [[k.name for k in g.keys] for g in expand(inventory(text))] == [["add"], ["mul"]]
    twice = expand(inventory("repeat = true\n" + text))
    assert [[k.name for k in g.keys] for g in twice] == [["add"], ["add", "mul"]]


def test_bundles_keep_every_member_and_fit() -> None:
    found = keys('ops = ["@binary", "@unary", "where"]\ndtypes = ["@all"]')
    made = bundles(found)
    assert sorted(k.entry for b in made for k in b.members) == sorted(k.entry for k in found)
    for k, b in enumerate(made):
        Group(f"g{k}", tuple(b.members))  # refuses what can't be one kernel
    assert len(made) < 40


def test_every_row_is_found() -> None:
    """The list has every row that a module holds, and every one that an op runs."""
    packages = (ftensor.execute, ftensor.ops)
    walk = [m.name for p in packages for m in walk_packages(p.__path__, f"{p.__name__}.")]
    held = [value for name in walk for value in vars(import_module(name)).values()]
    held += [(e.row, *e.rows) for e in ENTRIES.values()]
    for value in held:
        inside = value.values() if isinstance(value, dict) else value
        for row in inside if isinstance(inside, Iterable) else (value,):
            assert not isinstance(row, (Op, Reduce)) or row in ROWS, row.name
    listed = [row for mine in categories().values() for row in mine]
    assert len(listed) == len(ROWS) > 200
    assert {row.name for row in categories()["copies"]} == {"copy", "fill"}
    assert sum(map(len, rows().values())) == len(listed)
    assert named("add()") != named("add") and not named("nothing")


def test_the_page_names_the_categories() -> None:
    page = (Path(__file__).parents[2] / "docs" / "inventory.md").read_text()
    listed = set(re.findall(r"@(\w+)", page.partition("\nCategories: ")[2].partition("\n\n")[0]))
    assert listed - {"own"} == set(categories()) - {"reduce_pieces"}


@pytest.mark.parametrize("of", ["bool", "int32", "float16", "float32", "complex64"])
def test_signatures_spell_what_they_are(of: str) -> None:
    dtype = getattr(ft, of)
    for mine in rows().values():
        for row in mine:
            made = pointwise(row, dtype) if isinstance(row, Op) else reduction(row, dtype)
            if made is not None:
                assert spelled(row, text_of(row, made)) == made, row.name
