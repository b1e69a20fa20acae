"""conv: products summed over windows where they lie (hls/skeleton/conv.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....dtypes import dtype
from ...key import lanes_for
from ...operators import distance, operator_cycles
from ...skeleton import Parameter, register
from ...source import constant
from ...words import ROOMY, Argument, Asked, KernelTarget
from ...work import Access, KernelLaunch, LocalMemory, Loop
from ..elements import element_type
from .geometry import ConvGeometry, alike, in_lines
from .key import DEPTH, BoardConv, ConvKey, number, serves
from .pack import conv_pack_key


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

    def keys(self, asked: Asked) -> Iterator[ConvKey]:
        """Both kernels of each dtype."""
        for of in asked.dtypes:
            if serves(of):
                key = conv_key(of, asked.target, False, 16)
                yield from (key, conv_pack_key(key, False))

    def beats(self, key: ConvKey) -> Mapping[str, int]:
        """All move in vectors."""
        return {"out": key.lanes, "planes": key.lanes, "panels": key.rows}

    def arguments(self, key: ConvKey) -> tuple[Argument, ...]:
        """Results off a beat leave by a port of their own."""
        own = super().arguments(key)
        return (*own[:3], self.by_elements(key, "out"), *own[3:])

    def places(self, key: ConvKey) -> dict[str, str]:
        """How many steps a sum waits, and a beat of a strip, whose vectors reach into the next."""
        return {"distance": str(turns(key)), "arrival": str(turns(key) - 1)}

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
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
                Loop("weights", items * (1 + depth), items, 1, True, False, "panels"),
                Loop("first_strip", items * beats, items, 1, False, False, "sums"),
                Loop("depth", 0, 0, 1, False, True, "sums"),
                Loop("join", 0, 0, 1, False, True, "sums"),
                Loop("vectors", 0, 0, 1, False, False, "store"),
                Loop("elements", 0, 0, 1, False, False, "store"),
                Loop("keep", 0, 0, 1, False, False, "store"),
                Loop("line", *in_lines(key, g, begin, end), 1, False, False, "store"),
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

    def divisions(self, launch: KernelLaunch, loops: Sequence[Loop]) -> int:
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


def strips_of(g: ConvGeometry, items: int) -> Loop:
    """What brings the strips of so many items: those of one run, one channel's after another's."""
    trips = items * g.channels * g.beats
    if len(g.runs) == 1:
        return Loop("channels", trips, items, 1, True, False, "planes")
    return Loop("strip", trips, items * g.channels * len(g.runs), 1, True, False, "planes")


def burst_of(g: ConvGeometry) -> int:
    """Beats of a strip that one request brings: those of one run come one by one, without a wait
    between channels."""
    return 1 if len(g.runs) == 1 else min((n for _, n in g.runs), default=1)


def turns(key: ConvKey) -> int:
    """Steps until a sum is met again, at the least: as many as a product and a sum take."""
    cycles = operator_cycles(key.dtype)
    return distance(cycles["add"] + cycles["mul"])


register(Conv())
