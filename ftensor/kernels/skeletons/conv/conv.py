"""conv, conv_pack: convolution of packed planes, and packing of planes and filters
(hls/skeleton/conv*.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated

from ....dtypes import dtype
from ...geometry import Geometry, ListField, Long, NamedFields
from ...inventory_terms import ROOMY_REGISTERS, InventoryRequest, KernelArgument, KernelTarget
from ...key import lanes_for
from ...skeleton import Parameter, c_parameters, register
from ...source import constant, element_type
from ...workload import Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop, distance, operator_cycles
from .key import DEPTH, BoardConv, ConvGeometry, ConvKey, in_lines, number, serves, uniform_tiles

CHANNELS = 16  # channels of an item of planes


def conv_pack_key(conv: ConvKey, unaligned: bool) -> ConvKey:
    """Returns the key of the kernel that packs for `conv`; full lanes need unaligned vectors."""
    return ConvKey("conv_pack", conv.dtype, conv.lanes if unaligned else 1, conv.rows, 1)


@dataclass(frozen=True)
class ConvPackGeometry(Geometry):
    """Geometry buffer of packing for a convolution. With `batch` 0 only panels are packed. The
    three dims of a plane are deep, high and wide.

        part: elements of a phase in each dim
        step: distance of these elements in the input
        input: sizes of the input
        deep, high, wide: where each phase begins, by dim
        bias: offset of the bias, -1 without one
        zero, flip: of bytes, the padding value, and True to invert the top bits of an unsigned input
        taps: offset of each tap's weight
    """

    derived = ("rows", "line", "dense")
    batch: int
    channels: int
    groups: int
    panels: int
    filters: int
    own: int  # channels of a group
    some: int  # channels of an item of panels
    plane: int  # elements
    part: Annotated[Ints, NamedFields("deep high wide")]
    step: Annotated[Ints, NamedFields("deep high wide")]
    input: Annotated[Ints, NamedFields("deep high wide")]
    x: Annotated[Ints, NamedFields("sample channel deep high wide")]
    w: Annotated[Ints, NamedFields("group filter channel")]
    bias: Long
    zero: int
    flip: bool
    deep: Annotated[Ints, ListField("deep_phases")]
    high: Annotated[Ints, ListField("high_phases")]
    wide: Annotated[Ints, ListField("wide_phases")]
    taps: Annotated[Ints, ListField("tap_count")]

    @property
    def rows(self) -> int:
        """Rows of a packed plane."""
        phases = len(self.deep) * len(self.high) * len(self.wide)
        return phases * self.part[0] * self.part[1]

    @property
    def line(self) -> int:
        """Contiguity of the weights: 1 if those of a filter are contiguous in the order (channel,
        tap), 2 if those of each channel are, else 0."""
        if self.taps != tuple(range(len(self.taps))):
            return 0
        return 1 if self.w[2] == len(self.taps) else 2

    @property
    def dense(self) -> bool:
        """True if the input is contiguous and read in order as a whole."""
        one = all(len(phases) == 1 for phases in (self.deep, self.high, self.wide))
        if not one or set(self.step) != {1} or not prod(self.input):
            return False
        size, lies = 1, True
        for n, step in zip((*self.input[::-1], self.channels, self.batch), self.x[::-1]):
            lies &= n <= 1 or step == size
            size *= n
        begins = (self.deep[0], self.high[0], self.wide[0])
        extents = zip(begins, self.part, self.input)
        return lies and all(b <= 0 and b + n >= m for b, n, m in extents)

    @property
    def of_planes(self) -> int:
        """Items that pack planes."""
        return self.batch * self.rows * -(-self.channels // CHANNELS)

    @property
    def of_panels(self) -> int:
        """Items that pack panels."""
        return self.groups * self.panels * -(-self.own // self.some)

    def pieces(self, lanes: int) -> int:
        """Returns the pieces of a plane on a board: pieces of rows, and of the fill to whole
        beats."""
        gap = self.plane - self.rows * self.part[2]
        return self.rows * -(-self.part[2] // lanes) + -(-gap // lanes)


class ConvPack(BoardConv):
    """Packing: rows of an input with zeros around them, and interleaved weights of some filters."""

    name = "conv_pack"
    geometry = ConvPackGeometry
    staged = True
    template = "conv_pack.cpp"

    def flops(self, key: ConvKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns 0: packing has no floating-point operations."""
        return 0

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        n, c = number(key), element_type(key.dtype)
        pointers = f"{n} *planes, {n} *panels, const {c} *x, const {c} *weight, const {c} *bias"
        return c_parameters(pointers, "x weight bias")

    def beats(self, key: ConvKey) -> Mapping[str, int]:
        return dict.fromkeys(("planes", "panels", "x"), key.rows)

    def arguments(self, key: ConvKey) -> tuple[KernelArgument, ...]:
        own = super().arguments(key)
        at = [a.name for a in own].index("x") + 1
        return (*own[:at], self.by_elements(key, "x"), *own[at:])

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        lanes, reads = key.rows, "read_panels"
        begin, stop = launch.slab(g.groups * g.panels, unit)
        panels, chunks, each = stop - begin, -(-g.own // g.some), g.own * len(g.taps)
        return [
            *self.plane_loops(launch, unit),
            PipelinedLoop("bias", panels * lanes, panels, 1, True, False, reads),
            PipelinedLoop("elements", panels * lanes * each, panels * chunks * lanes, 1, True, False, reads),
            PipelinedLoop("steps", panels * each, panels * chunks, 1, False, False, reads),
            PipelinedLoop("panels", panels * (1 + each), min(panels, 1), 1, True, False, "write_panels"),
        ]

    def places(self, key: ConvKey) -> Mapping[str, str | list[str]]:
        return {
            "elements": "conv_pack_numbers.h",
            "pointer": "const FT_E *bias",
            "operand": "bias",
            "bias_offset": "bias_offset",
            "more": "bias",
            "fifos": [],
            "stages": [],
        }

    def plane_loops(self, launch: KernelLaunch, unit: int) -> list[PipelinedLoop]:
        """Returns the loops of the stages for planes: read, place, pack, write."""
        g, lanes = ConvPackGeometry.unpack(launch.geometry), self.beats(launch.key)["planes"]
        first, end = launch.slab(g.batch * g.channels, unit)
        planes, size = end - first, prod(g.input)
        beats = -(-(first * size % lanes + planes * size) // lanes) if g.dense else 0
        pieces, once = planes * g.pieces(lanes), min(planes, 1)
        loop_name, trip_count = ("pieces", pieces) if g.dense else ("elements", planes * g.plane)
        return [
            PipelinedLoop("line", beats, once, 1, True, False, "read"),
            PipelinedLoop(loop_name, trip_count, once, 1, not g.dense, False, "place"),
            PipelinedLoop("pack", pieces, once, 1, False, False, "pack"),
            PipelinedLoop("planes", planes * g.plane // lanes, once, 1, True, False, "write"),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; missing filters of a panel read weights of the first filter."""
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        size, compute, lanes = key.dtype.itemsize, key.dtype.compute.itemsize, key.rows
        planes = g.batch * g.channels * g.plane
        read = g.batch * g.channels * (prod(g.input) if g.dense else g.plane)
        steps = g.groups * g.panels * (1 + g.own * len(g.taps))
        weights = g.groups * g.panels * lanes * g.own * len(g.taps)
        once = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        weights_per_burst = {0: 1, 1: min(g.some, g.own) * len(g.taps), 2: len(g.taps)}[g.line]
        x = -(-read // lanes) if g.dense else read
        return [
            Access("planes", True, planes * compute, planes // lanes, 0, 0),
            Access("panels", True, steps * lanes * compute, steps, 0, 0),
            Access("x", False, read * size, x, 0 if g.dense else 1, read * size, not g.dense),
            Access("weight", False, weights * size, weights, weights_per_burst, once * size),
        ]

    def memories(self, key: ConvKey, structure: str) -> list[LocalMemory]:
        return [LocalMemory(DEPTH, 8 * key.dtype.compute.itemsize, key.rows)]

    def operators(self, key: ConvKey) -> Mapping[tuple[str, str], int]:
        c_type = {"float32": "float", "float64": "double"}.get(key.dtype.compute.name, key.dtype.name)
        turned = key.rows * (3 * key.rows.bit_length() + 3)
        return {("choose", c_type.removeprefix("u")): turned, ("mul", "int32"): 6, ("add", "int32"): 24}

    def extent(self, launch: KernelLaunch) -> str:
        g = ConvPackGeometry.unpack(launch.geometry)
        weights = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        return f"{g.batch * g.channels}x{g.plane}+{weights}"


register(ConvPack())


def conv_key(dtype: dtype, target: KernelTarget, unaligned: bool, filters: int) -> ConvKey:
    """Returns the key for `filters` filters of a group.

    On a CPU, the tile fills the registers with sums of filters that share the input. On boards, the
    tile has the width of the ports: a step of a panel is a beat.
    """
    lanes = lanes_for([dtype.compute], dtype.compute, target.lanes_bytes)
    if target.grid == "stride":
        return ConvKey("conv", dtype, lanes, 4 if filters > 1 else 1, 1)
    if not unaligned:
        return ConvKey("conv", dtype, lanes, lanes, 16)
    wide = target.registers >= ROOMY_REGISTERS
    if filters > 4:
        return ConvKey("conv", dtype, lanes, *((8, 2) if wide else (6, 1)), 8)
    if filters > 1:
        return ConvKey("conv", dtype, lanes, 4, 4 if wide else 1)
    return ConvKey("conv", dtype, lanes, 1, 8 if wide else 4)


def most_taps(key: ConvKey) -> int:
    """Returns the largest number of taps that always fit the input strip in a board's local memory,
    wherever the taps read."""
    return constant("vitis/conv.cpp", "STRIP") // (key.vectors + 1)


class Conv(BoardConv):
    """Convolution. An item is a tile of filters and positions."""

    name = "conv"
    geometry = ConvGeometry
    staged = True
    reads_few_beats = True  # of a strip, or of a filter
    template = "conv.cpp"

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        n = number(key)
        pointers = f"{element_type(key.dtype)} *out, const {n} *planes, const {n} *panels"
        return c_parameters(pointers, "out planes")

    def keys(self, request: InventoryRequest) -> Iterator[ConvKey]:
        for d in request.dtypes:
            if serves(d):
                key = conv_key(d, request.target, False, 16)
                yield from (key, conv_pack_key(key, False))

    def beats(self, key: ConvKey) -> Mapping[str, int]:
        return {"out": key.lanes, "planes": key.lanes, "panels": key.rows}

    def arguments(self, key: ConvKey) -> tuple[KernelArgument, ...]:
        own = super().arguments(key)
        return (*own[:3], self.by_elements(key, "out"), *own[3:])

    def places(self, key: ConvKey) -> Mapping[str, str | list[str]]:
        """Returns the file of the elements, two dependence distances in iterations (of a sum, and
        from the arrival of a strip's beat to its use), and the stages that write results."""
        return {
            "elements": "conv_numbers.h",
            "distance": str(min_accumulation_distance(key)),
            "arrival": str(min_accumulation_distance(key) - 1),
            "rows": "64",
            "items": "items_store",
            "fifos": [],
            "stages": ["store(out, out_elements, items_store, row_fifo, count, g);"],
        }

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, ConvGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        items, depth, beats = end - begin, g.depth, g.beats
        sums, taps = max(1, -(-depth // DEPTH)), max(len(g.offsets), 1)
        between = max(min_accumulation_distance(key), -(-beats // taps))
        loops = {
            loop.name: loop
            for loop in (
                strips_of(g, items),
                PipelinedLoop("weights", items * (1 + depth), items, 1, True, False, "panels"),
                PipelinedLoop("first_strip", items * beats, items, 1, False, False, "sums"),
                PipelinedLoop("depth", 0, 0, 1, False, True, "sums"),
                PipelinedLoop("sum_parts", 0, 0, 1, False, True, "sums"),
                PipelinedLoop("vectors", 0, 0, 1, False, False, "store"),
                PipelinedLoop("elements", 0, 0, 1, False, False, "store"),
                PipelinedLoop("buffer_rows", 0, 0, 1, False, False, "store"),
                PipelinedLoop("line", *in_lines(key, g, begin, end), 1, False, False, "store"),
            )
        }
        for x in uniform_tiles(key, g, begin, end):
            store_name, store_lanes = ("buffer_rows", 1) if g.lines else ("elements", key.lanes)
            store_name, store_lanes = ("vectors", 1) if x.whole else (store_name, store_lanes)
            for name, trips, entries in (
                ("depth", depth * max(x.vectors, between), sums),
                ("sum_parts", sums * x.vectors * x.rows, sums),
                (store_name, x.vectors * x.rows * store_lanes, 1),
            ):
                loops[name] = loops[name].more(x.items * trips, x.items * entries)
        return list(loops.values())

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; every tile reads its strips and filters again."""
        key, g = launch.key, ConvGeometry.unpack(launch.geometry)
        size, compute = key.dtype.itemsize, key.dtype.compute.itemsize
        strips, steps = g.items * g.channels * g.beats, g.items * (1 + g.depth)
        longest = burst_of(g)
        accesses = []
        for in_vectors in (True, False):
            count = sum(
                x.items * x.rows * x.vectors * key.lanes
                for x in uniform_tiles(key, g, 0, g.items)
                if x.whole == in_vectors
            )
            burst = 1
            if not in_vectors and g.lines:
                count, lines = in_lines(key, g, 0, g.items)
                burst = count // max(lines, 1)
            if count:
                beats = count // key.lanes if in_vectors else count
                accesses.append(Access("out", True, count * size, beats, burst, count * size))
        return [
            *accesses,
            Access("planes", False, strips * key.lanes * compute, strips, longest, 0, True),
            Access("panels", False, steps * key.rows * compute, steps, 0, 0, True),
        ]

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """Returns the divisions of the first item; later divisions overlap with the previous
        item."""
        return 3 + len(ConvGeometry.unpack(launch.geometry).batch)

    def extent(self, launch: KernelLaunch) -> str:
        g = ConvGeometry.unpack(launch.geometry)
        outside = g.items // (g.panels * g.tiles)
        return f"{outside}x{g.filters}x{g.depth}x{g.positions}"

    def operators(self, key: ConvKey) -> Mapping[tuple[str, str], int]:
        c_type = {"float32": "float", "float64": "double"}.get(key.dtype.compute.name, key.dtype.name)
        c_type = c_type.removeprefix("u")
        many, turned = key.rows * key.lanes, key.lanes * (key.lanes.bit_length() - 1)
        return {("mul", c_type): many, ("add", c_type): many + key.lanes, ("choose", c_type): turned}

    def memories(self, key: ConvKey, structure: str) -> list[LocalMemory]:
        """Returns the kernel's arrays: two strips of input (the current channel's and the next
        one's), the sums of a tile, and its totals with the equally large buffer for contiguous
        stores. A total adds up the sums of successive parts of the depth."""
        bits = 8 * key.dtype.compute.itemsize
        return [
            LocalMemory(constant("vitis/conv.cpp", "STRIP") + 1, bits, 2 * key.lanes),
            LocalMemory(key.vectors, bits, key.rows * key.lanes),
            LocalMemory(key.vectors * key.rows, bits, 2 * key.lanes),
        ]


def strips_of(g: ConvGeometry, items: int) -> PipelinedLoop:
    """Returns the loop that reads the input strips of `items` items. Strips of a single run are
    read in one loop for all channels."""
    trips = items * g.channels * g.beats
    if len(g.runs) == 1:
        return PipelinedLoop("channels", trips, items, 1, True, False, "planes")
    return PipelinedLoop("strip", trips, items * g.channels * len(g.runs), 1, True, False, "planes")


def burst_of(g: ConvGeometry) -> int:
    """Returns the beats that one request for a strip reads. Strips of a single run are requested
    beat by beat, so that the kernel need not stall between channels."""
    return 1 if len(g.runs) == 1 else min((n for _, n in g.runs), default=1)


def min_accumulation_distance(key: ConvKey) -> int:
    """Returns the smallest number of iterations between two additions to a sum that hides the
    latency of a product and an addition."""
    cycles = operator_cycles(key.dtype)
    return distance(cycles["add"] + cycles["mul"])


register(Conv())
