"""conv, conv_pack: products summed over windows, and the packing of planes and filters (hls/skeleton/conv*.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated

from ....dtypes import dtype
from ...geometry import Each, Geometry, Long, Many
from ...inventory_terms import ROOMY, InventoryRequest, KernelArgument, KernelTarget
from ...key import lanes_for
from ...skeleton import Parameter, register
from ...source import constant
from ...workload import Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop, distance, operator_cycles
from ..elements import element_type
from .key import DEPTH, BoardConv, ConvGeometry, ConvKey, alike, in_lines, number, serves

CHANNELS = 16  # of an item of planes


def conv_pack_key(conv: ConvKey, unaligned: bool) -> ConvKey:
    """The kernel that makes what `conv` reads; its vectors begin anywhere, where that is right."""
    return ConvKey("conv_pack", conv.dtype, conv.lanes if unaligned else 1, conv.rows, 1)


@dataclass(frozen=True)
class ConvPackGeometry(Geometry):
    """What a launch is told; a `batch` of 0 leaves the planes out. Of the three dims of a plane the
    elements of a part, the steps from one to the next in the input and its sizes, and where each
    part's phases begin there; `bias` is -1 where there is none; of bytes `zero` lies around an
    input, whose highest bits `flip` turns, as of unsigned ones; `taps` are each tap's weight."""

    derived = ("rows", "line", "dense")
    batch: int
    channels: int
    groups: int
    panels: int
    filters: int
    own: int  # channels of a group
    some: int  # of an item of panels
    plane: int  # elements
    part: Annotated[Ints, Each("deep high wide")]
    step: Annotated[Ints, Each("deep high wide")]
    input: Annotated[Ints, Each("deep high wide")]
    x: Annotated[Ints, Each("sample channel deep high wide")]
    w: Annotated[Ints, Each("group filter channel")]
    bias: Long
    zero: int
    flip: bool
    deep: Annotated[Ints, Many("deep_phases")]
    high: Annotated[Ints, Many("high_phases")]
    wide: Annotated[Ints, Many("wide_phases")]
    taps: Annotated[Ints, Many("tap_count")]

    @property
    def rows(self) -> int:
        """Rows of a plane."""
        phases = len(self.deep) * len(self.high) * len(self.wide)
        return phases * self.part[0] * self.part[1]

    @property
    def line(self) -> int:
        """1 where the weights of a filter are neighbours, in the order of channels and taps, 2
        where those of each channel are."""
        if self.taps != tuple(range(len(self.taps))):
            return 0
        return 1 if self.w[2] == len(self.taps) else 2

    @property
    def dense(self) -> bool:
        """Whether an input lies in line, and all of it comes, in order."""
        one = all(len(phases) == 1 for phases in (self.deep, self.high, self.wide))
        if not one or set(self.step) != {1} or not prod(self.input):
            return False
        size, lies = 1, True
        for n, step in zip((*self.input[::-1], self.channels, self.batch), self.x[::-1]):
            lies &= n <= 1 or step == size
            size *= n
        begins = (self.deep[0], self.high[0], self.wide[0])
        whole = zip(begins, self.part, self.input)
        return lies and all(b <= 0 and b + n >= m for b, n, m in whole)

    @property
    def of_planes(self) -> int:
        """The items that make planes."""
        return self.batch * self.rows * -(-self.channels // CHANNELS)

    @property
    def of_panels(self) -> int:
        """The items that make panels."""
        return self.groups * self.panels * -(-self.own // self.some)

    def pieces(self, lanes: int) -> int:
        """Of a plane, on a board: those of its rows, and of what is left to a beat's end."""
        gap = self.plane - self.rows * self.part[2]
        return self.rows * -(-self.part[2] // lanes) + -(-gap // lanes)


class ConvPack(BoardConv):
    """Rows of an input with zeros around them, and weights of some filters side by side."""

    name = "conv_pack"
    geometry = ConvPackGeometry
    staged = True
    template = "conv_pack.cpp"

    def flops(self, key: ConvKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Packing has none."""
        return 0

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        """Planes, panels, the operands, their offsets, the geometry."""
        element = element_type(key.dtype)
        names = ("x", "weight", "bias")
        return (
            *[("*", f"{number(key)} *", name) for name in ("planes", "panels")],
            *[("*", f"const {element} *", name) for name in names],
            *[("long", "long ", f"{name}_offset") for name in names],
            ("*", "const long *", "geometry"),
        )

    def beats(self, key: ConvKey) -> Mapping[str, int]:
        """Planes and panels go in vectors."""
        return dict.fromkeys(("planes", "panels", "x"), key.rows)

    def arguments(self, key: ConvKey) -> tuple[KernelArgument, ...]:
        """The input by a port for each way."""
        own = super().arguments(key)
        at = [a.name for a in own].index("x") + 1
        return (*own[:at], self.by_elements(key, "x"), *own[at:])

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Pieces of planes in stages, and panels beside them."""
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        lanes, reads = key.rows, "read_panels"
        begin, stop = launch.slab(g.groups * g.panels, unit)
        panels, chunks, each = stop - begin, -(-g.own // g.some), g.own * len(g.taps)
        return [
            *self.plane_loops(launch, unit),
            PipelinedLoop("bias", panels * lanes, panels, 1, True, False, reads),
            PipelinedLoop("weights", panels * lanes * each, panels * chunks * lanes, 1, True, False, reads),
            PipelinedLoop("steps", panels * each, panels * chunks, 1, False, False, reads),
            PipelinedLoop("panels", panels * (1 + each), min(panels, 1), 1, True, False, "write_panels"),
        ]

    def plane_loops(self, launch: KernelLaunch, unit: int) -> list[PipelinedLoop]:
        """The stages of planes: read, put into place, packed, written."""
        g, lanes = ConvPackGeometry.unpack(launch.geometry), self.beats(launch.key)["planes"]
        first, end = launch.slab(g.batch * g.channels, unit)
        planes, size = end - first, prod(g.input)
        beats = -(-(first * size % lanes + planes * size) // lanes) if g.dense else 0
        pieces, once = planes * g.pieces(lanes), min(planes, 1)
        way, placed = ("pieces", pieces) if g.dense else ("elements", planes * g.plane)
        return [
            PipelinedLoop("line", beats, once, 1, True, False, "read"),
            PipelinedLoop(way, placed, once, 1, not g.dense, False, "place"),
            PipelinedLoop("pack", pieces, once, 1, False, False, "pack"),
            PipelinedLoop("planes", planes * g.plane // lanes, once, 1, True, False, "write"),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Each value once; of filters that fill a panel the first one's."""
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        size, compute, lanes = key.dtype.itemsize, key.dtype.compute.itemsize, key.rows
        planes = g.batch * g.channels * g.plane
        read = g.batch * g.channels * (prod(g.input) if g.dense else g.plane)
        steps = g.groups * g.panels * (1 + g.own * len(g.taps))
        weights = g.groups * g.panels * lanes * g.own * len(g.taps)
        once = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        near = {0: 1, 1: min(g.some, g.own) * len(g.taps), 2: len(g.taps)}[g.line]
        x = -(-read // lanes) if g.dense else read
        return [
            Access("planes", True, planes * compute, planes // lanes, 0, 0),
            Access("panels", True, steps * lanes * compute, steps, 0, 0),
            Access("x", False, read * size, x, 0 if g.dense else 1, read * size, not g.dense),
            Access("weight", False, weights * size, weights, near, once * size),
        ]

    def memories(self, key: ConvKey, structure: str) -> list[LocalMemory]:
        """The weights of a panel's filters, of some channels."""
        return [LocalMemory(DEPTH, 8 * key.dtype.compute.itemsize, key.rows)]

    def operators(self, key: ConvKey) -> Mapping[tuple[str, str], int]:
        """What moves a piece into place, twice, and puts it beside others; addresses."""
        of = {"float32": "float", "float64": "double"}.get(key.dtype.compute.name, key.dtype.name)
        turned = key.rows * (3 * key.rows.bit_length() + 3)
        return {("choose", of.removeprefix("u")): turned, ("mul", "int32"): 6, ("add", "int32"): 24}

    def extent(self, launch: KernelLaunch) -> str:
        """Planes, their elements, and the weights."""
        g = ConvPackGeometry.unpack(launch.geometry)
        weights = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        return f"{g.batch * g.channels}x{g.plane}+{weights}"


register(ConvPack())


def conv_key(of: dtype, target: KernelTarget, unaligned: bool, filters: int) -> ConvKey:
    """The kernel for so many filters of a group.

    A CPU keeps as many sums in registers as it has room for, of filters that share the input. A
    board has one shape for all, as many as its ports bring in a cycle: a step of a panel is a beat.
    """
    lanes = lanes_for([of.compute], of.compute, target.lanes_bytes)
    if target.grid == "stride":
        return ConvKey("conv", of, lanes, 4 if filters > 1 else 1, 1)
    if not unaligned:
        return ConvKey("conv", of, lanes, lanes, 16)
    wide = target.registers >= ROOMY
    if filters > 4:
        return ConvKey("conv", of, lanes, *((8, 2) if wide else (6, 1)), 8)
    if filters > 1:
        return ConvKey("conv", of, lanes, 4, 4 if wide else 1)
    return ConvKey("conv", of, lanes, 1, 8 if wide else 4)


def most_taps(key: ConvKey) -> int:
    """So many elements of a kernel a board has room for, wherever they lie."""
    return constant("vitis/conv.cpp", "STRIP") // (key.vectors + 1)


class Conv(BoardConv):
    """A tile of some filters and some positions for each item."""

    name = "conv"
    geometry = ConvGeometry
    staged = True
    template = "conv.cpp"

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        """Results, planes, panels, offsets, the geometry."""
        return (
            ("*", f"{element_type(key.dtype)} *", "out"),
            ("*", f"const {number(key)} *", "planes"),
            ("*", f"const {number(key)} *", "panels"),
            ("long", "long ", "out_offset"),
            ("long", "long ", "planes_offset"),
            ("*", "const long *", "geometry"),
        )

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Strips and filters are few beats each."""
        return vector and not written

    def keys(self, asked: InventoryRequest) -> Iterator[ConvKey]:
        """Both kernels of each dtype."""
        for of in asked.dtypes:
            if serves(of):
                key = conv_key(of, asked.target, False, 16)
                yield from (key, conv_pack_key(key, False))

    def beats(self, key: ConvKey) -> Mapping[str, int]:
        """All move in vectors."""
        return {"out": key.lanes, "planes": key.lanes, "panels": key.rows}

    def arguments(self, key: ConvKey) -> tuple[KernelArgument, ...]:
        """Results off a beat leave by a port of their own."""
        own = super().arguments(key)
        return (*own[:3], self.by_elements(key, "out"), *own[3:])

    def places(self, key: ConvKey) -> dict[str, str]:
        """How many steps a sum waits, and a beat of a strip, whose vectors reach into the next."""
        return {"distance": str(turns(key)), "arrival": str(turns(key) - 1)}

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Four stages: planes, panels, the sums, the results."""
        key, g = launch.key, ConvGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        items, depth, beats = end - begin, g.depth, g.beats
        sums, taps = max(1, -(-depth // DEPTH)), max(len(g.offsets), 1)
        between = max(turns(key), -(-beats // taps))
        loops = {
            loop.name: loop
            for loop in (
                strips_of(g, items),
                PipelinedLoop("weights", items * (1 + depth), items, 1, True, False, "panels"),
                PipelinedLoop("first_strip", items * beats, items, 1, False, False, "sums"),
                PipelinedLoop("depth", 0, 0, 1, False, True, "sums"),
                PipelinedLoop("join", 0, 0, 1, False, True, "sums"),
                PipelinedLoop("vectors", 0, 0, 1, False, False, "store"),
                PipelinedLoop("elements", 0, 0, 1, False, False, "store"),
                PipelinedLoop("keep", 0, 0, 1, False, False, "store"),
                PipelinedLoop("line", *in_lines(key, g, begin, end), 1, False, False, "store"),
            )
        }
        for x in alike(key, g, begin, end):
            way, wide = ("keep", 1) if g.lines else ("elements", key.lanes)
            way, wide = ("vectors", 1) if x.whole else (way, wide)
            for name, trips, entries in (
                ("depth", depth * max(x.vectors, between), sums),
                ("join", sums * x.vectors * x.rows, sums),
                (way, x.vectors * x.rows * wide, 1),
            ):
                loops[name] = loops[name].more(x.items * trips, x.items * entries)
        return list(loops.values())

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Every tile reads its strips and filters anew."""
        key, g = launch.key, ConvGeometry.unpack(launch.geometry)
        size, compute = key.dtype.itemsize, key.dtype.compute.itemsize
        strips, steps = g.items * g.channels * g.beats, g.items * (1 + g.depth)
        longest = burst_of(g)
        accesses = []
        for whole in (True, False):
            count = sum(x.items * x.rows * x.vectors * key.lanes for x in alike(key, g, 0, g.items) if x.whole == whole)
            burst = 1
            if not whole and g.lines:
                count, lines = in_lines(key, g, 0, g.items)
                burst = count // max(lines, 1)
            if count:
                beats = count // key.lanes if whole else count
                accesses.append(Access("out", True, count * size, beats, burst, count * size))
        return [
            *accesses,
            Access("planes", False, strips * key.lanes * compute, strips, longest, 0, True),
            Access("panels", False, steps * key.rows * compute, steps, 0, 0, True),
        ]

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """Those of the first item; the others' are divided while the one before is computed."""
        return 3 + len(ConvGeometry.unpack(launch.geometry).batch)

    def extent(self, launch: KernelLaunch) -> str:
        """Filters, terms of each result, positions."""
        g = ConvGeometry.unpack(launch.geometry)
        outside = g.items // (g.panels * g.tiles)
        return f"{outside}x{g.filters}x{g.depth}x{g.positions}"

    def operators(self, key: ConvKey) -> Mapping[tuple[str, str], int]:
        """A tile's products in every cycle, a row of sums that join, and what turns a beat."""
        of = {"float32": "float", "float64": "double"}.get(key.dtype.compute.name, key.dtype.name)
        of = of.removeprefix("u")
        many, turned = key.rows * key.lanes, key.lanes * (key.lanes.bit_length() - 1)
        return {("mul", of): many, ("add", of): many + key.lanes, ("choose", of): turned}

    def memories(self, key: ConvKey, structure: str) -> list[LocalMemory]:
        """Two strips, the sums of a tile, what they join, and what leaves in lines."""
        bits = 8 * key.dtype.compute.itemsize
        return [
            LocalMemory(constant("vitis/conv.cpp", "STRIP") + 1, bits, 2 * key.lanes),
            LocalMemory(key.vectors, bits, key.rows * key.lanes),
            LocalMemory(key.vectors * key.rows, bits, 2 * key.lanes),
        ]


def strips_of(g: ConvGeometry, items: int) -> PipelinedLoop:
    """What brings the strips of so many items: those of one run, one channel's after another's."""
    trips = items * g.channels * g.beats
    if len(g.runs) == 1:
        return PipelinedLoop("channels", trips, items, 1, True, False, "planes")
    return PipelinedLoop("strip", trips, items * g.channels * len(g.runs), 1, True, False, "planes")


def burst_of(g: ConvGeometry) -> int:
    """Beats of a strip that one request brings: those of one run come one by one, without a wait
    between channels."""
    return 1 if len(g.runs) == 1 else min((n for _, n in g.runs), default=1)


def turns(key: ConvKey) -> int:
    """Steps until a sum is met again, at the least: as many as a product and a sum take."""
    cycles = operator_cycles(key.dtype)
    return distance(cycles["add"] + cycles["mul"])


register(Conv())
