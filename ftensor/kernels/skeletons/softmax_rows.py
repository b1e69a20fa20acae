"""softmax_rows: softmax, log_softmax and their derivatives (hls/skeleton/softmax_rows.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ...dtypes import dtype
from .. import ctype
from ..board_skeleton import BoardSkeleton
from ..geometry import Geometry, Long
from ..key import lanes_for
from ..operators import interval, operator_cycles
from ..skeleton import Parameter, register
from ..source import DROPPED_BITS
from ..words import Asked, Record, table_lines
from ..work import Access, Launch, Loop
from .elements import element_defines, element_helpers, element_type

WALKS = ("along", "side_by_side", "strided")


class Words(NamedTuple):
    """What is summed over a row, what becomes of the sum x, and a result: of elements a and b, the
    largest a (top) and the total. `operators`: those that stand in all of it."""

    term: str
    total: str
    result: str
    operators: Mapping[str, int]


_EXP = "FT_EXP((a) - (top))"
FORWARD = {
    "softmax": Words(_EXP, "(x)", f"{_EXP} / (total)",
                     {"compare": 1, "exp": 2, "add": 3, "div": 1}),
    "log_softmax": Words(_EXP, "FT_LOG(x)", "((a) - (top)) - (total)",
                         {"compare": 1, "exp": 1, "log": 1, "add": 4}),
}  # fmt: skip
BACKWARD = {
    "softmax_backward": Words("(a) * (b)", "(x)", "(b) * ((a) - (total))", {"mul": 2, "add": 2}),
    "log_softmax_backward": Words(
        "(a)", "(x)", "(a) - FT_EXP(b) * (total)", {"exp": 1, "mul": 1, "add": 2}
    ),
}
WORDS = FORWARD | BACKWARD


@dataclass(frozen=True)
class SoftmaxKey:
    """One kernel: an op of elements of `dtype`, results of `to`, and how lanes go over rows.

    `narrow`: the logarithm's argument and value are rounded to the dtype.
    """

    op: str
    to: dtype
    dtype: dtype
    walk: str
    lanes: int
    narrow: bool = False
    skeleton = "softmax_rows"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        narrow = "_narrow" if self.narrow else ""
        return f"ft_{self.op}_{self.walk}_{self.dtype.name}_{self.to.name}_{self.lanes}{narrow}"


@dataclass(frozen=True)
class SoftmaxGeometry(Geometry):
    """What a launch is told: items (rows, or groups of as many as there are lanes), elements of a
    row, steps from one element to the next and from one row of a group to the next, groups that
    lie together, their rows, and the step from there to the next groups. All in elements."""

    items: int
    n: int
    step: Long
    across: int
    groups: int
    rows: int
    outer: Long


class SoftmaxRows(BoardSkeleton[SoftmaxKey]):
    """Each unit takes rows, or groups of them, one after another."""

    name = word = "softmax_rows"
    geometry = SoftmaxGeometry

    def parameters(self, key: SoftmaxKey) -> tuple[Parameter, ...]:
        """Results and operands (an op of one gets it twice); offsets; the geometry."""
        of = element_type(key.dtype)
        return (
            ("*", f"{element_type(key.to)} *", "out"),
            ("*", f"const {of} *", "a"),
            ("*", f"const {of} *", "b"),
            *(("long", "long ", f"{name}_offset") for name in ("out", "a", "b")),
            ("*", "const long *", "geometry"),
        )

    def defines(self, key: SoftmaxKey) -> dict[str, object]:
        """Elements, the walk, and the op's words."""
        words = WORDS[key.op]
        # Exponentials are computed once where that takes longer than to keep them.
        kept = key.op == "softmax" and key.to is key.dtype.compute and key.walk != "strided"
        result = "(a) / (total)" if kept else words.result
        total = f"ft_narrowed({words.total.replace('(x)', '(ft_narrowed(x))')})"
        return {
            **element_defines(key.dtype),
            "FT_OUT": element_type(key.to),
            "FT_OUT_HALF": int(key.to.name == "float16"),
            "FT_OUT_BFLOAT16": int(key.to.name == "bfloat16"),
            "FT_ALONG": int(key.walk == "along"),
            "FT_SIDE_BY_SIDE": int(key.walk == "side_by_side"),
            "FT_TOP": int(key.op in FORWARD),
            "FT_PAIRED": int(key.op in BACKWARD),
            "FT_PAIRED_TERMS": int("(b)" in words.term),
            "FT_KEPT": int(kept),
            "FT_DROPPED_BITS": DROPPED_BITS.get(key.dtype.name, 0),
            "FT_TERM(a, b, top)": f"({words.term})",
            "FT_TOTAL(x)": f"({total if key.narrow else words.total})",
            "FT_RESULT(a, b, top, total)": f"({result})",
        }

    def helpers(self, key: SoftmaxKey) -> list[str]:
        """Elements, and what lanes are together."""
        return [*element_helpers(key.dtype, []), "across.h"]

    def record(self, key: SoftmaxKey) -> Record:
        """The op and its dtypes."""
        of = key.dtype.name
        ins = (of,) * (2 if key.op in BACKWARD else 1)
        return Record(self.name, (key.to.name,), ins, "", of)

    def keys(self, asked: Asked) -> Iterator[SoftmaxKey]:
        """Each op in each dtype, along rows and across them."""
        for of in (of for of in asked.dtypes if of.kind == "f"):
            lanes = lanes_for([of], of.compute, asked.target.lanes_bytes)
            for op in WORDS:
                yield from (SoftmaxKey(op, of, of, walk, lanes) for walk in WALKS)

    def lines(self, key: SoftmaxKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')

    def suffix(self, key: SoftmaxKey) -> str:
        """The op, the walk and the dtype."""
        return f"{key.op}_{key.walk}_{key.dtype.name}_{key.to.name}" + "_narrow" * key.narrow

    def title(self, key: SoftmaxKey) -> str:
        """The op."""
        return key.op

    def loops(self, launch: Launch, unit: int, widened: bool) -> list[Loop]:
        """Two or three passes over each row or group."""
        key, g = launch.key, SoftmaxGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        steps = -(-g.n // key.lanes) if key.walk == "along" else g.n
        wait = interval(operator_cycles(key.dtype.compute)["add"], 1)
        found = [Loop("sum", (end - begin) * steps, end - begin, wait)]
        found.append(Loop("results", (end - begin) * steps, end - begin))
        if key.op in FORWARD:
            found.insert(0, Loop("largest", (end - begin) * steps, end - begin))
        return found

    def traffic(self, launch: Launch, widened: bool) -> list[Access]:
        """The results once, the operands once for each pass that reads them."""
        key, g = launch.key, SoftmaxGeometry.unpack(launch.geometry)
        n = g.n * g.items if key.walk == "along" else g.n * g.rows * (g.items // g.groups)
        size, written = n * key.dtype.itemsize, n * key.to.itemsize
        wide = key.lanes if key.walk == "along" else 1
        burst = g.n // wide or 1
        passes = 3 if key.op in FORWARD else 2
        others = (1 + ("(b)" in WORDS[key.op].term)) * (key.op in BACKWARD)
        return [
            Access("out", True, written, n // wide, burst, written),
            Access("a", False, passes * size, passes * n // wide, burst, size),
            Access("b", False, others * size, others * n // wide, burst, size if others else 0),
        ]

    def operators(self, key: SoftmaxKey) -> Mapping[tuple[str, str], int]:
        """Those of the op, in every lane."""
        kind = ctype.scalar(key.dtype)
        return {(word, kind): n * key.lanes for word, n in WORDS[key.op].operators.items()}

    def extent(self, launch: Launch) -> str:
        """Items, and how long a row is."""
        g = SoftmaxGeometry.unpack(launch.geometry)
        return f"{g.items}x{g.n}"


register(SoftmaxRows())
