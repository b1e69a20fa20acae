"""Runs the test suite once per target: the default device, then each other one that is here.

    python tests/run.py [pytest's arguments]

FTENSOR_CI_TARGETS      which ones, separated by commas (all of TARGETS)
FTENSOR_REQUIRE_TARGETS 1: one that is not here is an error; otherwise it is said and left out
FTENSOR_INTEL_FPGA_EMULATOR  the folder of Intel's FPGA emulator (see docs/intel-fpga.md)

The last line is in pytest's form: the sum over the targets.
"""

from __future__ import annotations

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
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
}
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
KINDS = ("failed", "passed", "skipped", "deselected", "xfailed", "xpassed", "warnings", "errors")


@dataclass
class Run:
    """One pass of the suite: where, and how it ended."""

    target: str
    closing: str = ""
    failed: bool = False
    counts: collections.Counter[str] = field(default_factory=collections.Counter)


def environment(target: str, folder: Path) -> dict[str, str] | None:
    """The variables that put the suite on a target; None when the machine lacks the tool."""
    env = dict(os.environ)
    if target == "default":
        return env
    env["FTENSOR_DEVICE"] = TARGETS[target] or target
    if target == "intel-fpga":
        from ftensor.emulation import intel

        driver = intel.driver()
        return intel.environment(driver, env, folder) if driver else None
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
    subprocess.run([*ftensor, *build], cwd=ROOT, check=True)
    return [*ftensor, "emulate", "--image", str(IMAGE / "full.xclbin"), "--"]


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


def run_suite(target: str, under: list[str], env: dict[str, str], arguments: list[str]) -> Run:
    """pytest's output passes through; its closing line is kept."""
    command = [*under, sys.executable, "-m", "pytest", *arguments]
    command += [f"--color={'yes' if sys.stdout.isatty() else 'no'}"]
    result = Run(target)
    lines: collections.deque[str] = collections.deque(maxlen=20)
    with subprocess.Popen(
        command, env=env, cwd=ROOT, text=True, stdout=subprocess.PIPE, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(ANSI.sub("", line).strip())
    closing = [line for line in lines if CLOSING.fullmatch(line)]
    # Status 5, nothing selected, is right where the user's arguments name tests without the marker.
    result.failed = process.returncode not in ((0, 5) if len(sys.argv) > 1 else (0,))
    if closing:
        result.closing = closing[-1]
        for number, kind in COUNT.findall(closing[-1].split(" in ")[0]):
            plural = {"error": "errors", "warning": "warnings"}.get(kind, kind)
            result.counts[plural] += int(number)
    else:
        result.closing = f"pytest ended without a closing line, exit status {process.returncode}"
        result.failed = True
        result.counts["errors"] += 1
    return result


def closing_line(runs: list[Run], seconds: float) -> str:
    """The sum of all runs, in the form of pytest's own last line."""
    total: collections.Counter[str] = sum((run.counts for run in runs), collections.Counter())
    if any(run.failed for run in runs) and not total["failed"] + total["errors"]:
        total["errors"] = 1
    parts = [f"{total[kind]} {kind}" for kind in KINDS if total[kind]]
    minutes, rest = divmod(round(seconds), 60)
    text = f" {', '.join(parts)} in {seconds:.2f}s ({minutes // 60}:{minutes % 60:02}:{rest:02}) "
    return text.center(100, "=")


def main() -> int:
    """Exit status 0 when every run passed and no required target is missing."""
    wanted = os.environ.get("FTENSOR_CI_TARGETS", ",".join(TARGETS)).replace(" ", "").split(",")
    if unknown := set(wanted) - set(TARGETS):
        sys.exit(f"FTENSOR_CI_TARGETS names {sorted(unknown)}; there are {list(TARGETS)}")
    required = os.environ.get("FTENSOR_REQUIRE_TARGETS") == "1"
    start = time.monotonic()
    runs: list[Run] = []
    missing: list[str] = []
    covered: set[object] = set()
    for target in wanted:
        with tempfile.TemporaryDirectory(prefix="ftensor-tests-") as folder:
            env = environment(target, Path(folder))
            under = launcher(target)
            if env is None or under is None:
                answer: dict[str, object] = {}
            else:
                answer = probe(target, under, env)
            if env is None or under is None or "row" not in answer:
                missing.append(target)
                notes = answer.get("notes") or ""
                print(f"\n## {target}: not on this machine {notes}", flush=True)
                continue
            if TARGETS[target] not in (None, answer["row"]):
                sys.exit(f"FTENSOR_DEVICE={target} gives {answer['row']}, {answer['device']}")
            if answer["row"] in covered:
                print(f"\n## {target}: {answer['device']}, had its run", flush=True)
                continue
            print(f"\n## {target}: {answer['row']}, {answer['device']}", flush=True)
            arguments = list(sys.argv[1:])
            if target == "oclgrind":  # some 1000 times slower than the others, with one log
                arguments += ["-m", "oclgrind"]
            else:
                arguments += ["-n", str(min(4, os.cpu_count() or 1))]
                arguments += ["-m", "not once"] if runs else []
            covered.add(answer["row"])
            runs.append(run_suite(target, under, env, arguments))
    print()
    for target in missing:
        print(f"{target:>9}: {'required, and ' * required}not on this machine")
    for run in runs:
        print(f"{run.target:>9}: {run.closing.strip('= ')}")
    if len(runs) > 1:
        print(closing_line(runs, time.monotonic() - start))
    else:
        print(*(run.closing for run in runs))
    return int(not runs or bool(missing and required) or any(run.failed for run in runs))


if __name__ == "__main__":
    sys.exit(main())
