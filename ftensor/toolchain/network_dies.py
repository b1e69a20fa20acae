"""Networks on the dies of a chip: the layers at which another kernel begins, so that each kernel fits
one die."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise

import numpy as np

from ..boards import Board
from ..errors import graph as errors
from ..image.manifest import LINKED
from ..kernels.network import Fold, NetworkKey
from ..kernels.network_parts import cuts_of, parts_of_network
from ..kernels.network_processes import URAM_BRAMS, interval, processes_of
from .area.cores import NONE
from .area.fit import area, board_shares, memory_resources, shares_text
from .folding import (
    MAX_CYCLES,
    ONE_BY_ONE,
    SHARE,
    STEP,
    Folding,
    fitting_part,
    fold_network,
    fullness,
    layer_names,
    process_resources,
)
from .group import KernelGroup

DATAFLOW = "dataflow"


def on_dies(
    found: Folding, network: NetworkKey, structure: str | None, cycles: int | None, given: Mapping[int, Fold]
) -> Folding:
    """Returns a folded network as one kernel ("dataflow") or as a kernel for each die ("linked"). By
    default it is linked if it is larger than a die, and its parts fit the dies with the same folds.

    `network` is the network before folding, with `cycles` and `given` as in `fold_network`. A linked
    network takes more iterations than `found` if its parts would not fit otherwise. Raises ValueError
    for another word, and GraphError if no folds fit.
    """
    if structure not in (None, DATAFLOW, LINKED):
        raise errors.bad_structure(structure)
    one_die = fullness(part * found.board.chip.slrs for part in found.shares) <= 1
    if structure == DATAFLOW or (structure is None and one_die):
        return found
    split = _split(found)
    if structure is None:
        return split if split.cuts and split.fits_dies else found
    if not split.cuts:
        raise errors.no_dies(found.key.name, found.board.title)
    slowest = interval(fold_network(network, found.board, MAX_CYCLES, dict(given)).key)
    more = interval(split.key)
    while not split.fits_dies:
        more = int(more / STEP) + 1
        if cycles is not None or more > slowest:
            raise _too_large(split, ONE_BY_ONE if cycles is None else f"{cycles} cycles an image")
        split = _split(fold_network(network, found.board, more, dict(given)))
    return split


def _split(found: Folding) -> Folding:
    """Returns a network with the cuts that leave its parts the smallest shares of dies, one part on
    each die, and with these shares."""
    cuts = _cuts(found.key, found.board)
    parts = parts_of_network(found.key, cuts)
    takes = [area(KernelGroup("part", (part,))).whole for part in parts]
    shares = [tuple(x * found.board.chip.slrs for x in board_shares(one, found.board)) for one in takes]
    return found._replace(cuts=cuts, dies=tuple(shares))


def _cuts(key: NetworkKey, board: Board) -> tuple[int, ...]:
    """Returns the cuts into at most one part for each die, with the smallest largest share."""
    takes = _resources_of_layers(key, board)
    ends = [0, *cuts_of(key), len(key.layers)]

    @cache
    def cheapest(end: int, parts: int) -> tuple[float, tuple[int, ...]]:
        """The largest share of the layers before ends[end] in at most `parts` parts, and the cuts."""
        best = float((takes[ends[end]] - takes[0]).max()), tuple[int, ...]()
        for cut in range(1, end) if parts > 1 else ():
            before, cuts = cheapest(cut, parts - 1)
            worst = max(before, float((takes[ends[end]] - takes[ends[cut]]).max()))
            best = min(best, (worst, (*cuts, ends[cut])))
        return best

    return cheapest(len(ends) - 1, board.chip.slrs)[1]


def _resources_of_layers(key: NetworkKey, board: Board) -> np.ndarray:
    """Returns the parts of permitted shares that the layers before each layer take together: LUTs,
    flip-flops, DSP blocks, and both kinds of memory, between which `Processes.balance` chooses."""
    of, at = processes_of(key), 0
    takes = [NONE] * len(key.layers)
    for process in of.processes:
        at = max(at, process.layer)
        fifos = (memory_resources(of.fifos[f].memory) for f in process.writes)
        takes[at] = sum(fifos, takes[at] + process_resources(process))
    rows = [np.zeros(4)]
    for one in takes:
        lut, ff, dsp, bram, uram = board_shares(one, board)
        chip = board.chip
        memory = (bram * chip.bram + uram * chip.uram * URAM_BRAMS) / (chip.bram + chip.uram * URAM_BRAMS)
        memory = memory if key.loaded else bram
        rows.append(rows[-1] + np.array([lut, ff, dsp, memory]) / np.array(SHARE[:4]))
    return np.array(rows)


def _too_large(split: Folding, least: str) -> errors.GraphError:
    """Returns the error for a network whose parts do not fit dies; it names how many of the first
    layers would fit."""
    key, board = split.key, split.board

    def fits(count: int) -> bool:
        first = parts_of_network(key, (count,))[0].layers
        return _split(split._replace(key=first)).fits_dies

    shares = "; ".join(f"SLR{k} {shares_text(one)}" for k, one in enumerate(split.dies))
    what = f"{least}, a kernel on each die"
    return errors.network_too_large(key.name, board.title, what, shares, fitting_part(key, fits))


def report(found: Folding) -> str:
    """Returns a line for each die of a linked network, or nothing."""
    names, ends = layer_names(found.key), [0, *found.cuts, len(found.key.layers)]
    lines = [
        f"SLR{k}: {' to '.join(dict.fromkeys((names[begin], names[end - 1])))}, {shares_text(shares)} of the die"
        for k, ((begin, end), shares) in enumerate(zip(pairwise(ends), found.dies))
    ]
    return "".join(f"\n{line}" for line in lines)
