"""Families of devices, one row each, and thresholds measured by `ftensor tune`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from dataclasses import dataclass, replace
from functools import cached_property

from .. import errors
from . import cache

# The packages of the extra `cpu`, as a command that works for a checkout and for a wheel.
CPU_RUNTIME = "pip install intel-opencl-rt intel-cmplr-lib-rt"
# The fields of a family that `ftensor tune` measures, in the order of measurement.
TUNED = ("unit_elements", "inline_elements", "near_elements", "direct_terms")


@dataclass(frozen=True)
class Target:
    """The common properties of one family of devices.

    A device belongs to the first row whose `kind` fits the device's OpenCL type and whose
    `platform_match` is found in "platform name | platform version" (ignoring case). The version is
    included because two builds of one platform can be installed side by side.
    """

    name: str
    kind: str  # "board", "gpu", "cpu" or "csim"
    platform_match: str
    dialect: str  # "opencl", "vitis" or "intel": the header that defines the kernel words
    advice: str  # how a user gets such a device; may hold a command after the last colon
    units_per_cu: int = 1  # kernel instances (slab) or work-items (stride) per OpenCL compute unit
    grid: str = "slab"  # "slab": a contiguous part for each unit; "stride": units stride over all vectors
    lanes_bytes: int = 64  # width of one vector access
    registers: int = 32  # vectors of that width held in registers at a time
    unaligned: bool = True  # vector accesses may begin at any element, not only at multiples of their width
    build_options: tuple[str, ...] = ()
    # Thresholds at which one method becomes faster than another, measured by `ftensor tune`.
    unit_elements: int = 1 << 14  # elements for which a second compute unit pays (about 2 us of work)
    inline_elements: int = 1 << 16  # elements that the calling thread computes instead of a single unit
    direct_terms: int = 96**3  # terms of a product that is computed in place, without packed panels
    near_elements: int = 128**2  # of a matrix that stays in cache while the other's rows are multiplied
    emulates: str = ""  # the emulated hardware; "" if none. The host's own CPU is always faster

    @cached_property
    def is_board(self) -> bool:
        """True if kernels have a board's form (on boards, csim and emulators): vector accesses are
        aligned, and the kernels are those that an image may hold."""
        return not self.unaligned

    @cached_property
    def specializes(self) -> bool:
        """True if specialized kernels are free, since they are compiled on first use. False for
        boards, whose kernels are built ahead, and for their emulators; both keep vectors
        aligned."""
        return not self.is_board and not self.emulates

    @cached_property
    def revisits_rows(self) -> bool:
        """True if one launch may read its rows several times: each compute unit has its own rows,
        which stay in its cache, and kernels with several passes over rows exist."""
        return self.specializes and self.grid == "slab"

    @cached_property
    def processor(self) -> bool:
        """True if kernels for CPUs apply: elements may be computed in any order, caches keep data
        for a second read, and loops may have any trip count."""
        return self.specializes and self.kind == "cpu"

    @cached_property
    def short_row(self) -> int:
        """Vectors of a row below which each lane folds its own row, as in `WorkSharing`. CPUs have
        2 instead of 4: rows of two vectors then take half as long in ops with several passes over
        rows, like softmax, and equally long in a sum."""
        return 2 if self.processor else 4

    @cached_property
    def row_vectors(self) -> tuple[int, int]:
        """Vectors of a row folded in one pass, and the number of parallel sums. A board refills its
        loop pipeline for each pass, and one sum per cycle of an addition's latency avoids
        stalls."""
        return (1024, 8) if self.is_board else (64, 4)

    @cached_property
    def spares_double(self) -> bool:
        """True if sums may use float64 for range alone: on CPUs and GPUs. False for boards and
        their emulators, whose images have a kernel for each dtype."""
        return self.kind in ("cpu", "gpu") and not self.emulates

    @cached_property
    def realigns(self) -> bool:
        """True if wide row kernels accept rows with any alignment: image kernels for Vitis do
        (hls/vitis/row_pieces.h), and CPUs allow unaligned vectors, also when they emulate a board."""
        return self.dialect != "intel"

    def on_processor(self, width: int) -> Target:
        """Returns the family on a CPU whose registers hold `width` floats each. An x86 CPU has 32
        registers with AVX-512's 16 floats, else 16; a wide vector takes several registers."""
        count = 32 if width >= 16 else 16
        return replace(self, registers=count * max(width, 4) * 4 // self.lanes_bytes)

    def as_board(self) -> Target:
        """Returns a copy of the family with the vector layout and limits of a board, to emulate
        one."""
        family = self.untuned()
        return replace(
            family, unaligned=False, registers=CSIM.registers, unit_elements=CSIM.unit_elements, emulates="a board"
        )

    def untuned(self) -> Target:
        """Returns the family with its default thresholds."""
        row = BY_NAME[self.name]
        return replace(self, **{field: getattr(row, field) for field in TUNED})

    def matches(self, kinds: frozenset[str], platform: str, version: str) -> bool:
        """Returns True if a device of these kinds, on this platform, belongs to this row."""
        text = f"{platform} | {version}"
        return self.kind in kinds and re.search(self.platform_match, text, re.I) is not None


BOARD_ADVICE = (
    "without a board, `ftensor emulate -- python program.py`; with one, its driver and XRT "
    "(https://xilinx.github.io/XRT): apt-get install libxrt1 libxrt-dev libxrt-utils"
)
GPU_ADVICE = "the graphics driver's OpenCL part, for instance: apt-get install {package}"
INTEL_CPU_LIBRARY = "libintelocl.so"  # the driver, however it was installed
POCL_ADVICE = "the open CPU runtime: apt-get install pocl-opencl-icd"

# fmt: off
TARGETS: tuple[Target, ...] = (
    Target("xilinx", "board", r"^Xilinx", "vitis", BOARD_ADVICE,
           unaligned=False),
    Target("intel-fpga", "board", r"^Intel\(R\) FPGA SDK|^Altera", "intel",
           "the board's runtime environment from its vendor", unaligned=False),
    # A board of another make whose runtime compiles OpenCL C.
    Target("accelerator", "board", r"^(?!.*(FPGA Emulation|Oclgrind))", "opencl",
           "the accelerator's OpenCL driver from its vendor"),
    # GPUs: neighbouring work-items must touch neighbouring addresses, and only many of them hide
    # the memory's latency: as many as a compute unit keeps in flight.
    Target("nvidia", "gpu", r"^NVIDIA", "opencl",
           GPU_ADVICE.format(package="nvidia-opencl-icd"),
           units_per_cu=2048, grid="stride", lanes_bytes=16),
    Target("amd", "gpu", r"^AMD Accelerated", "opencl",
           GPU_ADVICE.format(package="rocm-opencl-icd"),
           units_per_cu=2048, grid="stride", lanes_bytes=16),
    Target("intel-gpu", "gpu", r"^Intel", "opencl",
           GPU_ADVICE.format(package="intel-opencl-icd"),
           units_per_cu=256, grid="stride", lanes_bytes=16),
    Target("other-gpu", "gpu", r"^(?!.*Oclgrind)", "opencl",
           GPU_ADVICE.format(package="mesa-opencl-icd"),
           units_per_cu=1024, grid="stride", lanes_bytes=16),
    Target("intel-cpu", "cpu", r"^Intel\(R\) (CPU Runtime for )?OpenCL", "opencl",
           "the default without hardware, on x86-64 Linux: " + CPU_RUNTIME,
           # A second unit's thread must be woken, while the first may be the calling thread.
           unit_elements=1 << 16,
           # Its own tanh is 3.7 ulp off, and no faster.
           build_options=("-DFT_OWN_TANH",)),
    # The wheel of 3.0-rc2 cannot compile on newer CPUs, so any other PoCL has priority.
    Target("pocl", "cpu", r"^Portable Computing Language(?!.*3\.0-rc)", "opencl", POCL_ADVICE,
           # -w: its clang reports the CPU's warnings on stderr (hls/dialect/opencl_lanes.h). The
           # powers of hls/binary.h take a third of the time, the tanh of hls/math.h three quarters;
           # the powers of Intel's runtime are faster.
           build_options=("-w", "-DFT_POW_BY_LANE", "-DFT_OWN_POW", "-DFT_OWN_TANH")),
    Target("pocl-rc", "cpu", r"^Portable Computing Language", "opencl",
           "a release candidate that fails on newer CPUs; take the release instead: "
           "apt-get install pocl-opencl-icd"),
    Target("oclgrind", "cpu", r"^Oclgrind", "opencl",
           "a memory and race checker, used as `oclgrind python program.py`: "
           "apt-get install oclgrind"),
    Target("other-cpu", "cpu", r"", "opencl", POCL_ADVICE),
    # Last of the OpenCL devices, since a real CPU is faster: the emulator must be requested.
    Target("intel-fpga-emulator", "board", r"^Intel\(R\) FPGA Emulation", "intel",
           "Intel's FPGA emulator, in a folder and a process of its own: "
           "ftensor emulate --intel --install -- python program.py",
           unaligned=False, emulates="an Intel FPGA"),
    # Vector accesses are aligned, as in the emulated hardware.
    Target("csim", "csim", r"(?!)", "vitis",
           "the C simulation of the kernels, by the host's compiler: apt-get install g++",
           unaligned=False, emulates="a Xilinx FPGA"),
)
# fmt: on

BY_NAME = {target.name: target for target in TARGETS}
CSIM = BY_NAME["csim"]


def match(kinds: frozenset[str], platform: str, version: str) -> Target | None:
    """Returns the row of a device, or None if no row matches.

    `kinds` holds "board" for an OpenCL accelerator, "gpu", "cpu"; a device may report several.
    """
    for target in TARGETS:
        if target.matches(kinds, platform, version):
            return target
    return None


def csim_compiler() -> list[str] | None:
    """Returns the command of the C++ compiler for C simulation: $CXX, else g++; None if missing."""
    command = shlex.split(os.environ.get("CXX", "")) or ["g++"]
    return command if shutil.which(command[0]) else None


def tuned_target(target: Target, name: str) -> Target:
    """Returns the family with the thresholds saved under `name`. Returns it unchanged if none are
    saved, or if FTENSOR_TUNED is 0."""
    text = os.environ.get("FTENSOR_TUNED", "").strip()
    if text not in ("", "0", "1"):
        raise errors.environment_value("FTENSOR_TUNED", text, "0 or 1")
    kept = cache.get(name) if text != "0" else None
    return target if kept is None else replace(target, **json.loads(kept))


def save_tuned(target: Target, name: str) -> bool:
    """Saves a family's thresholds for later processes. Returns False if the cache can't be
    written."""
    kept = {field: getattr(target, field) for field in TUNED}
    return cache.put(name, json.dumps(kept).encode()) is not None


def drop_tuned(name: str) -> None:
    """Removes saved thresholds, so that later processes use the defaults."""
    cache.drop(name)
