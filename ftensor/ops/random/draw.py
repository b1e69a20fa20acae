"""The rows that draw random numbers, and the one way to run them."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from ...execute.memory import new
from ...execute.observe import recorder
from ...execute.pointwise import pointwise
from ...random import generator_for
from ...rows.catalogue import enter
from ...rows.copies import COPY
from ...rows.op import Op, Promote

# What each row takes before its own numbers: the seed and the call, in parts that float32 holds.
STREAM = ("seed0", "seed1", "seed2", "call0", "call1")
_STREAM = ", ".join(STREAM)
_WORD = f"ftr_word(FT_POSITION, {_STREAM})"
_FLOATING: tuple[str, ...] = ("float16", "bfloat16", "float32", "float64")


def _row(name: str, body: str, params: tuple[str, ...] = (), inputs: str = "", **more: Any) -> Op:
    fields: dict[str, Any] = {"promote": Promote.FLOATING, "only": _FLOATING} | more
    return Op(f"random_{name}", f"random_{name}({inputs})", body, params=STREAM + params, **fields)


UNIFORM = _row("uniform", f"ft_min(low + span * ftr_uniform({_WORD}), last)", ("low", "span", "last"))
NORMAL = _row("normal", f"ftr_normal({_WORD}) * std + mean", ("mean", "std"))
LOG_NORMAL = _row("log_normal", f"ftr_exp(ftr_normal({_WORD}) * std + mean)", ("mean", "std"))
EXPONENTIAL = _row("exponential", f"ft_max(ftr_exponential({_WORD}) * scale, least)", ("scale", "least"))
CAUCHY = _row("cauchy", f"ftr_cauchy({_WORD}) * sigma + median", ("median", "sigma"))
GEOMETRIC = _row(
    "geometric",
    f"ft_max(ceil(ftr_exponential({_WORD}) * scale), K(1))",
    ("scale",),
    only=("uint8", "int8", "int16", "int32", "int64", *_FLOATING),
)
INTEGERS = _row(
    "integers",
    f"low + ftr_below(range, FT_POSITION, {_STREAM})",
    ("low", "range"),
    promote=Promote.COUNT,
    any_out=True,
    only=("b", "u", "i", "f"),
    bare="u",
)
# Of a tensor's elements: integers below each, ones of such probabilities, what is dropped.
BELOW = _row("below", f"ftr_below(a, FT_POSITION, {_STREAM})", (), "a", promote=Promote.COUNT, only=("int64",))
CHANCE = _row("chance", f"ftr_happens({_WORD}, p) ? K(1) : K(0)", ("p",), only=("b", "u", "i", "f"))
CHANCES = _row("chances", f"ftr_happens({_WORD}, a) ? K(1) : K(0)", (), "a", any_out=True)
DROPOUT = _row("dropout", f"a * (ftr_happens({_WORD}, keep) ? gain : K(0))", ("keep", "gain"), "a")
ALPHA_DROPOUT = _row(
    "alpha_dropout",
    "a * (size <= keep ? gain : K(0)) + (size <= keep ? up : down)",
    ("keep", "gain", "up", "down"),
    "a",
    lets=(("size", f"ftr_open({_WORD})"),),
)
POISSON = _row("poisson", f"ftr_count_poisson(a, FT_POSITION, {_STREAM})", (), "a")
BINOMIAL = _row("binomial", f"ftr_count_binomial(a, b, FT_POSITION, {_STREAM})", (), "a, b")
RRELU = _row("rrelu", f"a <= K(0) ? a * (low + span * ftr_uniform({_WORD})) : a", ("low", "span"), "a")
enter(
    __name__, UNIFORM, NORMAL, LOG_NORMAL, EXPONENTIAL, CAUCHY, GEOMETRIC, INTEGERS, BELOW, CHANCE,
    CHANCES, DROPOUT, ALPHA_DROPOUT, POISSON, BINOMIAL, RRELU,
)  # fmt: skip


def words(seed: int, call: int) -> tuple[int, ...]:
    """A seed and the number of a call, as `STREAM` has them."""
    return seed & 0x3FFFFF, seed >> 22 & 0x1FFFFF, seed >> 43, call & 0xFFFFFF, call >> 24


def drawn(
    function: str, row: Op, values: tuple[Any, ...], out: Tensor, generator: Any, inputs: tuple[Tensor, ...] = ()
) -> Tensor:
    """Fill `out` by a row: the element in row-major place p gets the call's p-th numbers, however
    `out` lies in memory. Inputs have its shape.

    TypeError for what is no generator, RuntimeError for one of another device.
    """
    where = out._storage.device
    source = generator_for(function, generator, where)
    who = recorder(out._storage.backend)
    stream = words(*source._call()) if who is None else who.drawn(source, words)
    plain = out.is_contiguous() and not out.storage_offset()
    target = out if plain else new(out._shape, out._dtype, where)
    pointwise(row, tuple([x.contiguous() for x in inputs]), stream + values, target, True)
    return out if plain else pointwise(COPY, (target,), (), out, True)
