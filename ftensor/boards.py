"""The boards of the performance and area models, with a source for every figure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import commands as errors


@dataclass(frozen=True)
class Figure:
    """A value with its source: a publication, or the word "assumption" with its reason."""

    value: float
    source: str


@dataclass(frozen=True)
class Link:
    """The link between the host and the board's memory.

    `to_board` and `to_host` are GB/s (10^9 bytes/s) of large transfers, `setup` is microseconds
    per transfer of any size, `wait` further microseconds until the host sees the end of a transfer.
    """

    name: str
    to_board: Figure
    to_host: Figure
    setup: Figure
    wait: Figure


@dataclass(frozen=True)
class Chip:
    """Logic resources of an FPGA: LUTs, flip-flops, DSP blocks, block RAMs of 36 Kb, UltraRAMs of
    288 Kb, dies (`slrs`).

    `left` is the share of the resources that the platform leaves to kernels.
    """

    lut: float
    ff: float
    dsp: float
    bram: float
    uram: float
    left: Figure
    source: str
    slrs: int = 1


@dataclass(frozen=True)
class Board:
    """Figures of a board for the models.

    `clock` is MHz, `banks` the number of memory banks, `bank_rate` the peak GB/s of a bank,
    `bank_bytes` its size in GB, `access` the bytes of its shortest burst, `port` the bits of the
    widest path from a kernel to a memory. `launch` is microseconds from a launch until the host
    sees its end, `issue` microseconds between two launches when many are queued, `arguments` the
    microseconds of either that set arguments. `masters` is the largest number of kernel ports per
    bank. `host_steps` is the millions of elements a second that the host computes in an op, `load`
    the seconds of loading an image.
    """

    name: str
    title: str
    memory: str
    clock: Figure
    banks: Figure
    bank_rate: Figure
    bank_bytes: Figure
    access: Figure
    port: Figure
    link: Link
    launch: Figure
    issue: Figure
    chip: Chip
    masters: Figure
    arguments: Figure = Figure(0, "not known apart from the launch")
    host_steps: Figure = Figure(1000, "assumption: a processor's core takes about three cycles for an element of an op")
    load: Figure = Figure(2, "assumption: the card is programmed in seconds")

    def memories(self) -> tuple[str, ...]:
        """Returns v++'s names of the memories that kernel ports can be connected to."""
        if self.link is _SHARED:
            return _HP
        return tuple(f"{self.memory}[{k}]" for k in range(int(self.banks.value)))

    @property
    def one_memory(self) -> str:
        """Returns the default memory of all ports of an image; "" for one bank per kernel."""
        return f"HBM[0:{int(self.banks.value) - 1}]" if self.memory == "HBM" else ""

    def figures(self) -> dict[str, Figure]:
        """Returns all figures by name, including those of the link."""
        own = {
            "clock MHz": self.clock,
            "banks": self.banks,
            "bank GB/s": self.bank_rate,
            "bank GB": self.bank_bytes,
            "shortest burst, bytes": self.access,
            "port bits": self.port,
        }
        return own | {
            "to board GB/s": self.link.to_board,
            "to host GB/s": self.link.to_host,
            "transfer setup us": self.link.setup,
            "wait for a transfer us": self.link.wait,
            "launch us": self.launch,
            "between queued launches us": self.issue,
            **({"arguments us": self.arguments} if self.arguments.value else {}),
            "host, million elements/s": self.host_steps,
            "load of an image s": self.load,
        }


_MIGRATION = "Vitis_Accel_Examples host_global_bandwidth, log of a U200, {}"
_SHELL_CLOCK = Figure(300, "default kernel clock of the XDMA platforms (UG1120)")
_DDR_RATE = Figure(19.2, "DDR4-2400, 64 bits: 2400e6 x 8 bytes (DS962; 77 GB/s over four banks)")
_DDR_ACCESS = Figure(64, "DDR4, burst of 8 beats of 64 bits")
_HBM_RATE = Figure(14.375, "14.375 GB/s for each pseudo channel, 460 GB/s for 32 (UG1393)")
_HBM_ACCESS = Figure(32, "HBM2 pseudo channel, burst of 4 beats of 64 bits (PG276)")
_PORT = Figure(512, "the widest port that Vitis makes of m_axi")
# From a U200's log, for all cards with PCIe 3.0 x16: their shells have the same DMA engine.
_PCIE = Link(
    "PCIe 3.0 x16",
    Figure(7.45, _MIGRATION.format("512 MB buffers, in")),
    Figure(12.13, _MIGRATION.format("512 MB buffers, out")),
    Figure(13.6, _MIGRATION.format("64-byte buffers: 4.70 MB/s")),
    Figure(
        44,
        "the mean of what copies of 512 KB (Vitis Libraries compoundSort, U280) and of 16 KB "
        "(Vitis BLAS gemm_4CU, U250) take beyond setup and rate: 43, 27, 58 and 50 us",
    ),
)
# Processor and kernels share one memory, but the processor must copy between cached memory and
# uncached buffers.
_SHARED = Link(
    "shared memory",
    Figure(4.0, "assumption: a copy by the processor into an uncached buffer"),
    Figure(1.0, "assumption: a copy by the processor from an uncached buffer"),
    Figure(5.0, "assumption: one call of the driver, without a DMA engine"),
    Figure(1.0, "assumption: the processor copies by itself, so it waits for nobody"),
)
# UG1085: four ports from the logic to the processor's one memory; a platform may offer fewer.
_HP = ("HP0", "HP1", "HP2", "HP3")
_MASTERS = Figure(15, "up to 15 kernel interfaces of one global memory (UG1393, UG1700)")
_SHELL = Figure(
    0.85,
    "a platform's report leaves 979040 of 1182240 LUT, 5880 of 6840 DSP and 1860 "
    "of 2160 BRAM (UG1702, Resource Availability)",
)
_WHOLE = Figure(1.0, "a base platform of a Kria has next to no logic of its own")
_LAUNCH = (
    "50 to 100 us on a U55C (Xilinx/XRT#8687), 94 by ten queued ones of iops_test_xrt, U250, and 100 by the "
    "four starts of Vitis BLAS gemm_4CU, U250{}"
)
_ISSUE = "iops_test_xrt, log of a U250, one million launches{}"
_LAUNCHES = (Figure(90, _LAUNCH.format("")), Figure(2.8, _ISSUE.format("")))
_ASSUMED = "; assumed for this board's processor too, which is slower"
# Microseconds of setting three arguments: those of a launch that change from the one before.
_ARGUMENTS = 3 * 300
_SET = "; and 300 us for each of three changed arguments: ten take 3 ms on a ZCU102 (Xilinx/XRT#7819)"


def _ddr(name: str, title: str, banks: int, sheet: str, each: float, chip: Chip) -> Board:
    return Board(
        name, title, "DDR", _SHELL_CLOCK, Figure(banks, sheet), _DDR_RATE, Figure(each, sheet),
        _DDR_ACCESS, _PORT, _PCIE, *_LAUNCHES, chip, _MASTERS,
    )  # fmt: skip


def _hbm(name: str, title: str, sheet: str, each: float, chip: Chip) -> Board:
    channels = Figure(32, "32 pseudo channels (UG1393)")
    return Board(
        name, title, "HBM", _SHELL_CLOCK, channels, _HBM_RATE, Figure(each, sheet), _HBM_ACCESS,
        _PORT, _PCIE, *_LAUNCHES, chip, _MASTERS,
    )  # fmt: skip


_U50 = Chip(872e3, 1743e3, 5952, 1344, 640, _SHELL, "DS965", 2)
_U280 = Chip(1304e3, 2607e3, 9024, 2016, 960, _SHELL, "DS963; DS978 for the U55C, the same chip", 3)
_U200 = Chip(1182e3, 2364e3, 6840, 2160, 960, _SHELL, "DS962", 3)
_U250 = Chip(1728e3, 3456e3, 12288, 2688, 1280, _SHELL, "DS962", 4)
_K26 = Chip(117120, 234240, 1248, 144, 64, _WHOLE, "DS987")

BOARDS: tuple[Board, ...] = (
    _hbm("u50", "Alveo U50", "DS965: 8 GB in 32 pseudo channels", 0.256, _U50),
    _hbm("u55c", "Alveo U55C", "DS978: 16 GB in 32 pseudo channels", 0.512, _U280),
    _ddr("u200", "Alveo U200", 4, "DS962: 64 GB in four DIMMs", 16, _U200),
    _ddr("u250", "Alveo U250", 4, "DS962: 64 GB in four DIMMs", 16, _U250),
    _hbm("u280", "Alveo U280 (its HBM)", "DS963: 8 GB in 32 pseudo channels", 0.256, _U280),
    Board(
        "kv260",
        "Kria KV260",
        "DDR",
        Figure(300, "assumption: the fastest clock that the KV260's platforms offer by default"),
        Figure(1, "DS986: one memory, which the processor uses too"),
        Figure(19.2, "DS987: DDR4-2400, 64 bits; the processor's share is not taken off"),
        Figure(4, "DS986: 4 GB"),
        _DDR_ACCESS,
        Figure(128, "UG1085: the HP ports between logic and memory have 128 bits"),
        _SHARED,
        Figure(90 + _ARGUMENTS, _LAUNCH.format(_ASSUMED) + _SET),
        Figure(2.8 + _ARGUMENTS, _ISSUE.format(_ASSUMED) + _SET),
        _K26,
        _MASTERS,
        Figure(_ARGUMENTS, "three arguments of 300 us: ten take 3 ms on a ZCU102 (Xilinx/XRT#7819)"),
        Figure(100, "assumption: a Cortex-A53 at 1.3 GHz takes 13 cycles for an element of an op"),
        Figure(0.3, "assumption: xmutil unloads an application and loads one of 8 MB"),
    ),
)


def find(name: str) -> Board:
    """Returns the board of a name from `--board`; raises EstimateError for an unknown name."""
    word = name.lower().removeprefix("alveo").removeprefix("kria").strip(" -_")
    for board in BOARDS:
        if board.name == word:
            return board
    raise errors.no_board(name, [board.name for board in BOARDS])


def of_platform(platform: str) -> Board | None:
    """Returns the board that occurs in the name of a platform or its file; None if none does."""
    words = set(re.split(r"[^a-z0-9]+", platform.lower()))
    return next((board for board in BOARDS if board.name in words), None)
