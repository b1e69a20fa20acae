"""`ftensor tune`: measures thresholds between alternative kernels on this machine's processor."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import exp, log
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from .errors import commands as errors
from .runtime import targets
from .terminal import complain, table

if TYPE_CHECKING:
    from .runtime.backend import Backend
    from .runtime.targets import Target

ENOUGH = 1.01  # smallest mean speedup for which a threshold changes: less may be noise
TIMES = 7  # timed runs of a call in a round
Call = Callable[[], object]


class Threshold(NamedTuple):
    """A threshold to tune: the field of `Target`, the values to try, and the calls to time. `shown`
    describes these calls."""

    field: str
    tried: tuple[int, ...]
    calls: Callable[[], Iterator[Call]]
    shown: str


def _maps() -> Iterator[Call]:
    from . import add, sum, tanh, zeros

    for n in _powers(12, 18):
        a, b = zeros(n), zeros(n)
        yield from (partial(add, a, b), partial(tanh, a), partial(sum, a))


def _products() -> Iterator[Call]:
    from . import matmul, zeros

    for n in (32, 48, 64, 96, 128, 192, 256):
        a = zeros(n, n)
        yield from (partial(matmul, a, a), partial(matmul, a, a.t()))


def _powers(first: int, last: int) -> tuple[int, ...]:
    return tuple([1 << k for k in range(first, last + 1)])


MAPS = "add, tanh, sum of 4,096 to 262,144 float32"
PRODUCTS = "products of 32 to 256 rows and columns"
# Thresholds in order of measurement: each one is measured with the values found for the earlier
# ones.
THRESHOLDS = (
    Threshold("unit_elements", _powers(11, 18), _maps, MAPS),
    Threshold("inline_elements", (0, *_powers(12, 18)), _maps, MAPS),
    Threshold("near_elements", (32**2, 64**2, 96**2, 192**2), _products, PRODUCTS),
    Threshold("direct_terms", (24**3, 48**3, 64**3, 128**3, 192**3), _products, PRODUCTS),
)


class Tuning(NamedTuple):
    """The best value of a threshold; `gain` is its speedup over the default.

    The speedup is the ratio of the geometric means of the calls' shortest times.
    """

    threshold: Threshold
    default: int
    best: int
    gain: float


def tune(
    backend: Backend, rounds: int, say: Callable[[str], None], thresholds: Sequence[Threshold]
) -> tuple[Target, list[Tuning]]:
    """Measures a processor's thresholds in order; returns (tuned target, results).

    Keeps a default unless another value is at least 1 % faster.
    """
    target, results = backend.target.untuned(), []
    for one in thresholds:
        say(f"{one.field}: {len(one.tried)} values, by {one.shown}")
        now = getattr(target, one.field)
        families = {v: replace(target, **{one.field: v}) for v in dict.fromkeys((now, *one.tried))}
        means = dict(zip(families, _means(backend, [*families.values()], [*one.calls()], rounds)))
        best = min(means, key=means.__getitem__)
        gain = means[now] / means[best]
        if gain < ENOUGH:
            best, gain = now, 1.0
        target = families[best]
        results.append(Tuning(one, now, best, gain))
    return target, results


def _means(backend: Backend, families: Sequence[Target], calls: Sequence[Call], rounds: int) -> list[float]:
    """Returns, for each target, the geometric mean of the calls' shortest times in seconds.

    Alternates between the targets in each round.
    """
    least = [[float("inf")] * len(calls) for _ in families]
    for _ in range(rounds):
        for family, times in zip(families, least):
            with backend.preparing_for(family, backend.units, backend.host_shared):
                for k, call in enumerate(calls):
                    call()  # compiles and prepares the call
                    times[k] = min(times[k], *(_seconds(backend, call) for _ in range(TIMES)))
                backend.synchronize()  # before the prepared launches are discarded
    return [exp(sum(map(log, times)) / len(times)) for times in least]


def _seconds(backend: Backend, call: Call) -> float:
    backend.synchronize()
    begun = perf_counter()
    call()
    backend.synchronize()
    return perf_counter() - begun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to a parser."""
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="how often each value has its turn (default: %(default)s)"
    )
    parser.add_argument("--forget", action="store_true", help="measure nothing, have the defaults again")


def command(arguments: argparse.Namespace) -> int:
    """Measures, prints and saves thresholds; returns 0, or 1 on invalid input or a failed save."""
    from ._device import default_backend

    backend = default_backend()
    name = backend.properties.name
    try:
        if not backend.tuned_as:
            raise errors.no_processor(name)
        if arguments.rounds < 1:
            raise errors.rounds(arguments.rounds)
    except errors.TuneError as error:
        complain("ftensor tune", error)
        return 1
    if arguments.forget:
        targets.drop_tuned(backend.tuned_as)
        print(f"{name} has its family's thresholds from now on")
        return 0
    target, results = tune(backend, arguments.rounds, partial(print, flush=True), THRESHOLDS)
    rows = [(f.threshold.field, f.default, f.best, round(f.gain, 2)) for f in results]
    print(table([("threshold", "default", "here", "times as fast"), *rows]))
    kept = targets.save_tuned(target, backend.tuned_as)
    print(f"{'kept' if kept else 'could not be kept'} for {name}; `ftensor tune --forget` drops it")
    return int(not kept)
