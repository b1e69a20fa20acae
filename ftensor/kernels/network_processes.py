"""Processes of a network's kernel (hls/vitis/network.h), and the FIFOs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import gcd

import numpy as np

from ..dtypes import dtype, float32, int32
from ..dtypes.limits import iinfo
from . import network, network_float
from .network import ADD, CAT, DEPTHWISE, LINEAR, MAX_POOL, POOLS, SOFTMAX, Flow, NetworkKey, NetworkLayer
from .network_depths import PROCESS_LATENCY, FlowFifo, Operators, Process, deepen, divisors, parts_of, same
from .network_windows import window_rows, windows
from .workload import LocalMemory

WORDS_DEPTH = 2  # of the FIFOs of loaded weights, in words
# Block RAMs per UltraRAM of a chip, about the same on all boards that have UltraRAM.
URAM_BRAMS = 2.1
MAX_LUTRAM_WORDS = 32  # a smaller memory takes LUTs
# Operators of one rounding of a sum to an element in float32.
ROUNDING = {"to_float": 1, "add": 2, "mul": 1, "round": 1, "compare": 2, "choose": 2, "to_int": 1}


class Processes:
    """Processes in topological order, and their FIFOs. Methods that add a process take and return
    indices of FIFOs. Loaded weights pass through all processes that keep some of them. The FIFOs
    `entering` and `leaving` connect the processes with those of other kernels."""

    def __init__(self, element: dtype, loaded: bool = False) -> None:
        self.dtype, self.loaded = element, loaded
        self.words: int | None = None  # the FIFO of the words for later processes
        self.processes: list[Process] = []
        self.fifos: list[FlowFifo] = []
        self.entering: list[int] = []
        self.leaving: list[int] = []

    def add(
        self, process: Process, inputs: Sequence[int], flows: Sequence[Flow], element: str = "T"
    ) -> tuple[int, ...]:
        """Adds a process that reads the FIFOs `inputs`. Returns the indices of the FIFOs that it
        writes, one for each of `flows`."""
        first, number = len(self.fifos), len(self.processes)
        for k, flow in enumerate(flows):
            name = f"from_{process.name}" + (f"_{k}" if len(flows) > 1 else "")
            self.fifos.append(FlowFifo(name, flow, element, number))
        writes = tuple(range(first, len(self.fifos)))
        self.processes.append(replace(process, reads=tuple(inputs), writes=writes))
        return writes

    @property
    def inner_fifos(self) -> list[FlowFifo]:
        """The FIFOs that no other kernel reads or writes."""
        return [fifo for k, fifo in enumerate(self.fifos) if k not in (*self.entering, *self.leaving)]

    def flow(self, fifo: int) -> Flow:
        """Returns the flow of a FIFO."""
        return self.fifos[fifo].flow

    # Loaded weights

    def load_weights(self, words: int) -> None:
        """Adds the process that reads `words` words of weights."""
        process = Process("weights", "load_weights", (words,), 1, passed=("in_1_offset",), typed=False)
        self.processes.append(replace(process, loads=(self._more_words("weights"),)))

    def end_weights(self, passes: bool) -> None:
        """Adds the process that reads the rest of the words, and `passes` them to another kernel or not."""
        assert self.words is not None
        loads = (self.words, self._more_words("words")) if passes else (self.words,)
        function = "pass_all_weights" if passes else "end_weights"
        self.processes.append(Process(function, function, (), 1, loads=loads, typed=False))

    def balance(self) -> None:
        """Puts FIFOs that fill UltraRAM well there. Then moves these and loaded weights to block RAM
        while that lowers the larger of their two shares: first those that fill UltraRAM least."""
        for fifo in self.inner_fifos:
            fifo.uram = self.placed(fifo.memory).uram
        memories = [m for p in self.processes for m in p.memories] + [f.memory for f in self.inner_fifos]
        uram = sum(m.ultra_rams for m in memories if m.uram)
        bram = sum(m.block_rams for m in memories if not m.uram and m.words > MAX_LUTRAM_WORDS)
        movable: list[tuple[LocalMemory, Process | FlowFifo]] = []
        movable += [(p.memories[0], p) for p in self.processes if p.memories and p.memories[0].uram]
        movable += [(f.memory, f) for f in self.inner_fifos if f.uram]
        for memory, user in sorted(movable, key=lambda one: one[0].block_rams / one[0].ultra_rams):
            after = (uram - memory.ultra_rams) * URAM_BRAMS, bram + memory.block_rams
            if max(after) >= max(uram * URAM_BRAMS, bram):
                continue
            uram, bram = uram - memory.ultra_rams, bram + memory.block_rams
            if isinstance(user, FlowFifo):
                user.uram = False
                continue
            function, words = user.function.replace("uram", "loaded"), memory._replace(uram=False)
            moved = replace(user, function=function, memories=(words, *user.memories[1:]))
            self.processes[self.processes.index(user)] = moved

    def _more_words(self, name: str) -> int:
        self.fifos.append(FlowFifo(f"words_from_{name}", Flow(1, 1, 2, 2), "int", len(self.processes), WORDS_DEPTH))
        self.words = len(self.fifos) - 1
        return self.words

    @staticmethod
    def placed(words: LocalMemory) -> LocalMemory:
        """Returns a memory of loaded weights in block RAM or UltraRAM, whichever takes the smaller
        share."""
        return words._replace(uram=words.block_rams > URAM_BRAMS * words.ultra_rams)

    def keeping(self, process: Process, k: int, function: str, memories: Sequence[LocalMemory]) -> Process:
        """Returns a process that keeps a layer's loaded weights, instead of `process`, which reads
        tables."""
        loads = (*(() if self.words is None else (self.words,)), self._more_words(process.name))
        return replace(
            process, function=function, sizes=(k, *process.sizes), passed=(), memories=tuple(memories), loads=loads
        )

    # Ports

    def enter(self, name: str, flow: Flow, element: str = "T", depth: int = FlowFifo.depth) -> int:
        """Returns a new FIFO that another kernel writes."""
        self.fifos.append(FlowFifo(name, flow, element, -1, depth))
        self.entering.append(len(self.fifos) - 1)
        return self.entering[-1]

    def load(self, key: NetworkKey) -> int:
        """Adds the process that reads images."""
        c, h, w = key.image
        flow, lanes = key.flows[0], key.lanes
        if c == 1 or h * w == 1:
            shifts = ((("choose", self.dtype_name), lanes),)
            process = Process("load", "load_line", (lanes, flow.wide, flow.elements), flow.beats, operators=shifts)
        elif h * w % lanes == 0 and c <= lanes:
            shifts = ((("choose", self.dtype_name), 3 * lanes * c),)
            process = Process("load", "load_pixels", (lanes, c, h * w), flow.pixels, operators=shifts)
        else:
            # Selecting an element of a plane's beat takes a choice per element of the beat.
            chosen = ((("choose", self.dtype_name), lanes * c),)
            process = Process("load", "load_planes", (lanes, c, h * w), flow.elements, operators=chosen)
        process = replace(process, passed=("in_0_offset",))
        return self.add(process, (), (flow,))[0]

    def store(self, key: NetworkKey, fifo: int) -> None:
        """Adds the processes that write results."""
        flow, lanes = self.flow(fifo), key.lanes
        if flow.pixels > 1 and flow.channels > 1:
            fifo = self.regroup("result", fifo, flow.channels)
            planes = Flow(flow.channels, flow.pixels, 1, 1, flow.bits)
            memory = LocalMemory(2 * flow.pixels, flow.bits, flow.channels)
            chosen = ((("choose", self.dtype_name), flow.channels),)
            process = Process(
                "planes", "planes", (flow.channels, flow.pixels), flow.elements, operators=chosen, memories=(memory,)
            )
            (fifo,) = self.add(process, (fifo,), (planes,))
        fifo = self.regroup("result", fifo, gcd(self.flow(fifo).wide, lanes))
        flow = self.flow(fifo)
        shifts = ((("choose", self.dtype_name), lanes),)
        sizes = (lanes, flow.wide, flow.elements)
        self.add(
            Process("store", "store_line", sizes, flow.beats, passed=("out0_offset",), operators=shifts), (fifo,), ()
        )

    def regroup(self, name: str, fifo: int, wide: int, layer: int = -1) -> int:
        """Adds processes that change the beats to `wide` channels: first split to the greatest
        common divisor, then joined. Adds none if the beats already have `wide` channels."""
        flow = self.flow(fifo)
        least = gcd(flow.wide, wide)
        if flow.wide != least:
            many, narrow = flow.wide // least, flow._replace(wide=least)
            needs = lambda n: np.arange(n * narrow.beats) // many + 1  # noqa: E731
            shifts = ((("choose", self.dtype_name), flow.wide),)
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
        """Adds processes that copy a flow to several readers. Returns a FIFO for each."""
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
        if layer.kind == CAT:
            return self._cat(layer, k, name, inputs)
        (fifo,) = inputs
        if layer.kind == SOFTMAX:
            return network_float.softmax(self, k, name, self.regroup(name, fifo, 1, k))
        fifo = self.regroup(name, fifo, self._width(layer, self.flow(fifo)), k)
        flow = self.flow(fifo)
        result = layer.result(flow)
        if layer.of_all(flow):
            if self.is_float:
                return network_float.image_averages(self, layer, k, name, fifo, result)
            return self._image_averages(layer, k, name, fifo, result)
        if layer.kind != LINEAR and not layer.plain:
            add_windows = window_rows if layer.in_rows(flow) else windows
            fifo = add_windows(self, layer, k, name, fifo)
        if layer.kind in POOLS:
            return self._pool(layer, k, name, fifo, result._replace(wide=flow.wide))
        if layer.kind == DEPTHWISE:
            sums = self.channel_products(layer, k, name, fifo, result)
            return sums if self.is_float else self._requantize(layer, k, name, sums, result, 1)
        if self.is_float:
            return network_float.products(self, layer, k, name, fifo, result)
        steps = layer.depth(flow) // layer.fold.factors
        return self._requantize(layer, k, name, self._products(layer, k, name, fifo, result, steps), result, steps)

    def _width(self, layer: NetworkLayer, flow: Flow) -> int:
        """Returns the channels of a beat that a layer with one input reads."""
        taps, (p, s) = layer.kernel[0] * layer.kernel[1], layer.fold
        if layer.kind in POOLS:
            most = flow.max_window if layer.of_all(flow) else flow.max_window // taps
            possible = [wide for wide in divisors(flow.wide) if wide <= most]
            return next((wide for wide in possible if flow.elements // wide <= self.slowest), possible[-1])
        if layer.kind == DEPTHWISE:
            # Strided windows are fewer than pixels, so beats with that many more channels balance
            # both processes.
            wides = [wide for wide in divisors(flow.channels) if wide % p == 0 and taps * wide <= flow.max_window]
            return next((wide for wide in wides if wide >= p * layer.stride[0] * layer.stride[1]), wides[-1])
        in_parts = layer.kind == LINEAR or layer.in_rows(flow)
        in_parts |= layer.plain and flow.bits * flow.channels > network.MAX_BITS
        if not in_parts:
            return flow.channels
        return flow.wide if flow.wide % s == 0 and not layer.in_rows(flow) else s

    @property
    def slowest(self) -> int:
        """Returns the iterations of the slowest process so far."""
        return max((p.trips for p in self.processes), default=0)

    def outside(self, layer: NetworkLayer) -> int:
        """Returns the pixels around a layer's images; for float32 the least int32 means -infinity."""
        if layer.kind != MAX_POOL:
            return layer.zero_in
        return iinfo(int32 if self.is_float else self.dtype).min

    @property
    def is_float(self) -> bool:
        """True for a network of float32."""
        return self.dtype is float32

    @property
    def dtype_name(self) -> str:
        """The dtype of the operators on elements, for the area model."""
        return "float" if self.is_float else "int8"

    def _pool(self, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow) -> int:
        """Adds the process of a pool after its windows."""
        taps, wide = layer.kernel[0] * layer.kernel[1], result.wide
        count = (taps - 1) * wide
        if layer.kind == MAX_POOL:
            operators = {("compare", self.dtype_name): count, ("choose", self.dtype_name): count}
            process = Process(f"{name}_maxima", "maxima", (taps, wide, result.beats), result.beats, k)
        else:
            operators = {("add", "float"): count, ("mul", "float"): wide}
            if not self.is_float:
                operators = {("add", "int32"): count} | {(what, "float"): n * wide for what, n in ROUNDING.items()}
            sizes, passed = self._average_arguments(layer)
            sizes = (taps, wide, *sizes, result.beats)
            latency = network_float.sum_latency(taps) if self.is_float else PROCESS_LATENCY
            process = Process(f"{name}_averages", "averages", sizes, result.beats, k, passed, latency=latency)
        process = replace(process, operators=tuple(operators.items()), needs=(same(result),))
        return self.add(process, (fifo,), (result,))[0]

    def _image_averages(self, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow) -> int:
        """Adds the process of means of whole images."""
        flow = self.flow(fifo)
        parts, wide = flow.channels // flow.wide, flow.wide
        sizes, passed = self._average_arguments(layer)
        process = Process(
            f"{name}_averages",
            "image_averages",
            (flow.pixels, parts, wide, *sizes),
            flow.beats,
            k,
            passed,
            ((("add", "int32"), wide), *(((what, "float"), n * wide) for what, n in ROUNDING.items())),
            (LocalMemory(parts, 32 * wide),),
            (lambda n: (np.arange(1, n + 1)[:, None] * flow.beats - np.arange(parts)[::-1]).ravel(),),
        )
        return self.add(process, (fifo,), (result._replace(wide=wide),))[0]

    def _average_arguments(self, layer: NetworkLayer) -> tuple[tuple[int, ...], tuple[str, ...]]:
        passed = tuple(f"{scale.hex()}f" for scale in layer.scales)
        limits = (0, 0) if self.is_float else layer.limits(self.dtype)
        return (layer.zero_in, layer.zero, *limits), passed

    def _products(self, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow, steps: int) -> int:
        (p, s), wide = layer.fold, self.flow(fifo).wide
        groups, cuts, pairs = layer.channels // p, wide // s, -(-p // 2)
        beats = steps // cuts
        process = Process(
            f"{name}_products",
            "products",
            (cuts, beats, groups, p, s, result.pixels, p if self.loaded else 1),
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
        if self.loaded:
            words = self.placed(LocalMemory(steps * groups, 8 * s, p))
            memories = (words, LocalMemory(groups, 64 * p))
            process = self.keeping(process, k, "uram_products" if words.uram else "loaded_products", memories)
        return self.add(process, (fifo,), (result,), "int")[0]

    def channel_products(self, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow) -> int:
        """Adds the process of a depthwise layer, after its windows. Returns the FIFO of its sums, which
        are the results for float32."""
        # Windows have `taps` times the channels of a beat.
        (p, taps), wide, bits = layer.fold, self.flow(fifo).wide, 32 if self.is_float else 8
        wide = wide if layer.plain else wide // taps
        parts, groups, relu = wide // p, layer.channels // p, layer.relu if self.is_float else 0
        operators: Operators = ((("mac", "int8"), p * taps), (("choose", self.dtype_name), taps * wide))
        if self.is_float:
            operators = network_float.product_operators(p * taps, relu, p, taps * wide)
        process = Process(
            f"{name}_products",
            "channel_products",
            (taps, wide, p, groups, result.pixels, relu),
            result.pixels * groups,
            k,
            (f"W{k}", f"BEGIN{k}"),
            operators,
            (LocalMemory(groups, bits * p * taps + 32 * p),),
            (lambda n: np.repeat(np.arange(1, n * result.beats // parts + 1), parts),),
            latency=network_float.product_latency(taps) if self.is_float else PROCESS_LATENCY,
        )
        if self.loaded:
            memories = (LocalMemory(groups, bits * taps, p), LocalMemory(groups, 32 * p))
            process = self.keeping(process, k, "loaded_channel_products", memories)
        return self.add(process, (fifo,), (result,), "T" if self.is_float else "int")[0]

    def _requantize(self, layer: NetworkLayer, k: int, name: str, fifo: int, result: Flow, steps: int) -> int:
        """Adds the process that rounds sums; `steps` is the iterations per sum."""
        p = layer.fold.filters
        groups = layer.channels // p
        # The fewest lanes that are no slower than the products.
        lanes = next(r for r in divisors(p) if p // r <= steps)
        process = Process(
            f"{name}_requantize",
            "requantize",
            (p, lanes, groups, layer.zero, *layer.limits(self.dtype), result.beats),
            result.beats * p // lanes,
            k,
            (f"ADDED{k}", f"FACTOR{k}"),
            tuple(((operator, "float"), n * lanes) for operator, n in ROUNDING.items()),
            (LocalMemory(groups * p // lanes, 64 * lanes),),
            (same(result),),
        )
        if self.loaded:
            process = self.keeping(process, k, "loaded_requantize", process.memories)
        # Sums come in bursts of all filters, which leave at the pace of the lanes.
        burst = groups - groups * lanes // p
        self.fifos[fifo].depth = max(self.fifos[fifo].depth, burst + 2)
        return self.add(process, (fifo,), (result,))[0]

    def _common(self, k: int, name: str, inputs: Sequence[int], channels: int) -> list[int]:
        """Returns FIFOs with beats of one width, a divisor of `channels`: the smallest that is no
        slower than the processes before, else the fastest."""
        flows = [self.flow(fifo) for fifo in inputs]

        def trips(wide: int) -> int:
            return max(
                sum(f.elements for f in flows) // len(flows) // wide, *(f.elements // gcd(f.wide, wide) for f in flows)
            )

        possible = [wide for wide in divisors(channels) if flows[0].bits * wide <= network.MAX_BITS]
        wide = min(possible, key=lambda wide: (max(trips(wide), self.slowest), wide))
        return [self.regroup(f"{name}_{i}", fifo, wide, k) for i, fifo in enumerate(inputs)]

    def _cat(self, layer: NetworkLayer, k: int, name: str, inputs: Sequence[int]) -> int:
        """Adds a process for each input but the first, which appends its channels to those
        before."""
        flows = [self.flow(fifo) for fifo in inputs]
        result, *rest = self._common(k, name, inputs, gcd(*[f.channels for f in flows]))
        scales, zeros = layer.scales, layer.zeros
        if self.is_float:
            scales, zeros = (1.0,) * (len(inputs) + 1), (0,) * len(inputs)
        inverse, limits = scales[-1], (0, 0) if self.is_float else (iinfo(self.dtype).min, iinfo(self.dtype).max)
        # Rounding moves no element if only the last bits of float32 tell the scales apart.
        kept = [abs(scale * inverse - 1) < 2**-20 and zero == layer.zero for scale, zero in zip(scales, zeros)]
        for i, fifo in enumerate(rest, 1):
            before, after = self.flow(result), self.flow(fifo)
            flow = before._replace(channels=before.channels + after.channels)
            first, second, wide = before.channels // flow.wide, after.channels // flow.wide, flow.wide
            # Channels that an earlier process has appended are rounded already.
            same_scales = (int(kept[0] if i == 1 else True), int(kept[i]))
            sizes = (wide, first, second, *same_scales, zeros[0], zeros[i], layer.zero)
            operators = {"to_float": 1, "add": 2, "mul": 2, "round": 1, "compare": 2, "choose": 4, "to_int": 1}
            lanes = 0 if all(same_scales) else wide
            process = Process(
                f"{name}_{i}",
                "concatenate",
                (*sizes, *limits, flow.pixels),
                flow.beats,
                k,
                tuple(f"{value.hex()}f" for value in (scales[0], scales[i], inverse)),
                (
                    *(((operator, "float"), n * lanes) for operator, n in operators.items()),
                    (("choose", self.dtype_name), wide),
                ),
                needs=(
                    parts_of(flow.pixels, first, 0, first + second),
                    parts_of(flow.pixels, second, first, first + second),
                ),
            )
            (result,) = self.add(process, (result, fifo), (flow,))
        return result

    def _add(self, layer: NetworkLayer, k: int, name: str, inputs: Sequence[int]) -> int:
        first, second = self._common(k, name, inputs, layer.channels)
        if self.is_float:
            return network_float.add(self, layer, k, name, first, second)
        flow = self.flow(first)
        wide = flow.wide
        numbers = (layer.zero_in, layer.zero_other, layer.zero, *layer.limits(self.dtype))
        operators = {"to_float": 2, "add": 4, "mul": 3, "round": 1, "compare": 2, "choose": 2, "to_int": 1}
        counts = tuple(((operator, "float"), n * wide) for operator, n in operators.items())
        scales = tuple(f"{value.hex()}f" for value in layer.scales)
        arguments, needs = (wide, *numbers, flow.beats), (same(flow), same(flow))
        process = Process(name, "add", arguments, flow.beats, k, scales, counts, needs=needs)
        return self.add(process, (first, second), (flow,))[0]


@lru_cache(maxsize=16)
def processes_of(key: NetworkKey) -> Processes:
    """Returns the processes of a network, in topological order, with the depths of the FIFOs."""
    return part_processes(key, network.words_of(key))


def part_processes(key: NetworkKey, words: int, wide: int = 0, stores: bool = True) -> Processes:
    """Returns the processes of a network whose images come from another kernel, `wide` channels in a
    beat (0: from memory), and whose results go to another kernel unless it `stores` them. `words` are
    those of loaded weights that it reads from memory."""
    processes = Processes(key.dtype, key.loaded)
    if wide:
        images = processes.enter("images", key.flows[0]._replace(wide=wide))
        if key.loaded:
            processes.words = processes.enter("words", Flow(1, 1, 2, 2), "int", WORDS_DEPTH)
    else:
        if key.loaded:
            processes.load_weights(words)
        images = processes.load(key)
    readers = [0] * len(key.layers) + [1]  # the last value's is the store
    for layer in key.layers:
        for value in layer.inputs:
            readers[value] += 1
    values = [processes.fork("load", images, readers[0])]
    for k, layer in enumerate(key.layers):
        result = processes.layer(layer, k, [values[value].pop() for value in layer.inputs])
        values.append(processes.fork(f"{layer.kind}_{k}", result, readers[k + 1]))
    if stores:
        processes.store(key, values[-1].pop())
    else:
        processes.leaving.append(values[-1].pop())
    if key.loaded and (stores or processes.words in processes.entering):
        processes.end_weights(passes=not stores)
    if processes.words is not None and not stores:
        processes.leaving.append(processes.words)
    deepen(processes.processes, processes.fifos)
    processes.balance()
    return processes


def interval(key: NetworkKey) -> int:
    """Returns the iterations of the slowest process for an image."""
    return max(p.trips for p in processes_of(key).processes)
