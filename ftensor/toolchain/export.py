"""The files of an exported graph: the graph, an inventory that requests it, and its sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from .. import boards
from ..errors.graph import bad_name, graph_too_large, op_of_no_module
from ..graph import jit
from ..graph.partition import DEFAULT_BOARD, DataflowKernels, Exported, ExportOptions, TracedNetwork
from ..kernels import network_file
from ..kernels.graph_text import text
from ..kernels.network import NetworkKey
from ..kernels.skeletons import network, staged
from ..kernels.skeletons.feedback import FeedbackKey
from ..kernels.skeletons.feedback import text as feedback_text
from ..kernels.staged import StagedKey
from ..rows.catalogue import ADDED_BY
from ..terminal import counted

if TYPE_CHECKING:
    from .group import KernelGroup


def install() -> None:
    """Registers the writers of `jitted.export`."""
    jit.writers[:] = [write]
    staged.writers[:] = [program]
    network.writers[:] = [program]


def program(key: StagedKey | NetworkKey) -> str:
    """Returns the self-contained HLS C++ of a key for g++, with the key's entry as function
    name."""
    from .group import KernelGroup
    from .vitis.source import inline_headers, source

    text = "#define FT_SEQUENTIAL 1\n" + inline_headers(source(KernelGroup("graph", (key,))))
    return text.replace('extern "C" void graph(', f'extern "C" void {key.entry}(')


def write(traced: DataflowKernels | TracedNetwork, name: str, options: ExportOptions) -> Exported:
    """Writes NAME.json, NAME.toml, NAME.cpp and NAME.cl; for a network NAME.weights instead of
    NAME.cl.

    For several kernels the names are NAME_1.json and so on, with one NAME.toml. Raises ValueError
    for a name that is not valid for a kernel.
    """
    from .group import MAX_NAME_LENGTH

    folder, kernel = Path(name).parent, Path(name).name
    keys = () if isinstance(traced, TracedNetwork) else traced.kernels
    count = max(1, len(keys))
    names = [kernel] if count == 1 else [f"{kernel}_{k + 1}" for k in range(count)]
    if not re.fullmatch(r"[A-Za-z]\w*", kernel, re.ASCII) or len(names[-1]) > MAX_NAME_LENGTH:
        raise bad_name(kernel, MAX_NAME_LENGTH)
    if isinstance(traced, TracedNetwork):
        return _write_network(traced, folder, kernel, options)
    inventory = folder / f"{kernel}.toml"
    imports = _imports(traced, kernel)
    groups, report = _groups(traced, kernel, names, options)
    texts = [_files(key, group) for key, group in zip(keys, groups, strict=True)]
    folder.mkdir(parents=True, exist_ok=True)
    inventory.write_text(_inventory(traced, kernel, groups, imports))
    exported = []
    for group, one, contents in zip(groups, names, texts, strict=True):
        paths = {kind: folder / f"{one}.{kind}" for kind in contents}
        for kind, content in contents.items():
            paths[kind].write_bytes(content)
        entry = group.members[0].entry
        exported.append(Exported(paths["json"], inventory, paths["cpp"], paths.get("cl"), entry))
    return exported[0]._replace(kernels=tuple(exported), apart=traced.apart, report=report)


def _groups(
    of: DataflowKernels, kernel: str, names: Sequence[str], options: ExportOptions
) -> tuple[tuple[KernelGroup, ...], str]:
    """Returns the kernels, those of loops last, with the lanes and compute units for which a board
    has room, and a report on them. Raises GraphError if the board has no room."""
    from . import row_parallel
    from .area.fit import shares_text
    from .group import KernelGroup

    graphs = dict(zip(names, of.keys))
    loops = tuple(KernelGroup(name, (key,)) for name, key in zip(names[len(graphs) :], of.loops, strict=True))
    if options.target is None:
        return (*(KernelGroup(name, (key,)) for name, key in graphs.items()), *loops), ""
    board = boards.find(options.target)
    build = row_parallel.choose_row_builds(graphs, board, loops)
    if not build.fits:
        raise graph_too_large(kernel, board.title, shares_text(build.shares))
    return (*build.groups, *loops), row_parallel.report(build)


def _write_network(traced: TracedNetwork, folder: Path, name: str, options: ExportOptions) -> Exported:
    """Writes the files of a network, folded for a board."""
    from . import folding, network_dies
    from .group import KernelGroup
    from .vitis import source as vitis

    given = folding.given_folds(traced.key, options.fold)
    board, constants = boards.find(options.target or DEFAULT_BOARD), traced.key.constants
    found = folding.fold_with_weights(traced.key, board, options.cycles, given, options.weights)
    unfolded = traced.key.without_constants() if found.key.loaded else traced.key
    found = network_dies.on_dies(found, unfolded, options.structure, options.cycles, given)
    key, images = found.key, " x ".join(map(str, traced.key.image))
    graph = network_file.text(key, constants)
    inventory = [
        f"# The network {name}: any number of images of {images}, weights in {name}.weights.",
        f'description = "the network {name}, as {counted(len(found.cuts) + 1, "kernel")}"',
        "",
        "[[graph]]",
        f'file = "{name}.json"',
        f'sha256 = "{sha256(graph.encode()).hexdigest()}"',
        *(['structure = "linked"', f"cuts = {[*found.cuts]}"] if found.cuts else []),
        "",
    ]
    contents = {
        "json": graph.encode(),
        "toml": "\n".join(inventory).encode(),
        "cpp": vitis.source(KernelGroup(name, (key,))).encode(),
        "weights": constants,
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = {kind: folder / f"{name}.{kind}" for kind in contents}
    for kind, content in contents.items():
        paths[kind].write_bytes(content)
    files = Exported(paths["json"], paths["toml"], paths["cpp"], None, key.entry, constants=paths["weights"])
    return files._replace(kernels=(files,), report=folding.report(found, traced.lines) + network_dies.report(found))


def _text(key: StagedKey | FeedbackKey) -> str:
    return feedback_text(key) if isinstance(key, FeedbackKey) else text(key)


def _files(key: StagedKey | FeedbackKey, group: KernelGroup) -> dict[str, bytes]:
    """Returns the files of a kernel, text by suffix. `key` is the graph with its own number of
    lanes, which the graph file records; `group` has the lanes to build."""
    from .intel import target as intel
    from .vitis import source as vitis

    files = {"json": _text(key).encode(), "cpp": vitis.source(group).encode()}
    with suppress(ValueError):  # Intel's boards lack one of the graph's stages
        files["cl"] = intel.source(group).encode()
    return files


def _printable(text: str) -> str:
    """Replaces unprintable characters, so that the name of a program cannot end the comment that
    contains it."""
    return "".join(c if c.isprintable() else " " for c in text)


def _imports(traced: DataflowKernels, kernel: str) -> list[str]:
    """Returns the modules that add the program's own ops among the stages. Raises GraphError for an
    op that no module adds."""
    ops = dict.fromkeys(call.function.name for key in traced.kernels for call in key.calls)
    user_ops = {op: ADDED_BY[op] for op in ops if op in ADDED_BY}
    for op, module in user_ops.items():
        if not module:
            raise op_of_no_module(kernel, op)
    return list(dict.fromkeys(user_ops.values()))


def _inventory(traced: DataflowKernels, kernel: str, groups: Sequence[KernelGroup], imports: Sequence[str]) -> str:
    lengths = " and ".join(dict.fromkeys(str(key.length) for key in traced.keys))
    parts = [counted(len(traced.keys), "kernel") + " of stages"] if traced.keys else []
    parts += [counted(len(traced.loops), "loop") + " with feedback"] if traced.loops else []
    lines = [f"# The graph {kernel}: any number of rows of {lengths} elements."] if traced.keys else []
    lines += [f"# A kernel of its own: {_printable(one)}" for one in traced.apart]
    lines += [f'description = "the graph {kernel}, as {" and ".join(parts)}"']
    if imports:
        lines += ["imports = [{}]".format(", ".join(f'"{module}"' for module in imports))]
    for key, group in zip(traced.kernels, groups, strict=True):
        checked = sha256(_text(key).encode()).hexdigest()
        lines += ["", "[[graph]]", f'file = "{group.name}.json"', f'sha256 = "{checked}"']
        lines += [f"lanes = {group.lanes}"] if group.lanes != key.lanes else []
        lines += [f"units = {group.units}"] if group.units > 1 else []
    return "\n".join([*lines, ""])
