"""Folds of a network for a board: how many products each layer computes in one iteration.

Given the maximum of iterations per image, each layer gets the fold that takes the least of the
board. A search lowers that maximum step by step until the network no longer fits. In this package a
fold elsewhere is a reduction; here it is `kernels.network.Fold`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import log
from pathlib import Path
from typing import NamedTuple

from .. import dtypes
from ..boards import Board
from ..errors import graph as errors
from ..kernels.network import (
    LOADED,
    PRODUCTS,
    TEXT,
    Flow,
    Fold,
    NetworkKey,
    NetworkLayer,
    check_layer,
    fold_part,
    least_fold,
    words_of,
)
from ..kernels.network_depths import FlowFifo, Process, divisors
from ..kernels.network_parts import cuts_of
from ..kernels.network_processes import Processes, interval, processes_of
from ..terminal import table
from .area.cores import NONE, Resources
from .area.count import Counts, resources_of
from .area.fit import area, board_shares, interconnect, memory_resources, shares_text
from .group import KernelGroup

# Limits of a network's shares of a board, in the order of NAMES; the message `network_too_large`
# repeats them. The tools place no more at full clock.
SHARE = (0.70, 0.70, 0.65, 0.80, 0.80)
NO_SHARES = (0.0,) * len(SHARE)
# The factor from one number of iterations to the next that the search tries.
STEP = 0.93
# A fold is a candidate if it is at most this many times faster than needed. If there is none, all
# faster folds are.
MAX_SPEEDUP = 4
# If the cheapest folds exceed a resource, its weight is multiplied by DEARER, up to TRIES times.
DEARER, TRIES = 3, 4
ONE_BY_ONE = "products one by one"
# Limit of the parts that are tried of a network that does not fit.
MAX_PARTS = 24
# More cycles than any network takes.
MAX_CYCLES = 1 << 62


def within_limits(shares: Iterable[float]) -> bool:
    """True if each share is at most its limit in `SHARE`."""
    return all(part <= most for part, most in zip(shares, SHARE))


def fullness(shares: Iterable[float]) -> float:
    """Returns the largest share as a part of its limit in `SHARE`."""
    return max(part / most for part, most in zip(shares, SHARE))


class Folding(NamedTuple):
    """A folded network on a board, with the shares of the resources in the order of NAMES. `cuts` are
    the layers at which the kernels of a linked network begin, all but the first one, and `dies` the
    kernels' shares of their dies."""

    key: NetworkKey
    board: Board
    shares: tuple[float, ...]
    cuts: tuple[int, ...] = ()
    dies: tuple[tuple[float, ...], ...] = ()

    @property
    def fits(self) -> bool:
        """True if the network takes at most `SHARE` of each resource."""
        return within_limits(self.shares)

    @property
    def fits_dies(self) -> bool:
        """True if each kernel takes at most `SHARE` of each resource of its die."""
        return all(map(within_limits, self.dies))


def fold_network(
    key: NetworkKey, board: Board, cycles: int | None = None, given: dict[int, Fold] | None = None
) -> Folding:
    """Returns a network with folds for a board: with at most `cycles` iterations per image, else
    with as few as fit. `given` are folds of layers by index, which stay.

    Raises GraphError if the network does not fit.
    """
    given = given or {}
    if cycles is not None and (type(cycles) is not int or cycles < 1):
        raise errors.bad_cycles(cycles)
    trials = {0: _trial(key, board, MAX_CYCLES if cycles is None else cycles, given)}
    port_shares = _port_shares(key, board, trials[0])
    if cycles is not None:
        found = _folding(key, board, cycles, given, port_shares)
        if interval(found.key) > cycles:
            slow = max(processes_of(found.key).processes, key=lambda p: p.trips)
            raise errors.too_few_cycles(key.name, cycles, slow.name, interval(found.key))
        if not found.fits:
            raise _too_large(found, f"{cycles} cycles an image", cycles, given)
        return found
    # Begins with one product at a time. Each step lowers the cycles by `STEP`, which takes more of
    # the board.
    slowest = trials[0].trips
    steps = max(1, int(log(1 / slowest) / log(STEP)))

    def fits(step: int) -> bool:
        trials[step] = _trial(key, board, max(1, int(slowest * STEP**step)), given, port_shares)
        return trials[step].fits(port_shares)

    fitting, large = 0, steps + 1
    while large - fitting > 1:
        middle = (fitting + large) // 2
        fitting, large = (middle, large) if fits(middle) else (fitting, middle)
    found = Folding(key, board, plus(trials[0].shares, port_shares))
    for least in sorted(trial.trips for trial in trials.values() if trial.fits(port_shares)):
        # Layers that are faster than the slowest one may be made cheaper.
        found = _folding(key, board, least, given, port_shares)
        if found.fits:
            return found
    raise _too_large(found, ONE_BY_ONE, MAX_CYCLES, given)


def fold_with_weights(
    key: NetworkKey, board: Board, cycles: int | None, given: dict[int, Fold], weights: str | None
) -> Folding:
    """Returns `fold_network` of a network with its weights in the text, or "loaded" by launches. By
    default they are in the text if the network then fits.

    Raises ValueError for another word, and GraphError if the network does not fit.
    """
    if weights not in (None, TEXT, LOADED):
        raise errors.bad_weights(weights)
    if weights != LOADED or not key.constants:
        try:
            return fold_network(key, board, cycles, given)
        except errors.GraphError:
            if weights == TEXT or not key.constants:
                raise
    return fold_network(key.without_constants(), board, cycles, given)


def _too_large(found: Folding, least: str, cycles: int, given: dict[int, Fold]) -> errors.GraphError:
    """Returns the error for a network that does not fit; it names how many of the first layers
    would fit."""
    key, board = found.key, found.board

    def fits(count: int) -> bool:
        part = replace(key, layers=key.layers[:count])
        trial = _trial(part, board, cycles, given)
        return trial.trips <= cycles and trial.fits(_port_shares(part, board, trial))

    return errors.network_too_large(key.name, board.title, least, shares_text(found.shares), fitting_part(key, fits))


def fitting_part(key: NetworkKey, fits: Callable[[int], bool]) -> str:
    """Returns, as text, how many of a network's first layers fit a board; `fits` tells it for a number
    of layers."""
    cuts = cuts_of(key)
    # A longer part may take less: its result, which the kernel buffers once to store it, may be
    # smaller.
    tried = cuts[:: -max(1, -(-len(cuts) // MAX_PARTS))]
    count = next((cut for cut in tried if fits(cut)), 0)
    return f"its first {count} layers do, up to {layer_names(key)[count - 1]}" if count else "no part of it does"


class _Trial(NamedTuple):
    """A choice of folds: the iterations of the slowest process, and the shares of the board that
    the layers take, without ports and without FIFOs that bypass layers."""

    folds: tuple[Fold, ...]
    trips: int
    shares: tuple[float, ...]

    def fits(self, port_shares: tuple[float, ...] = NO_SHARES) -> bool:
        """True if the network takes at most `SHARE` of each resource, `port_shares` included."""
        return within_limits(plus(self.shares, port_shares))


def plus(some: Sequence[float], others: Sequence[float]) -> tuple[float, ...]:
    """Returns the element-wise sum of shares."""
    return tuple(a + b for a, b in zip(some, others))


def _port_shares(key: NetworkKey, board: Board, trial: _Trial) -> tuple[float, ...]:
    """Returns the shares that a `_Trial` omits: ports, control, and FIFOs that bypass layers. They
    hardly depend on the folds."""
    takes = area(KernelGroup("network", (key.folded(trial.folds),))).whole
    return tuple(max(0.0, a - b) for a, b in zip(board_shares(takes, board), trial.shares))


def _trial(
    key: NetworkKey, board: Board, cycles: int, given: dict[int, Fold], port_shares: tuple[float, ...] = NO_SHARES
) -> _Trial:
    """Returns the cheapest fold of each layer that takes at most `cycles` iterations, else the
    layer's fastest; `given` folds stay."""
    weights = (1.0,) * len(SHARE)
    trials = []
    for _ in range(TRIES):
        trials.append(_weighted_trial(key, board, cycles, given, weights))
        if trials[-1].fits(port_shares):
            break
        over = [part > most for part, most in zip(plus(trials[-1].shares, port_shares), SHARE)]
        weights = tuple(weight * (DEARER if much else 1) for weight, much in zip(weights, over))
    return min(trials, key=lambda trial: fullness(plus(trial.shares, port_shares)))


def _weighted_trial(
    key: NetworkKey, board: Board, cycles: int, given: dict[int, Fold], weights: tuple[float, ...]
) -> _Trial:
    folds: list[Fold] = []
    processes = Processes(key.dtype, key.loaded)
    if key.loaded:
        processes.load_weights(words_of(key))
    values = [processes.load(key)]
    for k, layer in enumerate(key.layers):
        inputs = [values[value] for value in layer.inputs]
        fold = given.get(k, Fold(1, 1))
        if k not in given and layer.kind in PRODUCTS:
            fold = _Prices(key.dtype.name, key.loaded, board, cycles, weights).cheapest(
                layer, processes.flow(inputs[0])
            )
        folds.append(fold)
        values.append(processes.layer(replace(layer, fold=fold), k, inputs))
    processes.balance()
    takes = sum((process_resources(p) for p in processes.processes), NONE)
    takes = sum((memory_resources(f.memory) for f in processes.fifos), takes)
    return _Trial(tuple(folds), max(p.trips for p in processes.processes), board_shares(takes, board))


def _folding(
    key: NetworkKey, board: Board, cycles: int, given: dict[int, Fold], port_shares: tuple[float, ...]
) -> Folding:
    """Returns the network with the folds of `_trial`."""
    folded = key.folded(_trial(key, board, cycles, given, port_shares).folds)
    takes = area(KernelGroup("network", (folded,))).whole
    return Folding(folded, board, board_shares(takes, board))


class _Prices(NamedTuple):
    """The cost of folds on a board; `weights` has the weight of each of its resources."""

    dtype: str
    loaded: bool
    board: Board
    cycles: int
    weights: tuple[float, ...]

    def cheapest(self, layer: NetworkLayer, flow: Flow) -> Fold:
        """Returns the fold of a layer with the smallest weighted sum of shares among those that
        take at most `cycles`; the fastest if none does. `flow` is the layer's input."""
        all_folds = _folds(layer, flow._replace(wide=1))
        # Folds with far more products than needed cost more.
        candidates = [fold for trips, fold in all_folds if self.cycles // MAX_SPEEDUP <= trips <= self.cycles]
        candidates = candidates or [fold for trips, fold in all_folds if trips <= max(all_folds[0][0], self.cycles)]
        best = min(self._priced(layer, candidates, flow))
        if best[0] > self.cycles:
            best = min(self._priced(layer, [fold for _, fold in all_folds], flow))
        return best[2]

    def _priced(self, layer: NetworkLayer, folds: Iterable[Fold], flow: Flow) -> Iterator[tuple[int, float, Fold]]:
        for fold in folds:
            trips, shares = _price(replace(layer, fold=fold), flow, self.dtype, self.loaded, self.board)
            cost = sum(weight * part for weight, part in zip(self.weights, shares))
            yield max(trips, self.cycles), cost, fold


@lru_cache(maxsize=1 << 14)
def _price(
    layer: NetworkLayer, flow: Flow, dtype_name: str, loaded: bool, board: Board
) -> tuple[int, tuple[float, ...]]:
    """Returns (iterations for an image, shares of a board) of a layer with its fold."""
    alone = Processes(getattr(dtypes, dtype_name), loaded)
    alone.fifos.append(FlowFifo("input", flow, "T", -1))
    alone.layer(layer, 0, (0,))
    takes = sum((process_resources(p) for p in alone.processes), NONE)
    return max(p.trips for p in alone.processes), board_shares(takes, board)


@lru_cache(maxsize=1 << 10)
def _folds(layer: NetworkLayer, flow: Flow) -> tuple[tuple[int, Fold], ...]:
    """Returns (iterations of the products for an image, fold) of each possible fold, the fastest
    first."""
    products = layer.result(flow).pixels * layer.depth(flow) * layer.channels
    return tuple(sorted((products // (fold.filters * fold.factors), fold) for fold in folds_of(layer, flow)))


def process_resources(process: Process) -> Resources:
    """Returns the resources of a process, without its FIFOs."""
    takes = interconnect(resources_of(Counts(dict(process.operators))))
    return sum((memory_resources(m) for m in process.memories), takes)


def folds_of(layer: NetworkLayer, flow: Flow) -> Iterator[Fold]:
    """Yields the possible folds of a layer with weights, where `flow` is its input."""
    least = least_fold(layer, flow)
    factors = divisors(fold_part(layer, flow)) if least.factors == 1 else (least.factors,)
    for p in divisors(layer.channels):
        for s in factors:
            fold = Fold(p, s)
            if not check_layer(replace(layer, fold=fold), flow):
                yield fold


def given_folds(key: NetworkKey, fold: Mapping[str, tuple[int, int]] | None) -> dict[int, Fold]:
    """Returns the folds that a user names, by the layer's index. Raises ValueError for an unknown
    layer, and for a fold that the layer does not have."""
    folds: dict[int, Fold] = {}
    names = layer_names(key)
    for name, pair in (fold or {}).items():
        if name not in names:
            raise errors.no_such_layer(key.name, name, ", ".join(names))
        k = names.index(name)
        try:
            folds[k] = Fold(*map(int, pair))
        except (TypeError, ValueError):
            raise errors.bad_fold(name, pair, "it is no pair of integers") from None
        if min(folds[k]) < 1 or (why := check_layer(replace(key.layers[k], fold=folds[k]), key.image_of(k))):
            raise errors.bad_fold(name, pair, why if min(folds[k]) > 0 else "its numbers are positive")
    return folds


def layer_names(key: NetworkKey) -> tuple[str, ...]:
    """Returns the names of the layers in reports and in `fold`."""
    return tuple(f"{layer.kind}_{k}" for k, layer in enumerate(key.layers))


def report(found: Folding, lines: Sequence[str]) -> str:
    """Returns a table of a network's layers on a board; `lines` are those of the user's program."""
    key, board = found.key, found.board
    clock, slowest, names = board.clock.value, interval(key), layer_names(key)
    processes = processes_of(key).processes
    head = ("layer", "shape", "fold", "cycles", "LUT", "DSP", "BRAM")
    rows: list[tuple[object, ...]] = [(*head, *("URAM",) * key.loaded, "line")]
    for k, layer in enumerate(key.layers):
        mine = [p for p in processes if p.layer == k]
        takes = sum((process_resources(p) for p in mine), NONE)
        cycles = max(p.trips for p in mine)
        before, after = key.image_of(k), key.flows[k + 1]
        shape = f"{_sizes(before)} > {_sizes(after)}"
        fold = f"{layer.fold.filters} x {layer.fold.factors}" if layer.kind in PRODUCTS else ""
        mark = " *" if cycles == slowest else ""
        costs = (f"{takes.lut:,.0f}", f"{takes.dsp:,.0f}", f"{takes.bram:g}", *(f"{takes.uram:g}",) * key.loaded)
        rows.append((names[k], shape, fold, f"{cycles:,}{mark}", *costs, _place(lines[k])))
    slow = next(p.name for p in processes if p.trips == slowest)
    where = "loaded by launches" if key.loaded else "in the text"
    return "\n".join(
        [
            f"{key.name} on the {board.title} at {clock:g} MHz: {slowest:,} cycles an image,"
            f" {clock * 1e6 / slowest:,.0f} images/s",
            table(rows),
            f"* as slow as {slow}, the slowest process",
            f"in all {shares_text(found.shares)}; weights {key.constants_size:,} bytes, {where}",
        ]
    )


def _place(line: str) -> str:
    """Returns "FILE:NUMBER" of a line "FOLDER/FILE:NUMBER: TEXT"."""
    path, _, rest = line.partition(":")
    return f"{Path(path).name}:{rest.partition(':')[0]}"


def _sizes(flow: Flow) -> str:
    return f"{flow.channels} x {flow.height} x {flow.width}"
