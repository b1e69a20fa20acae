"""Hand-written descriptions of images, and the commands that pack and show them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ftensor.cli import main
from ftensor.errors.image import ImageError
from ftensor.image import description
from ftensor.image.contents import ArgumentDescription, Bank, Description, KernelDescription
from ftensor.image.description import content_uuid, pack

from .image_cases import FILE, LIBRARY, SIMPLE, TWO_BANKS, VADD

TOML = """
platform = "vendor_board_gen3_1"
clock_mhz = 250
name = "demo"
banks = [{name = "DDR[0]", size = "4 GiB"}, {name = "DDR[1]", size = 0x1_0000_0000}]

[[kernels]]
name = "vadd"
units = 2
arguments = [
  {name = "a", type = "const float *", bank = "DDR[0]"},
  {name = "b", type = "float *", banks = ["DDR[1]"]},
  {name = "scale", type = "double"},
  {name = "flag", type = "unsigned char"},
  {name = "n", type = "unsigned int"},
]
"""


def test_toml_and_json_give_the_same_description(tmp_path: Path) -> None:
    """Both files give the description that is written as Python above."""
    toml = tmp_path / "vadd.toml"
    toml.write_text(TOML)
    parsed = description.read(toml)
    assert parsed == description.complete(SIMPLE)
    as_json = {
        "platform": "vendor_board_gen3_1",
        "clock_mhz": 250.0,
        "name": "demo",
        "banks": [{"name": b.name, "size": f"{b.size // 4096 * 4} KiB"} for b in TWO_BANKS],
        "kernels": [
            {
                "name": "vadd",
                "units": [{"name": "vadd_1", "base": "0x1800000"}, {"name": "vadd_2", "base": 0x1810000}],
                "arguments": [{"name": a.name, "type": a.c, "banks": list(a.banks)} for a in VADD.arguments],
            }
        ],
    }
    path = tmp_path / "vadd.json"
    path.write_text(json.dumps(as_json))
    assert description.read(path) == parsed


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('type = "double"', 'type = "ap_uint<72>"', "size in bytes"),
        ('bank = "DDR[0]"', 'bank = "DDR[7]"', "DDR.7."),
        ('name = "vadd"', 'name = "v add"', "identifier"),
        ("units = 2", "units = 200", "200 units"),
        ("units = 2", 'units = [{name="a", base=0x20000}, {name="b", base=0x10000}]', "ascend"),
        ("units = 2", 'units = [{name="a"}, {name="a"}]', "one name"),
        ("units = 2", f'units = [{{name="{"a" * 60}"}}]', "63 bytes"),
        ("units = 2", "unit = 2", "'unit'"),
        ('size = "4 GiB"', 'size = "four"', "four"),
        ('size = "4 GiB"', "size = 5000", "4 KiB"),
        ("units = 2", 'control = "magic"', "MAGIC"),
        ('name = "scale", ', 'name = "scale", offset = 0x1c, ', "overlap"),
        ("platform =", "platform", "valid file"),
        ('name = "n", ', "", "'name' is missing"),
        ("clock_mhz = 250", 'clock_mhz = "fast"', "clock_mhz"),
    ],
)
def test_mistakes_in_a_description(tmp_path: Path, old: str, new: str, says: str) -> None:
    """Each mistake gives one message that names it."""
    assert TOML.count(old) == 1 or "name" in old
    path = tmp_path / "x.toml"
    path.write_text(TOML.replace(old, new))
    with pytest.raises(ImageError, match=says):
        description.read(path)


def test_banks_of_one_address_range_are_one_memory(tmp_path: Path) -> None:
    """Banks with equal base and size are allowed, as on a Kria. Any other overlap is a mistake."""
    path, banks = tmp_path / "x.toml", TOML.split("banks = ")[1].split("\n")[0]

    def read(text: str) -> list[tuple[int, int]]:
        path.write_text(TOML.replace(banks, f"[{text}]"))
        return [(b.base, b.size) for b in description.read(path).banks]

    one, two = '{name = "DDR[0]", size = "4 GiB", base = 0}', '{name = "DDR[1]", size = "4 GiB", base = 0}'
    assert read(f"{one}, {two}") == [(0, 4 << 30)] * 2
    third = '{name = "DDR[2]", size = "1 GiB"}'
    assert read(f"{one}, {two}, {third}")[2] == (4 << 30, 1 << 30)
    with pytest.raises(ImageError, match=r"DDR\[1\] overlaps.*equal base and size"):
        read(one + ", " + two.replace("4 GiB", "2 GiB"))


@pytest.mark.parametrize(
    ("banks", "kept"),
    [
        ([Bank("a", 4096), Bank("b", 4096)], {"a": True, "b": True}),
        ([Bank("a", 4096, 0, used=False), Bank("b", 4096, 0)], {"b": True}),
        ([Bank("a", 4096, 0), Bank("b", 4096, 0, used=False)], {"a": True}),
        ([Bank("a", 4096, 0, used=False), Bank("b", 4096, 0, used=False)], {"a": False}),
        ([Bank("a", 4096, 0, "STREAMING"), Bank("b", 4096, 0)], {"a": True, "b": True}),
    ],
)
def test_folded_banks(banks: list[Bank], kept: dict[str, bool]) -> None:
    """A bank without a base address gets its own range. A memory is used if any of its banks is
    used."""
    kernels = tuple(KernelDescription(b.name, (ArgumentDescription("x", "int *", banks=(b.name,)),)) for b in banks)
    folded = Description(kernels, tuple(banks)).folded()
    assert {b.name: b.used for b in folded.banks} == kept
    assert all(bank in kept for k in folded.kernels for a in k.arguments for bank in a.banks)


def test_limits_of_an_image() -> None:
    """Refused: no kernels, too many units, an invalid library."""
    with pytest.raises(ImageError, match="no kernel"):
        pack(Description(()), LIBRARY)
    many = tuple(replace(VADD, name=f"v{k}", units=VADD.units) for k in range(65))
    with pytest.raises(ImageError, match="128"):
        pack(replace(SIMPLE, kernels=many), LIBRARY)
    with pytest.raises(ImageError, match="twice"):
        pack(replace(SIMPLE, kernels=(VADD, VADD)), LIBRARY)
    with pytest.raises(ImageError, match="shared object"):
        pack(SIMPLE, b"text")


# The commands


def test_pack_and_info_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`image info` shows a file that `image pack` made."""
    (tmp_path / "lib.so").write_bytes(LIBRARY)
    (tmp_path / "vadd.toml").write_text(TOML)
    lacking = ["--library", f"{tmp_path}/lib.so", "--description", f"{tmp_path}/vadd.toml", "x"]
    assert main(["image", "pack", *lacking]) == 1
    assert "has no function 'vadd'" in capsys.readouterr().err
    (tmp_path / "lib.so").write_bytes(LIBRARY + b"\0vadd\0")
    image = str(tmp_path / "vadd.xclbin")
    words = ["--library", str(tmp_path / "lib.so"), "--description", str(tmp_path / "vadd.toml")]
    assert main(["image", "pack", *words, image]) == 0
    assert "1 kernel, 2 compute units" in capsys.readouterr().out
    assert main(["image", "info", image]) == 0
    shown = capsys.readouterr().out
    uuid = str(content_uuid(SIMPLE, LIBRARY + b"\0vadd\0"))
    for word in ("SW_EMU", uuid, "vadd:vadd_2", "0x1810000", "DDR[1]", "const float *", "250 MHz"):
        assert word in shown
    assert main(["image", "info", "--json", image]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["facts"]["uuid"] == uuid
    assert [unit["base"] for unit in record["units"]][1] == 0x1810000
    assert len(record["kernels"][0]["units"]) == 2


@pytest.mark.parametrize("content", [b"", b"xclbin2\0", b"#!/bin/sh\n" * 99, FILE[:-1], None])
def test_info_of_an_invalid_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None) -> None:
    """It prints one line to stderr and exits with status 1."""
    path = tmp_path / "x.xclbin"
    if content is not None:
        path.write_bytes(content)
    assert main(["image", "info", str(path)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert "xclbin" in printed.err


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "a\nb", "\x1b[31m"])
@pytest.mark.parametrize("place", ["platform", "name"])
def test_names_have_no_control_characters(place: str, text: str) -> None:
    """Characters that UTF-8 lacks are refused too, since names are written to XML."""
    with pytest.raises(ImageError, match=r"has characters that no name has"):
        description.from_mapping({"kernels": [{"name": "k", "arguments": []}], place: text})
