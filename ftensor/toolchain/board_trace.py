"""`ftensor kernels --trace --board`: the inventories of a program for a board, and the lines of the
program that take the most of it."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from .. import boards
from ..boards import Board
from ..kernels.key import Key
from ..kernels.network import NetworkKey
from ..kernels.skeleton import board_skeleton_of
from ..kernels.skeletons.fft import FftGeometry
from ..kernels.user_kernels import is_user_kernel
from ..kernels.workload import COMPACT
from ..python_program import PythonProgram
from ..terminal import counted, table
from .area.cores import NONE, Resources
from .area.fit import TITLES, Fit, area, board_shares, fit, shares_text, titled
from .folding import fold_network
from .inventory.text import inventory_text, write_inventory
from .trace import Trace, run_program
from .trace_fit import MOST_ALONE, BoardImages, accepts, fits, forms, groups_of, images_for

# Lines of the program in a report.
MAX_LINES, MAX_WIDTH = 8, 80
_DOUBLE = re.compile(r"\b(float64|complex128)\b")


class LineShare(NamedTuple):
    """A line of the program: the ops that it was first to ask for, and the part of the board's
    scarcest resource that their kernels take."""

    line: str
    ops: tuple[str, ...]
    share: float


class HostLine(NamedTuple):
    """A line of the program: the ops that it was first to ask for and that the host computes, with
    the seconds of all their calls by the model."""

    line: str
    ops: tuple[str, ...]
    seconds: float


class Placed(NamedTuple):
    """A program's images for a board, with the lines that explain them."""

    images: BoardImages
    lines: tuple[LineShare, ...]
    on_host: tuple[HostLine, ...]
    doubles: tuple[LineShare, ...]
    transforms: tuple[str, ...]


def board_command(arguments: argparse.Namespace, program: PythonProgram) -> int:
    """Traces a program, prints which images of its kernels fit the board, and writes their
    inventories. Returns 1 if a kernel fits in no image, else 0."""
    board = boards.find(arguments.board)
    placed = place(program, board)
    paths: list[Path] = []
    if arguments.write:
        paths = _write(Path(arguments.write), program, placed.images, board)
    if arguments.json:
        print(json.dumps(_as_json(placed, board, paths), indent=1))
    else:
        print(_report(Path(program.name).name, placed, board, paths))
    return int(bool(placed.images.too_large))


def place(program: PythonProgram, board: Board) -> Placed:
    """Runs a program until its kernels fit in one image, with smaller kernels in each run. If they
    never do, returns the images of the run that is the fastest by the model."""
    best: tuple[BoardImages, Trace] | None = None
    for most_alone in MOST_ALONE:
        if best is not None:
            accepted = accepts(board, most_alone)
            if all(accepted(launch.key) for launch in _launches(best[1], board)):
                break  # another run asks for the same kernels
            _forget_launches()
        trace = run_program(program, 1, None, sys.stderr, accepts(board, most_alone))
        launches = _launches(trace, board)
        order = [_folded(launch.key, board) for launch in trace.order if not isinstance(launch, int)]
        images = images_for(launches, [key for key in order if not is_user_kernel(key)], board)
        if best is None or _rank(images) < _rank(best[0]):
            best = images, trace
        if not any(_rank(images)[:2]):
            break
    assert best is not None
    images, trace = best
    of_line = {_folded(key, board): line for key, line in trace.lines.items()}
    shares = _shares(images, board)
    doubles = {key: part for key, part in shares.items() if _DOUBLE.search(forms(key)[0].terms.signature)}
    on_host = _host_lines(images, of_line)
    return Placed(images, _by_line(shares, of_line), on_host, _by_line(doubles, of_line), _odd_transforms(trace))


def _rank(images: BoardImages) -> tuple[int, bool, float]:
    return len(images.too_large), bool(images.switches or images.on_host), images.seconds


def _launches(trace: Trace, board: Board) -> dict[Any, int]:
    launches = {launch: times for launch, times in trace.launches.items() if not is_user_kernel(launch.key)}
    return {launch._replace(key=_folded(launch.key, board)): times for launch, times in launches.items()}


def _folded(key: Key, board: Board) -> Key:
    return fold_network(key, board).key if isinstance(key, NetworkKey) else key


def _forget_launches() -> None:
    """Drops the launches of the run before, which chose other kernels."""
    from .._device import default_backend

    default_backend().forget_launches()


def _shares(images: BoardImages, board: Board) -> dict[Key, float]:
    """Returns the part of each kernel in the board's LUTs. What a kernel's members share, as ports,
    is divided equally among them."""
    shares: dict[Key, float] = {key: usage.shares["lut"] for key, usage in images.too_large.items()}
    for image in images.images:
        of_member: dict[Key, float] = {}
        for group in image.usage.groups:
            whole = area(group)
            of_op = dict(whole.ops)
            users: dict[str, list[Key]] = {name: [] for name in of_op}
            for member in group.members:
                users.get(getattr(member, "name", ""), []).append(member)
            own = {name: of_op[name] for name, members in users.items() if members}
            rest = whole.unit.lut - sum(own.values(), NONE).lut
            for member in group.members:
                name = getattr(member, "name", "")
                part = own[name].lut / len(users[name]) if name in own else 0.0
                of_member[member] = board_shares(Resources(part + rest / len(group.members)), board)[0]
        for key, form in image.forms.items():
            # Several kernels may come of one table; the first that asked counts for all.
            shares.setdefault(key, sum(of_member.pop(member, 0.0) for member in form.keys))
    return shares


def _host_lines(images: BoardImages, of_line: Mapping[Key, str]) -> tuple[HostLine, ...]:
    """Returns the lines with the kernels that the host computes, the longest first."""
    found = []
    for line, keys in _keys_of_lines(images.on_host, of_line).items():
        ops = dict.fromkeys(forms(key)[0].terms.op for key in keys)
        found.append(HostLine(line, tuple(ops), sum(images.on_host[key].host for key in keys)))
    return tuple(sorted(found, key=lambda one: -one.seconds))


def _by_line(shares: Mapping[Key, float], of_line: Mapping[Key, str]) -> tuple[LineShare, ...]:
    """Returns the lines with the kernels that they were first to ask for, the largest first."""
    found = []
    for line, keys in _keys_of_lines(shares, of_line).items():
        ops = dict.fromkeys(forms(key)[0].terms.op for key in sorted(keys, key=lambda key: -shares[key]))
        found.append(LineShare(line, tuple(ops), sum(shares[key] for key in keys)))
    return tuple(sorted(found, key=lambda one: -one.share))


def _keys_of_lines(keys: Iterable[Key], of_line: Mapping[Key, str]) -> dict[str, list[Key]]:
    by_line: dict[str, list[Key]] = {}
    for key in keys:
        by_line.setdefault(of_line.get(key, "?"), []).append(key)
    return by_line


def _odd_transforms(trace: Trace) -> tuple[str, ...]:
    """Returns the lines with transforms of a length that is no power of two."""
    odd = []
    for geometry, line in trace.transforms.items():
        if any(stage.n & (stage.n - 1) for stage in FftGeometry.unpack(geometry).stages):
            odd.append(line)
    return tuple(dict.fromkeys(odd))


def _write(path: Path, program: PythonProgram, chosen: BoardImages, board: Board) -> list[Path]:
    """Writes an inventory for each image, with a number in its name if there are several."""
    paths, images = [], chosen.images
    host = [board_skeleton_of(key).in_words(key) for key in chosen.on_host]
    for k, image in enumerate(images):
        numbered = path if len(images) == 1 else path.with_name(f"{path.stem}_{k + 1}{path.suffix}")
        part = "" if len(images) == 1 else f", image {k + 1} of {len(images)}"
        title = f"what {Path(program.name).name} needs, for the {board.title}{part}"
        text = inventory_text([form.terms for form in image.forms.values()], title, image.structure, host)
        # A graph's file has its own number of lanes; its table has those of the image.
        write_inventory(numbered, text, image.forms)
        paths.append(numbered)
    return paths


def _report(name: str, placed: Placed, board: Board, paths: Sequence[Path]) -> str:
    images = placed.images
    count = sum(len(image.forms) for image in images.images) + len(images.on_host)
    lines = [
        f"{name} on the {board.title}, by the area model: {counted(len(images.images), 'image')}, "
        f"{images.narrowed} of {counted(count, 'kernel')} narrower than its launches could use"
    ]
    titles = [title for title, _ in titled(tuple(images.images[0].usage.shares.values()))] if images.images else []
    rows: list[tuple[object, ...]] = [("image", "kernels", "ports", *titles)]
    for k, image in enumerate(images.images):
        named = paths[k].name if paths else str(k + 1)
        parts = [f"{part:.0%}" for _, part in titled(tuple(image.usage.shares.values()))]
        rows.append((named, len(image.usage.groups), image.usage.ports, *parts))
    lines += [table(rows)] if images.images else []
    if len(images.images) > 1:
        lines += [
            f"The device loads another image {counted(images.switches, 'time')} while the program runs. "
            "FTENSOR_IMAGE takes all of them, separated by colons."
        ]
    if images.on_host:
        host = sum(one.host for one in images.on_host.values())
        lines += [
            f"The image has no room for {counted(len(images.on_host), 'kernel')}, so the host computes them: "
            f"{host * 1e3:.3g} of {images.seconds * 1e3:.3g} ms by the model. The inventory lists them, so that the "
            "image leaves them to the host without warnings."
        ]
    for key, usage in images.too_large.items():
        lines += [f"Too large for any image: {forms(key)[0].terms.op} ({shares_text(tuple(usage.shares.values()))})"]
    lines += ["", f"Lines that take the most LUTs ({_least_text(placed, board)}):", *_line_rows(placed.lines)]
    if placed.on_host:
        longest = placed.on_host[:MAX_LINES]
        rows = [(f"{one.seconds * 1e3:.3g} ms", shorten(one.line, MAX_WIDTH), _some(one.ops)) for one in longest]
        lines += ["", "Lines whose steps on the host take the most:", *table(rows).splitlines()]
    if placed.doubles:
        lines += ["", "Lines that compute in float64; x.float(), or dtype=ft.float32, makes it float32:"]
        lines += _line_rows(placed.doubles)
    if placed.transforms:
        lines += ["", "Transforms whose length is no power of two; powers of two up to 4096 take the fastest kernel:"]
        lines += [f"  {line}" for line in placed.transforms[:MAX_LINES]]
    for path in paths:
        lines.append(f"wrote {path}: build it by ftensor build --inventory {path} --out FOLDER")
    return "\n".join(lines)


def _least_text(placed: Placed, board: Board) -> str:
    """Returns the area of all kernels together in their narrowest forms."""
    asked: Iterable[Key] = [key for image in placed.images.images for key in image.forms]
    asked = [*asked, *placed.images.on_host]
    structure = placed.images.images[0].structure if placed.images.images else COMPACT
    usage: Fit = fit(groups_of((key for one in dict.fromkeys(asked) for key in forms(one)[-1].keys), structure), board)
    fitting = "fit" if fits(usage) else "do not fit"
    worst = max(usage.shares, key=lambda name: usage.shares[name])
    return f"all kernels at their narrowest {fitting} in one image: {TITLES[worst]} {usage.shares[worst]:.0%}"


def _line_rows(lines: Sequence[LineShare]) -> list[str]:
    rows = [(f"{one.share:.1%}", shorten(one.line, MAX_WIDTH), _some(one.ops)) for one in lines[:MAX_LINES]]
    return table(rows).splitlines() if rows else []


def _some(ops: Sequence[str]) -> str:
    return ", ".join(ops[:4]) + (", ..." if len(ops) > 4 else "")


def _as_json(placed: Placed, board: Board, paths: Sequence[Path]) -> dict[str, Any]:
    images = placed.images
    return {
        "board": board.name,
        "images": [
            {
                "file": str(paths[k]) if paths else None,
                "kernels": len(image.usage.groups),
                "ports": image.usage.ports,
                "shares": image.usage.shares,
            }
            for k, image in enumerate(images.images)
        ],
        "switches": images.switches,
        "seconds": images.seconds,
        "host": [one._asdict() for one in placed.on_host],
        "narrowed": images.narrowed,
        "too_large": [key.entry for key in images.too_large],
        "lines": [one._asdict() for one in placed.lines],
        "float64": [one._asdict() for one in placed.doubles],
        "transforms": list(placed.transforms),
    }
