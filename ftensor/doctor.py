"""`ftensor doctor` and `ftensor devices`: found devices, missing packages, checks of results."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import ftensor as ft

from . import errors, logs
from ._device import detected_device, fpga_devices, get_device_mapping, resolve
from ._version import __version__
from .graph.trace import fusion_enabled
from .image import file as image_file
from .runtime import cache, discovery, fallback, icd, targets
from .runtime.discovery import DiscoveryReport, report
from .runtime.opencl import backend
from .terminal import counted, guess, painted, size, table

CHECK_SECONDS = 120
Case = tuple[str, Callable[[], "ft.Tensor"], np.ndarray]


def cases() -> Iterator[Case]:
    """Yields (name, function, expected result). Inputs are integers, so all results except that of
    fft are exact."""
    numbers = np.arange(2 * 3 * 9 * 9) * 37 % 11 - 5.0
    image = numbers.reshape(2, 3, 9, 9).astype(np.float32)
    filters = numbers[: 8 * 3 * 3 * 3].reshape(8, 3, 3, 3).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (2, 3))[:, :, ::2, ::2]
    yield (
        "conv2d",
        lambda: ft.nn.functional.conv2d(ft.tensor(image), ft.tensor(filters), stride=2),
        np.einsum("nchwij,fcij->nfhw", windows, filters),
    )
    a, b = image.reshape(18, 27), image.reshape(27, 18)
    yield "matmul", lambda: ft.matmul(ft.tensor(a), ft.tensor(b)), a @ b
    rows = image.reshape(9, 54)[:, :24]
    yield (
        "fft.fft",
        lambda: ft.view_as_real(ft.fft.fft(ft.tensor(rows))),
        np.fft.fft(rows.astype(np.float64))[..., None].view(np.float64),
    )
    yield "sort", lambda: ft.sort(ft.tensor(a), dim=1)[0], np.sort(a, axis=1)


def compute() -> None:
    """Raises RuntimeError with the name of the first op whose result differs from NumPy's."""
    for name, result_, right in cases():
        result = result_().numpy()
        wrong = int((~np.isclose(result, right, rtol=1e-5, atol=1e-4)).sum())
        if wrong:
            raise errors.wrong_results(name, wrong, right.size)


def try_device(selector: str) -> str:
    """Runs `check` on a device in a new process, because a broken driver may crash or hang it.

    Returns "" on success, else a text about the failure.
    """
    root = str(Path(__file__).parent.parent)
    code = f"import sys; sys.path.insert(0, {root!r}); from ftensor.doctor import check; check()"
    environment = {**os.environ, "FTENSOR_DEVICE": selector}
    try:
        completed = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CHECK_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return f"gave no answer within {CHECK_SECONDS} seconds"
    if completed.returncode == 0:
        return ""
    lines = [line.strip() for line in completed.stderr.splitlines() if line.strip()]
    if completed.returncode < 0:
        return f"ended by signal {-completed.returncode}; {lines[-1] if lines else 'nothing said'}"
    raised = [line for line in lines if "Error" in line.partition(":")[0]]
    return (raised or lines or [f"exit status {completed.returncode}"])[-1]


def check() -> None:
    """Compiles and runs a kernel and a few ops on the first device; raises if a result is wrong.

    On a board without emulation only copies memory. Skips the ops on a device with images and on
    Oclgrind.
    """
    backend = detected_device(resolve("fpga")).open()
    values = np.arange(64, dtype=np.int32)
    storage = backend.allocate(values.nbytes)
    backend.upload(storage, 0, values)
    expected = values
    if backend.target.kind != "board" or backend.target.emulates:  # a board runs only its image
        loop = "{ for (int i = 0; i < n; ++i) p[i] += 1; }"
        heads = {
            "vitis": 'extern "C" void ft_check(int *p, int n, int unit, int units)',
            "intel": "__kernel void ft_check(__global int *p, int n, int unit, int units)",
            "opencl": "__kernel void ft_check(__global int *p, int n)",
        }
        source = f"{heads[backend.dialect]} {loop}\n"
        kernel = backend.build(source, "ft_check", ["*", "int"])
        kernel(backend.current_stream(), 1, storage.handle, values.size)
        expected = values + 1
    result = np.empty_like(values)
    backend.download(storage, 0, result)
    if not np.array_equal(result, expected):
        raise RuntimeError(f"the device computed {result.tolist()} for {expected.tolist()}")
    # A board only has the ops of its image, and Oclgrind's interpreter takes minutes.
    if backend.images is None and backend.target.name != "oclgrind":
        compute()


PREFIX = "FTENSOR_"
# The list of docs/settings.md.
SETTINGS = (
    "FTENSOR_AP_TYPES",
    "FTENSOR_CACHE_DIR",
    "FTENSOR_DEVICE",
    "FTENSOR_FALLBACK",
    "FTENSOR_FUSE",
    "FTENSOR_IMAGE",
    "FTENSOR_INTEL_FPGA_EMULATOR",
    "FTENSOR_LOG",
    "FTENSOR_MEMORY_LIMIT",
    "FTENSOR_POISON",
    "FTENSOR_TUNED",
    "FTENSOR_VITIS_INCLUDE",
)
NEEDED = ("numpy", "pyopencl", "cffi", "platformdirs")
OPTIONAL = ("torch", "intel-opencl-rt", "intel-cmplr-lib-rt")
PCI_FOLDER = Path("/sys/bus/pci/devices")
# PCI vendor -> (target of its cards, prefixes of their PCI classes).
PCI_VENDORS = {
    "0x10ee": ("xilinx", ("0x12", "0x05", "0x07")),
    "0x10de": ("nvidia", ("0x03",)),
    "0x1002": ("amd", ("0x03", "0x12")),
    "0x8086": ("intel-gpu", ("0x03",)),
}


@dataclass(frozen=True)
class Missing:
    """A package, driver or tool that is absent, and the command that installs or enables it."""

    name: str
    remedy: str
    needed: bool = True


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def pip_runtime_fits() -> bool:
    """True if pip has Intel's CPU runtime for this platform (x86-64 Linux)."""
    return sys.platform.startswith("linux") and platform.machine().lower() in ("x86_64", "amd64")


def cards_without_platform(names: set[str], folder: Path = PCI_FOLDER) -> Iterator[Missing]:
    """Yields one entry per target of boards and GPUs on the PCI bus that is not in `names`."""
    seen = set()
    for card in sorted(folder.glob("*")) if folder.is_dir() else ():
        try:
            vendor = (card / "vendor").read_text().strip()
            kind = (card / "class").read_text().strip()
        except OSError:  # a card can disappear between listing and reading
            continue
        name, classes = PCI_VENDORS.get(vendor, ("", ()))
        if name and kind.startswith(classes) and name not in names and name not in seen:
            seen.add(name)
            advice = targets.BY_NAME[name].advice
            yield Missing(f"a card for {name} is at {card.name}, without OpenCL", advice, False)


def missing(seen: DiscoveryReport) -> list[Missing]:
    """Returns the packages, drivers and tools that would make more devices usable, the most useful
    first."""
    names = {device.target.name for device in seen.devices}
    cpu_runtime = bool(names - {"csim", "pocl-rc"})
    lacks = [Missing(f"the package {name}", f"pip install {name}") for name in NEEDED if _version(name) is None]
    if not seen.platforms and os.environ.get("OCL_ICD_VENDORS"):
        what = "the drivers that OCL_ICD_VENDORS hides"
        lacks.append(Missing(what, "unset OCL_ICD_VENDORS"))
    if pip_runtime_fits() and icd.pip_runtime() is None and "oclgrind" not in names:
        what = "Intel's CPU runtime, the default without hardware"
        lacks.append(Missing(what, targets.CPU_RUNTIME, needed=not cpu_runtime))
    if not cpu_runtime:
        what = "PoCL, the open CPU runtime"
        if "pocl-rc" in names:
            what = "a release of PoCL: the candidate that is here fails on newer CPUs"
        lacks.append(Missing(what, "apt-get install pocl-opencl-icd"))
    if names & {"pocl", "pocl-rc"} and not backend.is_installed():
        what = "binutils, whose linker PoCL makes kernels with"
        lacks.append(Missing(what, "apt-get install binutils", needed=names <= {"pocl", "pocl-rc"}))
    lacks += cards_without_platform(names)
    if "csim" not in names:
        what = "a C++ compiler, for the C simulation"
        lacks.append(Missing(what, "apt-get install g++", needed=not names))
    for what, is_present, remedy in (
        ("torch, to exchange tensors with it", _version("torch"), "pip install torch"),
        ("Oclgrind, to check kernels", shutil.which("oclgrind"), "apt-get install oclgrind"),
    ):
        if not is_present:
            lacks.append(Missing(what, remedy, needed=False))
    return lacks


def device_rows(seen: DiscoveryReport) -> list[tuple[object, ...]]:
    """Returns a heading and one row per device found, with the setting that selects it."""
    mapped = {id(device): f"fpga:{index}" for index, device in enumerate(fpga_devices())}
    host = discovery.host(fpga_devices(), seen.devices)
    rows: list[tuple[object, ...]] = [
        ("DEVICE", "TARGET", "NAME", "UNITS", "MEMORY", "FLOAT64", "FLOAT16", "TO SELECT IT")
    ]
    for device in seen.devices:
        labels = [mapped[id(device)]] if id(device) in mapped else []
        labels += ["cpu"] if device in host else []
        rows.append(
            (
                ", ".join(labels) or "-",
                device.target.name,
                device.name,
                device.compute_units,
                size(device.total_memory),
                "yes" if device.has_float64 else "no",
                "yes" if device.has_float16 else "no",
                f"FTENSOR_DEVICE={discovery.selector(device, seen.devices)}",
            )
        )
    return rows


def device_records(seen: DiscoveryReport) -> list[dict[str, object]]:
    """Returns a record per device found, for JSON; `selector` is a value of FTENSOR_DEVICE, and
    `memory` is in bytes."""
    mapped = {id(device): f"fpga:{index}" for index, device in enumerate(fpga_devices())}
    host = discovery.host(fpga_devices(), seen.devices)
    return [
        {
            "device": mapped.get(id(device)),
            "cpu": device in host,
            "target": device.target.name,
            "name": device.name,
            "compute_units": device.compute_units,
            "memory": device.total_memory,
            "float64": device.has_float64,
            "float16": device.has_float16,
            "selector": discovery.selector(device, seen.devices),
        }
        for device in seen.devices
    ]


def _add_findings(record: dict[str, object], seen: DiscoveryReport, wrong: Sequence[tuple[str, str]]) -> int:
    """Adds notes, invalid settings and missing packages to a record; returns the exit status."""
    record["notes"] = list(seen.notes)
    record["invalid_settings"] = dict(wrong)
    record["missing"] = [{"what": lack.name, "needed": lack.needed, "remedy": lack.remedy} for lack in missing(seen)]
    try:
        resolve("fpga")
        record["problem"] = None
    except (RuntimeError, ValueError) as problem:  # no device fits the mapping
        record["problem"] = str(problem)
    return int(record["problem"] is not None or bool(wrong))


def devices(arguments: argparse.Namespace) -> int:
    """Prints the devices; returns 1 if none matches the mapping or a setting is invalid, else 0."""
    wrong = _set_aside()
    seen = report()
    if arguments.json:
        record: dict[str, object] = {"devices": device_records(seen)}
        status = _add_findings(record, seen, wrong)
        print(json.dumps(record, indent=2))
        return status
    if seen.devices:
        head, _, rows = table(device_rows(seen), indent="").partition("\n")
        print(f"{painted(head, 'bold')}\n{rows}")
    if wrong:
        print("\nSettings that make no sense:")
        print(table(wrong))
    return _verdict(seen) or int(bool(wrong))


def _verdict(seen: DiscoveryReport) -> int:
    for note in seen.notes:
        print(f"\nnote: {note}")
    opencl = any(device.target.kind != "csim" for device in seen.devices)
    if not opencl:
        stands_in = "; the C simulation stands in: right, but slow" if seen.devices else ""
        print(f"\nThere is no OpenCL device here{stands_in}. What would help:")
        print(table([(lack.name, lack.remedy) for lack in missing(seen) if lack.needed]))
        if not seen.devices:
            return 1
    try:
        resolve("fpga")
    except (RuntimeError, ValueError) as problem:  # no device above fits the mapping
        print(f"\n{problem}")
        return 1
    return 0


def doctor(arguments: argparse.Namespace) -> int:
    """Prints versions, drivers, devices and settings; returns 0 if the first device works."""
    wrong = _set_aside()
    seen = report()
    versions: list[tuple[str, str | None]] = [
        ("ftensor", __version__),
        ("Python", _python()),
        ("system", platform.platform()),
        *((name, _version(name)) for name in (*NEEDED, *OPTIONAL)),
    ]
    if arguments.json:
        return _doctor_json(seen, wrong, versions)
    _section("Versions")
    absent = dict.fromkeys(NEEDED, "missing") | dict.fromkeys(OPTIONAL, "not installed (optional)")
    print(table([(name, version or absent[name]) for name, version in versions]))
    _section("OpenCL drivers offered to the loader")
    chosen = os.environ.get("OCL_ICD_VENDORS")
    if chosen:
        print(f"  OCL_ICD_VENDORS={chosen}")
    print(table(sorted(seen.entries.items())) if seen.entries else "  none")
    _section("OpenCL platforms")
    print(table(seen.platforms) if seen.platforms else "  none")
    _section(f"Devices, under the mapping {get_device_mapping()!r}")
    print(table(device_rows(seen)) if seen.devices else "  none")
    works = _section_checks(seen)
    _section("Kernel cache")
    print(table(list(cache_rows())))
    if wrong:
        _section("Settings that make no sense")
        print(table(wrong))
    _section("What is missing")
    lacks = missing(seen)
    print(
        table([(lack.name, "needed" if lack.needed else "optional", lack.remedy) for lack in lacks])
        if lacks
        else "  nothing"
    )
    status = _verdict(seen)
    if status or wrong:
        return 1
    first = detected_device(resolve("fpga"))
    well = works[id(first)]
    print(f"\nfpga:0 is {first.name} ({first.target.name}), and it {'works' if well else 'fails'}.")
    return 0 if well else 1


def _doctor_json(
    seen: DiscoveryReport, wrong: Sequence[tuple[str, str]], versions: Sequence[tuple[str, str | None]]
) -> int:
    """Prints what `doctor` finds as one JSON object; the exit status is `doctor`'s."""
    record: dict[str, object] = {
        "versions": dict(versions),
        "drivers": dict(sorted(seen.entries.items())),
        "platforms": [list(platform_) for platform_ in seen.platforms],
        "mapping": get_device_mapping(),
        "cache": dict(cache_rows()),
    }
    found = device_records(seen)
    for device, entry in zip(seen.devices, found):
        problem = try_device(discovery.selector(device, seen.devices))
        entry |= {"works": not problem, "failure": problem or None}
    record["devices"] = found
    status = _add_findings(record, seen, wrong)
    print(json.dumps(record, indent=2))
    if status:
        return status
    first = detected_device(resolve("fpga"))
    return int(not found[[id(device) for device in seen.devices].index(id(first))]["works"])


def _section(title: str) -> None:
    print("\n" + painted(title, "bold"))


def _python() -> str:
    return f"{platform.python_version()} ({sys.executable})"


def _section_checks(seen: DiscoveryReport) -> dict[int, bool]:
    """Tries every device and prints the outcome; returns True or False by id of the device."""
    if not seen.devices:
        return {}
    _section("A kernel compiled and run on each")
    works = {}
    for device in seen.devices:
        selector = discovery.selector(device, seen.devices)
        problem = try_device(selector)
        works[id(device)] = not problem
        outcome = painted(problem, "red") if problem else painted("works", "green")
        print(f"  {selector}: {outcome}", flush=True)
    return works


def cache_rows() -> Iterator[tuple[str, str]]:
    """Yields rows about the kernel cache: folder, size, writable or not."""
    folder = cache.directory()
    files = [file for file in folder.rglob("*") if file.is_file()] if folder.is_dir() else []
    yield "folder", str(folder)
    yield "content", f"{counted(len(files), 'file')}, {size(sum(map(_size, files)))}"
    yield ("writable", "yes" if _writable(folder) else "no; set FTENSOR_CACHE_DIR to a folder that is")


def _writable(folder: Path) -> bool:
    """True if a file can be written to a folder; creates the folder, as the first kernel does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"ftensor")
    except OSError:
        return False
    return True


def _set_aside() -> list[tuple[str, str]]:
    """Removes invalid settings from the environment and returns (name, problem) of each."""
    wrong = list(wrong_settings())
    for name, _ in wrong:
        del os.environ[name]
    return wrong


def wrong_settings() -> Iterator[tuple[str, str]]:
    """Yields (name, problem) of environment variables with invalid values or misspelt names."""
    checks: dict[str, Callable[[], object]] = {
        "FTENSOR_CACHE_DIR": cache.directory,
        "FTENSOR_FALLBACK": fallback.get_fallback,
        "FTENSOR_FUSE": fusion_enabled,
        "FTENSOR_LOG": logs.level,
        "FTENSOR_IMAGE": lambda: [image_file.read(path) for path in image_file.from_environment()],
    }
    for name, check in checks.items():
        try:
            check()
        except ValueError as problem:
            yield name, str(problem)
    known = [name.removeprefix(PREFIX) for name in SETTINGS]
    for name in sorted(set(os.environ) - set(SETTINGS)):
        if name.startswith(PREFIX) and (near := guess(name.removeprefix(PREFIX), known)):
            yield name, f"is not known{near}"


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # another process has just replaced it
        return 0
