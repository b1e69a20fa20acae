"""Graph files, inventories, manifests, images and descriptions of kernels, mutated: each is read or
refused with the error of its kind, quickly, and no code in it runs.

A trial takes a valid file, and changes bytes, or replaces a value by one of another kind, or by a
text that would be code, an option or a path. Digests are recomputed. Every reader runs, and so does
the code that makes kernels or a container of the content.

Left out: `imports` of inventories, which are code by definition, and whether a file keeps its
meaning.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import ftensor as ft
from ftensor.errors.build import InventoryError
from ftensor.errors.image import ImageError
from ftensor.image import description, file
from ftensor.image.manifest import FORMAT, VERSION, HostRecord, Manifest, manifest_digest
from ftensor.image.xclbin import Section, SectionKind, read, write
from ftensor.kernels.graph_file import parse_json, parse_key
from ftensor.kernels.graph_text import text
from ftensor.toolchain.group import KernelGroup, manifest_record
from ftensor.toolchain.inventory.read import expand, parse, row_functions

from .fuzz_files import NUMBERS, mutated_bytes

SOON = 5.0  # seconds
TEXTS = (
    "", "x", '"', "'", "\\", "a\n", "\n#include </etc/passwd>\n", "-o/tmp/x", "@file", "$(touch ran)", "`touch ran`",
    "a\0b", "../../x", "/etc/passwd", "{0}", "%n", "\u0661", "\ud800", "0; } int x = ({ 1; }); {", "a" * 5000, "int",
    "float32", "rows", "*", "linear",
)  # fmt: skip
ODD = (*NUMBERS[:-1], -1, 1.5, 1e300, True, None, [], {}, [[]], *TEXTS)
INVENTORY = """description = "a few"
clock_mhz = 200
platform = "xilinx_u200_gen3x16_xdma_2_202110_1"

[[kernel]]
name = "few"
ops = ["add", "sum"]
dtypes = ["float32", "bool(float32, float32)"]
layouts = ["linear", "inner"]
units = 2
banks = "HBM[0:3]"

[[graph]]
file = "norm.json"
structure = "linked"

[[host]]
op = "exp"
dtypes = "float32(float32)"
layout = "map vv"
"""
DESCRIPTION: dict[str, Any] = {
    "platform": "vendor_board_gen3_1",
    "clock_mhz": 250.0,
    "banks": [{"name": "DDR[0]", "size": "4 GiB", "type": "DDR4"}],
    "kernels": [
        {
            "name": "vadd",
            "units": [{"name": "vadd_1", "base": "0x1800000"}],
            "control": "ap_ctrl_hs",
            "arguments": [{"name": "a", "type": "const float *", "bank": "DDR[0]"}, {"name": "n", "type": "int"}],
        }
    ],
}


def trial(draw: random.Random) -> str:
    """Tests one file. Returns "" if it is read or refused correctly, otherwise the mistake."""
    kind = draw.choice(tuple(KINDS))
    make, reads, refuses = KINDS[kind]
    data = make(draw)
    before = sorted(os.listdir(folder()))
    began = time.monotonic()
    try:
        problem = reads(data)
    except refuses:
        problem = ""
    except BaseException as error:  # noqa: BLE001 - that it is another one is what is looked for
        problem = f"a file of the kind {kind} raises {type(error).__name__}: {str(error)[:200]}"
    if not problem and time.monotonic() - began > SOON:
        problem = f"a file of the kind {kind} takes {time.monotonic() - began:.0f} s"
    if not problem and sorted(os.listdir(folder())) != before:
        problem = f"a file of the kind {kind} leaves files behind"
    if not problem:
        return ""
    shown = base64.b64encode(data).decode()
    lines = ["import base64", "from tests.fuzz_inputs import KINDS", f"data = base64.b64decode({shown!r})"]
    return "\n".join([problem, *lines, f"KINDS[{kind!r}][1](data)"])


@functools.cache
def folder() -> Path:
    """Returns a folder for files, with an inventory's graph."""
    place = Path(tempfile.mkdtemp(prefix="ftensor-fuzz-"))
    import atexit

    atexit.register(shutil.rmtree, place, True)
    (place / "norm.json").write_bytes(graph_file())
    for name in ("image.xclbin", "described.json", "described.toml"):
        (place / name).write_bytes(b"")
    return place


@functools.cache
def graph_file() -> bytes:
    """Returns a graph of a reduction, elementwise ops and numbers."""
    jitted = ft.jit(lambda x, b: (x - x.mean(-1, keepdim=True)) * 2 + b)
    with tempfile.TemporaryDirectory() as place:
        return jitted.export(f"{place}/norm", ft.ones(3, 40), ft.zeros(40)).graph.read_bytes()


def odd(draw: random.Random, value: Any) -> Any:
    """Returns a JSON value with one or a few changes."""
    value = json.loads(json.dumps(value))
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at, parent, key = value, None, None
        while isinstance(at, (dict, list)) and at and (parent is None or draw.random() < 0.85):
            parent, key = at, draw.choice(list(at) if isinstance(at, dict) else range(len(at)))
            at = at[key]
        if parent is None:
            continue
        how = draw.random()
        if how < 0.1:
            del parent[key]
        elif how < 0.2 and isinstance(parent, list):
            parent.append(draw.choice(parent))
        elif how < 0.3 and isinstance(parent, dict):
            parent[draw.choice(TEXTS)] = draw.choice(ODD)
        elif how < 0.5 and isinstance(at, str):
            parent[key] = at + draw.choice(TEXTS)
        else:
            parent[key] = draw.choice(ODD)
    return value


def some_graph(draw: random.Random) -> bytes:
    """Returns a file in the layout of `export`, or with bytes changed."""
    if draw.random() < 0.3:
        return mutated_bytes(draw, graph_file())
    return (json.dumps(odd(draw, json.loads(graph_file())), sort_keys=True, indent=1) + "\n").encode()


def read_graph(data: bytes) -> str:
    """Checks that an accepted file equals the text written for its key."""
    key = parse_key(parse_json(data), data, row_functions)
    return "" if text(key).encode() == data else "a graph is not what its file says"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return '""' if value is None else json.dumps(value)


def some_inventory(draw: random.Random) -> bytes:
    """Returns an inventory with another value in a line, a line missing or repeated, or bytes
    changed."""
    if draw.random() < 0.3:
        return mutated_bytes(draw, INVENTORY.encode())
    lines = INVENTORY.splitlines()
    for _ in range(draw.choice((1, 1, 2))):
        at = draw.randrange(len(lines))
        head, equals, value = lines[at].partition(" = ")
        if not equals or draw.random() < 0.1:
            lines[at : at + 1] = draw.choice(([], [lines[at]] * 2))
        else:
            was = json.loads(value)
            lines[at] = f"{head} = {_toml_value(odd(draw, [was])) if draw.random() < 0.3 else _other(draw, was)}"
    return "\n".join(lines).encode(errors="surrogatepass")


def _other(draw: random.Random, was: Any) -> str:
    if isinstance(was, list) and draw.random() < 0.7:
        return _toml_value([*was, draw.choice(ODD)])
    return _toml_value(was + draw.choice(TEXTS) if isinstance(was, str) and draw.random() < 0.5 else draw.choice(ODD))


def read_inventory(data: bytes) -> str:
    """Checks that its names can't be options of compilers."""
    groups = expand(parse(data, folder() / "mine.toml"))
    bad = [g.name for g in groups if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", g.name)]
    return f"kernels are called {bad}" if bad else ""


@functools.cache
def manifest() -> Manifest:
    """Returns the manifest of an image of a few kernels."""
    groups: tuple[KernelGroup, ...] = expand(parse(INVENTORY.encode(), folder() / "mine.toml"))
    records = tuple(manifest_record(g, "0" * 64) for g in groups[:2])
    host = (HostRecord("exp", "float32(float32)", "map vv"),)
    return Manifest("few", "csim", "board", "", "few.xclbin", records, host=host)


def some_manifest(draw: random.Random) -> bytes:
    """Returns a manifest with its digest, or with bytes changed."""
    if draw.random() < 0.2:
        return mutated_bytes(draw, manifest().to_json().encode())
    said = json.loads(manifest().to_json())
    for name in ("format", "version", "digest"):
        del said[name]
    said = odd(draw, said)
    whole = {"format": FORMAT, "version": VERSION, "digest": manifest_digest(said), **said}
    return json.dumps(whole).encode()


def read_manifest(data: bytes) -> str:
    """Checks that the file named in it is next to it."""
    of = Manifest.from_json(data.decode(errors="replace"))
    return "" if Path(of.file).name == of.file else f"a manifest leads to {of.file!r}"


def some_description(draw: random.Random) -> bytes:
    """Returns a description as JSON, or with bytes changed."""
    if draw.random() < 0.2:
        return mutated_bytes(draw, json.dumps(DESCRIPTION).encode())
    return json.dumps(odd(draw, DESCRIPTION)).encode()


def read_description(data: bytes) -> str:
    """Checks that an accepted description can be packed, and read again."""
    (folder() / "described.json").write_bytes(data)
    of = description.read(folder() / "described.json")
    (folder() / "image.xclbin").write_bytes(description.pack(of, description.ELF + bytes(60)))
    again = file.read(folder() / "image.xclbin", bare=True)
    return "" if [k.name for k in again.description.kernels] == [k.name for k in of.kernels] else "names are lost"


def some_image(draw: random.Random) -> bytes:
    """Returns an image with bytes changed in the container or one of its sections, or with another
    manifest."""
    kernels = manifest().kernels if draw.random() < 0.2 else ()
    said = replace(manifest(), kernels=kernels, file="").to_json()
    whole = description.pack(description.from_mapping(DESCRIPTION), description.ELF + bytes(60), said)
    container = read(whole)
    how = draw.random()
    if how < 0.3:
        return mutated_bytes(draw, whole)
    at = draw.randrange(len(container.sections))
    sections = list(container.sections)
    was = sections[at]
    data = some_manifest(draw) if was.kind == SectionKind.USER_METADATA else mutated_bytes(draw, was.data)
    if was.kind == SectionKind.EMBEDDED_METADATA and draw.random() < 0.7:
        marks = [m.span(1) for m in re.finditer(rb'"([^"]*)"', was.data)]
        begin, end = draw.choice(marks)
        word = draw.choice(TEXTS).encode("utf-8", "replace").replace(b'"', b"&quot;")
        data = was.data[:begin] + word + was.data[end:]
    sections[at] = Section(was.kind, was.name, data)
    return write(container.with_sections(sections))


def read_image(data: bytes) -> str:
    """Reads an image with its manifest, and looks up its kernels by name."""
    (folder() / "image.xclbin").write_bytes(data)
    for bare in (True, False):
        file.read(folder() / "image.xclbin", bare=bare)
    return ""


# For each kind: the function that makes a file, its reader ("" or the mistake), and the exception
# of a refusal.
KINDS: dict[str, tuple[Callable[[random.Random], bytes], Callable[[bytes], str], type[Exception]]] = {
    "graph": (some_graph, read_graph, ValueError),
    "inventory": (some_inventory, read_inventory, InventoryError),
    "manifest": (some_manifest, read_manifest, ImageError),
    "description": (some_description, read_description, ImageError),
    "image": (some_image, read_image, ImageError),
}
