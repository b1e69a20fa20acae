"""The source `estimates` of the fuzz: the model's times, the graph's report and the area of jitted
programs.

A program works along the rows of tensors of any dtype, contiguous, strided or broadcast, whose
lengths are near those of beats, vectors and blocks. Its launches on a board are recorded without
kernels. For each of a few boards, the estimate must be a positive number, must be printable, also
as JSON, and longer rows must not take much less time.
"""

from __future__ import annotations

import json
import math
import random
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ftensor as ft
from ftensor import boards
from ftensor._device import default_backend
from ftensor.estimate.model import BoardConfig
from ftensor.estimate.report import report
from ftensor.estimate.show import as_json, text
from ftensor.toolchain.trace import Trace, recording
from ftensor.warm.command import noting

BOARDS = ("u55c", "u200", "kv260")
DTYPES = tuple(sorted({str(d)[8:] for d in vars(ft).values() if isinstance(d, ft.dtype)}))
# Dtypes that most ops support.
SERVED = ("float32", "float16", "bfloat16", "float64", "int32", "int64", "complex64") * 3
LENGTHS = (*range(41), *range(62, 67), *range(510, 515), *range(4094, 4099))
# Layouts of rows of n elements: `made(*shape)` has its own memory.
LAYOUTS = (
    "made({m}, {n})", "made({m}, {n})", "made({m}, 2 * {n})[:, ::2]", "made({n}, {m}).t()", "made({m}, {n} + 1)[:, 1:]",
    "made(1, {n}).expand({m}, {n})", "made(2, {m}, {n})[1]", "made({n})", "made({m}, 1)", "made({m}, {n} + 3)[:, :{n}]",
    "made(3, {m}, {n})", "made({m}, {n})[::2]",
)  # fmt: skip
ROWS = (
    "{a}.sum(-1)", "{a}.mean(-1)", "{a}.amax(-1, keepdim=True)", "{a}.softmax(-1)", "{a}.logsumexp(-1)", "{a}.prod(-1)",
    "{a} - {a}.mean(-1, keepdim=True)", "{a}.argmax(-1)", "{a}.std(-1)", "{a}.sum()", "{a}.any(-1)", "{a}.norm(dim=-1)",
    "ft.nn.functional.layer_norm({a}, {a}.shape[-1:])", "{a}.cumsum(-1)", "{a}.sum(0)", "{a}.amin(0)",
    "{a}.log_softmax(-1)",
)  # fmt: skip
EACH = (
    "{a} + {b}", "{a} * {b}", "{a} * 2 + 1", "{a}.exp()", "ft.where({a} == {b}, {a}, {b})", "{a}.to(ft.float32)",
    "-{a}", "{a}.abs()", "{a} / {b}", "{a}.sigmoid()", "({a} == {b}).to(ft.{of})", "{a}.clone()", "{a}.to(ft.{of})",
    "{a} != 1",
)  # fmt: skip
# Errors of the program that are not the model's: a dtype, an empty row, shapes that don't
# broadcast.
REFUSED = (NotImplementedError, RuntimeError, IndexError, ValueError, TypeError)


def program(draw: random.Random) -> tuple[list[str], list[str], int]:
    """Returns (lines that make tensors, lines that compute, the rows' length). In the first, `n` is
    the length."""
    rows, length, of = draw.randint(1, 9), draw.choice(LENGTHS), draw.choice((*DTYPES, *SERVED))
    made = [f"{name} = {draw.choice(LAYOUTS)}".replace("{m}", str(rows)) for name in ("a", "b")]
    if draw.random() < 0.5:
        made[1] = made[1].replace("b", "a", 1).replace("a =", "b =")
    made = [line.replace("made(", f"made('{of}', ") for line in made]
    lines, names = [], ["a", "b"]
    for k in range(draw.randint(1, 5)):
        text = draw.choice(ROWS if draw.random() < 0.5 else EACH)
        lines.append(f"t{k} = " + text.format(a=draw.choice(names), b=draw.choice(names), of=of))
        names.append(f"t{k}")
    return made, lines, length


def _made(of: str, *shape: int) -> ft.Tensor:
    return ft.empty(shape, dtype=getattr(ft, of))


@contextmanager
def simulated() -> Iterator[None]:
    """Makes the C simulation the device, on which graphs become the kernels of a board."""
    before = ft.get_device_mapping()
    ft.set_device_mapping("csim")
    try:
        yield
    finally:
        ft.set_device_mapping(before)


def traced(made: list[str], lines: list[str], length: int) -> tuple[Trace, str] | None:
    """Returns the launches of the jitted program with rows of a length, and its graph's report;
    None if the program is refused."""
    scope: dict[str, Any] = {"ft": ft, "made": _made}
    body = "\n    ".join([*lines, f"return {lines[-1].partition(' ')[0]}"])
    exec(f"def computed(a, b):\n    {body}", scope)
    jitted = ft.jit(scope["computed"])
    with simulated(), noting(default_backend()), warnings.catch_warnings(), recording(1) as trace:
        warnings.simplefilter("ignore")
        try:
            arguments = [eval(line.partition(" = ")[2].format(n=length), scope) for line in made]
            jitted(*arguments)
            graph = jitted.graph(*arguments).report()
        except REFUSED:
            return None
    return trace, graph


def wrong_in(made: list[str], lines: list[str], length: int) -> Iterator[str]:
    """Returns what is wrong with the estimates of a program; "" if nothing is."""
    found, longer = (traced(made, lines, n) for n in (length, length + 64))
    if found is None or not found[0].launches:
        return
    trace, graph = found
    if not graph.strip():
        yield "the graph's report is empty"
    for name in BOARDS:
        board = boards.find(name)
        setup = BoardConfig(board, board.clock.value)
        said = report(trace, setup, 1, None)
        for line in said.lines:
            for what, seconds in (("kernel", line.estimate.kernel), ("crossing", line.estimate.link_seconds)):
                if not math.isfinite(seconds) or seconds < 0:
                    yield f"{what} of {seconds} s on {name}"
        seconds = said.kernels + said.launch
        if not 0 < seconds < math.inf:
            yield f"a program of {seconds} s on {name}"
        if "nan" in text(said).split() or not json.loads(json.dumps(as_json(said), allow_nan=False)):
            yield f"a report with NaN on {name}"
        # Rows of other lengths may need another number of kernels, since rows of one element
        # broadcast.
        if longer is not None and 0 < longer[0].launches.total() == trace.launches.total():
            more = report(longer[0], setup, 1, None)
            if more.kernels + more.launch < 0.8 * seconds:
                yield f"rows longer by 64 take less on {name}: {more.kernels + more.launch} s, not {seconds} s"
        taken = said.image.requested
        if not all(math.isfinite(x) and x >= 0 for x in taken.shares.values()):
            yield f"an area of {taken.shares} on {name}"


def trial(draw: random.Random) -> str:
    """Returns what is wrong with the estimates of a program, and the program; "" if nothing is."""
    made, lines, length = program(draw)
    try:
        problem = next(wrong_in(made, lines, length), "")
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        at = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"{type(error).__name__}: {error} ({Path(at.filename).name}, {at.name})"
    return problem and "\n".join([problem, f"n = {length}", *made, *lines])
