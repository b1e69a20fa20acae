"""conv_bytes, conv_bytes_pack: convolutions and products of bytes, summed in int32, on boards
(hls/vitis/conv_bytes.h, conv_pack_bytes.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from ....dtypes import dtype, int8
from ... import source
from ...inventory_terms import InventoryRequest, KernelArgument
from ...skeleton import Parameter, register
from ...source import constant
from ...workload import PORT_BYTES, Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop
from .conv import Conv, ConvPack, ConvPackGeometry, burst_of, min_accumulation_distance, strips_of
from .key import DEPTH, BoardConv, ConvGeometry, ConvKey, uniform_tiles

FILTERS, VECTORS = 16, 16  # tile shape
OUT = constant("vitis/conv_bytes.h", "OUT")
WORD = constant("vitis/conv_pack_bytes.h", "WORD")


def bytes_keys() -> tuple[ConvKey, ConvKey]:
    """Returns the keys of convolution and packing, for int8 and uint8 inputs."""
    key = ConvKey("conv_bytes", int8, PORT_BYTES, FILTERS, VECTORS)
    return key, ConvKey("conv_bytes_pack", int8, PORT_BYTES, FILTERS, 1)


class _Bytes(BoardConv):
    """Base of both skeletons: int8 operands, int32 sums."""

    result_dtypes = ("int32",)

    word = "conv_bytes"

    def defines(self, key: ConvKey) -> dict[str, object]:
        return {
            "FT_E": "char",
            "FT_BEAT": key.lanes,
            "FT_TILE_ROWS": key.rows,
            "FT_TILE_VECTORS": key.vectors,
            "FT_TILE_COLUMNS": key.columns,
            "FT_DEPTH": DEPTH,
        }

    def settings(self, key: ConvKey, *, float64: bool, grid: str) -> list[str]:
        defines = {"FT_NAME": key.entry, **self.defines(key)}
        lines = source.settings(self.compute(key), 1, float64, grid)
        return [*lines, *(f"#define {word} {n}" for word, n in defines.items()), *self.geometry_words()]

    def helpers(self, key: ConvKey) -> list[str]:
        return []


class ConvBytes(_Bytes, Conv):
    """Convolution of bytes: 16 filters by 64 positions in a cycle, two products in a DSP block."""

    name = "conv_bytes"

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        return tuple((what, "int *" if name == "out" else c, name) for what, c, name in super().parameters(key))

    def keys(self, request: InventoryRequest) -> Iterator[ConvKey]:
        if int8 in request.dtypes:
            yield from bytes_keys()

    def beats(self, key: ConvKey) -> Mapping[str, int]:
        return {**super().beats(key), "out": OUT}

    def places(self, key: ConvKey) -> Mapping[str, str | list[str]]:
        return {
            **super().places(key),
            "elements": "conv_bytes.h",
            "rows": "32",
            "items": "items_gather",
            "fifos": [
                'hls::stream<ft_tile, 4> items_gather("items_gather");',
                'hls::stream<out_beat, 64> out_fifo("results");',
            ],
            "stages": [
                "gather(items_gather, row_fifo, items_store, out_fifo, count, g);",
                "store(out, out_elements, items_store, out_fifo, count, g);",
            ],
        }

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, ConvGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        items, depth, beats = end - begin, g.depth, g.beats
        between = max(min_accumulation_distance(key), -(-beats // max(len(g.offsets), 1)))
        loops = {
            loop.name: loop
            for loop in (
                strips_of(g, items),
                PipelinedLoop("weights", items * (1 + depth), items, 1, True, False, "panels"),
                PipelinedLoop("first_strip", items * beats, items, 1, False, False, "sums"),
                PipelinedLoop("depth", 0, 0, 1, False, True, "sums"),
                *(PipelinedLoop(name, 0, 0, 1, False, False, "sums") for name in ("write_rows", "write_columns")),
                PipelinedLoop("buffer_rows", 0, 0, 1, False, False, "gather"),
                PipelinedLoop("pieces", 0, 0, 1, False, False, "gather"),
                *(PipelinedLoop(name, 0, 0, 1, False, False, "gather") for name in ("rows", "forward_columns")),
                *(PipelinedLoop(n, 0, 0, 1, False, False, "store") for n in ("store_head", "beats", "store_tail")),
                *(PipelinedLoop(n, 0, 0, 1, False, False, "store") for n in ("elements", "columns")),
            )
        }
        for x in uniform_tiles(key, g, begin, end):
            rows, columns = x.vectors * x.rows, x.vectors * key.lanes
            trip_counts = {"write_rows": rows, "rows": rows * key.lanes // OUT, "elements": rows * key.lanes}
            if g.whole:
                trip_counts = {"write_columns": columns, "forward_columns": columns, "columns": columns}
            elif g.lines:
                trip_counts = {"write_rows": rows, "buffer_rows": rows}
            for name, trips in {"depth": depth * max(x.vectors, between), **trip_counts}.items():
                loops[name] = loops[name].more(x.items * trips, x.items)
        for tile in range(g.tiles if g.lines else 0):
            for name, trips, entries in self._line(key, g, tile, begin, end):
                loops[name] = loops[name].more(trips, entries)
        return list(loops.values())

    def _line(self, key: ConvKey, g: ConvGeometry, tile: int, begin: int, end: int) -> Iterator[tuple[str, int, int]]:
        """Yields (loop, trips, entries) of the loops that store the contiguous results of a tile:
        its pieces, the elements before the first beat, whole beats, the elements after the last
        beat. `out` begins on a beat."""
        done, many = g.before(tile * key.columns), g.results(tile, key.columns)
        filters, heads, head, beats, tails, tail = 0, 0, 0, 0, 0, 0
        for item in _items(g, tile, begin, end) if many else ():
            outer, panel = item // (g.panels * g.tiles), item % g.panels * key.rows
            first = outer % g.groups * g.filters + panel
            to, rest = done + first * g.out[0], outer // g.groups
            for size, step in zip(reversed(g.batch), reversed(g.written)):
                rest, k = divmod(rest, size)
                to += k * step
            for r in range(min(g.filters - panel, key.rows)):
                at = to + r * g.out[0]
                before = min(-at % OUT, many)
                filters, heads, head = filters + 1, heads + bool(at % OUT), head + before
                beats += (many - before) // OUT
                behind = (many - before) % OUT
                tails, tail = tails + bool(behind), tail + behind
        yield "pieces", filters * self._pieces(g, tile * key.columns, many), filters
        yield "store_head", head, heads
        yield "beats", beats, filters
        yield "store_tail", tail, tails

    @staticmethod
    def _pieces(g: ConvGeometry, begin: int, count: int) -> int:
        """Returns the pieces of a line: up to OUT results of a row of windows each."""
        position = begin % g.pitch
        column = position if position < g.width and begin // g.pitch % g.middle < g.high else 0
        first = min(g.width - column, count)
        rows, rest = divmod(count - first, g.width)
        return -(-first // OUT) + rows * -(-g.width // OUT) + -(-rest // OUT)

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; every tile reads its strips and filters again."""
        key, g = launch.key, ConvGeometry.unpack(launch.geometry)
        strips, steps = g.items * g.channels * g.beats, g.items * (1 + g.depth)
        longest = burst_of(g)
        across = g.items // (g.panels * g.tiles) * g.filters
        count = across * g.before(g.positions)
        beats = -(-count // OUT) if g.lines or g.whole else count
        burst = 0 if g.lines else 1
        return [
            Access("out", True, 4 * count, beats, burst, 4 * count),
            Access("planes", False, strips * key.lanes, strips, longest, 0, True),
            Access("panels", False, steps * key.rows, steps, 0, 0, True),
        ]

    def operators(self, key: ConvKey) -> Mapping[tuple[str, str], int]:
        """Returns pairs of products (one DSP block each), an addition for each product, and the
        selections that rotate a beat and join results."""
        many, levels = key.rows * key.lanes, key.lanes.bit_length() - 1
        return {
            ("pair", "int8"): many // 2,
            ("add", "int32"): many + key.lanes + key.rows,
            ("mul", "int32"): 1 + key.rows,
            ("choose", "int8"): key.lanes * levels,
            ("choose", "int32"): 5 * key.lanes + OUT * 12 + key.rows * key.lanes,
        }

    def memories(self, key: ConvKey, structure: str) -> list[LocalMemory]:
        return [
            LocalMemory(constant("vitis/conv.cpp", "STRIP") + 1, 8, 2 * key.lanes),
            LocalMemory(key.vectors, 32, key.rows * key.lanes),
            LocalMemory(key.vectors * key.rows, 32, key.lanes),
            LocalMemory(32, 32 * key.lanes),
            LocalMemory(64, 32 * OUT),
        ]


def _items(g: ConvGeometry, tile: int, begin: int, end: int) -> Iterator[int]:
    period = g.panels * g.tiles
    for outer in range(begin // period, -(-end // period)):
        first = outer * period + tile * g.panels
        yield from range(max(first, begin), min(first + g.panels, end))


class ConvBytesPack(_Bytes, ConvPack):
    """Packing: rows of bytes with the padding value around them, and interleaved weights."""

    name = "conv_bytes_pack"
    reads_few_beats = True  # of a filter's weights

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        return tuple(p for p in ConvPack.parameters(self, key) if not p[2].startswith("bias"))

    def beats(self, key: ConvKey) -> Mapping[str, int]:
        return {"planes": key.lanes, "panels": key.rows, "x": key.lanes}

    def arguments(self, key: ConvKey) -> tuple[KernelArgument, ...]:
        own = super().arguments(key)
        at = [a.name for a in own].index("weight") + 1
        beats = f"const hls::vector<char, {key.lanes}> *"
        return (*own[:at], KernelArgument("weight_beats", "*", beats, "weight"), *own[at:])

    def places(self, key: ConvKey) -> Mapping[str, str | list[str]]:
        return {
            **super().places(key),
            "elements": "conv_pack_bytes.h",
            "pointer": "const in_beat *weight_beats",
            "operand": "weight_beats",
            "bias_offset": "0",
            "more": "weights_fifo",
            "fifos": ['hls::stream<in_beat, 32> weights_fifo("weights");'],
            "stages": ["read_weights(weight_beats, weights_fifo, q);"],
        }

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        rows, taps = key.rows, len(g.taps)
        begin, stop = launch.slab(g.groups * g.panels, unit)
        panels, chunks, each = stop - begin, -(-g.own // g.some), g.own * taps
        filters, line = panels * chunks * rows, g.line == 1
        words = sum(-(-min(g.some, g.own - c) * taps // WORD) for c in range(0, g.own, g.some))
        read = self._weights(key, g, begin, stop) if line else 0
        return [
            *self.plane_loops(launch, unit),
            PipelinedLoop("weights", read, panels * chunks * line, 1, True, False, "read_weights"),
            PipelinedLoop("words", panels * rows * words * line, filters * line, 1, False, False, "panels"),
            PipelinedLoop(
                "elements", panels * rows * each * (not line), filters * (not line), 1, True, False, "panels"
            ),
            PipelinedLoop("steps", panels * each, panels * chunks, 1, False, False, "panels"),
            PipelinedLoop("panels", panels * (1 + each), min(panels, 1), 1, True, False, "write_panels"),
        ]

    @staticmethod
    def _weights(key: ConvKey, g: ConvPackGeometry, begin: int, stop: int) -> int:
        """Returns the number of beats that the weights of the panels [begin, stop) take."""
        beats = 0
        taps = len(g.taps)
        for panel in range(begin, stop):
            group, first = panel // g.panels, panel % g.panels * key.rows
            for f in range(first, min(first + key.rows, g.filters)):
                for c in range(0, g.own, g.some):
                    at = group * g.w[0] + f * g.w[1] + c * g.w[2]
                    n = min(g.some, g.own - c) * taps
                    beats += -(-(at + n) // key.lanes) - at // key.lanes
        return beats

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        lanes, taps = key.lanes, len(g.taps)
        planes = g.batch * g.channels * g.plane
        read = g.batch * g.channels * (prod(g.input) if g.dense else g.plane)
        steps = g.groups * g.panels * (1 + g.own * taps)
        each = g.own * taps
        once = g.groups * g.filters * each if g.panels else 0
        x = -(-read // lanes) if g.dense else read
        if g.line == 1:
            beats = self._weights(key, g, 0, g.groups * g.panels)
            weights = Access("weight", False, beats * lanes, beats, 1, once, True)
        else:
            many = g.groups * g.panels * key.rows * each
            taps_per_burst = taps if g.line else 1
            weights = Access("weight", False, many, many, taps_per_burst, once)
        return [
            Access("planes", True, planes, planes // lanes, 0, 0),
            Access("panels", True, steps * key.rows, steps, 0, 0),
            Access("x", False, read, x, 0 if g.dense else 1, read, not g.dense),
            weights,
        ]

    def memories(self, key: ConvKey, structure: str) -> list[LocalMemory]:
        return [LocalMemory(DEPTH // WORD, 8, key.rows * WORD)]

    def operators(self, key: ConvKey) -> Mapping[tuple[str, str], int]:
        turned = key.lanes * (4 * key.lanes.bit_length() + 3)
        return {("choose", "int8"): turned, ("mul", "int32"): 6, ("add", "int32"): 24}

    def flops(self, key: ConvKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns 0: packing has no floating-point operations."""
        return 0


def supports_operands(x: dtype, weight: dtype) -> bool:
    """True if the kernels accept operands of these dtypes."""
    return weight is int8 and x.name in ("int8", "uint8")


register(ConvBytes())
register(ConvBytesPack())
