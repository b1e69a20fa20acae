"""`ftensor build`: builds an image from an inventory."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

from .. import logs
from ..boards import Board, of_platform
from ..errors.build import BuildError, InventoryError, flushed_elsewhere, not_a_clock, not_a_memory, not_a_platform
from ..errors.image import ImageError
from ..terminal import complain, counted
from .make import Toolchain

if TYPE_CHECKING:
    from .group import KernelGroup
    from .inventory.read import Inventory

HIGHEST_CLOCK = 2000.0  # MHz


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor build`. Returns the exit status: 0 for an image, 1 for a failure, 130 if
    interrupted."""
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        return _command(arguments)
    except OSError as problem:
        named = f"{problem.filename}: " if problem.filename else ""
        complain("ftensor build", f"{named}{problem.strerror or problem}")
        return 1
    except (BuildError, ImageError, InventoryError) as problem:
        complain("ftensor build", problem)
        return 1
    except KeyboardInterrupt:
        print("\nftensor build: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminated(number: int, frame: FrameType | None) -> None:
    """Handles SIGTERM like Ctrl-C, so that the compilers end, too."""
    raise SystemExit(128 + number)


def _command(arguments: argparse.Namespace) -> int:
    from . import make
    from .inventory import read as inventory
    from .inventory.table import MEMORIES, PLATFORMS, is_memory, is_platform
    from .jobs import summary
    from .jobs.progress import reporter
    from .jobs.workspace import Workspace

    if not is_platform(arguments.platform):
        raise not_a_platform(arguments.platform, PLATFORMS)
    if arguments.banks is not None and not is_memory(arguments.banks):
        raise not_a_memory(arguments.banks, MEMORIES)
    inventory_ = inventory.read(arguments.inventory)
    chain = toolchain(
        arguments.target,
        arguments.platform or inventory_.platform,
        _clock(arguments.clock) or inventory_.clock_mhz or None,
        arguments.dry_run,
        arguments.subnormals == "flush",
    )
    groups = _expanded(inventory_, chain.shares_ports, arguments.banks)
    board = of_platform(chain.platform) if chain.target in ("hw", "hw_emu") else None
    report: list[str] = []
    if board is not None:
        from .area import fit

        if not fit.fit(groups, board).fits and (other := _smaller(arguments.inventory, board, arguments.banks)):
            inventory_, groups = other
            report = [
                f"{arguments.inventory} does not fit the {board.title}: this is {inventory_.name}, its "
                "form for small boards."
            ]
        if arguments.fit:
            groups = fit.fitting_subset(groups, board).groups
        report += fit.lines(fit.check(inventory_.name, groups, board))
    request = make.Request(
        inventory_.name,
        groups,
        inventory_.sha256,
        arguments.out,
        arguments.jobs,
        tuple(arguments.only),
        inventory_.host,
    )
    if arguments.dry_run:
        commands = make.commands(request, chain)
        if arguments.json:
            print(json.dumps({"report": report, "commands": commands}, indent=2))
        else:
            print("\n".join([*(f"# {line}" for line in report), *commands]))
        return 0
    said = sys.stderr if arguments.json else sys.stdout  # --json: the record alone is on stdout
    if report and not logs.is_quiet():
        print("\n".join(report), file=said, flush=True)
    began = time.monotonic()
    members = sum(len(group.members) for group in request.groups)
    what = f"{counted(len(request.groups), 'kernel')} with {counted(members, 'member')}"
    if not logs.is_quiet():
        print(f"{request.name}, {arguments.target}: {what}", file=said, flush=True)
    built = make.build(request, chain, reporter())
    seconds, folders = time.monotonic() - began, Workspace(arguments.out)
    if arguments.json:
        record = {"inventory": request.name, "target": arguments.target, "report": report}
        print(json.dumps(record | summary.as_json(built, folders, seconds), indent=2))
    elif not logs.is_quiet():
        print("\n".join(summary.lines(built, folders, seconds)))
    for outcome in built.failures:
        print("\n".join(["", *make.failed_log(outcome)]), file=sys.stderr)
    return 1 if built.failures else 0


def _expanded(wanted: Inventory, shares_ports: bool, banks: str | None) -> tuple[KernelGroup, ...]:
    """Returns the kernels of an inventory, in the memories `banks` if given."""
    from .inventory import read as inventory

    groups = inventory.expand(wanted, shares_ports)
    return groups if banks is None else tuple(replace(group, banks=banks) for group in groups)


def _smaller(name: str, board: Board, banks: str | None) -> tuple[Inventory, tuple[KernelGroup, ...]] | None:
    """Returns the small-board variant of an inventory that comes with ftensor, if it exists and
    fits."""
    from .area import fit
    from .inventory import read as inventory

    if f"{name}_small" not in inventory.builtin_inventories():
        return None
    small = inventory.read(f"{name}_small")
    groups = _expanded(small, True, banks)
    return (small, groups) if fit.fit(groups, board).fits else None


def toolchain(target: str, platform: str, clock_mhz: float | None, dry: bool, flush: bool = False) -> Toolchain:
    """Returns the compilers of a target.

    With `flush`, subnormal numbers are zeros; only the C simulation supports this. Raises
    BuildError for missing compilers, and for `flush` with another target.
    """
    if target == "csim":
        from .csim import CSim

        return CSim(platform, clock_mhz, flush)
    if flush:
        raise flushed_elsewhere(target)
    if target == "intel":
        from .intel.target import Aoc

        return Aoc(platform, dry)
    if target == "intel-emulator":
        from .intel.target import Emulator

        return Emulator(platform)
    from .vitis.target import Vitis

    return Vitis(target, platform, clock_mhz, dry)


def _clock(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        raise not_a_clock(text) from None
    if not 0 < value <= HIGHEST_CLOCK:
        raise not_a_clock(text)
    return value
