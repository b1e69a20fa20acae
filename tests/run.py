"""Runs the tests: all of them once on the default device, and kernels on every other target.

    python -m tests.run [--all] [pytest's arguments]

Without --all, other targets run only the marker `core`, and tests marked `long` are left out. With
--all, they run all of `kernel`, including these. With arguments, only the default device runs the
named tests; with --all every target does.

FTENSOR_CI_TARGETS           targets, separated by commas (all of TARGETS)
FTENSOR_REQUIRE_TARGETS      1: a missing target is an error; otherwise it is reported and left out
FTENSOR_TESTS_DONE           a file that records completed passes; another run continues after them
FTENSOR_INTEL_FPGA_EMULATOR  the folder of Intel's FPGA emulator (see docs/intel-fpga.md)

The last line has pytest's form: the sum over the passes.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ftensor._version import __version__
from ftensor.runtime.csim.backend import cpu_name

from .ahead import compile_before
from .kept import digest, kept
from .places import PROCESSORS, ROOT, TARGETS, Place, place, sanitizer_libraries

COUNT = re.compile(r"(\d+) ([a-z]+)")
CLOSING = re.compile(r"(=+ )?(\d+ [a-z]+|no tests ran)\b.* in [\d.]+s\b.*")
ANSI = re.compile(r"\x1b\[[0-9;]*m")
# pytest's own order
KINDS = ("failed", "passed", "skipped", "xfailed", "xpassed", "warnings", "errors")


# The slowest files come first, so that no worker starts one of them at the end.
GROUPS = ("flow", "torch_device", "kernel", "spelling", "host")
# The text by which a file shows that its tests have a marker; targets.py's functions mark `long`
# tests.
EVERY_GROUP = ("not long", "long")  # passes of the default device
MARKED = {"core": r"pytest\.mark\.core", "long": r"pytest\.mark\.long|targets import .*(pairs|some)"}


@dataclass
class Pass:
    """A selection of tests on a target, and its outcome."""

    target: str
    tests: str  # pytest's expression of markers; empty: everything that the arguments name
    row: str = ""  # the target's name in ftensor/runtime/targets.py
    closing: str = ""
    failed: bool = False
    crashed: bool = False  # a worker process died or hung
    counts: dict[str, int] = field(default_factory=dict)
    before: bool = False  # an earlier command has run it

    @property
    def name(self) -> str:
        """Returns the selection and the target as text."""
        return f"{self.tests or 'tests'} on {self.target}"

    def paths(self) -> list[str]:
        """Returns the files that may have such tests, since collecting all files takes longer than
        some runs."""
        groups = ("kernel",) if re.match("core|kernel", self.tests) else GROUPS
        folders = [ROOT / "tests" / group for group in groups]
        if self.tests not in MARKED:
            return [str(folder) for folder in folders]
        files = [file for folder in folders for file in sorted(folder.glob("test_*.py"))]
        return [str(file) for file in files if re.search(MARKED[self.tests], file.read_text())]


# xdist's line for a worker that died.
DIED = re.compile(r"\[gw\d+\] node down")
# Seconds without output after which the pass on XRT counts as hung; its tests take at most a tenth
# of that.
SILENCE = 600


def lines_of(process: subprocess.Popen[bytes], silence: float | None) -> Iterator[str]:
    """Yields the lines that a process writes, and prints its output at once.

    Kills the process and its descendants after `silence` seconds without output, and yields a line
    that says so.
    """
    assert process.stdout is not None
    rest = b""
    while True:
        if not select.select([process.stdout], [], [], silence)[0]:
            text = f"\nno output for {silence:.0f} seconds: the pass is ended\n"
            print(text, flush=True)
            rest += text.encode()
            for pid in reversed(descendants(process.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        elif not (chunk := os.read(process.stdout.fileno(), 1 << 16)):
            break
        else:
            sys.stdout.write(chunk.decode(errors="replace"))
            sys.stdout.flush()
            rest += chunk
        *lines, rest = rest.split(b"\n")
        yield from (line.decode(errors="replace") for line in lines)
    yield rest.decode(errors="replace")


def descendants(pid: int) -> list[int]:
    """Returns a process and all processes below it, parents first."""
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # it has just ended
                found += map(int, task.read_text().split())
    return found


def run_pass(one: Pass, at: Place, arguments: list[str]) -> None:
    """Runs pytest with its output passed through, and keeps its closing line."""
    command = [*at.under, sys.executable, "-m", "pytest", "-q", *(arguments or one.paths())]
    command += [f"--color={'yes' if sys.stdout.isatty() else 'no'}"]
    command += ["-m", one.tests] if one.tests else []
    # Tests of flow wait for programs that they start, so one more worker keeps processors busy.
    command += ["-n", str(min(4, (os.cpu_count() or 1) + (one.tests in EVERY_GROUP)))]
    lines: collections.deque[str] = collections.deque(maxlen=20)
    print(f"\n## {one.name}: {at.row}, {at.device}", flush=True)
    env = at.env | {"FTENSOR_TESTS_PASS": one.name}
    if one.tests and one.target != "xrt":  # csim runs its kernels, too
        env.setdefault("FTENSOR_POISON", "1")  # uninitialized memory becomes visible
    if one.tests.startswith("kernel") and not arguments:
        env["FTENSOR_TESTS_SOME"] = "1"  # see targets.py
    if one.tests == "core" and one.target != "sanitized":
        env.pop("QUICK_CXX", None)  # kernels of every kind are compiled as for users
    ended = kept("passes") / digest(one.name, __version__, cpu_name())
    # After a pass that completed here, most kernels are cached, and the next pass lacks few. The C
    # simulation has every case of rows, too. Other targets have too few kernels of one kind.
    many = one.tests in EVERY_GROUP or (one.target == "csim" and one.tests == "kernel and not core")
    if many and not ended.exists():
        compile_before(at.under, at.env, one.tests)
    silence = SILENCE if one.target == "xrt" else None
    with subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE) as process:
        for line in lines_of(process, silence):
            lines.append(ANSI.sub("", line).strip())
            one.crashed |= DIED.search(line) is not None or line.endswith(": the pass is ended")
    if not arguments:
        ended.touch()
    closing = [line for line in lines if CLOSING.fullmatch(line)]
    # Status 5, nothing selected, is right if the user's arguments name tests of other groups, and
    # if the default device has only a few of the cases.
    nothing = bool(arguments) or one.tests == "long"
    one.failed = process.returncode not in ((0, 5) if nothing else (0,))
    if closing:
        one.closing = closing[-1]
        for number, kind in COUNT.findall(closing[-1].split(" in ")[0]):
            plural = {"error": "errors", "warning": "warnings"}.get(kind, kind)
            one.counts[plural] = int(number)
    else:
        one.closing = f"pytest ended without a closing line, exit status {process.returncode}"
        one.failed = True
        one.counts["errors"] = 1


def closing_line(runs: list[Pass], seconds: float) -> str:
    """Returns the sum of all passes, in the form of pytest's own last line. Tests left to other
    passes don't count as deselected."""
    total: collections.Counter[str] = collections.Counter()
    for run in runs:
        total.update(run.counts)
    if any(run.failed for run in runs) and not total["failed"] + total["errors"]:
        total["errors"] = 1
    parts = [f"{total[kind]} {kind}" for kind in KINDS if total[kind]] or ["no tests ran"]
    minutes, rest = divmod(round(seconds), 60)
    text = f" {', '.join(parts)} in {seconds:.2f}s ({minutes // 60}:{minutes % 60:02}:{rest:02}) "
    return text.center(100, "=")


def plan(targets: list[str], everything: bool, arguments: list[str], goes_on: bool = False) -> list[Pass]:
    """Returns the passes, in order. The first target is the default device.

    goes_on: another run with --all follows.
    """
    first, *others = targets
    if arguments:
        return [Pass(first, ""), *(Pass(t, "kernel") for t in others if everything)]
    passes = [Pass(first, "not long")]
    # Oclgrind is about 1000 times slower than the others, and the other kernels run above, too.
    checked = ("oclgrind", "sanitized", *PROCESSORS)
    # XRT's kernels come from the image full, which takes minutes to build. The run that follows
    # this one runs the C simulation's core under g++'s sanitizers.
    sanitized = "sanitized" in others and (everything or goes_on) and sanitizer_libraries()
    later = ("xrt", *checked, *["csim"] * bool(sanitized))
    passes += [Pass(t, "core") for t in others if t not in later]
    if everything:
        passes.append(Pass(first, "long"))
        passes += [Pass(t, "core") for t in others if t in checked]
        passes += [Pass(t, "kernel and not core") for t in others if t not in ("xrt", *checked)]
        passes += [Pass(t, "kernel") for t in others if t == "xrt"]
    return passes


def main() -> int:
    """Returns 0 if every pass passed and no required target is missing."""
    wanted = os.environ.get("FTENSOR_CI_TARGETS", ",".join(TARGETS)).replace(" ", "").split(",")
    if unknown := set(wanted) - set(TARGETS):
        sys.exit(f"FTENSOR_CI_TARGETS names {sorted(unknown)}; there are {list(TARGETS)}")
    required = os.environ.get("FTENSOR_REQUIRE_TARGETS") == "1"
    arguments = sys.argv[1:]
    everything = "--all" in arguments
    arguments = [word for word in arguments if word != "--all"]
    start = time.monotonic()
    passes = plan(wanted, everything, arguments, "FTENSOR_TESTS_DONE" in os.environ)
    done = Path(os.environ.get("FTENSOR_TESTS_DONE") or os.devnull)
    runs = [Pass(**json.loads(line)) for line in done.read_text().splitlines()]
    for run in runs:
        run.before = True
    had = {run.name for run in runs}
    passes = [one for one in passes if one.name not in had]
    print("To run:", "; ".join(one.name for one in passes), flush=True)
    places: dict[str, Place | None] = {}
    covered = {run.row: run.target for run in runs}  # row -> the target that uses it
    stop = bool({"-x", "--exitfirst"} & set(arguments))
    with ExitStack() as stack:
        for one in passes:
            if one.target not in places:
                folder = tempfile.TemporaryDirectory(prefix="ftensor-tests-")
                at = places[one.target] = place(one.target, Path(stack.enter_context(folder)))
                if at and covered.setdefault(at.row, one.target) != one.target:
                    print(f"\n## {one.target}: {at.device}, had its run as {covered[at.row]}")
            at = places[one.target]
            if at is None or covered[at.row] != one.target:
                continue
            one.row = at.row
            run_pass(one, at, arguments)
            if one.crashed and one.target == "xrt":
                # The process loads two more OpenCL drivers. One worker in some dozen passes died by
                # SIGSEGV; the cause is unknown.
                print(f"\n## {one.name}: a worker died or hung, so the pass is run once more", flush=True)
                one = Pass(one.target, one.tests, one.row)
                run_pass(one, at, arguments)
            runs.append(one)
            with done.open("a") as file:
                print(json.dumps(asdict(one)), file=file)
            if stop and one.failed:
                break
    missing = [target for target, at in places.items() if at is None]
    print()
    for target in missing:
        print(f"{target}: {'required, and ' * required}not on this machine")
    for run in runs:
        print(f"{run.name}: {run.closing.strip('= ')}{' (before)' * run.before}")
    print(closing_line(runs, time.monotonic() - start))
    return int(not runs or bool(missing and required) or any(run.failed for run in runs))


if __name__ == "__main__":
    sys.exit(main())
