"""The environment in which a program finds XRT, and XRT finds the emulated board."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import pwd
import shlex
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from dataclasses import dataclass
from pathlib import Path

from ..errors import commands as errors


@dataclass(frozen=True)
class Repair:
    """A binary patch: bytes that occur exactly once, at the fault, their replacement, and the
    reason."""

    why: str
    find: bytes
    become: bytes

    def __post_init__(self) -> None:
        assert len(self.find) == len(self.become)


def _repair(why: str, before: str, find: str, become: str, after: str) -> Repair:
    return Repair(why, bytes.fromhex(before + find + after), bytes.fromhex(before + become + after))


# CpuemShim::alloc_void grows a buffer with realloc and drops the new pointer:
#   test rax,rax; jne return; mov rdi,[rbx+0x670]; call    becomes
#   mov [rbx+0x670],rax; jmp return
# This fault is in Debian's build alone; XRT's source is right.
HEAP = _repair(
    "a buffer that has moved is written at its old place",
    "",
    "48 85 c0 75 e6 48 8b bb 70",
    "48 89 83 70 06 00 00 eb e2",
    "06 00 00 e8",
)
# CpuemShim::launchDeviceProcess installs handlers for SIGSEGV, SIGFPE, SIGABRT, SIGUSR1 and
# SIGCHLD. From then on any child of the host that ends by a signal ends the host and its process
# group, and an OpenCL CPU runtime in the same process loses its handler of divisions by zero.
# The device's supervisor ends the host by itself. The first sigaction "fails", and the rest
# is skipped:   call sigaction   becomes   mov eax,-1
HANDLERS = _repair(
    "signals of the host and its children are taken for crashes of the device",
    "48 89 84 24 00 04 00 00",
    "e8 d7 a5 fd ff",
    "b8 ff ff ff ff",
    "85 c0 0f 84 ef 07 00 00",
)
# CpuemShim::xclClose waits for any child of the process group, again and again while there is
# none:   call waitpid   becomes   xor eax,eax; nop
CHILDREN = _repair(
    "a close takes the exit status of the host's other children, or never ends",
    "31 d2 4c 89 f6 31 ff",
    "e8 a4 d2 fc ff",
    "31 c0 0f 1f 00",
    "83 f8 ff 74 ef",
)
# The scheduler of kds_sw_emu=false puts a command's second mask of compute units over the first:
# kernels on unit 32 and beyond run on another unit, 32 below. This fault is in XRT's source.
#   lea r10,[rsp+0x20]; xor edx,edx; jmp    becomes    lea; mov dl,32; jmp  (edx was below 4)
MASKS = _repair(
    "launches of the 33rd compute unit and those behind it go to other units",
    "4c 8d 54 24 20",
    "31 d2",
    "b2 20",
    "eb 30",
)
# sws::init gives a device a new scheduler core when a first kernel is made, which may be the first
# after all others were released. Launches still in flight then use the core that is freed. So it
# waits for them:   test layout; jne on; cmp emulation; jne throw   becomes   jmp wait
CORE = _repair(
    "a kernel made while launches of released kernels are in flight ends the program",
    "e8 74 e0 ff ff",
    "4d 85 e4 75 08 3c 01 0f 85 13 b3 fd ff",
    "e9 1b b3 fd ff 90 90 90 90 90 90 90 90",
    "48 89 ef e8",
)
# The throw, which emulation does not need, becomes
#   wait: cmp [pending],0; jne pause; cmp [commands],0; jne pause; jmp on; pause: pause; jmp wait
# The order matters: the scheduler adds a pending command to the commands before it counts it off.
WAIT = _repair(
    "as above",
    "48 83 c5 08 eb d3",
    "bf 10 00 00 00 e8 0a ed ff ff 48 8d 35 93 42 0e 00 48 89 c7 48 89 c3 e8 48 ec ff ff",
    "83 3d bd b1 12 00 00 75 0f 48 83 3d a3 b1 12 00 00 75 05 e9 d5 4c 02 00 f3 90 eb e4",
    "48 8b 15",
)
# CpuemShim::initMemoryManager gives the first bank the address 0, so a pointer argument that was
# never set is the first buffer. The banks begin a page later:
#   xor r13d,r13d; jmp loop; nop    becomes    mov r13d,0x1000; jmp loop
BASE = _repair(
    "a pointer argument that was never set is the address of a buffer",
    "48 89 fb 49 89 f7",
    "45 31 ed eb 22 0f 1f 40 00",
    "41 bd 00 10 00 00 eb 1f 90",
    "4d 8b 24 24 48 89 2e",
)
EMULATION, SCHEDULER = "libxrt_swemu.so.2", "libxrt_coreutil.so.2"
REPAIRS = {EMULATION: (HEAP, HANDLERS, CHILDREN, BASE), SCHEDULER: (MASKS, CORE, WAIT)}


def repair_library(name: str, library: bytes) -> bytes | None:
    """Returns a library with its repairs; None for an unknown build.

    Returns a library that is already repaired, as inside an emulation, unchanged.
    """
    repairs = REPAIRS[name]
    if all(library.count(repair.become) == 1 for repair in repairs):
        return library
    if any(library.count(repair.find) != 1 for repair in repairs):
        return None
    for repair in repairs:
        library = library.replace(repair.find, repair.become)
    return library


# XRT puts its sockets in /tmp/$USER, independent of TMPDIR, so the scratch folder is in /tmp, and
# USER is a path into it.
ROOT = Path("/tmp")
PREFIX = "ftensor-emulate-"
SOCKET_LIMIT = 107  # characters of a Unix socket's path
LONGEST_NAME = "device00_0000_0000000000"
OPENCL = "libxilinxopencl.so.2"
MODEL = "data/emulation/unified/cpu_em/generic_pcie/model/genericpciemodel"
# The consequence for the user if a library is an unknown build.
CONSEQUENCES = {
    EMULATION: "a child process of the program that ends by a signal ends the program",
    SCHEDULER: "the default scheduler is used, which keeps one core busy while a kernel runs",
}
DRIVER_LOG = "xrt.log"
UNKNOWN = "invalid param_name"
LOG_LINES = 20
YOUNG_SECONDS = 60  # a folder this new may just be in the making
BANK_BYTES = 16 << 30

BOOTSTRAP = """\
# Starts the device without importing ftensor, which would cost half a second.
import importlib.util
import sys

spec = importlib.util.spec_from_file_location(
    "ftensor_device", {init!r}, submodule_search_locations=[{folder!r}]
)
package = importlib.util.module_from_spec(spec)
sys.modules["ftensor_device"] = package
spec.loader.exec_module(package)
from ftensor_device.supervisor import main

main()
"""


def xrt_folder(environment: Mapping[str, str]) -> Path:
    """Returns the folder of XRT's libraries. Raises EmulationError if there is none."""
    looked = []
    if environment.get("XILINX_XRT"):
        looked.append(Path(environment["XILINX_XRT"]) / "lib")
    looked.append(Path("/opt/xilinx/xrt/lib"))
    looked += [Path(f"/usr/lib/{platform.machine()}-linux-gnu"), Path("/usr/lib64")]
    for folder in looked:
        if (folder / OPENCL).is_file() and (folder / EMULATION).is_file():
            return folder.resolve()
    raise errors.no_xrt(looked)


def available(environment: Mapping[str, str] = os.environ) -> str:
    """Returns the reason why emulation is impossible on this machine; "" if it is possible."""
    try:
        _check_system()
        xrt_folder(environment)
    except errors.EmulationError as failure:
        return str(failure)
    return ""


def _check_system() -> None:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise errors.wrong_system(f"{platform.system()} on {platform.machine()}")


@contextlib.contextmanager
def scratch_folder(keep: bool = False) -> Iterator[Path]:
    """Creates a folder that only this user can read, and removes it at the end. Also removes the
    folders of killed runs."""
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=ROOT))
    longest = str(folder / "s" / LONGEST_NAME)
    if len(longest) > SOCKET_LIMIT:
        folder.rmdir()
        raise errors.socket_path_too_long(longest, SOCKET_LIMIT)
    with open(folder / "lock.new", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as long as this process lives
        # Renamed while locked: another run never finds the lock file unlocked.
        os.rename(lock.name, folder / "lock")
        try:
            yield folder
        finally:
            if not keep:
                _remove(folder)


def _remove(folder: Path) -> None:
    """Removes a folder, even while a device that has just lost its host still writes there."""
    deadline = time.monotonic() + 5
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)  # the next run removes the rest


def _sweep() -> None:
    """Removes the folders of killed runs, whose locks are free."""
    for folder in ROOT.glob(PREFIX + "*"):
        try:
            status = folder.lstat()
            if status.st_uid != os.geteuid() or not stat.S_ISDIR(status.st_mode):
                continue
            with open(folder / "lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:  # in use
            continue
        except FileNotFoundError:
            if folder.exists() and time.time() - folder.lstat().st_mtime > YOUNG_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def prepare(
    scratch: Path, environment: Mapping[str, str], banks: Sequence[int] = (BANK_BYTES,)
) -> tuple[dict[str, str], list[str]]:
    """Writes what an emulated program needs into the scratch folder: XRT's libraries and settings,
    .icd files, and the device process. Returns the program's environment and notes for the user.

    `banks` are the bytes of the board's memory banks, in the order of the image.
    """
    _check_system()
    xrt = xrt_folder(environment)
    notes: list[str] = []
    for name in ("xrt/lib", "icd", "run", "s", "config"):
        (scratch / name).mkdir(parents=True)
    unknown = _private_xrt(xrt, scratch / "xrt/lib", notes)
    _runtimes(scratch, environment, notes)
    _device_process(scratch / "vitis" / MODEL, scratch)
    (scratch / "config/emconfig.json").write_text(json.dumps(emconfig(banks), indent=1))
    _settings(scratch / "config/xrt.ini", environment, SCHEDULER not in unknown)

    result = dict(environment)
    # XRT searches XILINX_OPENCL before XILINX_VITIS for the device process.
    for name in ("XILINX_OPENCL", "XILINX_SCOUT", "XILINX_SDX", "OCL_ICD_FILENAMES"):
        result.pop(name, None)
    user = environment.get("USER") or pwd.getpwuid(os.getuid()).pw_name
    result.setdefault("LOGNAME", user)
    result |= {
        "XILINX_XRT": str(scratch / "xrt"),
        "XILINX_VITIS": str(scratch / "vitis"),
        "XCL_EMULATION_MODE": "sw_emu",
        "OCL_ICD_VENDORS": f"{scratch / 'icd'}/",  # older loaders add the file's name as it is
        "EMCONFIG_PATH": str(scratch / "config"),
        "XRT_INI_PATH": str(scratch / "config/xrt.ini"),
        "SDACCEL_EM_RUN_DIR": str(scratch / "run"),
        "USER": str((scratch / "s").relative_to(ROOT)),
        "FTENSOR_EMULATION": str(scratch),
    }
    # The copies must precede the system's libraries, and the linker does not know a folder in /opt.
    paths = [str(scratch / "xrt/lib"), *filter(None, [environment.get("LD_LIBRARY_PATH")])]
    result["LD_LIBRARY_PATH"] = os.pathsep.join(paths)
    return result, notes


def _private_xrt(xrt: Path, lib: Path, notes: list[str]) -> set[str]:
    """Links XRT's libraries, or makes repaired copies; returns the names of unknown builds."""
    for pattern in ("libxilinxopencl*", "libxrt*", "libxdp*", "libsched_em*", "xrt", "libx*plugin*"):
        for file in xrt.glob(pattern):
            if not (lib / file.name).exists():
                (lib / file.name).symlink_to(file)
    unknown = {}
    for name, consequence in CONSEQUENCES.items():
        repaired = repair_library(name, (xrt / name).read_bytes())
        if repaired is None:
            unknown[name] = consequence
        else:
            (lib / name).unlink()
            (lib / name).write_bytes(repaired)
    if unknown:
        notes.append(
            f"this build of XRT ({xrt}) is not one that ftensor knows the faults of, and is used "
            f"as it is: {'; '.join(unknown.values())}"
        )
    return set(unknown)


def _runtimes(scratch: Path, environment: Mapping[str, str], notes: list[str]) -> None:
    """Writes the OpenCL entries: Xilinx's, and the runtimes that the program would have found."""
    from ..runtime import icd

    chosen = environment.get("OCL_ICD_VENDORS")
    if chosen:
        entries = icd.chosen_entries(chosen, notes)
    else:
        entries = icd.merge_icd_entries(icd.system_entries(), icd.loadable_runtime(notes))
    for name, library in entries.items():
        if not os.path.basename(library).startswith("libxilinxopencl"):
            (scratch / "icd" / name).write_text(library + "\n")
    (scratch / "icd/xilinx.icd").write_text(f"{scratch / 'xrt/lib' / OPENCL}\n")


def _device_process(model: Path, scratch: Path) -> None:
    """Writes the program that XRT starts. It runs through sh, whose path in `#!` is never too
    long."""
    folder = Path(__file__).resolve().parent
    bootstrap = scratch / "device.py"
    bootstrap.write_text(BOOTSTRAP.format(init=str(folder / "__init__.py"), folder=str(folder)))
    model.parent.mkdir(parents=True)
    command = shlex.join([sys.executable, "-I", "-S", str(bootstrap)])
    # Ctrl-C is for the host, also while Python starts.
    model.write_text(f"#!/bin/sh\ntrap '' INT TERM HUP QUIT\nexec {command}\n")
    model.chmod(0o700)
    if not os.access(model, os.X_OK):  # XRT would end the program with "failed to connect"
        raise errors.no_execution(scratch)


def bank_size(size: int) -> str:
    """Returns a size as text for XRT, which counts the bytes of a number in MB with only 32
    bits."""
    if size % (1 << 30) and size < 4 << 30:
        return f"{-(-size >> 20)}MB"
    return f"{-(-size >> 30)}GB"


def emconfig(banks: Sequence[int]) -> dict[str, object]:
    """Returns XRT's description of the emulated board, with banks of these sizes in bytes."""
    device = {
        "Name": "ftensor_emulated_1",
        "HalMajorVersion": "2",
        "HalMinorVersion": "0",
        "VendorId": "4334",
        "DeviceId": "0",
        "SubsystemVendorId": "0",
        "DeviceVersion": "0",
        "DataAlignment": "4096",
        "OclFreqency": "300",
        "NumDevices": 1,
        "DdrBanks": [{"Name": f"bank{k}", "Size": bank_size(size)} for k, size in enumerate(banks)],
    }
    return {
        "Version": {"FileVersion": "2.0", "ToolVersion": "2022.1"},
        "Platform": {
            "UnifiedPlatform": "true",
            "ExpandedPR": "true",
            "Boards": [{"NumBoards": 1, "Devices": [device]}],
        },
    }


def _settings(target: Path, environment: Mapping[str, str], sleeping: bool) -> None:
    """Writes XRT's settings: the user's own, and the scheduler that sleeps while a kernel runs.

    Without its repair, that scheduler is wrong for more than 32 compute units.
    """
    settings = ConfigParser(strict=False, interpolation=None)
    settings.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    original = environment.get("XRT_INI_PATH") or "xrt.ini"
    try:
        settings.read(original)
    except (ConfigParserError, UnicodeDecodeError) as failure:
        raise errors.bad_settings(original, failure) from failure
    if not settings.has_section("Runtime"):
        settings.add_section("Runtime")
    if not settings.has_option("Runtime", "kds_sw_emu"):
        settings.set("Runtime", "kds_sw_emu", "false" if sleeping else "true")
    # To XRT a question that it does not know is an error to print, and pyopencl asks many.
    if not settings.has_option("Runtime", "runtime_log"):
        settings.set("Runtime", "runtime_log", str(target.parent / DRIVER_LOG))
    with open(target, "w") as file:
        settings.write(file, space_around_delimiters=False)


def driver_log(scratch: Path) -> str:
    """Returns XRT's log without its header and the answers to unknown queries."""
    try:
        lines = (scratch / DRIVER_LOG).read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    messages = [line for line in lines if line.startswith("[XRT]") and not line.endswith(UNKNOWN)]
    return "\n".join(dict.fromkeys(messages[-LOG_LINES:]))


def warnings(scratch: Path) -> list[str]:
    """Returns the warnings that this run's devices printed."""
    files = sorted(scratch.glob("warnings-*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def reports(scratch: Path) -> list[str]:
    """Returns the reports of this run's failed devices."""
    return [path.read_text().rstrip() for path in sorted(scratch.glob("report-*.txt"))]
