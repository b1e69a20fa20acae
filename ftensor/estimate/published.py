"""Published measurements of ports, banks, links, launches and whole designs, and the model's estimates
of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from .. import dtypes
from ..boards import Board, find
from ..kernels.network import CONV, LINEAR, MAX_POOL, Fold, NetworkKey, NetworkLayer
from ..kernels.skeletons.conv.key import ConvKey
from ..kernels.skeletons.fft import FftStreamGeometry, FftStreamKey
from ..kernels.skeletons.gemm.key import GemmKey, ProductGeometry
from ..kernels.skeletons.gemm.packed import PackGeometry, PackSide, pack_key
from ..kernels.skeletons.sort import LOCAL_TILE, RUN, WAYS, SortGeometry, SortKey
from ..kernels.workload import KernelLaunch
from ..terminal import table
from ..toolchain.area.fit import area
from ..toolchain.inventory.read import expand, read
from .model import (
    DEFAULT,
    BoardConfig,
    Parameters,
    bank_rate,
    clock_by_area,
    estimate,
    launch_overhead,
    port_rate,
    transfer_seconds,
)

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

# (bytes of a buffer, MB/s to the board, MB/s from the board)
_SMALL_COPIES = (
    (256, 19.97, 20.08),
    (512, 37.38, 39.63),
    (1024, 68.55, 76.46),
    (4096, 294.7, 313.5),
    (16384, 1169.0, 1115.0),
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
    copied, log = min(both, slower), "kernel_global_bandwidth, U200"
    entries.append(PublishedFigure("U200, one bank copied to another", "GB/s", 30.72, copied, "check", log))
    for what, published, board, banks, role, log in (
        ("U280 HBM, 8 vaddmul units on 32 banks", 421.3, u280, 32, "set", "hbm_bandwidth, log of a U280"),
        ("U50 HBM, 3 vaddmul units on 12 banks", 158.3, u50, 12, "check", "hbm_bandwidth, log of a U50"),
        ("U50 HBM, vadd on 3 banks", 39.23, u50, 3, "check", "hbm_large_buffers, log of a U50"),
        ("U280 HBM, STREAM copy, 32 kernels", 377.0, u280, 32, "check", "HPCC_FPGA"),
    ):
        entries.append(PublishedFigure(what, "GB/s", published, banks * bank_rate(board, p), role, log))
    link = "host_global_bandwidth, log of a U200"
    in_1m, out_1m = (1048576 / transfer_seconds(u200.link, 1048576, to) / 1e9 for to in (True, False))
    small = transfer_seconds(u200.link, 64, True) * 1e6
    for nbytes, logged_in, logged_out in _SMALL_COPIES:
        for to_board, logged in ((True, logged_in), (False, logged_out)):
            what = f"{nbytes} bytes {'host to board' if to_board else 'board to host'}, many queued"
            rate = nbytes / transfer_seconds(u200.link, nbytes, to_board) / 1e6
            entries.append(PublishedFigure(what, "MB/s", logged, rate, "check", link))
    entries += [
        PublishedFigure("host to board, 512 MB", "GB/s", 7.452, u200.link.to_board.value, "set", link),
        PublishedFigure("board to host, 512 MB", "GB/s", 12.13, u200.link.to_host.value, "set", link),
        PublishedFigure("64-byte buffer to the board", "us", 13.6, small, "set", link),
        PublishedFigure("host to board, 64 buffers of 1 MB", "GB/s", 6.620, in_1m, "check", link),
        PublishedFigure("board to host, 64 buffers of 1 MB", "GB/s", 10.07, out_1m, "check", link),
    ]
    log = "xbutil validate in Vitis tutorial XD099, mean of three banks"
    entries.append(PublishedFigure("host to board, large", "GB/s", 8.871, u200.link.to_board.value, "check", log))
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


# MHz of the second column: what a first build of a large image often reaches.
CAREFUL = 200.0


class Design(NamedTuple):
    """A published figure, the model's in the same unit and at the same clock, and the source with
    board, clock and tool."""

    quantity: str
    unit: str
    published: float
    model: float
    source: str
    reason: str = ""  # the reason if the factor exceeds 1.3
    careful: float | None = None  # the model's figure at 200 MHz; None where it has no clock
    role: str = "check"  # "set" if the figure determines a parameter of the model

    @property
    def factor(self) -> float:
        """The model's figure divided by the published one."""
        return self.model / self.published


@cache
def designs() -> tuple[Design, ...]:
    """Returns the published designs."""
    return (*_times(), *_copies(), *_launches(), *_areas(), *_clocks())


@cache
def error_band() -> tuple[float, float]:
    """Returns the least and the largest published time of kernels in units of the model's."""
    slower = [one.factor if one.unit == "M/s" else 1 / one.factor for one in _times()]
    return min(slower), max(slower)


def _times() -> Iterator[Design]:
    """Yields the times of kernels."""
    gemm = "Vitis BLAS gemm_4CU, U250, 242 MHz, Vitis 2021.1"
    packs = "the published kernels arrange the matrices while they multiply, ftensor's one element a cycle before"
    for n, published in ((256, 0.328), (512, 3.21), (1024, 24.1), (2048, 187.0)):
        own, careful = (product_seconds(n, "u250", clock) * 1e3 for clock in (242, CAREFUL))
        reason = packs if n == 256 else ""
        yield Design(f"float product of {n} x {n} x {n}", "ms", published, own, gemm, reason, careful)
    sort = "Vitis Libraries compoundSort, U280"
    tree = "the published one merges without leaving the chip"
    own, careful = (sort_seconds(131072, "u280", clock) * 1e3 for clock in (300, CAREFUL))
    yield Design("sort of 131,072 int32", "ms", 1.13, own, sort, tree, careful)
    merge = "ArgSort-Ultra96, 250 MHz (model: KV260)"
    memory = "the published board's memory has less bandwidth"
    own, careful = (sort_seconds(1 << 20, "kv260", clock) * 1e3 for clock in (250, CAREFUL))
    yield Design("16-way merge argsort of 2^20", "ms", 54.5, own, merge, memory, careful)
    rate, careful = (fft_rate(1024, 1024, "u55c", clock) * 1e-6 for clock in (300, CAREFUL))
    fft = "Vitis tutorial XD073, VCK190, cint16, one instance (model: complex64, U55C)"
    yield Design("FFT rows of 1024", "M/s", 628, rate, fft, "", careful)
    svhn = "hls4ml, Aarrestad and others 2021, VU9P, 200 MHz (model: int8, U200)"
    yield Design("network of SVHN, one image", "us", 5, svhn_seconds("u200", CAREFUL) * 1e6, svhn, "", None)


def _copies() -> Iterator[Design]:
    """Yields the times of copies that the host waits for."""
    u280, u250 = find("u280").link, find("u250").link
    for to_board, published in ((True, 127.0), (False, 83.5)):
        what = "512 KB to the board" if to_board else "512 KB from the board"
        own = transfer_seconds(u280, 524288, to_board, True) * 1e6
        yield Design(what, "us", published, own, "Vitis Libraries compoundSort, U280", role="set")
    gemm = "Vitis BLAS gemm_4CU, U250 (number of copies assumed)"
    for count, to_board, published in ((12, True, 880.0), (4, False, 260.0)):
        what = f"{count} copies of 16 KB {'to' if to_board else 'from'} the board"
        own = count * transfer_seconds(u250, 16384, to_board, True) * 1e6
        yield Design(what, "us", published, own, gemm, role="set")


def _launches() -> Iterator[Design]:
    """Yields the times of launches."""
    own = launch_overhead(find("u250"), 4, 1) * 1e6
    gemm = "Vitis BLAS gemm_4CU, U250, 64 x 64 x 64"
    yield Design("4 starts, each waited for", "us", 400, own, gemm, role="set")
    each = (find("kv260").launch.value - find("u55c").launch.value) / 3  # three arguments change
    issue = "Xilinx/XRT#7819, ZCU102 (model: KV260)"
    yield Design("ten arguments set", "us", 3000, 10 * each, issue, role="set")


def _areas() -> Iterator[Design]:
    """Yields LUT, FF and DSP for each product a cycle."""
    float_array = (494.0, 806.0, 5.0)
    yield from _per_product("cnn", "conv", "float product", float_array, "AutoSA cnn, U250, 1792 products")
    each = (250.7e3 / 256, 430e3 / 256, 1224 / 256)
    shared = "ports and control of four kernels of 64 products; the model's is one of 256"
    gemm = "Vitis BLAS gemm_4CU, U250, 256 products"
    yield from _per_product("cnn", "conv", "float product of gemm", each, gemm, shared)
    add = "its part of the ports and of the edges, which the published array shares among more products"
    mm = "AutoSA mm, U250, 12,288 products"
    yield from _per_product("int8", "conv_bytes", "int8 product", (59, 64, 0.5), mm, add)


def _clocks() -> Iterator[Design]:
    """Yields clocks by the largest share of the chip that a design takes."""
    u250, mm = find("u250"), "AutoSA mm, U250, 12,288 products"
    gemm = clock_by_area(u250.clock.value, _share(u250, lut=250.7e3, dsp=1224))
    yield Design("clock of 256 float products", "MHz", 242, gemm, "Vitis BLAS gemm_4CU, U250", role="set")
    array = clock_by_area(u250.clock.value, _share(u250, lut=59 * 12288, dsp=6144))
    yield Design("clock of int8 products", "MHz", 136, array, mm + ", not floorplanned", role="set")
    placed = u250.clock.value
    yield Design("clock of int8 products, floorplanned", "MHz", 300, placed, mm + ", AutoBridge")
    cnn = "AutoSA cnn, U250, 1792 products, AutoBridge"
    yield Design("clock of float products, floorplanned", "MHz", 265, placed, cnn)


def _share(board: Board, lut: float, dsp: float) -> float:
    return max(lut / board.chip.lut, dsp / board.chip.dsp)


def product_seconds(n: int, board: str, clock: float) -> float:
    """Returns the seconds of the packing and of the product of two (n, n) float matrices, with 256
    products a cycle, by the model."""
    key = GemmKey("gemm", dtypes.float32, 16, 8, 2, 16)
    panels, columns = -(-n // key.rows), -(-n // key.columns)
    items, steps = -(-panels // 16) * columns, ((),) * 4
    product = ProductGeometry(items, panels, columns, 16, n, n, n, 0, 1, (n, 1), (n, 1), (), steps)
    sides = PackGeometry(PackSide(n, panels, n, n, 1, 1), PackSide(n, columns, n, 1, n, 1))
    config = BoardConfig(find(board), clock)
    works = ((key, product.pack()), (pack_key(key), sides.pack()))
    return sum(estimate(KernelLaunch(each, 1, geometry=words), config).kernel for each, words in works)


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


def svhn_seconds(board: str, clock: float) -> float:
    """Returns the seconds of one image of 3 x 32 x 32 in the network of hls4ml's publication, by the
    model: three convolutions of 3 x 3 with a maximum of 2 x 2 behind each, and three linear layers.
    """
    convolutions = ((16, Fold(16, 27)), (16, Fold(8, 48)), (24, Fold(6, 9)))
    linear = ((42, Fold(2, 2)), (64, Fold(2, 2)), (10, Fold(2, 1)))
    layers: list[NetworkLayer] = []
    for channels, fold in convolutions:
        layers.append(NetworkLayer(CONV, (len(layers),), channels, (3, 3), fold=fold))
        layers.append(NetworkLayer(MAX_POOL, (len(layers),), channels, (2, 2), (2, 2)))
    for channels, fold in linear:
        layers.append(NetworkLayer(LINEAR, (len(layers),), channels, fold=fold))
    key = NetworkKey("svhn", dtypes.uint8, (3, 32, 32), tuple(layers), b"")
    key = replace(key, constants=bytes(key.constants_size))
    return estimate(KernelLaunch(key, 1, 1), BoardConfig(find(board), clock)).kernel


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
    rows: list[tuple[object, ...]] = [("", "published", "model", "factor", "at 200 MHz", "role", "source")]
    for one in designs():
        published = f"{one.published:.3g} {one.unit}"
        careful = "" if one.careful is None else f"{one.careful:.3g}"
        rows.append((one.quantity, published, f"{one.model:.3g}", f"{one.factor:.2f}", careful, one.role, one.source))
    reasons = dict.fromkeys(f"{one.quantity}: {one.reason}" for one in designs() if one.reason)
    low, high = error_band()
    band = f"Published kernels take {low:.2f} to {high:.2f} times the model's time: the error band of each estimate."
    return "\n\n".join([table(rows, indent=""), "\n".join(reasons), band])
