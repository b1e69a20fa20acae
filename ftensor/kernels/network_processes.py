"""Processes of a network's kernel (hls/vitis/network.h), and the FIFOs between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from math import gcd

import numpy as np

from ..dtypes import dtype
from ..dtypes.limits import iinfo
from .network import ADD, DEPTHWISE, LINEAR, MAX_POOL, MOST_BITS, Flow, NetworkKey, NetworkLayer
from .workload import LocalMemory

# Usual depth of a FIFO in beats, so that a pause of one of its processes does not stop the other.
DEPTH = 32
# Latency of a process in iterations, for FIFOs that pass other processes by.
LATENCY = 16
# Images in the analysis of FIFOs: the first fills the line buffers, the second shows the period.
IMAGES = 3

# ((operator, dtype), count) for the area model.
Operators = tuple[tuple[tuple[str, str], int], ...]
# needs(n)[i]: beats of an input that are read before beat i of n images is written.
Needs = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Process:
    """A process: a call of `function`, a template of hls/vitis/network.h. Its template arguments are
    the element type, then `sizes`; its arguments are FIFOs (`reads` and `writes` are their indices),
    then `passed`.

    `trips` are its iterations for an image, `layer` is its layer (-1: none). `operators` and `memories`
    are for the area model. FIFO depths follow from `needs`, a function for each input, and `burst`, the
    beats that the process may read before it needs them.
    """

    name: str
    function: str
    sizes: tuple[int, ...]
    trips: int
    layer: int = -1
    passed: tuple[str, ...] = ()
    operators: Operators = ()
    memories: tuple[LocalMemory, ...] = ()
    needs: tuple[Needs, ...] = field(default=(), repr=False)
    burst: int = 0
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()


@dataclass
class FlowFifo:
    """A FIFO: its flow, the C type of its elements ("T" is the network's), its depth in beats, and the
    process that writes it."""

    name: str
    flow: Flow
    element: str
    source: int
    depth: int = DEPTH


def same(flow: Flow) -> Needs:
    """Returns the needs of a process that writes a beat for each beat that it reads."""
    return lambda n: np.arange(1, n * flow.beats + 1)


class Processes:
    """Processes in topological order, and their FIFOs. Methods that add a process take and return
    FIFOs by index."""

    def __init__(self, of: dtype) -> None:
        self.dtype = of
        self.processes: list[Process] = []
        self.fifos: list[FlowFifo] = []

    def add(
        self, process: Process, inputs: Sequence[int], flows: Sequence[Flow], element: str = "T"
    ) -> tuple[int, ...]:
        """Adds a process that reads the FIFOs `inputs`. Returns the numbers of the FIFOs that it writes,
        one for each flow."""
        first, number = len(self.fifos), len(self.processes)
        for k, flow in enumerate(flows):
            name = f"from_{process.name}" + (f"_{k}" if len(flows) > 1 else "")
            self.fifos.append(FlowFifo(name, flow, element, number))
        writes = tuple(range(first, len(self.fifos)))
        self.processes.append(replace(process, reads=tuple(inputs), writes=writes))
        return writes

    def flow(self, fifo: int) -> Flow:
        """Returns the flow of a FIFO."""
        return self.fifos[fifo].flow

    # Ports

    def load(self, key: NetworkKey) -> int:
        """Adds the process that reads images."""
        c, h, w = key.image
        flow, lanes = key.flows[0], key.lanes
        if c == 1 or h * w == 1:
            shifts = ((("choose", "int8"), lanes),)
            process = Process("load", "load_line", (lanes, flow.wide, flow.elements), flow.beats, operators=shifts)
        else:
            # An element of the beat of one plane: as many choices as a beat has elements.
            chosen = ((("choose", "int8"), lanes * c),)
            process = Process("load", "load_planes", (lanes, c, h * w), flow.elements, operators=chosen)
        process = replace(process, passed=("in_0_offset",))
        return self.add(process, (), (flow,))[0]

    def store(self, key: NetworkKey, fifo: int) -> None:
        """Adds the processes that write results."""
        flow, lanes = self.flow(fifo), key.lanes
        if flow.pixels > 1 and flow.channels > 1:
            fifo = self.regroup("result", fifo, flow.channels)
            planes = Flow(flow.channels, flow.pixels, 1, 1)
            memory = LocalMemory(2 * flow.pixels, 8, flow.channels)
            chosen = ((("choose", "int8"), flow.channels),)
            process = Process(
                "planes", "planes", (flow.channels, flow.pixels), flow.elements, operators=chosen, memories=(memory,)
            )
            (fifo,) = self.add(process, (fifo,), (planes,))
        fifo = self.regroup("result", fifo, gcd(self.flow(fifo).wide, lanes))
        flow = self.flow(fifo)
        shifts = ((("choose", "int8"), lanes),)
        sizes = (lanes, flow.wide, flow.elements)
        self.add(
            Process("store", "store_line", sizes, flow.beats, passed=("out0_offset",), operators=shifts), (fifo,), ()
        )

    def regroup(self, name: str, fifo: int, wide: int, layer: int = -1) -> int:
        """Adds processes that change the beats to `wide` channels: first split to the greatest common
        divisor, then joined. Adds none if the beats have them."""
        flow = self.flow(fifo)
        least = gcd(flow.wide, wide)
        if flow.wide != least:
            many, narrow = flow.wide // least, flow._replace(wide=least)
            needs = lambda n: np.arange(n * narrow.beats) // many + 1  # noqa: E731
            shifts = ((("choose", "int8"), flow.wide),)
            process = Process(
                f"{name}_narrow",
                "narrow",
                (many, least, flow.beats),
                narrow.beats,
                layer,
                operators=shifts,
                needs=(needs,),
            )
            (fifo,) = self.add(process, (fifo,), (narrow,))
        if wide != least:
            several, wider = wide // least, flow._replace(wide=wide)
            joined = lambda n: np.arange(1, n * wider.beats + 1) * several  # noqa: E731
            trips = wider.beats * several
            process = Process(f"{name}_widen", "widen", (several, least, wider.beats), trips, layer, needs=(joined,))
            (fifo,) = self.add(process, (fifo,), (wider,))
        return fifo

    def fork(self, name: str, fifo: int, readers: int) -> list[int]:
        """Adds processes that give a flow to several readers. Returns a FIFO for each."""
        if readers == 1:
            return [fifo]
        flow = self.flow(fifo)
        process = Process(f"{name}_fork", "fork", (flow.wide, flow.beats), flow.beats, needs=(same(flow),))
        first, second = self.add(process, (fifo,), (flow, flow))
        return [*self.fork(f"{name}_again", first, readers - 1), second]

    # Layers

    def layer(self, layer: NetworkLayer, k: int, inputs: Sequence[int]) -> int:
        """Adds the processes of layer k, which reads the FIFOs `inputs`. Returns the FIFO of its
        results."""
        name = f"{layer.kind}_{k}"
        if layer.kind == ADD:
            return self._add(layer, k, name, inputs)
        (fifo,) = inputs
        flow, s = self.flow(fifo), layer.fold.factors
        in_parts = layer.kind == LINEAR or layer.in_rows(flow)
        in_parts |= layer.plain and 8 * flow.channels > MOST_BITS
        wide = (flow.wide if flow.wide % s == 0 and not layer.in_rows(flow) else s) if in_parts else flow.channels
        fifo = self.regroup(name, fifo, wide, k)
        flow = self.flow(fifo)
        result = layer.result(flow)
        if layer.kind != LINEAR and not layer.plain:
            fifo = (
                self._window_rows(layer, k, name, fifo) if layer.in_rows(flow) else self._windows(layer, k, name, fifo)
            )
        if layer.kind == MAX_POOL:
            return self._maxima(layer, k, name, fifo, result)
        if layer.kind == DEPTHWISE:
            return self._requantize(layer, k, name, self._channel_products(layer, k, name, fifo, result), result, 1)
        steps = layer.depth(flow) // s
        return self._requantize(layer, k, name, self._products(layer, k, name, fifo, result, steps), result, steps)

    def _windows(self, layer: NetworkLayer, k: int, name: str, fifo: int) -> int:
        flow = self.flow(fifo)
        (kh, kw), (sh, sw), (ph, pw) = layer.kernel, layer.stride, layer.padding
        sizes = (flow.height, flow.width, flow.channels, kh, kw, ph, pw, sh, sw, self._outside(layer))
        result, taps = layer.result(flow), kh * kw * flow.channels

        def needs(n: int) -> np.ndarray:
            y, x = np.arange(result.height)[:, None] * sh, np.arange(result.width) * sw
            one = ((y - ph + kh - 1) * flow.width + x - pw + kw).ravel()
            every = one + np.arange(n)[:, None] * flow.pixels
            return np.minimum(every.ravel(), n * flow.pixels)

        process = Process(
            f"{name}_windows",
            "windows",
            sizes,
            flow.pixels,
            k,
            operators=((("compare", "int32"), 2 * (kh + kw)), (("choose", "int8"), taps)),
            memories=(LocalMemory(flow.width, 8 * flow.channels, kh - 1),) if kh > 1 else (),
            needs=(needs,),
        )
        return self.add(process, (fifo,), (Flow(result.height, result.width, taps, taps),))[0]

    def _window_rows(self, layer: NetworkLayer, k: int, name: str, fifo: int) -> int:
        flow = self.flow(fifo)
        (kh, kw), (sh, sw), (ph, pw) = layer.kernel, layer.stride, layer.padding
        result, pixel = layer.result(flow), flow.channels // flow.wide
        high, height = result.height, flow.height
        first = min(kh - ph, height)
        last = min((high - 1) * sh + first, height)  # rows that have come in before the last step
        come = max(sh if high > 1 else 0, height - last + first)
        ring = 1 << (max(kh + sh, height + first - ((high - 1) * sh - ph)) - 1).bit_length()
        leave = result.width * kh * kw * pixel
        step = max(leave, come * flow.width * pixel)
        taps = kh * kw * flow.channels

        def needs(n: int) -> np.ndarray:
            each, held, image = [], first, 0
            for row in range(n * high):
                y = row % high
                ends = y == high - 1
                wanted = image + height + first if ends else image + min((y + 1) * sh + first, height)
                wanted = min(wanted, n * height)
                come_in = np.minimum(np.arange(1, leave + 1), (wanted - held) * flow.width * pixel)
                each.append(held * flow.width * pixel + come_in)
                held, image = wanted, image + height * ends
            return np.concatenate(each)

        sizes = (height, flow.width, flow.channels, flow.wide, kh, kw, ph, pw, sh, sw, self._outside(layer), ring, come)
        process = Process(
            f"{name}_windows",
            "window_rows",
            sizes,
            high * step,
            k,
            operators=((("compare", "int32"), 12), (("choose", "int8"), flow.wide), (("mul", "int32"), 2)),
            memories=(LocalMemory(ring * flow.width * pixel, 8 * flow.wide),),
            needs=(needs,),
            burst=come * flow.width * pixel,
        )
        return self.add(process, (fifo,), (Flow(high, result.width, taps, flow.wide),))[0]

    def _outside(self, layer: NetworkLayer) -> int:
        return iinfo(self.dtype).min if layer.kind == MAX_POOL else layer.zero_in

    def _maxima(self, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow) -> int:
        taps = layer.kernel[0] * layer.kernel[1]
        each = (taps - 1) * result.channels
        process = Process(
            f"{name}_maxima",
            "maxima",
            (taps, result.channels, result.pixels),
            result.pixels,
            k,
            operators=((("compare", "int8"), each), (("choose", "int8"), each)),
            needs=(same(result),),
        )
        return self.add(process, (fifo,), (result,))[0]

    def _products(self, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow, steps: int) -> int:
        (p, s), wide = layer.fold, self.flow(fifo).wide
        groups, cuts, pairs = layer.channels // p, wide // s, -(-p // 2)
        beats = steps // cuts
        process = Process(
            f"{name}_products",
            "products",
            (cuts, beats, groups, p, s, result.pixels),
            result.pixels * steps * groups,
            k,
            (f"W{k}", f"BEGIN{k}"),
            (
                (("pair4", "int8"), pairs * (s // 4)),
                (("pair", "int8"), pairs * (s % 4)),
                (("add", "int32"), p * -(-s // 4)),
            ),
            (LocalMemory(steps * groups, 8 * p * s), LocalMemory(groups, 64 * p)),
            (lambda n: np.repeat(np.arange(1, n * result.pixels + 1) * beats, groups),),
        )
        return self.add(process, (fifo,), (result,), "int")[0]

    def _channel_products(self, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow) -> int:
        (p, taps), channels = layer.fold, layer.channels
        groups = channels // p
        process = Process(
            f"{name}_products",
            "channel_products",
            (taps, channels, p, result.pixels),
            result.pixels * groups,
            k,
            (f"W{k}", f"BEGIN{k}"),
            ((("mul", "int8"), p * taps), (("add", "int32"), p * taps), (("choose", "int8"), taps * channels)),
            (LocalMemory(groups, 8 * p * taps + 32 * p),),
            (lambda n: np.repeat(np.arange(1, n * result.pixels + 1), groups),),
        )
        return self.add(process, (fifo,), (result,), "int")[0]

    def _requantize(self, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow, steps: int) -> int:
        """Adds the process that rounds sums; `steps` are the iterations for each sum."""
        p = layer.fold.filters
        groups = layer.channels // p
        # The fewest lanes that take no longer than the products.
        lanes = next(r for r in divisors(p) if p // r <= steps)
        each = {"to_float": 1, "add": 2, "mul": 1, "round": 1, "compare": 2, "choose": 2, "to_int": 1}
        process = Process(
            f"{name}_requantize",
            "requantize",
            (p, lanes, groups, layer.zero, layer.low, iinfo(self.dtype).max, result.beats),
            result.beats * p // lanes,
            k,
            (f"ADDED{k}", f"FACTOR{k}"),
            tuple(((operator, "float"), n * lanes) for operator, n in each.items()),
            (LocalMemory(groups * p // lanes, 64 * lanes),),
            (same(result),),
        )
        return self.add(process, (fifo,), (result,))[0]

    def _add(self, layer: NetworkLayer, k: int, name: str, inputs: Sequence[int]) -> int:
        first, second = inputs
        wide = gcd(self.flow(first).wide, self.flow(second).wide)
        first = self.regroup(f"{name}_first", first, wide, k)
        second = self.regroup(f"{name}_second", second, wide, k)
        flow = self.flow(first)
        numbers = (layer.zero_in, layer.zero_other, layer.zero, layer.low, iinfo(self.dtype).max)
        each = {"to_float": 2, "add": 4, "mul": 3, "round": 1, "compare": 2, "choose": 2, "to_int": 1}
        process = Process(
            name,
            "add",
            (wide, *numbers, flow.beats),
            flow.beats,
            k,
            tuple(f"{value.hex()}f" for value in layer.scales),
            tuple(((operator, "float"), n * wide) for operator, n in each.items()),
            needs=(same(flow), same(flow)),
        )
        return self.add(process, (first, second), (flow,))[0]

    # FIFOs that pass other processes by

    def deepen(self) -> None:
        """Sets the depths of the FIFOs behind a fork of which a join reads one branch later than the
        other, so that processes never wait for each other in a circle, and run at full speed."""
        for process in self.processes:
            if len(process.reads) < 2:
                continue
            first, second = (self._sources(fifo) for fifo in process.reads)
            fork = max(first & second)
            reads = [self._read_of(fork, fifo)[need(IMAGES) - 1] for fifo, need in zip(process.reads, process.needs)]
            for branch, sources in enumerate((first, second)):
                ahead = int((reads[1 - branch] - reads[branch]).max())
                if ahead <= 0:
                    continue
                others = (second, first)[branch]
                held = sum(LATENCY + self.processes[k].burst for k in others if k > fork)
                for fifo in self.processes[fork].writes:
                    if process.reads[branch] == fifo or any(fifo in self.processes[k].reads for k in sources):
                        self.fifos[fifo].depth = max(self.fifos[fifo].depth, ahead + 1 + DEPTH + held)

    def _sources(self, fifo: int) -> set[int]:
        """Returns the processes on which a FIFO depends."""
        found = {self.fifos[fifo].source}
        for k in range(self.fifos[fifo].source, -1, -1):
            if k in found:
                found |= {self.fifos[f].source for f in self.processes[k].reads}
        return found

    def _read_of(self, fork: int, fifo: int) -> np.ndarray:
        """Returns, for each beat of a FIFO, the beats of a fork that are read before it is written."""
        of_fork: dict[int, np.ndarray] = {f: same(self.flow(f))(IMAGES) for f in self.processes[fork].writes}
        for process in self.processes[fork + 1 : self.fifos[fifo].source + 1]:
            inputs = [(need, of_fork[f]) for f, need in zip(process.reads, process.needs) if f in of_fork]
            if inputs:
                reads = np.maximum.reduce([before[need(IMAGES) - 1] for need, before in inputs])
                for f in process.writes:
                    of_fork[f] = reads
        return of_fork[fifo]


@lru_cache(maxsize=16)
def processes_of(key: NetworkKey) -> Processes:
    """Returns the processes of a network, in topological order, with the depths of the FIFOs."""
    of = Processes(key.dtype)
    readers = [0] * len(key.layers) + [1]  # the last value's is the store
    for layer in key.layers:
        for value in layer.inputs:
            readers[value] += 1
    values = [of.fork("load", of.load(key), readers[0])]
    for k, layer in enumerate(key.layers):
        result = of.layer(layer, k, [values[value].pop() for value in layer.inputs])
        values.append(of.fork(f"{layer.kind}_{k}", result, readers[k + 1]))
    of.store(key, values[-1].pop())
    of.deepen()
    return of


def interval(key: NetworkKey) -> int:
    """Returns the iterations of the slowest process for an image."""
    return max(p.trips for p in processes_of(key).processes)


@cache
def divisors(n: int) -> tuple[int, ...]:
    """Returns the divisors of n, in order."""
    return tuple(d for d in range(1, n + 1) if n % d == 0)
