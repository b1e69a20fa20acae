"""Mistakes in inventories: one message each, with the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftensor.errors.build import InventoryError
from ftensor.toolchain.inventory.read import expand, parse, read

HERE = Path("here.toml")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[[kernel]]\nops = ["ad"]', 2, "no op 'ad' with a kernel; did you mean 'add'"),
        ('[[kernel]]\nops = ["@unari"]', 2, "no category 'unari'"),
        ('[[kernel]]\nname = "x"\nops = ["add"]\ndtypes = ["float31"]', 4, "no dtype 'float31'"),
        ('[[kernel]]\nops = ["add"]\ndtypes = ["float32(flot32, int8)"]', 3, "no dtype 'flot32'"),
        ('[[kernel]]\nops = ["add"]\ndtypes = ["float32(float32"]', 3, "signatures such as"),
        ('[[kernel]]\nops = ["add"]\nto = ["int8(int8)"]', 3, "no dtype 'int8(int8)'"),
        ('[[kernel]]\nops = ["add"]\nlayouts = ["inline"]', 3, "no layout 'inline'"),
        ('[[kernel]]\nops = ["add"]\nlayouts = ["map vq"]', 3, "no layout 'map vq'"),
        ('[[kernel]]\nops = ["add"]\nlanes = 3', 3, "lanes = 3; it must be 1, 2, 4, 8 or 16"),
        ('[[kernel]]\nops = ["add"]\nlanes = true', 3, "lanes = True"),
        ('[[kernel]]\nops = ["add"]\nunits = 0', 3, "units = 0"),
        ('[[kernel]]\nops = ["add"]\nunits = true', 3, "units = True"),
        ('[[kernel]]\nops = ["add"]\nbanks = "HBM"', 3, "banks = 'HBM'"),
        ('[[kernel]]\nops = ["add"]\nbanks = "HBM[5:2]"', 3, "banks = 'HBM[5:2]'"),
        ('imports = ["no_such_rows"]\n[[kernel]]\nops = ["add"]', 1, "No module named"),
        ('[[kernel]]\nops = ["add"]\nstructure = "flow"', 3, "structure = 'flow'"),
        ('[[kernel]]\nops = ["add"]\ngrouping = "one"', 3, "grouping = 'one'"),
        ('[[kernel]]\nops = ["add"]\nvectors = [3]', 3, "vectors = [3]"),
        ('[[kernel]]\nops = ["matmul"]\nparts = ["fast"]', 3, "parts = 'fast'"),
        ('[[kernel]]\nops = "add"', 2, "ops = 'add'; it must be a list"),
        ('[[kernel]]\ndtypes = ["int8"]', 1, "ops is missing"),
        ('[[kernel]]\nops = ["add"]\nunit = 2', 3, "no setting 'unit'; did you mean 'units'"),
        ('clock = 3\n[[kernel]]\nops = ["add"]', 1, "no setting 'clock'; did you mean 'clock_mhz'"),
        ('clock_mhz = "fast"\n[[kernel]]\nops = ["add"]', 1, "clock_mhz = 'fast'"),
        ('[[kernel]]\nops = ["add"]\n\n[[kernel]]\nops = ["mux"]', 5, "no op 'mux'"),
        ('[[kernel]]\nname = "9"\nops = ["add"]', 2, "'9' can't begin a kernel's name"),
        (
            '[[kernel]]\nname = "a"\nops = ["add"]\n[[kernel]]\nname = "a"\nunits = 2\nops = ["mul"]',
            4,
            "another table is called 'a'",
        ),
        ('[[kernel]]\nops = ["bitwise_and"]', 1, "no kernel of 'bitwise_and' takes float32"),
        ('[[kernel]]\nops = ["add"]\n[[host]]\nop = "exp"\nlayout = "map vv"', 3, "dtypes is missing"),
        ('[[kernel]]\nops = ["add"]\n[[host]]\nop = "exp"\nlayouts = "map vv"', 5, "no setting 'layouts'"),
        ('[[kernel]]\nops = ["add"]\n[[host]]\nop = 3\ndtypes = "a"\nlayout = "b"', 4, "op = 3; it must be a text"),
        ('[[kernel]]\nops = ["sum"]', 1, "no kernel of 'sum' takes float32 in a layout of linear"),
        ('[[kernel]]\nops = ["add"]\nlayouts = ["gather"]', 1, "no kernel of 'add'"),
        ('[[kernel]]\nops = ["add"]\nlayouts = ["map vx"]', 1, "no kernel of 'add'"),
        ('[[kernel]]\nops = ["matmul"]\ndtypes = ["bool"]', 1, "no kernel of 'matmul' takes bool"),
    ],
)
def test_mistakes_name_file_and_line(text: str, line: int, said: str) -> None:
    with pytest.raises(InventoryError) as caught:
        expand(parse(text.encode(), HERE))
    assert str(caught.value).startswith(f"here.toml:{line}: "), caught.value
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", r"\[\[kernel\]\] is missing"),
        (b"kernel = 3", "kernel = 3; it must be tables"),
        (b"[[kernel]\n", "line 1"),
        (b"\xff\xfe", "utf-8"),
        (b"x = " + b"[" * 3000 + b"]" * 3000, r"here\.toml: .*nested too deeply"),
        (b"x = " + b"{a=" * 3000 + b"1" + b"}" * 3000, r"here\.toml: .*nested too deeply"),
        (b"clock_mhz = " + b"9" * 5000, r"here\.toml: .*digits"),
        (b"clock_mhz = 0x" + b"f" * 5000, r"here\.toml:1: clock_mhz = a number of 20000 bits"),
        (b'[[kernel]]\nops = ["add"]\nunits = 0x' + b"f" * 5000, "units = a number of 20000 bits"),
        (b'[[kernel]]\nops = ["*"]\ndtypes = ["@all"]\ngrouping = "single"', "compute units"),
    ],
)
def test_broken_files(data: bytes, said: str) -> None:
    with pytest.raises(InventoryError, match=said):
        expand(parse(data, HERE))


def test_no_such_inventory(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match=r"no inventory 'mininal'.*did you mean 'minimal'"):
        read("mininal")
    with pytest.raises(InventoryError, match="directory"):
        (tmp_path / "x.toml").mkdir()
        read(tmp_path / "x.toml")


@pytest.mark.parametrize("dtypes", ["float32 float32(float32)", "number(float32)", "float32(float32 float32)"])
def test_signature_with_unknown_dtypes(dtypes: str) -> None:
    text = f'[[kernel]]\nops = ["neg"]\ndtypes = ["{dtypes}"]\n'
    with pytest.raises(InventoryError, match=r"must be dtypes, or signatures"):
        expand(parse(text.encode(), Path("x.toml")))
