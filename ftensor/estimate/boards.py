"""The boards that the performance model knows: one row each, every figure with its source."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import estimate as errors


@dataclass(frozen=True)
class Figure:
    """A number that somebody else published, or an assumption that says so."""

    value: float
    source: str


@dataclass(frozen=True)
class Link:
    """The way between the host and the board's memory.

    `to_board` and `to_host` are GB/s (10^9 bytes) of large transfers, `setup` is microseconds of
    one transfer whatever its size.
    """

    name: str
    to_board: Figure
    to_host: Figure
    setup: Figure


@dataclass(frozen=True)
class Board:
    """What the model needs to know of a board.

    `clock` is MHz, `banks` how many memories a port can be joined to, `bank_rate` the peak of one
    in GB/s, `bank_bytes` its size in GB, `access` the bytes of its shortest burst, `port` the
    width in bits of the widest path from a kernel to a memory. `launch` is microseconds from a
    launch to the host's knowing its end, `issue` those between two launches when many are queued.
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

    def figures(self) -> dict[str, Figure]:
        """Every figure by its name, the link's included."""
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
            "launch us": self.launch,
            "between queued launches us": self.issue,
        }


_MIGRATION = "Vitis_Accel_Examples host_global_bandwidth, log of a U200, {}"
_SHELL_CLOCK = Figure(300, "default kernel clock of the XDMA platforms (UG1120)")
_DDR_RATE = Figure(19.2, "DDR4-2400, 64 bits: 2400e6 x 8 bytes (DS962; 77 GB/s over four banks)")
_DDR_ACCESS = Figure(64, "DDR4, burst of 8 beats of 64 bits")
_HBM_RATE = Figure(14.375, "14.375 GB/s for each pseudo channel, 460 GB/s for 32 (UG1393)")
_HBM_ACCESS = Figure(32, "HBM2 pseudo channel, burst of 4 beats of 64 bits (PG276)")
_PORT = Figure(512, "the widest port that Vitis makes of m_axi")
# A U200's log, for every card behind 16 lanes of PCIe 3: their shells have the same DMA engine.
_PCIE = Link(
    "PCIe 3.0 x16",
    Figure(7.45, _MIGRATION.format("512 MB buffers, in")),
    Figure(12.13, _MIGRATION.format("512 MB buffers, out")),
    Figure(13.6, _MIGRATION.format("64-byte buffers: 4.70 MB/s")),
)
# Processor and kernels use one memory, but a buffer is cached for one and not for the other.
_SHARED = Link(
    "shared memory",
    Figure(4.0, "assumption: a copy by the processor into an uncached buffer"),
    Figure(1.0, "assumption: a copy by the processor from an uncached buffer"),
    Figure(5.0, "assumption: one call of the driver, without a DMA engine"),
)
_LAUNCH = "the middle of 50 to 100 us on a U55C (Xilinx/XRT#8687){}"
_ISSUE = "iops_test_xrt, log of a U250, one million launches{}"
_LAUNCHES = (Figure(75, _LAUNCH.format("")), Figure(2.8, _ISSUE.format("")))
_ASSUMED = "; assumed for this board's processor too, which is slower"


def _ddr(name: str, title: str, banks: int, sheet: str, each: float) -> Board:
    return Board(
        name, title, "DDR", _SHELL_CLOCK, Figure(banks, sheet), _DDR_RATE, Figure(each, sheet),
        _DDR_ACCESS, _PORT, _PCIE, *_LAUNCHES,
    )  # fmt: skip


def _hbm(name: str, title: str, sheet: str, each: float) -> Board:
    channels = Figure(32, "32 pseudo channels (UG1393)")
    return Board(
        name, title, "HBM", _SHELL_CLOCK, channels, _HBM_RATE, Figure(each, sheet), _HBM_ACCESS,
        _PORT, _PCIE, *_LAUNCHES,
    )  # fmt: skip


BOARDS: tuple[Board, ...] = (
    _hbm("u50", "Alveo U50", "DS965: 8 GB in 32 pseudo channels", 0.256),
    _hbm("u55c", "Alveo U55C", "DS978: 16 GB in 32 pseudo channels", 0.512),
    _ddr("u200", "Alveo U200", 4, "DS962: 64 GB in four DIMMs", 16),
    _ddr("u250", "Alveo U250", 4, "DS962: 64 GB in four DIMMs", 16),
    _hbm("u280", "Alveo U280 (its HBM)", "DS963: 8 GB in 32 pseudo channels", 0.256),
    Board(
        "kv260", "Kria KV260", "DDR",
        Figure(300, "assumption: the fastest clock that the KV260's platforms offer by default"),
        Figure(1, "DS986: one memory, which the processor uses too"),
        Figure(19.2, "DS987: DDR4-2400, 64 bits; the processor's share is not taken off"),
        Figure(4, "DS986: 4 GB"),
        _DDR_ACCESS,
        Figure(128, "UG1085: the HP ports between logic and memory have 128 bits"),
        _SHARED,
        Figure(75, _LAUNCH.format(_ASSUMED)),
        Figure(2.8, _ISSUE.format(_ASSUMED)),
    ),
)  # fmt: skip


def find(name: str) -> Board:
    """The board of that name, as `--board` takes it. EstimateError for a name that is not there."""
    word = name.lower().removeprefix("alveo").removeprefix("kria").strip(" -_")
    for board in BOARDS:
        if board.name == word:
            return board
    raise errors.no_board(name, [board.name for board in BOARDS])
