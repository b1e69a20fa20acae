"""Inventories: valid files, and kernels that match those of launches."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import ftensor as ft
import ftensor.execute
import ftensor.ops
from ftensor.dtypes import ALL
from ftensor.kernels.key import BY_VALUE
from ftensor.rows.catalogue import ENTRIES, ROWS
from ftensor.rows.op import Op, Reduce
from ftensor.toolchain.group import MAX_UNITS, KernelGroup, arguments, call_tokens, port_groups
from ftensor.toolchain.inventory.keys import (
    categories,
    parse_signature,
    pointwise,
    reduction,
    row_named,
    rows,
    signature_text,
)
from ftensor.toolchain.inventory.read import Inventory, builtin_inventories, expand, parse, read
from ftensor.toolchain.vitis.source import source

HERE = Path("here.toml")


def inventory(text: str) -> Inventory:
    return parse(text.encode(), HERE)


def keys(text: str) -> list[Any]:
    return [m for g in expand(inventory(f"[[kernel]]\n{text}")) for m in g.members]


def signatures(text: str) -> set[str]:
    lines = set()
    for key in keys(text):
        ins = ["number" if p.kind == BY_VALUE else p.dtype.name for p in key.ins]
        lines.add(f"{key.name} {key.skeleton}: {key.outs[0].dtype.name}({', '.join(ins)})")
    return lines


# --- The tables.


@pytest.mark.parametrize("name", sorted(builtin_inventories()))
def test_builtin_inventories(name: str) -> None:
    groups = expand(read(name))
    assert groups == expand(read(name))
    assert len({g.name for g in groups}) == len(groups)
    assert sum(g.units for g in groups) <= MAX_UNITS
    for group in groups:
        for opcode in range(len(group.members)):
            assert len(call_tokens(group, opcode).split()) == len(arguments(group)) - 2
    if not read(name).repeat:
        entries = [m.entry for g in groups for m in g.members]
        assert len(set(entries)) == len(entries)


def test_minimal_has_typed_ports() -> None:
    for group in expand(read("minimal")):
        assert len(group.bodies or group.members) == 1
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
        (
            'ops = ["eq"]\nlayouts = ["linear", "scalar"]',
            {"eq map: bool(float32, float32)", "eq map: bool(float32, number)"},
        ),
        ('ops = ["neg"]\nlayouts = ["strided"]', {"neg rows: float32(float32)"}),
        ('ops = ["copy"]\nto = ["int32"]', {"copy map: int32(float32)"}),
        ('ops = ["ne"]\nto = ["@same"]', {"ne map: float32(float32, float32)"}),
        ('ops = ["mul"]\ndtypes = ["float32(int32, number)"]', {"mul map: float32(int32, number)"}),
        ('ops = ["sum"]\ndtypes = ["bool"]\nlayouts = ["strided"]', {"sum_whole reduce_inner: int64(bool)"}),
        ('ops = ["amax"]\nlayouts = ["outer"]\nvectors = [8]', {"amax_whole reduce_outer: float32(float32)"}),
        ('ops = ["copy"]\nlayouts = ["gather"]\nindices = [2]', {"copy rows: float32(float32, int64, int64)"}),
        (
            'ops = ["add_at"]\nlayouts = ["scatter"]\nindex = ["int32"]',
            {"add_at rows: float32(float32, float32, int32)"},
        ),
        ('ops = ["lerp_at"]\nlayouts = ["gather", "scatter"]', {f"lerp_at rows: float32({'float32, ' * 5}int64)"}),
        (
            'ops = ["@bitwise"]\nbut = ["bitwise_or", "bitwise_left_shift", "bitwise_right_shift"]\ndtypes = ["bool"]',
            {"bitwise_and map: bool(bool, bool)", "bitwise_xor map: bool(bool, bool)"},
        ),
        ('ops = ["add", "sub"]\nbut = ["add"]\ndtypes = ["int8"]', {"sub map: int8(int8, int8)"}),
        ('ops = ["fill"]', {"fill map: float32()"}),
        ('ops = ["random_normal"]\ndtypes = ["float32()"]', {"random_normal map: float32()"}),
        ('ops = ["random_below"]\ndtypes = ["int64(int64)"]', {"random_below map: int64(int64)"}),
        ('ops = ["mul"]\nlayouts = ["map vvs"]', {"mul map: float32(float32, float32)"}),
    ],
)
def test_members_of_a_group(text: str, wanted: set[str]) -> None:
    assert signatures(text) == wanted


def test_signature_in_place_of_parameters_is_refused() -> None:
    with pytest.raises(ValueError, match=r"row 'halved': .* not 'halved\(input\)'"):
        Op("halved", "halved(input)", "a * K(0.5)")
    with pytest.raises(ValueError, match=r"row 'total': .* not 'total\(input, dim=\(\)\)'"):
        Reduce("total", "a", "x + y", "K(0)", parameters="total(input, dim=())")


def test_parameters_select_a_row() -> None:
    assert [k.params for k in keys('ops = ["add"]')] == [(), ("alpha",)]
    assert [k.params for k in keys('ops = ["add()"]')] == [()]
    assert [k.params for k in keys('ops = ["add(alpha)"]')] == [("alpha",)]


def test_lanes_fill_the_port_width() -> None:
    lanes = {
        d: keys(f'ops = ["add()"]\ndtypes = ["{d}"]')[0].lanes
        for d in ("int8", "float16", "float32", "float64", "complex64")
    }
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
    text = '[[kernel]]\nname = "a"\nops = ["add()"]\n[[kernel]]\nname = "a"\nops = ["mul", "add()"]\n'
    (group,) = expand(inventory(text))
    assert (group.name, [k.name for k in group.keys]) == ("a", ["add", "mul"])


def test_first_table_wins() -> None:
    text = '[[kernel]]\nname = "a"\nops = ["add()"]\n[[kernel]]\nname = "b"\nops = ["add()", "mul"]\n'
    assert [[k.name for k in g.keys] for g in expand(inventory(text))] == [["add"], ["mul"]]
    twice = expand(inventory("repeat = true\n" + text))
    assert [[k.name for k in g.keys] for g in twice] == [["add"], ["add", "mul"]]


def test_bundles_keep_every_member_and_fit() -> None:
    members = keys('ops = ["@binary", "@unary", "where"]\ndtypes = ["@all"]')
    bundled = port_groups(members)
    assert sorted(k.entry for b in bundled for k in b.members) == sorted(k.entry for k in members)
    for k, b in enumerate(bundled):
        KernelGroup(f"g{k}", tuple(b.members))  # refused: these can't be one kernel
    assert len(bundled) < 40


def test_every_row_is_found() -> None:
    """The list has every row that a module defines and every row that an op runs."""
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
    assert row_named("add()") != row_named("add") and not row_named("nothing")


def test_the_page_names_the_categories() -> None:
    page = (Path(__file__).parents[2] / "docs" / "inventory.md").read_text()
    listed = set(re.findall(r"@(\w+)", page.partition("\nCategories: ")[2].partition("\n\n")[0]))
    assert listed - {"own"} == set(categories()) - {"reduce_pieces", "own"}  # "own": rows that other tests define


@pytest.mark.parametrize("of", ["bool", "int32", "float16", "float32", "complex64"])
def test_signatures_round_trip(of: str) -> None:
    dtype = getattr(ft, of)
    for mine in rows().values():
        for row in mine:
            signature = pointwise(row, dtype) if isinstance(row, Op) else reduction(row, dtype)
            if signature is not None:
                assert parse_signature(row, signature_text(row, signature)) == signature, row.name


@pytest.mark.parametrize("of", [d for d in ALL if d.bare], ids=str)
def test_dtypes_with_few_ops_need_a_signature(of: ft.dtype) -> None:
    """A traced program writes such lines for fills, conversions and comparisons."""
    compute = "" if of.compute is of else f" in {of.compute.name}"
    text = f"""
    [[kernel]]
    ops = ["fill"]
    dtypes = ["{of.name}(){compute}"]
    layouts = ["linear", "strided"]
    [[kernel]]
    ops = ["copy"]
    dtypes = ["{of.name}(float32)", "float32({of.name}){compute}"]
    layouts = ["linear", "strided"]
    [[kernel]]
    ops = ["eq"]
    dtypes = ["bool({of.name}, {of.name}){compute}"]
    layouts = ["linear"]
    """
    groups = expand(inventory(text))
    assert sum(len(group.members) for group in groups) == 7
    for group in groups:
        assert f'extern "C" void {group.name}(' in source(group)
