"""Inventories: TOML files that list the kernels of an image (docs/inventory.md), and the keys of
the kernels that their tables request."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from ...dtypes import dtype
from ...errors import build as errors
from ...execute.keys import fold_key, monoid, op_key, results
from ...graph.loop_body import PARTS, part_function
from ...image.manifest import LINKED, HostRecord
from ...kernels import network_file
from ...kernels.element_function import ElementFunction, element_function_of
from ...kernels.graph_file import MAX_BYTES, parse_feedback, parse_json, parse_key
from ...kernels.graph_text import SCAN
from ...kernels.inventory_terms import InventoryRequest
from ...kernels.key import LINEAR, REAL, VALUE, KernelKey, Key
from ...kernels.network import NetworkKey
from ...kernels.network_parts import cuts_of
from ...kernels.skeleton import board_skeleton_of, inventory_words, requested_keys
from ...kernels.skeletons.feedback import FeedbackKey
from ...kernels.source import hls_root
from ...kernels.staged import STATES, StagedKey, lanes_of
from ...rows.catalogue import ROWS
from ...rows.op import Op, Reduce
from ...runtime.targets import CSIM
from .. import group as joints
from ..group import MAX_KERNEL_UNITS, MAX_UNITS, KernelGroup, free_name, port_groups, suffix
from .keys import (
    INDEXED_LAYOUTS,
    Row,
    Signature,
    accepts,
    common_of,
    fold_keys,
    located_keys,
    parse_signature,
    pointwise,
    pointwise_keys,
    reduction,
    row_named,
    supports_signature,
)
from .linked import GraphFile, GraphKey, linked
from .table import MEMORIES, BuildForm, Image, KernelSpec, TomlTable, is_int, is_memory, parse_image, parse_kernels

GRAPH = ("file", "sha256", "name", "banks", "structure", "cuts", "lanes", "units")
STRUCTURES = ("dataflow", LINKED)
HOST = tuple(field.name for field in fields(HostRecord))
# Kernels without a choice of compute units, as messages name them.
_ALONE = {StagedKey: "a graph in a kernel per stage", NetworkKey: "a network", FeedbackKey: "a loop with feedback"}
_DIGEST = re.compile(r"[0-9a-f]{64}")


def parse_graph(table: TomlTable, image: Image) -> GraphFile:
    """Returns a [[graph]] table and the graph in its file; the file's path is relative to the
    inventory.

    Raises InventoryError if the file can't be read, is no graph, or differs from its `sha256`.
    """
    table.check_names(GRAPH)
    if "file" not in table.raw:
        raise errors.missing(table.where(), "file", 'file = "detector.json"')
    filename = table.get("file", "", lambda v: isinstance(v, str) and v != "", "a graph file's name")
    path, location = table.path.parent / filename, table.where("file")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise errors.unread_graph(location, path, getattr(error, "strerror", "") or error) from None
    fits = lambda v: isinstance(v, str) and bool(_DIGEST.fullmatch(v))  # noqa: E731
    expected_digest = table.get("sha256", "", fits, "64 hexadecimal digits")
    digest = sha256(data).hexdigest()
    if expected_digest and expected_digest != digest and len(data) <= MAX_BYTES:
        raise errors.changed_graph(table.where("sha256"), path, digest, expected_digest)
    try:
        key = _parse_file(data, path)
    except ValueError as problem:
        raise errors.bad_graph(location, path, problem) from None
    name = table.kernel_name(path.name.partition(".")[0])
    structures = STRUCTURES[:1] if isinstance(key, FeedbackKey) else STRUCTURES
    one_of = f"one of {structures}"
    structure = table.get("structure", "dataflow", structures.__contains__, one_of)
    if structure == LINKED and isinstance(key, StagedKey) and not key.has_linked_form:
        raise errors.linked_half(table.where("structure"))
    many = isinstance(key, StagedKey) and structure == STRUCTURES[0]
    units = f"a number of compute units, 1 to {MAX_KERNEL_UNITS}" if many else f"1 for {_ALONE[type(key)]}"
    return GraphFile(
        name,
        _with_lanes(table, key),
        table.get("banks", image.banks, is_memory, MEMORIES),
        structure,
        table.where(),
        table.get("units", 1, lambda v: is_int(v, 1, MAX_KERNEL_UNITS if many else 1), units),
        _cuts(table, key, structure),
    )


def _cuts(table: TomlTable, key: GraphKey, structure: str) -> tuple[int, ...]:
    """Returns the layers at which the kernels of a linked network begin, all but the first one."""
    parts = structure == LINKED and isinstance(key, NetworkKey)
    possible = cuts_of(key) if parts and isinstance(key, NetworkKey) else []

    def fits(v: Any) -> bool:
        return v != [] and isinstance(v, list) and all(type(k) is int for k in v) and v == sorted({*v} & {*possible})

    if parts and "cuts" not in table.raw:
        raise errors.missing(table.where(), "cuts", f"cuts = {possible[:1]}")
    expected = f"layers in order, of {possible}, at which another kernel begins" if parts else "absent here"
    return tuple(table.get("cuts", [], fits, expected))


def _with_lanes(table: TomlTable, key: GraphKey) -> GraphKey:
    """Returns the graph with the lanes of its table. Raises InventoryError for lanes that its
    stages do not support."""
    possible_lanes = lanes_of(key) if isinstance(key, StagedKey) else (key.lanes,)
    one_of = f"one of {', '.join(map(str, possible_lanes))}: the graph's lanes, or fewer"
    lanes = table.get("lanes", key.lanes, lambda v: type(v) is int and v in possible_lanes, one_of)
    return replace(key, lanes=lanes) if isinstance(key, StagedKey) else key


def _parse_file(data: bytes, path: Path) -> GraphKey:
    """Returns the graph, the network or the loop with feedback in a file. Raises ValueError if the
    file is none of these."""
    raw = parse_json(data)
    if raw["format"] == SCAN:
        return parse_feedback(raw, data, row_functions)
    if raw["format"] != network_file.FORMAT:
        return parse_key(raw, data, row_functions)
    constants = path.with_suffix(".weights")
    try:
        with constants.open("rb") as file:
            return network_file.parse_network(raw, data, file.read(network_file.MAX_CONSTANTS + 1))
    except OSError as error:
        raise ValueError(f"its constants {constants} can't be read: {error.strerror or error}") from None


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Inventory:
    """The content of an image. `platform` and `clock_mhz` apply to hardware builds. `host` are the
    steps that are left to the host.

    `sha256` is the hash of the file; inventories of equal hash request the same image.
    """

    name: str
    path: Path
    sha256: str
    description: str
    platform: str
    clock_mhz: float
    repeat: bool
    kernels: tuple[KernelSpec, ...]
    graphs: tuple[GraphFile, ...] = ()
    host: tuple[HostRecord, ...] = ()


def builtin_inventories() -> dict[str, Path]:
    """Returns the inventories that come with ftensor, by name."""
    return {p.stem: p for p in sorted((hls_root() / "inventory").glob("*.toml"))}


def read(source: str | Path) -> Inventory:
    """Returns the inventory in a file, or the inventory of that name that comes with ftensor.

    Raises InventoryError for a missing or invalid file; the message names the place.
    """
    path = Path(source)
    if not os.path.isfile(path):  # unlike `Path.is_file`, no error for a name that is too long
        path = builtin_inventories().get(str(source), path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise errors.not_found(str(source), list(builtin_inventories())) from None
    except OSError as error:
        raise errors.unreadable(path, error.strerror or error) from error
    except ValueError as error:  # a NUL in the name
        raise errors.unreadable(path, error) from error
    return parse(data, path)


def parse(data: bytes, path: Path) -> Inventory:
    """Returns the inventory in a file's bytes; `path` is for messages."""
    try:
        text = data.decode()
        raw = tomllib.loads(text)
    except RecursionError as error:
        raise errors.unreadable(path, "its values are nested too deeply to be read") from error
    except ValueError as error:  # no text, no TOML, or a number too long for an int
        raise errors.unreadable(path, error) from error
    table = TomlTable.top(path, text, raw)
    image = parse_image(table)
    for name in image.imports:
        _import(name, table)
    kernels = tuple(parse_kernels(t, image) for t in table.tables("kernel"))
    graphs = tuple(parse_graph(t, image) for t in table.tables("graph"))
    if not (kernels or graphs):
        raise errors.missing(str(path), "[[kernel]]", '[[kernel]] with ops = ["add"]')
    seen: dict[str, KernelSpec] = {}
    for one in kernels:
        if one.named and seen.setdefault(one.name, one).form != one.form:
            raise errors.same_name(one.where, one.name)
    return Inventory(
        path.stem,
        path,
        sha256(data).hexdigest(),
        image.description,
        image.platform,
        image.clock_mhz,
        image.repeat,
        kernels,
        graphs,
        tuple(dict.fromkeys(_parse_host(t) for t in table.tables("host"))),
    )


def _parse_host(table: TomlTable) -> HostRecord:
    """Returns the step of a [[host]] table. The op may be one that no inventory knows."""
    table.check_names(HOST)
    for name in HOST:
        if name not in table.raw:
            raise errors.missing(table.where(), name, 'op = "exp", dtypes = "float32(float32)", layout = "map vv"')
    return HostRecord(*(table.get(name, "", lambda v: isinstance(v, str) and v != "", "a text") for name in HOST))


def _import(name: str, table: TomlTable) -> None:
    """Imports a module that adds rows to the catalogue; the inventory's folder is on its search
    path."""
    folder = str(table.path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        import_module(name)
    except Exception as error:
        # Any exception of the module makes the inventory unreadable.
        raise errors.not_imported(table.where("imports"), name, error) from error
    finally:
        sys.path.remove(folder)


def expand(inventory: Inventory, shares_ports: bool = True) -> tuple[KernelGroup, ...]:
    """Returns the kernels of the image, in an order that depends on the inventory alone.

    `shares_ports` is True for XRT, where kernels with their own parameter list share ports, too. Raises
    InventoryError for kernels that are not available, and for more compute units than XRT allows.
    """
    taken: set[Key] = set()
    shared: dict[tuple[str, bool, BuildForm], dict[Key, None]] = {}
    for table in inventory.kernels:
        form_keys = shared.setdefault((table.name, table.named, table.form), {})
        for key in keys_of_spec(table):
            if key not in (form_keys if inventory.repeat else taken):
                taken.add(key)
                form_keys[key] = None
    groups: list[KernelGroup] = []
    for (prefix, named, form), members in shared.items():
        kernels = parts(list(members), form.grouping, shares_ports)
        for part, members_of_part in kernels:
            name = prefix if named and len(kernels) == 1 else f"{prefix}_{part}"
            first = members_of_part[0]
            structure = board_skeleton_of(first).structure(first.lanes, form.structure)
            name = free_name(name, [g.name for g in groups])
            groups.append(KernelGroup(name, members_of_part, structure, form.units, form.banks))
    apart: list[GraphFile] = []
    for graph in inventory.graphs:
        if graph.key not in taken:
            taken.add(graph.key)
            if graph.structure == LINKED and shares_ports:  # Intel's graphs always have one kernel per stage
                apart.append(graph)
                continue
            name = free_name(graph.name, [g.name for g in groups])
            units = graph.units if shares_ports else 1
            groups.append(KernelGroup(name, (graph.key,), units=units, banks=graph.banks))
    groups += linked(apart, [g.name for g in groups])
    units = sum(g.units for g in groups)
    if shares_ports and units > MAX_UNITS:
        raise errors.too_many_units_listed(inventory.path, units, MAX_UNITS)
    return tuple(groups)


def parts(members: list[Key], grouping: str, shares_ports: bool = True) -> list[tuple[str, tuple[Key, ...]]]:
    """Groups members into kernels, as `grouping` requests ("single" or "shared"). Returns (name,
    members) of each kernel."""
    if grouping == "single":
        return [_own_kernel(key) for key in members]
    shared = [key for key in members if isinstance(key, KernelKey)]
    separate = [key for key in members if not isinstance(key, KernelKey)]
    joined = [(suffix(b), tuple[Key, ...](b.members)) for b in port_groups(shared)]
    if not shares_ports:
        return joined + [_own_kernel(key) for key in separate]
    return joined + [(joints.name(family), family) for family in joints.families(separate)]


def _own_kernel(key: Key) -> tuple[str, tuple[Key, ...]]:
    return board_skeleton_of(key).suffix(key), (key,)


def row_functions(
    name: str, compute: dtype, outs: Sequence[dtype], ins: Sequence[dtype | None]
) -> Iterator[ElementFunction]:
    """Yields the element functions of all ops named `name` that compute in `compute`, from elements
    of `ins` (None for a number) to elements of `outs`. Ops that do not support these dtypes yield
    nothing."""
    for row in [row for row in ROWS if row.name == name]:
        if isinstance(row, Op):
            yield from _of_op(row, compute, outs, ins)
        else:
            yield from _of_fold(row, compute, outs, ins)
    if compute.is_complex:
        yield from [part_function(compute, part) for part, name_of_part in PARTS.items() if name_of_part == name]


def _of_op(op: Op, compute: dtype, outs: Sequence[dtype], ins: Sequence[dtype | None]) -> Iterator[ElementFunction]:
    if len(outs) == 1 and len(ins) == op.arity and op.expression(compute):
        yield element_function_of(op_key(op, "map", compute, 1, outs[0], tuple(ins), LINEAR * (1 + len(ins))))


def _of_fold(
    red: Reduce, compute: dtype, outs: Sequence[dtype], ins: Sequence[dtype | None]
) -> Iterator[ElementFunction]:
    tensors = [d for d in ins if d is not None]
    is_supported = red.complex_ is not None if compute.is_complex else bool(red.lift)
    fits = len(outs) == len(red.finish) and len(tensors) == len(ins) == 1 + (red.second_input is not None)
    if not is_supported or not fits:
        return
    folded, state = monoid(red, compute)
    fields = results(red, compute, state, outs)
    kinds = LINEAR * (len(outs) + len(ins))
    key = fold_key(red, "whole", "reduce_inner", compute, 1, folded, fields, red.finish, tensors, kinds, STATES)
    function = replace(element_function_of(key), name=red.name)
    yield function
    if any(sees == REAL for _, sees in function.outs):  # no function has a real part as its only output
        yield replace(function, outs=tuple((d, VALUE if sees == REAL else sees) for d, sees in function.outs))


def keys_of_spec(table: KernelSpec) -> Iterator[Key]:
    """Yields the key of every kernel that a table requests, in the order of its ops.

    Raises InventoryError if the table names an op, but no kernel of the op fits the dtypes and
    layouts.
    """
    for name in table.ops:
        found = False
        for key in _keys_by_name(table, name):
            found = True
            yield key
        if not found and name in table.named_ops:
            requested_dtypes = [d.name for d in table.dtypes] + list(table.signatures)
            raise errors.serves_nothing(
                table.where, name, requested_dtypes, f"in a layout of {', '.join(table.layouts)}"
            )


def _keys_by_name(table: KernelSpec, name: str) -> Iterator[Key]:
    if name in inventory_words():
        yield from requested_keys(name, InventoryRequest(table.dtypes, table.options, CSIM))
    else:
        for row in row_named(name):
            yield from _row_keys(table, row)


def _row_keys(table: KernelSpec, row: Row) -> Iterator[Key]:
    if isinstance(row, Op):
        for signature in _pointwise_signatures(table, row):
            yield from pointwise_keys(row, signature, table.layouts, table.shape)
        if (row.located or row.gathers) and any(layout in INDEXED_LAYOUTS for layout in table.layouts):
            for d in table.dtypes:
                if row.expression(d.compute):
                    yield from located_keys(row, d, table.layouts, table.shape)
        return
    for d in table.dtypes:
        for to in _result_dtypes(table, d):
            reduced = reduction(row, d, to)
            if reduced is not None:
                yield from fold_keys(row, reduced, table.layouts, table.shape)
    for text in table.signatures:
        signature_ = _spelled(table, row, text)
        if supports_signature(row, signature_):
            yield from fold_keys(row, signature_, table.layouts, table.shape)


def _pointwise_signatures(table: KernelSpec, row: Op) -> Iterator[Signature]:
    for d in table.dtypes:
        for to in _result_dtypes(table, d):
            signature = pointwise(row, d, to)
            if signature is not None:
                yield signature
    for text in table.signatures:
        signature_ = _spelled(table, row, text)
        if len(signature_.ins) == row.arity and accepts(row, signature_, common_of(signature_)):
            yield signature_


def _result_dtypes(table: KernelSpec, dtype: dtype) -> tuple[dtype | None, ...]:
    """Returns the dtypes of results; (None,) for the row's own dtype."""
    return tuple(dict.fromkeys(dtype if d is None else d for d in table.to)) or (None,)


def _spelled(table: KernelSpec, row: Row, text: str) -> Signature:
    signature = parse_signature(row, text)
    if signature is None:
        raise errors.wrong_value(
            table.table.where("dtypes"), "dtypes", text, 'dtypes, or signatures such as "bool(float32, number)"'
        )
    return signature
