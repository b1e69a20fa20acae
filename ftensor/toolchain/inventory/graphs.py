"""The graphs of an inventory: [[graph]] tables, each of which names a graph file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from ...errors import inventory as errors
from ...graph.row_units import row_units
from ...image.manifest import LINKED
from ...kernels.graph_file import MOST_BYTES, key_of
from ...kernels.staged import StagedKey
from ..group import LONGEST_NAME
from .table import MEMORIES, Image, is_memory
from .toml_table import Table

GRAPH = ("file", "sha256", "name", "banks", "structure")
STRUCTURES = ("dataflow", LINKED)
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class GraphFile:
    """One [[graph]] table: the graph, what its kernel is called, its memories, and whether it is
    one kernel ("dataflow") or one for each stage ("linked")."""

    name: str
    key: StagedKey
    banks: str
    structure: str = "dataflow"
    where: str = ""


def parse_graph(table: Table, image: Image) -> GraphFile:
    """One table, and the file that it names, beside the inventory where it has no folder.

    InventoryError for a file that can't be read, is no graph or was changed since it was named.
    """
    table.check_names(GRAPH)
    if "file" not in table.raw:
        raise errors.missing(table.where(), "file", 'file = "detector.json"')
    filename = table.get("file", "", lambda v: isinstance(v, str) and v != "", "a graph file's name")
    path, where = table.path.parent / filename, table.where("file")
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise errors.unread_graph(where, path, getattr(error, "strerror", "") or error) from None
    fits = lambda v: isinstance(v, str) and bool(_DIGEST.fullmatch(v))  # noqa: E731
    wanted = table.get("sha256", "", fits, "64 hexadecimal digits")
    digest = sha256(data).hexdigest()
    if wanted and wanted != digest and len(data) <= MOST_BYTES:
        raise errors.changed_graph(table.where("sha256"), path, digest, wanted)
    try:
        key = key_of(data, row_units)
    except ValueError as problem:
        raise errors.bad_graph(where, path, problem) from None
    name = table.get("name", path.name.partition(".")[0], lambda v: isinstance(v, str), "a text")
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise errors.bad_name(table.where("name"), name, LONGEST_NAME)
    one_of = f"one of {STRUCTURES}"
    return GraphFile(
        name,
        key,
        table.get("banks", image.banks, is_memory, MEMORIES),
        table.get("structure", "dataflow", STRUCTURES.__contains__, one_of),
        table.where(),
    )
