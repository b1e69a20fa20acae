"""Runs the tests: each group once on the default device, and kernels on every other target.

    python tests/run.py [--all] [pytest's arguments]

Without --all other targets run the marker `core` only, and what is marked `long` is left out; with
it, all of `kernel`, and these too. With arguments the default device alone runs the tests that they
name, and with --all every target does.

FTENSOR_CI_TARGETS      which targets, separated by commas (all of TARGETS)
FTENSOR_REQUIRE_TARGETS 1: one that is not here is an error; otherwise it is said and left out
FTENSOR_TESTS_DONE      a file that keeps what has run; another run goes on behind it
FTENSOR_INTEL_FPGA_EMULATOR  the folder of Intel's FPGA emulator (see docs/intel-fpga.md)

The last line is in pytest's form: the sum over the passes.
"""

from __future__ import annotations

import collections
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# name -> the family's row in ftensor/runtime/targets.py; "default" is whatever `auto` takes
TARGETS = {
    "default": None,
    "intel": "intel-cpu",
    "pocl": "pocl",
    "csim": "csim",
    "oclgrind": "oclgrind",
    "xrt": "xilinx",
    "intel-fpga": "intel-fpga-emulator",
    "sanitized": "csim",
    "avx2": "intel-cpu",
    "avx": "intel-cpu",
}
# What Intel's compiler is told of the processor, where that has more: kernels follow it.
PROCESSORS = {"avx2": "core-avx2", "avx": "corei7-avx"}
# The C simulation, when g++'s sanitizers look for bad accesses and for what C++ leaves undefined.
SANITIZERS = "address,undefined,float-cast-overflow"
CSIM_HEADERS = ("cmath", "cstdint", "limits")
# The kernels of the software device, built once and again where a kernel changed.
IMAGE = ROOT / "build" / "full"
# Run in the very environment the tests get, so that what is announced is what is tested.
PROBE = """
import json, sys
from ftensor.runtime import discovery
rows = [found.target.name for found in discovery.find()]
answer = {"rows": rows, "notes": list(discovery.report().notes)}
if rows and (sys.argv[1] in rows or sys.argv[1] == "default"):
    from ftensor._device import default_backend
    backend = default_backend()
    answer |= {"row": backend.target.name, "device": backend.properties.name}
print(json.dumps(answer))
"""
COUNT = re.compile(r"(\d+) ([a-z]+)")
CLOSING = re.compile(r"(=+ )?(\d+ [a-z]+|no tests ran)\b.* in [\d.]+s\b.*")
ANSI = re.compile(r"\x1b\[[0-9;]*m")
# pytest's own order
KINDS = ("failed", "passed", "skipped", "xfailed", "xpassed", "warnings", "errors")


GROUPS = ("host", "spelling", "kernel", "torch_device", "flow")
# How a file shows that tests of it have a marker; those of targets.py mark what is long.
MARKED = {
    "core": r"pytest\.mark\.core",
    "long": r"pytest\.mark\.long|targets import .*(pairs|some)",
}
# Where some tests are marked `long`: they wait for --all.
LONG = ("spelling", "kernel", "flow")
# These run with new memory filled, so that what no kernel wrote shows.
POISONED = ("spelling", "kernel", "torch_device", "core")


@dataclass(frozen=True)
class Place:
    """A target that is here: the environment and the command its programs run in."""

    target: str
    env: dict[str, str]
    under: list[str]
    row: str
    device: str


@dataclass
class Pass:
    """A selection of tests on a target, and how it ended."""

    target: str
    tests: str  # pytest's expression of markers; empty: all that the arguments name
    row: str = ""  # the target's, in ftensor/runtime/targets.py
    closing: str = ""
    failed: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    before: bool = False  # it was run by an earlier command

    @property
    def name(self) -> str:
        """What is run where."""
        return f"{self.tests or 'tests'} on {self.target}"

    def paths(self) -> list[str]:
        """The files that may hold such tests: to collect all of them takes longer than some run."""
        group = "kernel" if self.tests == "core" else self.tests.split()[0]
        few = {"core": MARKED["core"], f"{group} and long": MARKED["long"]}.get(self.tests)
        if few is None:
            return [f"tests/{group}"]
        files = sorted((ROOT / "tests" / group).glob("test_*.py"))
        return [str(file) for file in files if re.search(few, file.read_text())]


def environment(target: str, folder: Path) -> dict[str, str] | None:
    """The variables that put the suite on a target; None when the machine lacks the tool."""
    env = dict(os.environ)
    # Hundreds of programs start; with what Python has compiled kept, each imports in half the time.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    if target == "default":
        return env
    env["FTENSOR_DEVICE"] = TARGETS[target] or target
    if target == "csim" and shutil.which("g++") and "CXX" not in env:
        env["CXX"] = with_headers_read(["g++"], folder)
    if target == "intel-fpga":
        from ftensor.runtime.intel import emulator

        driver = emulator.driver()
        return emulator.environment(driver, env, folder) if driver else None
    if target in PROCESSORS:
        env["CL_CONFIG_CPU_TARGET_ARCH"] = PROCESSORS[target]
    if target == "sanitized":
        libraries = sanitizer_libraries()
        if libraries is None:
            return None
        # Kernels are loaded into Python, and bad accesses are seen by who allocates memory.
        env["LD_PRELOAD"] = f"{libraries['asan']} {libraries['stdc++']}"
        command = ["g++", "-g1", f"-fsanitize={SANITIZERS}", "-fsanitize-recover=all"]
        env["CXX"] = with_headers_read(command, folder)
        env["FTENSOR_CACHE_DIR"] = str(folder)
        # tests/conftest.py reads the logs; that of undefined behaviour is named there.
        env["SANITIZER_LOG"], env["SANITIZER_UBSAN"] = str(folder / "log"), libraries["ubsan"]
        log = f"halt_on_error=0:log_path={env['SANITIZER_LOG']}"
        env["ASAN_OPTIONS"], env["UBSAN_OPTIONS"] = f"detect_leaks=0:{log}", log
    if target == "oclgrind":
        driver = oclgrind_driver()
        if driver is None:
            return None
        # Only Oclgrind is offered to the loader; tests/conftest.py reads the log after each test.
        (folder / "oclgrind.icd").write_text(f"{driver}\n")
        env["OCL_ICD_VENDORS"] = f"{folder}/"
        env["OCLGRIND_DATA_RACES"] = "1"
        # Its interpreter lacks what the optimizer makes of some kernels: llvm.abs, and zext of
        # vectors of i1, which gives 255. Unoptimized, no access that the kernel states is lost.
        env["OCLGRIND_BUILD_OPTIONS"] = "-cl-opt-disable"
        env["FTENSOR_CACHE_DIR"] = str(folder)  # the options are not part of a cached kernel's key
        env["OCLGRIND_LOG"] = str(folder / "oclgrind.log")
    return env


def with_headers_read(command: list[str], folder: Path) -> str:
    """A compiler for $CXX that has read the headers of the C simulation's kernels before."""
    from ftensor.runtime.csim.backend import FLAGS

    return shlex.join([*command, *headers_read([*command, *FLAGS], CSIM_HEADERS, folder)])


def headers_read(command: Sequence[str], names: Sequence[str], folder: Path) -> list[str]:
    """The words with which a compiler finds headers that it has read, half of what it does for a
    small source; `command` is the compiler with its options.

    Where those of a call differ in what matters, g++ reads the headers' text itself.
    """
    header = folder / "headers.h"
    header.write_text("".join(f"#include <{name}>\n" for name in names))
    made = ["-x", "c++-header", str(header), "-o", f"{header}.gch"]
    subprocess.run([*(word for word in command if word != "-shared"), *made], check=True)
    return ["-include", str(header)]


def launcher(target: str) -> list[str] | None:
    """The command under which a target's programs run; None when the machine lacks the tool."""
    if target != "xrt":
        return []
    from ftensor.emulation.environment import available

    if why := available():
        print(f"\n## {target}: {why}", flush=True)
        return None
    ftensor = [sys.executable, "-m", "ftensor"]
    build = ["build", "--target", "csim", "--inventory", "full", "--out", str(IMAGE)]
    print(f"\n## {target}: the image full is built into {IMAGE}", flush=True)
    subprocess.run([*ftensor, *build], cwd=ROOT, check=True)
    return [*ftensor, "emulate", "--image", str(IMAGE / "full.xclbin"), "--"]


def sanitizer_libraries() -> dict[str, str] | None:
    """Where g++'s sanitizers and what they need lie; None where g++ or one of them is not here."""
    if shutil.which("g++") is None:
        return None
    found = {}
    for name in ("asan", "ubsan", "stdc++"):
        command = ["g++", f"-print-file-name=lib{name}.so"]
        found[name] = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return found if all(Path(path).is_absolute() for path in found.values()) else None


def oclgrind_driver() -> Path | None:
    """Oclgrind's OpenCL driver, which lies beside its command."""
    command = shutil.which("oclgrind")
    if command is None:
        return None
    lib = Path(command).resolve().parent.parent / "lib"
    names = ("oclgrind/liboclgrind-rt-icd.so", "liboclgrind-rt-icd.so")
    return next((lib / name for name in names if (lib / name).is_file()), None)


def probe(target: str, under: list[str], env: dict[str, str]) -> dict[str, object]:
    """What the target's environment offers, asked in a process of its own."""
    row = TARGETS[target] or "default"
    done = subprocess.run(
        [*under, sys.executable, "-c", PROBE, row],
        env=env,
        cwd=ROOT,
        text=True,
        capture_output=True,
    )
    if done.returncode:
        sys.exit(f"ftensor fails to look for {target}:\n{done.stderr}")
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def place(target: str, folder: Path) -> Place | None:
    """A target in its environment, or None with a word on why it is not here."""
    env, under = environment(target, folder), launcher(target)
    answer = {} if env is None or under is None else probe(target, under, env)
    if env is None or under is None or "row" not in answer:
        print(f"\n## {target}: not on this machine {answer.get('notes') or ''}", flush=True)
        return None
    if TARGETS[target] not in (None, answer["row"]):
        sys.exit(f"FTENSOR_DEVICE={target} gives {answer['row']}, {answer['device']}")
    # Kernels of csim, and of Intel's runtime, that run all the same.
    another = target == "sanitized" or (target in PROCESSORS and has_avx512())
    row = target if another else str(answer["row"])
    return Place(target, env, under, row, str(answer["device"]))


def has_avx512() -> bool:
    """Whether this processor has more than those that Intel's compiler may be told of."""
    file = Path("/proc/cpuinfo")
    return file.is_file() and " avx512f " in file.read_text()


def run_pass(one: Pass, at: Place, arguments: list[str]) -> None:
    """pytest's output passes through; its closing line is kept."""
    command = [*at.under, sys.executable, "-m", "pytest", "-q", *(arguments or one.paths())]
    command += [f"--color={'yes' if sys.stdout.isatty() else 'no'}"]
    command += ["-m", one.tests] if one.tests else []
    command += ["-n", str(min(4, os.cpu_count() or 1))]
    lines: collections.deque[str] = collections.deque(maxlen=20)
    print(f"\n## {one.name}: {at.row}, {at.device}", flush=True)
    env = at.env | {"FTENSOR_TESTS_PASS": one.name}
    group = re.sub(" and (not )?long", "", one.tests)
    if group in POISONED and one.target != "xrt":  # whose kernels csim runs, too
        env.setdefault("FTENSOR_POISON", "1")
    with subprocess.Popen(
        command, env=env, cwd=ROOT, text=True, stdout=subprocess.PIPE, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(ANSI.sub("", line).strip())
    closing = [line for line in lines if CLOSING.fullmatch(line)]
    # Status 5, nothing selected, is right where the user's arguments name tests of other groups,
    # and where the default device has but a few of the cases.
    nothing = bool(arguments) or one.tests.endswith("and long")
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
    """The sum of all passes, in the form of pytest's own last line; what a pass leaves to others
    is not counted as deselected.
    """
    total: collections.Counter[str] = collections.Counter()
    for run in runs:
        total.update(run.counts)
    if any(run.failed for run in runs) and not total["failed"] + total["errors"]:
        total["errors"] = 1
    parts = [f"{total[kind]} {kind}" for kind in KINDS if total[kind]] or ["no tests ran"]
    minutes, rest = divmod(round(seconds), 60)
    text = f" {', '.join(parts)} in {seconds:.2f}s ({minutes // 60}:{minutes % 60:02}:{rest:02}) "
    return text.center(100, "=")


def plan(targets: list[str], everything: bool, arguments: list[str]) -> list[Pass]:
    """What is run, in order; the first target is the default device."""
    first, *others = targets
    if arguments:
        return [Pass(first, ""), *(Pass(t, "kernel") for t in others if everything)]
    passes = [Pass(first, f"{g} and not long" if g in LONG else g) for g in GROUPS]
    # Oclgrind is some 1000 times slower than the others, the rest are kernels that run above, too.
    few = ("oclgrind", "sanitized", *PROCESSORS)
    # XRT's kernels come from the image full, which takes minutes to build.
    passes += [Pass(t, "core") for t in others if t not in ("xrt", *few)]
    if everything:
        passes += [Pass(first, f"{group} and long") for group in LONG]
        passes += [Pass(t, "core") for t in others if t in few]
        passes += [Pass(t, "kernel and not core") for t in others if t not in ("xrt", *few)]
        passes += [Pass(t, "kernel") for t in others if t == "xrt"]
    return passes


def main() -> int:
    """Exit status 0 when every pass passed and no required target is missing."""
    wanted = os.environ.get("FTENSOR_CI_TARGETS", ",".join(TARGETS)).replace(" ", "").split(",")
    if unknown := set(wanted) - set(TARGETS):
        sys.exit(f"FTENSOR_CI_TARGETS names {sorted(unknown)}; there are {list(TARGETS)}")
    required = os.environ.get("FTENSOR_REQUIRE_TARGETS") == "1"
    arguments = sys.argv[1:]
    everything = "--all" in arguments
    arguments = [word for word in arguments if word != "--all"]
    start = time.monotonic()
    passes = plan(wanted, everything, arguments)
    done = Path(os.environ.get("FTENSOR_TESTS_DONE") or os.devnull)
    runs = [Pass(**json.loads(line)) for line in done.read_text().splitlines()]
    for run in runs:
        run.before = True
    had = {run.name for run in runs}
    passes = [one for one in passes if one.name not in had]
    print("To run:", "; ".join(one.name for one in passes), flush=True)
    places: dict[str, Place | None] = {}
    covered = {run.row: run.target for run in runs}  # row -> the target that stands for it
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
