"""Folds of a network for a board: how many products each layer computes in one iteration.

Given the most iterations for an image, each layer gets the fold that takes the least of the board.
The fewest iterations that fit are found by lowering that number step by step. In this package a
fold elsewhere is a reduction; here it is `kernels.network.Fold`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..boards import Board
from ..errors import graph as errors
from ..kernels.network import PRODUCTS, Flow, Fold, NetworkKey, NetworkLayer, check_layer, fold_part, least_fold
from ..kernels.network_processes import FlowFifo, Process, Processes, divisors, interval, processes_of
from ..terminal import table
from .area.cores import NAMES, NONE, Resources
from .area.count import Counts, resources_of
from .area.fit import area, board_shares, interconnect, memory_resources
from .group import KernelGroup

# Shares of a board that a network takes at most, in the order of NAMES; the message
# `network_too_large` repeats them. The tools place no more at full clock.
SHARE = (0.70, 0.70, 0.65, 0.80)
# The next number of iterations, as a part of the one before.
STEP = 0.93


class Folding(NamedTuple):
    """A folded network on a board, with the shares of the resources in the order of NAMES."""

    key: NetworkKey
    board: Board
    shares: tuple[float, ...]

    @property
    def fits(self) -> bool:
        """True if the network takes at most `SHARE` of each resource."""
        return all(part <= most for part, most in zip(self.shares, SHARE))


def fold_network(
    key: NetworkKey, board: Board, cycles: int | None = None, given: dict[int, Fold] | None = None
) -> Folding:
    """Returns a network with folds for a board: with at most `cycles` iterations for an image, else
    with as few as fit. `given` are the folds of layers by index.

    Raises GraphError if the network does not fit.
    """
    given = given or {}
    if cycles is not None and (type(cycles) is not int or cycles < 1):
        raise errors.bad_cycles(cycles)
    if cycles is not None:
        found = _folding(key, board, cycles, given)
        if interval(found.key) > cycles:
            slow = max(processes_of(found.key).processes, key=lambda p: p.trips)
            raise errors.too_few_cycles(key.name, cycles, slow.name, interval(found.key))
        if not found.fits:
            raise errors.network_too_large(key.name, board.title, _said(found), f"{cycles} cycles an image")
        return found
    best: Folding | None = None
    wanted = interval(key)
    while True:
        found = _folding(key, board, wanted, given)
        if found.fits and (best is None or interval(found.key) < interval(best.key)):
            best = found
        if not found.fits and best is not None:
            return best
        least = max(p.trips for p in processes_of(found.key).processes)
        if best is None and least >= wanted and not found.fits:
            raise errors.network_too_large(key.name, board.title, _said(found), "products one by one")
        if wanted < least * STEP * STEP:  # no fold makes the slowest process faster
            return best or found
        wanted = int(min(wanted, least) * STEP)


def _said(found: Folding) -> str:
    return ", ".join(f"{name.upper()} {part:.0%}" for name, part in zip(NAMES, found.shares))


def _folding(key: NetworkKey, board: Board, cycles: int, given: dict[int, Fold]) -> Folding:
    """Returns the network with the cheapest fold of each layer that takes at most `cycles` iterations,
    else with the layer's fastest; `given` folds stay."""
    folds: list[Fold] = []
    flows = [key.flows[0]]
    for k, layer in enumerate(key.layers):
        flow = flows[layer.inputs[0]]
        if k in given:
            folds.append(given[k])
        elif layer.kind in PRODUCTS:
            folds.append(_cheapest(key, k, flow, board, cycles))
        else:
            folds.append(Fold(1, 1))
        flows.append(replace(layer, fold=folds[-1]).result(flow))
    folded = key.folded(folds)
    takes = area(KernelGroup("network", (folded,))).whole
    return Folding(folded, board, board_shares(takes, board))


def _cheapest(key: NetworkKey, k: int, flow: Flow, board: Board, cycles: int) -> Fold:
    """Returns the fold of layer k with the least sum of shares among those that take at most
    `cycles`; the fastest if none does."""
    candidates = []
    for fold in folds_of(key.layers[k], flow):
        trips, cost = _price(key, k, fold, flow, board)
        candidates.append((max(trips, cycles), cost, fold))
    return min(candidates)[2]


_prices: dict[tuple[object, ...], tuple[int, float]] = {}


def _price(key: NetworkKey, k: int, fold: Fold, flow: Flow, board: Board) -> tuple[int, float]:
    """Returns (iterations for an image, sum of the shares of a board) of layer k with a fold, where
    `flow` is its input."""
    layer = replace(key.layers[k], fold=fold)
    at = layer, flow, key.dtype.name, board.name
    if at not in _prices:
        alone = Processes(key.dtype)
        alone.fifos.append(FlowFifo("input", flow, "T", -1))
        alone.layer(layer, k, (0,))
        takes = sum((process_resources(p) for p in alone.processes), NONE)
        _prices[at] = max(p.trips for p in alone.processes), sum(board_shares(takes, board))
    return _prices[at]


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
    rows: list[tuple[object, ...]] = [("layer", "shape", "fold", "cycles", "LUT", "DSP", "BRAM", "line")]
    for k, layer in enumerate(key.layers):
        mine = [p for p in processes if p.layer == k]
        takes = sum((process_resources(p) for p in mine), NONE)
        cycles = max(p.trips for p in mine)
        before, after = key.image_of(k), key.flows[k + 1]
        shape = f"{_sizes(before)} > {_sizes(after)}"
        fold = f"{layer.fold.filters} x {layer.fold.factors}" if layer.kind in PRODUCTS else ""
        mark = " *" if cycles == slowest else ""
        costs = (f"{takes.lut:,.0f}", f"{takes.dsp:,.0f}", f"{takes.bram:g}")
        rows.append((names[k], shape, fold, f"{cycles:,}{mark}", *costs, _place(lines[k])))
    slow = next(p.name for p in processes if p.trips == slowest)
    return "\n".join(
        [
            f"{key.name} on the {board.title} at {clock:g} MHz: {slowest:,} cycles an image,"
            f" {clock * 1e6 / slowest:,.0f} images/s",
            table(rows),
            f"* as slow as {slow}, the slowest process",
            f"in all {_said(found)}; weights {len(key.constants):,} bytes, in the text",
        ]
    )


def _place(line: str) -> str:
    """Returns the file's name and the number of a line "FOLDER/FILE:NUMBER: TEXT"."""
    path, _, rest = line.partition(":")
    return f"{Path(path).name}:{rest.partition(':')[0]}"


def _sizes(flow: Flow) -> str:
    return f"{flow.channels} x {flow.height} x {flow.width}"
