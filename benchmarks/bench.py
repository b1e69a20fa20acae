"""ftensor compared with torch on the CPU and NumPy, measured in one run.

    python benchmarks/bench.py [--json FILE] [--quick] [--only large,medium,start] [--others]
    python benchmarks/bench.py --gate --base COMMIT [--only large]

Every figure is a median. The libraries alternate within each repetition, so a change of the
machine's clock affects all of them. `ratio` is the better of torch and NumPy over ftensor: above 1,
ftensor is faster. `now / last` is ftensor's time over that of the last run on the same machine, if
FILE has one. A roofline of the large cases is drawn next to FILE if matplotlib is installed.

With --others, pyopencl.array and tinygrad take part (the extra `bench`; with DEV=CL in the
environment tinygrad uses OpenCL, and OPENCL_PATH names the loader for it).

With --gate, this checkout and another commit are measured alternately, in one process each. The
exit status is 1 if a case takes more than 1.15 times as long here.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from cases import CASES, GROUPS, MILLION, Call
from figures import MINE, OTHERS, THEIRS, Row, means, medians_by_turns, scaled, table
from gate import gate
from roofline import roofline

SECTIONS = (*GROUPS, "not waited", "spectral", "graph", "torch", "start", "memory")
PROCESSES = {  # the program that a new interpreter runs
    "import": "import ftensor",
    "first op": "import ftensor as ft; ft.tensor([1., 2.]).mul(3).tolist()",
}


def of_rows(group: str, quick: bool, libraries: tuple[str, ...]) -> list[Row]:
    """Returns the rows of a group. Each call is waited for.

    Every call makes a new result, like users' code. NumPy and torch allocate theirs from the
    system, ftensor from its pool.
    """
    rows = []
    for case in CASES:
        if case.group != group:
            continue
        times = medians_by_turns(case.calls(libraries), 5 if quick else 21)
        unit, factor = ("us", 1e6) if group in ("small", "medium") else ("ms", 1e3)
        rows.append(scaled(f"{group}: {case.name}", unit, factor, times))
    return rows


def without_wait(quick: bool) -> list[Row]:
    """Returns the cost of a call with almost nothing to compute, without waiting."""
    import numpy as np
    import torch

    import ftensor as ft

    a = np.arange(16, dtype=np.float32)
    ta, fa = torch.from_numpy(a), ft.tensor(a)
    inner = 1000

    def many(op: Callable[..., object], operand: Any) -> Call:
        def call() -> None:
            for _ in range(inner):
                op(operand, operand)

        return call

    calls = {"ftensor": many(ft.add, fa), "torch": many(torch.add, ta), "numpy": many(np.add, a)}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for repeat in range(6 if quick else 31):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if repeat:
                times[name].append((time.perf_counter() - start) / inner)
            ft.synchronize()  # not measured, and finished before the next measurement
    medians = {name: statistics.median(values) for name, values in times.items()}
    return [scaled("small: add, not waited for", "us", 1e6, medians, limit=10.0)]


# Transforms: a function of `fft`, the input's shape and dtype, the dim (None: the default).
TRANSFORMS: tuple[tuple[str, tuple[int, ...], str, int | None], ...] = (
    *(("fft", (n,), "complex64", -1) for n in (64, 1024, 65536, MILLION)),
    *(("fft", (1000, n), "complex64", -1) for n in (64, 1000, 1009, 1024, 1536)),
    *(("fft", (n,), "complex64", -1) for n in (1000, 1009, 10007)),
    ("fft2", (512, 512), "complex64", None),
    ("fft2", (8, 512, 512), "complex64", None),
    *(("rfft", shape, "float32", -1) for shape in ((1024,), (MILLION,), (1000, 1024))),
    *(("irfft", s, "complex64", -1) for s in ((513,), (MILLION // 2 + 1,), (1000, 513))),
    ("fft", (1024, 1000), "complex64", 0),
    ("rfft", (1024, 1000), "float32", 0),
    ("fft", (1000, 1024), "complex128", -1),
    ("rfft", (1000, 1024), "float64", -1),
)


def spectral(quick: bool) -> list[Row]:
    """Returns the rows of Fourier transforms; each call is waited for."""
    import numpy as np
    import torch

    import ftensor as ft

    rows = []
    for name, shape, of, dim in TRANSFORMS:
        x = np.random.default_rng(1).standard_normal(shape).astype(of)
        mine, theirs = ft.tensor(x), torch.from_numpy(x)
        how: dict[str, Any] = {} if dim is None else {"dim": dim}

        def waited(op: Any, x: Any = mine, how: Any = how) -> object:
            result = op(x, **how)
            ft.synchronize()
            return result

        axes = {} if dim is None else {"axis": dim}
        calls: dict[str, Call] = {
            "ftensor": partial(waited, getattr(ft.fft, name)),
            "torch": partial(getattr(torch.fft, name), theirs, **how),
            "numpy": partial(getattr(np.fft, name), x, **axes),
        }
        label = f"{name} {'x'.join(map(str, shape))} {of}" + (" along 0" if dim == 0 else "")
        rows.append(scaled(label, "ms", 1e3, medians_by_turns(calls, 5 if quick else 21)))
    return rows


# 50 ops on a program's arguments, which become five kernels as separate calls.
FIFTY = """
import json, sys, time
import ftensor as ft

def fifty(x, y):
    for _ in range(10):
        x = ft.tanh(x * y + 0.5) - ft.exp(x)
    return x

x, y = ft.randn(64, 1000), ft.randn(64, 1000)
ft.jit(fifty).graph(x[:2, :3], y[:2, :3])  # what a process does once
begun = time.perf_counter()
ft.jit(fifty).graph(x, y)
planned = time.perf_counter() - begun

def five(x, y):
    z = ft.tanh(x * y + x) * ft.exp(-y)
    s = ft.softmax(z, 1) @ y.t()
    return s.sort(1)[0], z.cumsum(1), s.sum(0)

x, y = x + 1, y + 1
begun = time.perf_counter()
ft.jit(five)(x, y)
ft.synchronize()
print(json.dumps([planned, time.perf_counter() - begun]))
"""


def graph(quick: bool) -> list[Row]:
    """Returns the time to build a graph: 50 ops traced and planned, five kernels compiled."""
    times = []
    for _ in range(2 if quick else 5):
        with tempfile.TemporaryDirectory(prefix="ftensor-bench-") as cache:
            env = os.environ | {"FTENSOR_CACHE_DIR": cache, "XDG_CACHE_HOME": cache}
            command = [sys.executable, "-c", FIFTY]
            said = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
            times.append(json.loads(said.stdout))
    planned, cold = map(statistics.median, zip(*times))
    return [
        Row("50 ops traced and planned", "s", planned, limit=0.03),
        Row("a graph of five kernels, clean cache", "s", cold, limit=2.0),
    ]


def through_torch(quick: bool) -> list[Row]:
    """Returns the rows of networks on torch's device, on one core, in a separate process."""
    with tempfile.TemporaryDirectory(prefix="ftensor-bench-") as folder:
        file = Path(folder) / "models.json"
        program = str(Path(__file__).resolve().parent / "torch_models.py")
        options = ["--json", str(file), *(["--quick"] if quick else [])]
        subprocess.run([sys.executable, program, *options], check=True, stdout=subprocess.DEVNULL)
        return [Row(**row) for row in json.loads(file.read_text())]


def start(quick: bool) -> list[Row]:
    """Returns the start-up time of a new process: the import, and its first result, cold and warm."""
    rounds = 2 if quick else 7
    base, cold, warm, bare = [], [], [], []
    torch_import, numpy_import = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="ftensor-bench-") as cache:
            # Runtimes have their own caches; a clean start means all of them are empty.
            env = os.environ | {
                "FTENSOR_CACHE_DIR": cache,
                "POCL_CACHE_DIR": str(Path(cache) / "pocl"),
                "XDG_CACHE_HOME": cache,
            }
            bare.append(process("pass", env))
            base.append(process(PROCESSES["import"], env))
            torch_import.append(process("import torch", env))
            numpy_import.append(process("import numpy", env))
            cold.append(process(PROCESSES["first op"], env))
            warm.append(process(PROCESSES["first op"], env))
    idle = statistics.median(bare)

    def median(values: list[float]) -> float:
        return max(statistics.median(values) - idle, 0.0)

    rows = [
        Row("import", "s", median(base), median(torch_import), median(numpy_import), 0.4),
        Row("import and first op, clean cache", "s", median(cold), limit=3.0),
        Row("import and first op, later process", "s", median(warm), limit=0.5),
    ]
    return rows


def process(program: str, env: dict[str, str]) -> float:
    """Returns the seconds that a new interpreter needs for a program."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], env=env, check=True, capture_output=True)
    return time.perf_counter() - begin


def memory(quick: bool) -> list[Row]:
    """Returns the memory growth over a million small ops, on the device and in the process."""
    import ftensor as ft

    count = 100_000 if quick else 1_000_000
    value = ft.tensor([float(n) for n in range(16)])

    def ops(number: int) -> None:
        result = value
        for _ in range(number):
            result = value + result
        ft.synchronize()

    ops(20_000)  # the plans, the pool and the queue have reached their size
    before, device_before = resident(), ft.fpga.memory_reserved()
    ops(count)
    grown, device_grown = resident() - before, ft.fpga.memory_reserved() - device_before
    return [
        Row(f"host memory grown by {count} small ops", "MB", grown / 1e6, limit=5.0),
        Row(f"device memory grown by {count} small ops", "MB", device_grown / 1e6, limit=0.0),
    ]


def resident() -> int:
    """Returns the resident bytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def machine() -> dict[str, str]:
    """Returns the machine and the versions to which the figures belong."""
    import numpy
    import torch

    import ftensor as ft

    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].split(":")[1].strip() if models else cpu
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": f"{cpu}, {len(os.sched_getaffinity(0))} cores",
        "device": ft.fpga.get_device_name(),
        "python": platform.python_version(),
        "ftensor": ft.__version__,
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }


def last_of(path: Path, facts: dict[str, str]) -> dict[str, float]:
    """Returns ftensor's figures of the last run if that was on this machine."""
    if not path.is_file():
        return {}
    kept = json.loads(path.read_text())
    if any(kept["machine"].get(key) != facts[key] for key in ("cpu", "device")):
        return {}
    return {row["name"]: row["ftensor"] for row in kept["figures"]}


def main() -> int:
    """Measures the requested sections, prints the table, and writes JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("out/bench.json"))
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, rougher figures")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, by commas")
    parser.add_argument("--others", action="store_true", help="pyopencl.array and tinygrad, too")
    parser.add_argument("--gate", action="store_true", help="fail where a case lost against --base")
    parser.add_argument("--base", default="HEAD", help="the commit to compare with, by --gate")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    if options.gate:
        numbers = [k for k, case in enumerate(CASES) if case.group in chosen]
        return gate(options.base, numbers, 7 if options.quick else 15)
    facts = machine()
    print("\n".join(f"{key}: {value}" for key, value in facts.items()), end="\n\n")
    libraries = (MINE, *THEIRS, *(OTHERS if options.others else ()))
    sections: dict[str, Callable[[bool], list[Row]]] = {
        group: partial(of_rows, group, libraries=libraries) for group in GROUPS
    }
    sections |= {"not waited": without_wait, "spectral": spectral, "graph": graph}
    sections |= {"torch": through_torch, "start": start, "memory": memory}
    last = last_of(options.json, facts)
    rows: list[Row] = []
    for name in SECTIONS:
        if name in chosen:
            rows += sections[name](options.quick)
    for row in rows:
        row.last = last.get(row.name)
    print(table(rows), means(rows), sep="\n\n")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    figures = [asdict(row) | {"ratio": row.ratio} for row in rows]
    options.json.write_text(json.dumps({"machine": facts, "figures": figures}, indent=1) + "\n")
    print(f"\nwritten: {options.json}")
    if "large" in chosen:
        roofline("large", options.json.with_name("roofline.svg"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
