"""Published measurements of kernels and of whole designs, and the model's estimates of them.

The whole designs (`designs`) differ in structure from ftensor's kernels, so each states the factor
between both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .. import dtypes
from ..boards import find
from ..kernels.skeletons.conv.key import ConvKey
from ..kernels.skeletons.fft import FftStreamGeometry, FftStreamKey
from ..kernels.skeletons.sort import LOCAL_TILE, RUN, WAYS, SortGeometry, SortKey
from ..kernels.workload import KernelLaunch
from ..terminal import table
from ..toolchain.area.fit import area
from ..toolchain.inventory.read import expand, read
from .model import DEFAULT, BoardConfig, Parameters, bank_rate, estimate, launch_overhead, port_rate, transfer_seconds

# The logs of axi_burst_performance divide by 1024^3 and print GB/sec.
GIB = 1024**3 / 1e9


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure and the model's, in the same unit.

    `role` is "check" if the model does not use the figure, and "set" if the figure determines a
    parameter.
    """

    quantity: str
    unit: str
    published: float
    model: float
    role: str
    source: str

    @property
    def relative_error(self) -> float:
        """The model's relative error."""
        return self.model / self.published - 1


_BURST = "axi_burst_performance, U200, 300 MHz, 16 MB"
# (width, burst, outstanding, write, GiB/s as logged)
_BURSTS = (
    (512, 4, 4, False, 3.92988),
    (512, 16, 4, False, 13.1114),
    (512, 32, 4, False, 16.8218),
    (512, 4, 32, False, 16.8222),
    (512, 32, 32, False, 16.8219),
    (512, 4, 4, True, 5.1399),
    (512, 16, 4, True, 11.7942),
    (512, 32, 4, True, 14.6941),
    (512, 4, 32, True, 8.93979),
    (512, 16, 32, True, 14.3008),
    (512, 32, 32, True, 15.1586),
    (256, 4, 4, False, 2.02206),
    (256, 16, 4, False, 6.80909),
    (256, 32, 4, False, 8.59958),
    (256, 32, 32, False, 8.93942),
    (256, 4, 4, True, 2.66919),
    (256, 16, 4, True, 6.62449),
    (256, 32, 4, True, 7.59737),
    (256, 4, 32, True, 4.47013),
    (256, 16, 32, True, 7.1518),
    (256, 32, 32, True, 7.94597),
)


def published_figures(p: Parameters = DEFAULT) -> tuple[PublishedFigure, ...]:
    """Returns the published figures with which the model is compared."""
    u200, u250, u280, u50 = (find(name) for name in ("u200", "u250", "u280", "u50"))
    entries = []
    for width, burst, outstanding, write, logged in _BURSTS:
        rate = port_rate(u200, width, burst, outstanding, 300, write, p)
        what = f"{width}-bit port {'writes' if write else 'reads'}, "
        what += f"bursts of {burst}, {outstanding} outstanding"
        # The gap between write bursts comes from these three rows.
        role = "set" if write and width == 256 and outstanding == 32 else "check"
        entries.append(PublishedFigure(what, "GB/s", logged * GIB, rate, role, _BURST))
    # One bank is read and another is written, at Vitis HLS's default of 16 beats.
    both = sum(port_rate(u200, 512, 16, 16, 300, write, p) for write in (False, True))
    slower = 2 * port_rate(u200, 512, 16, 16, 300, True, p)
    entries.append(
        PublishedFigure(
            "U200, one bank copied to another",
            "GB/s",
            30.72,
            min(both, slower),
            "check",
            "kernel_global_bandwidth, U200",
        )
    )
    hbm = "hbm_bandwidth, log of a {}"
    entries += [
        PublishedFigure(
            "U280 HBM, 8 vaddmul units on 32 banks", "GB/s", 421.3, 32 * bank_rate(u280, p), "set", hbm.format("U280")
        ),
        PublishedFigure(
            "U50 HBM, 3 vaddmul units on 12 banks", "GB/s", 158.3, 12 * bank_rate(u50, p), "check", hbm.format("U50")
        ),
        PublishedFigure(
            "U50 HBM, vadd on 3 banks", "GB/s", 39.23, 3 * bank_rate(u50, p), "check", "hbm_large_buffers, log of a U50"
        ),
        PublishedFigure(
            "U280 HBM, STREAM copy, 32 kernels", "GB/s", 377.0, 32 * bank_rate(u280, p), "check", "HPCC_FPGA"
        ),
    ]
    link = "host_global_bandwidth, log of a U200"
    in_1m, out_1m = (1048576 / transfer_seconds(u200.link, 1048576, to) / 1e9 for to in (True, False))
    small = transfer_seconds(u200.link, 64, True) * 1e6
    entries += [
        PublishedFigure("host to board, 512 MB", "GB/s", 7.452, u200.link.to_board.value, "set", link),
        PublishedFigure("board to host, 512 MB", "GB/s", 12.13, u200.link.to_host.value, "set", link),
        PublishedFigure("64-byte buffer to the board", "us", 13.6, small, "set", link),
        PublishedFigure("host to board, 64 buffers of 1 MB", "GB/s", 6.620, in_1m, "check", link),
        PublishedFigure("board to host, 64 buffers of 1 MB", "GB/s", 10.07, out_1m, "check", link),
        PublishedFigure(
            "host to board, large",
            "GB/s",
            8.871,
            u200.link.to_board.value,
            "check",
            "xbutil validate in Vitis tutorial XD099, mean of three banks",
        ),
    ]
    iops = "iops_test_xrt, log of a U250"
    for count, logged, role in (
        (10, 84.0336, "check"),
        (100, 270.27, "check"),
        (10000, 316.937, "check"),
        (1000000, 359.184, "set"),
    ):
        rate = count / launch_overhead(u250, count, count) / 1e3
        entries.append(PublishedFigure(f"launches, {count} queued", "k/s", logged, rate, role, iops))
    return tuple(entries)


class Design(NamedTuple):
    """A published figure, the model's in the same unit, and the source with board, clock and
    tool."""

    quantity: str
    unit: str
    published: float
    model: float
    source: str
    reason: str = ""  # the reason if the factor exceeds 1.3

    @property
    def factor(self) -> float:
        """The model's figure divided by the published one."""
        return self.model / self.published


def designs() -> Iterator[Design]:
    """Yields the published designs."""
    u280 = find("u280")
    sort = "Vitis Libraries compoundSort, U280"
    tree = "the published one merges without leaving the chip"
    yield Design("sort of 131,072 int32", "ms", 1.13, sort_seconds(131072, "u280", 300) * 1e3, sort, tree)
    for to_board, published in ((True, 127.0), (False, 83.5)):
        what = "512 KB to the board" if to_board else "512 KB from the board"
        call = "the published time has the calls of OpenCL, the model has the transfer"
        yield Design(what, "us", published, transfer_seconds(u280.link, 524288, to_board) * 1e6, sort, call)
    merge = "ArgSort-Ultra96, 250 MHz (model: KV260)"
    yield Design(
        "16-way merge argsort of 2^20",
        "ms",
        54.5,
        sort_seconds(1 << 20, "kv260", 250) * 1e3,
        merge,
        "the published board's memory has less bandwidth",
    )
    rate = fft_rate(1024, 1024, "u55c", 300) * 1e-6
    fft = "Vitis tutorial XD073, VCK190, cint16, one instance (model: complex64, U55C)"
    yield Design("FFT rows of 1024", "M/s", 628, rate, fft)
    yield from _per_product("cnn", "conv", "float product", (494, 806, 5.0), "AutoSA cnn, U250, 1792 products")
    each = (250.7e3 / 256, 430e3 / 256, 1224 / 256)
    shared = "ports and control of four kernels of 64 products; the model's is one of 256"
    gemm = "Vitis BLAS gemm_4CU, U250, 256 products"
    yield from _per_product("cnn", "conv", "float product of gemm", each, gemm, shared)
    add = "its part of the ports and of the edges, which the published array shares among more products"
    mm = "AutoSA mm, U250, 12,288 products"
    yield from _per_product("int8", "conv_bytes", "int8 product", (59, 64, 0.5), mm, add)
    clock = find("u250").clock.value
    place = "the model takes the clock that it is given; large designs need --clock 200 or a floorplan"
    yield Design("clock of int8 products", "MHz", 136, clock, mm + ", not floorplanned", place)
    yield Design("clock of int8 products, floorplanned", "MHz", 300, clock, mm + ", AutoBridge")
    yield Design(
        "clock of float products, floorplanned", "MHz", 265, clock, "AutoSA cnn, U250, 1792 products, AutoBridge"
    )


def sort_seconds(n: int, board: str, clock: float) -> float:
    """Returns the seconds of the kernels that sort one row of `n` int32, by the model."""
    config = BoardConfig(find(board), clock)
    tile, run, merges, total = min(LOCAL_TILE, n), RUN, False, 0.0
    while True:
        g = SortGeometry(merges, tile >= n, -(-n // tile), tile, n, run, False, 1, 1, (), (), ())
        total += estimate(KernelLaunch(SortKey(dtypes.int32), 1, 0, g.pack()), config).kernel
        if g.last:
            return total
        tile, run, merges = min(WAYS * tile, n), tile, True


def fft_rate(points: int, rows: int, board: str, clock: float) -> float:
    """Returns the complex64 numbers a second of transforms of contiguous rows, by the model."""
    g = FftStreamGeometry(rows, points.bit_length() - 1, 0, points, points, (1, points), (1, points))
    launch = KernelLaunch(FftStreamKey(dtypes.complex64, 4096), 1, 0, g.pack())
    return rows * points / estimate(launch, BoardConfig(find(board), clock)).kernel


def _per_product(
    inventory: str, skeleton: str, what: str, published: tuple[float, float, float], where: str, reason: str = ""
) -> Iterator[Design]:
    """Yields LUT, FF and DSP of a kernel of an inventory, divided by its products a cycle."""
    group = next(g for g in expand(read(inventory)) if g.skeleton == skeleton)
    whole, key = area(group).whole, group.members[0]
    assert isinstance(key, ConvKey)
    products = key.rows * key.lanes
    for unit, figure in zip(("LUT", "FF", "DSP"), published):
        model = getattr(whole, unit.lower()) / products
        yield Design(f"{unit} for each {what}", unit, figure, model, where, reason * (unit != "DSP"))


def text() -> str:
    """Returns the table of designs and factors."""
    rows: list[tuple[object, ...]] = [("", "published", "model", "factor", "source")]
    for one in designs():
        published = f"{one.published:.3g} {one.unit}"
        rows.append((one.quantity, published, f"{one.model:.3g}", f"{one.factor:.2f}", one.source))
    reasons = dict.fromkeys(f"{one.quantity}: {one.reason}" for one in designs() if one.reason)
    return table(rows, indent="") + "\n\n" + "\n".join(reasons)
