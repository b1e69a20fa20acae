"""`ftensor image draw`: an image's kernels, ports, memories and compute units, and their area."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..boards import Board, find, of_platform
from ..errors.build import InventoryError
from ..errors.commands import EstimateError, PictureError
from ..errors.image import ImageError
from ..image.file import ImageFile, locate
from ..image.file import read as read_image
from ..image.manifest import KernelRecord
from ..picture import FULL, PLAIN, check, figure, save, styled
from ..terminal import complain, counted
from .area import fit
from .area.fit import area
from .coverage import members
from .group import KernelGroup, manifest_record
from .inventory.read import builtin_inventories, expand
from .inventory.read import read as read_inventory
from .vitis.interface import bundles, compute_unit_names, place_ports

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLATFORM = "the platform's choice"
MAX_LETTERS = 40  # of the list of ops in a kernel's box
BOX = "\N{BLACK SQUARE}"
_BANK = re.compile(r"(\w+)\[(\d+)\]")


@dataclass(frozen=True)
class DrawnKernel:
    """A kernel in the picture.

    `ports` maps each port to its memory. `shares` has the shares of the board by resource, empty if
    unknown.
    """

    record: KernelRecord
    ports: Mapping[str, str]
    shares: Mapping[str, float]

    @property
    def title(self) -> str:
        """The kernel's skeleton, structure, lanes and compute units."""
        r = self.record
        units = f"{counted(r.units, 'compute unit')} {BOX * r.units}"
        return f"{r.skeleton}, {r.structure}, {counted(r.lanes, 'lane')}, {units}"

    @property
    def ops(self) -> str:
        """The names of the kernel's ops, shortened to the width of its box."""
        names = list(dict.fromkeys(one.op for one in members(self.record)))
        shown = 1
        while shown < len(names) and len(", ".join(names[: shown + 1])) <= MAX_LETTERS:
            shown += 1
        more = f" and {len(names) - shown} more" if shown < len(names) else ""
        return ", ".join(names[:shown]) + more


def kernels_of_groups(groups: Sequence[KernelGroup], board: Board) -> tuple[DrawnKernel, ...]:
    """Returns the kernels of an inventory, with memories and areas for a board."""
    placed = place_ports(groups, board)
    kernels = []
    for group in groups:
        unit = compute_unit_names(group)[0]
        ports = {}
        for port in bundles(group):
            placement = placed.get((unit, port.name))
            ports[port.name] = PLATFORM if placement is None else placement.memory
        kernels.append(DrawnKernel(manifest_record(group, ""), ports, board_shares(group, board)))
    return tuple(kernels)


def board_shares(group: KernelGroup, board: Board) -> dict[str, float]:
    """Returns the shares of a board that a kernel takes, by resource."""
    return dict(fit.titled(fit.board_shares(area(group).whole, board)))


def kernels_of_image(image: ImageFile, groups: Sequence[KernelGroup], board: Board | None) -> tuple[DrawnKernel, ...]:
    """Returns the kernels of an image as in its file; with areas for kernels among `groups`."""
    by_name = {group.name: group for group in groups}
    kernels = []
    for one in image.manifest.kernels:
        described = image.description.kernel(one.name)
        ports: dict[str, str] = {}
        for a in described.arguments if described else ():
            if a.is_pointer:
                ports.setdefault(a.port, bank_range(a.banks))
        if not described:  # an image for Intel's tools: its file has no descriptions
            ports = {a.name: a.bank or PLATFORM for a in one.arguments if a.what == "*"}
        group = by_name.get(one.name)
        kernels.append(DrawnKernel(one, ports, board_shares(group, board) if group and board else {}))
    return tuple(kernels)


def bank_range(banks: Iterable[str]) -> str:
    """Returns a common name of banks, such as "HBM[0:31]" for 32 channels."""
    names = list(banks)
    matches = [match for match in map(_BANK.fullmatch, names) if match]
    kinds, numbers = {m[1] for m in matches}, [int(m[2]) for m in matches]
    if len(names) > 1 and len(matches) == len(names) and len(kinds) == 1:
        if numbers == list(range(numbers[0], numbers[-1] + 1)):
            return f"{kinds.pop()}[{numbers[0]}:{numbers[-1]}]"
    return " ".join(names) or PLATFORM


def draw(title: str, kernels: Sequence[DrawnKernel], board: Board | None) -> Figure:
    """Returns the figure: kernels, lines from their ports to memories, areas at the right."""
    rooms = [max(2.4, 0.42 * len(k.ports) + 0.5) for k in kernels]
    drawing = figure(12, 1.6 + 0.33 * sum(rooms))
    totals = {n: sum(k.shares[n] for k in kernels) for n in kernels[0].shares} if kernels else {}
    total_text = ", ".join(f"{name} {part:.1%}" for name, part in totals.items())
    below = f"All of them: {total_text} of what the platform leaves." if total_text else "Areas are not known."
    with styled():
        drawing.suptitle(f"{title}\n{below} Areas are a model's estimates." if total_text else title)
        left, right = drawing.subplots(1, 2, width_ratios=(3, 1))
        tops = [sum(rooms[:k]) for k in range(len(rooms) + 1)]
        _kernels(left, kernels, tops)
        _areas(right, kernels, tops, board)
    return drawing


def _kernels(axes: Axes, kernels: Sequence[DrawnKernel], tops: Sequence[float]) -> None:
    """Draws the kernels' boxes, their ports on the right edge, and lines to the memories."""
    from matplotlib.patches import Rectangle

    memories = list(dict.fromkeys(m for k in kernels for m in k.ports.values()))
    step = tops[-1] / max(len(memories), 1)
    height = {memory: (k + 0.5) * step for k, memory in enumerate(memories)}
    tint = {m: ("#0072B2", "#E69F00", "#009E73", "#CC79A7")[k % 4] for k, m in enumerate(memories)}
    for kernel, top, end in zip(kernels, tops, tops[1:]):
        room = end - top - 0.3
        axes.add_patch(Rectangle((0, top), 6, room, facecolor="#eef3f8", edgecolor="#335"))
        axes.text(0.15, top + 0.45, kernel.record.name, weight="bold", va="center")
        axes.text(0.15, top + 1.05, kernel.title, va="center")
        axes.text(0.15, top + 1.6, kernel.ops, va="center", color="#555")
        for k, (port, memory) in enumerate(kernel.ports.items()):
            y = top + room * (k + 0.5) / len(kernel.ports)
            axes.text(5.8, y, port, va="center", ha="right")
            axes.plot((6, 8.4), (y, height[memory]), color=tint[memory], lw=0.8, marker=".", ms=4)
    for memory, y in height.items():
        axes.text(
            8.5, y, memory, va="center", bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": tint[memory]}
        )
    axes.set(xlim=(-0.1, 10.5), ylim=(tops[-1], -0.2))
    axes.set_axis_off()


def _areas(axes: Axes, kernels: Sequence[DrawnKernel], tops: Sequence[float], board: Board | None) -> None:
    """Draws each kernel's shares of the board, next to its box."""
    axes.set_ylim(tops[-1], -0.2)
    names = list(kernels[0].shares) if kernels else []
    if not names:
        axes.set_axis_off()
        return
    assert board is not None
    most = max(100 * part for kernel in kernels for part in kernel.shares.values())
    for kernel, top, end in zip(kernels, tops, tops[1:]):
        for k, (name, part) in enumerate(kernel.shares.items()):
            y = top + (end - top - 0.3) * (k + 0.5) / len(names)
            axes.barh(y, 100 * part, 0.4, color=FULL if part > 1 else PLAIN)
            axes.annotate(f"{name} {part:.1%}", (100 * part, y), (3, 0), textcoords="offset points", va="center")
    axes.set(xlim=(0, 1.6 * most), xlabel=f"% of the {board.title}", yticks=[], title="Area")


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor image draw`; returns the exit status."""
    try:
        check(arguments.output)
        save(_figure(arguments), arguments.output)
    except (ImageError, InventoryError, EstimateError, PictureError) as error:
        complain("ftensor image draw", error)
        return 1
    print(f"picture: {arguments.output}")
    return 0


def _figure(arguments: argparse.Namespace) -> Figure:
    source = Path(arguments.source)
    if not (os.path.isdir(source) or source.suffix in (".xclbin", ".aocx")):
        inventory = read_inventory(arguments.source)
        board = find(arguments.board or "") if arguments.board else of_platform(inventory.platform)
        board = board or find("u55c")
        kernels = kernels_of_groups(expand(inventory), board)
        return draw(f"Inventory {inventory.name} for the {board.title}", kernels, board)
    image = read_image(locate(source))
    board = find(arguments.board) if arguments.board else of_platform(image.platform)
    groups = expand(read_inventory(arguments.inventory)) if arguments.inventory else _groups(image)
    platform = f" for {image.platform}" if image.platform else ""
    title = f"{image.name}: {image.manifest.target} image{platform}"
    return draw(title, kernels_of_image(image, groups, board), board)


def _groups(image: ImageFile) -> tuple[KernelGroup, ...]:
    """Returns the kernels of an image that was built from one of ftensor's own inventories; else
    ()."""
    for path in builtin_inventories().values():
        inventory = read_inventory(path)
        if inventory.sha256 == image.manifest.inventory_sha256:
            return expand(inventory)
    return ()
