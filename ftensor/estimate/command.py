"""`ftensor estimate program.py`: runs the program here, and estimates its time on a board."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..boards import find
from ..errors import commands as errors
from ..errors.build import InventoryError
from ..errors.commands import PictureError
from ..picture import check, save
from ..python_program import PythonProgram, given_program
from ..terminal import complain, note

if TYPE_CHECKING:
    from ..toolchain.group import KernelGroup


def run(arguments: argparse.Namespace) -> int:
    """Runs the command and returns its exit status."""
    try:
        if arguments.published:
            if others := arguments.options_given(arguments):
                raise errors.published_alone(", ".join(others))
            from .published import text

            print(text())
            return 0
        if (program := given_program(arguments)) is None:
            raise errors.program_missing("ftensor estimate [options]")
        print(_report(program, arguments))
    except (errors.EstimateError, InventoryError, PictureError) as error:
        complain("ftensor estimate", error)
        return getattr(error, "status", 1)
    return 0


def _report(program: PythonProgram, arguments: argparse.Namespace) -> str:
    from ..toolchain.trace import run_program
    from .compare import GRAPH, STEPS, columns, without_jit
    from .compare import text as table_of
    from .model import BoardConfig, Parameters
    from .report import network_fits, report
    from .show import as_json, text

    if (option := arguments.option_after_program(program.words[1:])) is not None:
        note(
            f"ftensor estimate: {option} stands behind {program.name}, so the program gets "
            "it; what is meant for the estimate stands before the program"
        )
    board = find(arguments.board)
    for option in ("units", "clock", "in_flight"):
        value = getattr(arguments, option)
        if value is not None and value <= 0:
            raise errors.not_positive("--" + option.replace("_", "-"), value)
    if not re.fullmatch(rf"\*|{board.memory}\[(\*|\d+|\d+:\d+)\]", arguments.banks):
        raise errors.bad_banks(arguments.banks, board.memory)
    for name in arguments.compare:
        if name not in (STEPS, GRAPH):
            find(name)
    if arguments.plot:  # before the program runs, which may take long
        check(arguments.plot)
    groups, clock = _inventory(arguments.inventory)
    most, held = 1, None
    if groups is not None:
        most = max((group.units for group in groups), default=1)
        held = {member.entry for group in groups for member in group.members}
    asked = (
        program,
        arguments.units or most,
        held,
        sys.stderr if arguments.json else None,
        None if held is not None else lambda key: network_fits(key, board),
    )
    trace, eager = run_program(*asked), None
    if not trace.launches:
        raise errors.nothing_launched(program.name)
    clock = arguments.clock or clock or board.clock.value
    config = BoardConfig(board, clock, arguments.banks, Parameters(widened=arguments.widened), arguments.units)
    estimated = report(trace, config, arguments.in_flight, groups)
    if GRAPH in arguments.compare:
        with without_jit():
            eager = run_program(*asked)
    beside = tuple(columns(arguments.compare, trace, estimated, eager))
    if arguments.plot:
        from .compare import plot_columns, plot_estimate

        name = Path(program.name).name
        figure = plot_columns(name, beside) if beside else plot_estimate(name, estimated, trace.order)
        save(figure, arguments.plot)
    if arguments.json:
        return json.dumps(as_json(estimated), indent=2)
    said = table_of(beside) if beside else text(estimated)
    return f"{said}\npicture: {arguments.plot}" if arguments.plot else said


def _inventory(name: str | None) -> tuple[tuple[KernelGroup, ...] | None, float]:
    """Returns the kernels and the clock of an inventory; (None, 0) without a name."""
    if name is None:
        return None, 0.0
    from ..toolchain.inventory.read import expand, read

    inventory = read(name)
    return expand(inventory), inventory.clock_mhz
