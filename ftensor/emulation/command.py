"""`ftensor emulate`: runs a program on Xilinx's runtime with an emulated board."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType

from ..errors import commands as errors
from ..errors.commands import EmulationError
from ..errors.image import ImageError
from ..image.file import locate
from ..python_program import PythonProgram
from . import environment, fifos, memory, shuffle

DEVICE_FAILED = 70  # the status if only the device failed; sysexits.h: internal error
_PR_SET_PDEATHSIG = 1
# Terminal signals go to the program's whole process group, as without this command.
_TO_GROUP = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
_TO_PROGRAM = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


# A context manager that gets the folder of the run; yields a function to call once the program has
# started.
Beside = Callable[[Path], AbstractContextManager[Callable[[], None]]]


def command(arguments: argparse.Namespace, building: Beside | None = None) -> int:
    """Runs the command; returns the program's exit status, or 128 + n if signal n ended it.

    `building` builds kernels for ftensor's ops if no image is given.
    """
    try:
        program = program_words(arguments)
        if not program:
            raise errors.nothing_to_run()
        images = [locate(image) for image in arguments.image or ()]
        if arguments.json:
            _write(arguments.json, {})  # reports a bad path before the program runs, not after it
        with environment.scratch_folder(arguments.keep) as scratch:
            return _emulate(scratch, program, images, building, arguments)
    except (EmulationError, errors.EstimateError, ImageError) as failure:
        _say(str(failure))
        return 2 if isinstance(failure, errors.EstimateError) else getattr(failure, "status", 2)


def program_words(arguments: argparse.Namespace) -> list[str]:
    """Returns the command line of the program to run, empty if none is named.

    This Python runs `-m MODULE`, `-c CODE`, and a file `*.py` that is not executable. Raises
    EstimateError for a module that does not exist.
    """
    words = list(arguments.program)
    if words[:1] == ["--"]:
        del words[0]
    if arguments.module is not None:
        words = ["-m", *arguments.module]
    elif arguments.code is not None:
        words = ["-c", *arguments.code]
    elif not (words and words[0].endswith(".py") and os.path.isfile(words[0]) and shutil.which(words[0]) is None):
        return words
    program = PythonProgram(tuple(words))
    program.check()
    return program.command()


def _emulate(
    scratch: Path, program: list[str], images: Sequence[Path], building: Beside | None, arguments: argparse.Namespace
) -> int:
    banks = [check_image(image) for image in images] or _banks_of_words(program)
    # With several images, each of the board's banks has the largest size that an image gives it.
    sizes = [max(several) for several in itertools.zip_longest(*banks, fillvalue=0)]
    env, notes = environment.prepare(scratch, os.environ, sizes or [environment.BANK_BYTES])
    if images:
        env["FTENSOR_IMAGE"] = os.pathsep.join(str(image.resolve()) for image in images)
    if images or building:
        env["FTENSOR_DEVICE"] = "xilinx"
    for setting, value in ((shuffle.SETTING, arguments.shuffle), (memory.P2P, 1 if arguments.p2p else None)):
        env.pop(setting, None)
        if value is not None:
            env[setting] = str(value)
    for note in notes:
        _say(note)
    with building(scratch) if building else contextlib.nullcontext() as started:
        status = run(program, env, started)
    reports = environment.reports(scratch)
    for report in reports:
        _say("the device failed, and the program was ended with it:\n" + report)
    if status == 128 + signal.SIGKILL and not reports:
        _say(
            "the program was killed (SIGKILL); the system does that where memory is short, and the "
            "emulated board's memory is the host's: dmesg tells"
        )
    if status == 128 + signal.SIGABRT:
        _say(
            "the program was aborted, mostly by an exception that it does not catch. Those of XRT's native API: "
            "vector::_M_range_check and 'invalid memory bank' for a bank that the image does not have, 'No host side "
            "buffer' for a buffer in another bank than its argument's. kernel.group_id(n) is the bank of argument n. "
            "'No auto-restart counters' is for xrt::autostart and xrt::mailbox: they need a board or hardware emulation"
        )
    if status and (log := environment.driver_log(scratch)):
        _say("the program failed, and XRT had said:\n" + log)
    if status and arguments.shuffle is not None:
        _say(f"launches without an order ran in the order of --shuffle {arguments.shuffle}")
    checked = fifos.collected(scratch)
    if arguments.json:
        found = {"status": status, "failures": reports, "warnings": environment.warnings(scratch)}
        _write(arguments.json, found | {"fifos": {kernel: fifos.as_json(one) for kernel, one in checked.items()}})
    locked = [kernel for kernel, report in checked.items() if fifos.locks_up(report)]
    for kernel, one in checked.items():
        if arguments.fifos or fifos.locks_up(one) or one["long"]:
            _say(fifos.describe(kernel, one))
    if arguments.keep:
        _say(f"everything is kept in {scratch}")
    return status or (DEVICE_FAILED if reports or locked else 0)


def _write(path: str, found: dict[str, object]) -> None:
    try:
        Path(path).write_text(json.dumps(found, indent=2) + "\n" if found else "")
    except OSError as problem:
        raise errors.cannot_write(path, problem.strerror or problem) from None


def _say(text: str) -> None:
    print(f"ftensor emulate: {text}", file=sys.stderr, flush=True)


def _banks_of_words(program: Sequence[str]) -> list[list[int]]:
    """Returns the bytes of each bank of the images that are words of a program's command line.

    XRT puts a buffer of a bank that the board does not have into the first one.
    """
    banks = []
    for word in program[1:]:
        if word.endswith(".xclbin"):
            with contextlib.suppress(EmulationError, ImageError):  # the program may want a file that is none
                banks.append(check_image(Path(word)))
    return banks


def check_image(path: Path) -> list[int]:
    """Returns the bytes of each bank of an image. Raises an error for an image that can't be
    emulated."""
    from ..image import sections, xclbin
    from ..image.xclbin import Mode, SectionKind

    try:
        info = sections.parse(xclbin.read(path.read_bytes()))
    except OSError as failure:
        raise errors.no_such_image(path, failure.strerror or str(failure)) from failure
    except ImageError as failure:
        raise errors.no_such_image(path, str(failure)) from failure
    sections.require_kernels(info)  # XRT itself would crash without some of them
    if info.xclbin.mode in (Mode.HW_EMU, Mode.HW_EMU_PR):
        raise errors.not_for_emulation(path, "it was built for hardware emulation")
    if not (info.xclbin.section(SectionKind.BITSTREAM) or b"").startswith(b"\x7fELF"):
        raise errors.not_for_emulation(path, "it holds a bitstream, not a shared object")
    return [bank.size for bank in info.description.banks]


def run(program: Sequence[str], env: dict[str, str], started: Callable[[], None] | None = None) -> int:
    """Runs a program in its own session; returns its exit status as in a shell.

    `started()` is called once the program runs. XRT may send signals to a host's whole process
    group, so the program has its own. The program keeps our standard streams, which may be a
    terminal.
    """
    child: subprocess.Popen[bytes] | None = None

    def forward(number: int, frame: FrameType | None) -> None:
        if child is None or child.returncode is not None:
            return
        if number in _TO_GROUP:
            os.killpg(child.pid, number)
        else:
            os.kill(child.pid, number)

    def suspend(number: int, frame: FrameType | None) -> None:
        if child is not None and child.returncode is None:
            os.killpg(child.pid, signal.SIGSTOP)
            # execution stops here until the shell continues the process
            os.kill(os.getpid(), signal.SIGSTOP)
            os.killpg(child.pid, signal.SIGCONT)

    handlers = dict.fromkeys(_TO_GROUP + _TO_PROGRAM, forward)
    handlers[signal.SIGTSTP] = suspend
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        # If we are killed, we can neither clean up nor forward signals, so the program ends with
        # us.
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # XRT opens a file for each command beyond 128 queued at once and never closes it, so a host
        # that queues many commands soon reaches the usual limit of 1024 files.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    try:
        child = subprocess.Popen(list(program), env=env, start_new_session=True, preexec_fn=prepare)
        if started is not None:
            started()
        status = child.wait()
    except OSError as failure:
        raise errors.cannot_start(program[0], failure) from failure
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 - status if status < 0 else status
