"""Inventories: TOML files that say which kernels an image holds (see docs/inventory.md)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from ...errors import inventory as errors
from ...image.manifest import LINKED
from ...kernels.board_skeleton import board_skeleton_of
from ...kernels.hls_path import hls_root
from ...kernels.key import KernelKey, Key
from .. import joint as joints
from ..group import Group
from ..grouping import MOST_UNITS, free_name, port_groups, suffix
from .choose import chosen
from .graphs import GraphFile, parse_graph
from .linked import linked
from .table import Form, Kernels, parse_image, parse_kernels
from .toml_table import Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Inventory:
    """What an image holds. `platform`, `clock_mhz` and `banks` are for hardware builds.

    `sha256` is the file's; two inventories with the same one ask for the same image.
    """

    name: str
    path: Path
    sha256: str
    description: str
    platform: str
    clock_mhz: float
    repeat: bool
    kernels: tuple[Kernels, ...]
    graphs: tuple[GraphFile, ...] = ()


def known() -> dict[str, Path]:
    """The inventories that come with ftensor, by name."""
    return {p.stem: p for p in sorted((hls_root() / "inventory").glob("*.toml"))}


def read(source: str | Path) -> Inventory:
    """The inventory in a file, or the one of that name that comes with ftensor.

    InventoryError for a file that is not there or is no inventory; the message names the place.
    """
    path = Path(source)
    if not path.is_file():
        path = known().get(str(source), path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise errors.not_found(str(source), list(known())) from None
    except OSError as error:
        raise errors.unreadable(path, error.strerror or error) from error
    return parse(data, path)


def parse(data: bytes, path: Path) -> Inventory:
    """The inventory that a file's bytes say; `path` is for messages."""
    try:
        text = data.decode()
        raw = tomllib.loads(text)
    except RecursionError as error:
        raise errors.unreadable(path, "its values are nested too deeply to be read") from error
    except ValueError as error:  # what is no text, no TOML, or a number too long for an int
        raise errors.unreadable(path, error) from error
    table = Table.top(path, text, raw)
    image = parse_image(table)
    for name in image.imports:
        _import(name, table)
    kernels = tuple(parse_kernels(t, image) for t in table.tables("kernel"))
    graphs = tuple(parse_graph(t, image) for t in table.tables("graph"))
    if not (kernels or graphs):
        raise errors.missing(str(path), "[[kernel]]", '[[kernel]] with ops = ["add"]')
    seen: dict[str, Kernels] = {}
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
    )


def _import(name: str, table: Table) -> None:
    """Import a module that adds rows to the catalogue; it may lie in the inventory's folder."""
    folder = str(table.path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        import_module(name)
    except Exception as error:
        # Whatever the module raises, the inventory can't be read without it.
        raise errors.not_imported(table.where("imports"), name, error) from error
    finally:
        sys.path.remove(folder)


def expand(inventory: Inventory, joint: bool = True) -> tuple[Group, ...]:
    """The kernels of the image, in a fixed order: the same inventory gives the same ones.

    `joint`: for XRT, where kernels with parameter lists of their own share ports, too.
    InventoryError for what can't be had, and for more compute units than XRT takes.
    """
    taken: set[Key] = set()
    shared: dict[tuple[str, bool, Form], dict[Key, None]] = {}
    for table in inventory.kernels:
        mine = shared.setdefault((table.name, table.named, table.form), {})
        for key in chosen(table):
            if key not in (mine if inventory.repeat else taken):
                taken.add(key)
                mine[key] = None
    groups: list[Group] = []
    for (prefix, named, form), members in shared.items():
        kernels = parts(list(members), form.grouping, joint)
        for part, same in kernels:
            name = prefix if named and len(kernels) == 1 else f"{prefix}_{part}"
            first = same[0]
            structure = board_skeleton_of(first).structure(first.lanes, form.structure)
            name = free_name(name, [g.name for g in groups])
            groups.append(Group(name, same, structure, form.units, form.banks))
    apart: list[GraphFile] = []
    for graph in inventory.graphs:
        if graph.key not in taken:
            taken.add(graph.key)
            if graph.structure == LINKED and joint:  # on Intel's boards each graph is
                apart.append(graph)
                continue
            name = free_name(graph.name, [g.name for g in groups])
            groups.append(Group(name, (graph.key,), banks=graph.banks))
    groups += linked(apart, [g.name for g in groups])
    units = sum(g.units for g in groups)
    if joint and units > MOST_UNITS:
        raise errors.too_many_units(inventory.path, units, MOST_UNITS)
    return tuple(groups)


def parts(members: list[Key], grouping: str, joint: bool = True) -> list[tuple[str, tuple[Key, ...]]]:
    """Members as kernels, "single" or "shared": what tells each apart, and its members."""
    if grouping == "single":
        return [_alone(key) for key in members]
    shared = [key for key in members if isinstance(key, KernelKey)]
    own = [key for key in members if not isinstance(key, KernelKey)]
    joined = [(suffix(b), tuple[Key, ...](b.members)) for b in port_groups(shared)]
    if not joint:
        return joined + [_alone(key) for key in own]
    return joined + [(joints.name(family), family) for family in joints.families(own)]


def _alone(key: Key) -> tuple[str, tuple[Key, ...]]:
    return board_skeleton_of(key).suffix(key), (key,)
