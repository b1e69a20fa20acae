"""einsum: an equation read, its labels checked, its operands contracted from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import promote_types
from ...errors import matmul as errors_matmul
from ...iterator.shape import Ints, numel
from ...iterator.stride import contiguous_strides
from ...rows.catalogue import op
from .addmm import flat
from .product import check, product

ELLIPSIS = "..."
Labels = list[str]


@op(method=False, forms=("einsum(equation, *operands) -> Tensor",))
def einsum(*args: Any) -> Tensor:
    """Sums of products named by subscripts: `"ij,jk->ik"` is the matrix product. A letter in
    several operands is one dim of all of them; one that is not behind the arrow is summed; without
    an arrow, the letters that appear once are kept, in alphabetical order. `...` stands for dims
    that broadcast. Operands may instead be followed each by a list of numbers below 52, and then by
    the output's. RuntimeError for sizes or subscripts that don't fit.
    """
    equation, operands = _arguments(args)
    for k, x in enumerate(operands):
        if type(x) is not Tensor:
            raise errors.not_a_tensor("einsum", f"operand {k}", x)
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        more = "more" if len(operands) > len(terms) else "fewer"
        raise errors_matmul.einsum(f"{more} operands were given than the equation has terms")
    for d in [x._dtype for x in operands]:
        if d is not operands[0]._dtype:
            raise errors.dtypes_differ("einsum", [x._dtype for x in operands])
    parsed = [_labels(t, f"operand {k}") for k, t in enumerate(terms)]
    wide = max((_covered(x, p, k) for k, (x, p) in enumerate(zip(operands, parsed))), default=0)
    dots = [f".{k}" for k in range(wide)]
    labels, tensors = [], []
    for k, (x, p) in enumerate(zip(operands, parsed)):
        covered = _covered(x, p, k)
        names = [n for q in p for n in (dots[wide - covered :] if q == ELLIPSIS else [q])]
        t, names = _diagonal(x, names, k)
        labels.append(names)
        tensors.append(t)
    kept = _output(right if arrow else None, parsed, dots)
    sizes = _sizes(tensors, labels)
    known = {n for names in labels for n in names}
    for n in kept:
        if n not in known:
            raise errors_matmul.einsum(f"output subscript {n} is in no operand")
    return _contract(tensors, labels, kept, sizes)


def _arguments(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """(equation, operands), also of the form in which lists of numbers follow the operands."""
    if len(args) < 2:
        raise errors_matmul.einsum_arguments()
    if isinstance(args[0], str):
        operands = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = tuple(operands[0])
        return args[0], list(operands)
    terms = [_letters(subscripts) for subscripts in args[1::2]]
    equation = ",".join(terms[: len(args) // 2])
    if len(args) % 2:
        equation += "->" + _letters(args[-1])
    return equation, list(args[0 : len(args) // 2 * 2 : 2])


def _letters(subscripts: Sequence[Any]) -> str:
    out = ""
    for s in subscripts:
        if s is Ellipsis:
            out += ELLIPSIS
        elif isinstance(s, int) and 0 <= s < 52:
            out += chr(ord("A") + s) if s < 26 else chr(ord("a") + s - 26)
        else:
            raise ValueError(*errors_matmul.einsum(f"subscript {s} is not within [0, 52)").args)
    return out


def _labels(term: str, where: str) -> Labels:
    """The subscripts of a term, the ellipsis as one of them."""
    out: Labels = []
    rest = term
    while rest:
        if rest.startswith(ELLIPSIS):
            if ELLIPSIS in out:
                raise errors_matmul.einsum(f"{where} has more than one ellipsis: {term}")
            out.append(ELLIPSIS)
            rest = rest[3:]
        elif rest[0].isascii() and rest[0].isalpha():
            out.append(rest[0])
            rest = rest[1:]
        else:
            raise errors_matmul.einsum(f"{where}: {rest[0]!r} in {term!r} is no letter from a to z")
    return out


def _covered(x: Tensor, labels: Labels, k: int) -> int:
    """How many dims of operand k its ellipsis stands for."""
    named = len(labels) - (ELLIPSIS in labels)
    if named > x.ndim or (ELLIPSIS not in labels and named < x.ndim):
        raise errors_matmul.einsum(f"operand {k} has {x.ndim} dims, but {named} subscripts: {''.join(labels)}")
    return x.ndim - named


def _diagonal(x: Tensor, names: Labels, k: int) -> tuple[Tensor, Labels]:
    """A subscript twice in one operand walks both dims at once."""
    shape: list[int] = []
    strides: list[int] = []
    out: Labels = []
    for n, size, stride in zip(names, x._shape, x._strides):
        if n not in out:
            out.append(n)
            shape.append(size)
            strides.append(stride)
            continue
        at = out.index(n)
        if shape[at] != size:
            raise errors_matmul.einsum(f"subscript {n} of operand {k} has sizes {shape[at]} and {size}")
        strides[at] += stride
    return x._view(tuple(shape), tuple(strides), x._offset), out


def _output(right: str | None, parsed: Sequence[Labels], dots: Labels) -> Labels:
    if right is None:
        every = [n for p in parsed for n in p if n != ELLIPSIS]
        return dots + sorted(n for n in set(every) if every.count(n) == 1)
    kept: Labels = []
    for n in _labels(right, "the output"):
        if n in kept:
            raise errors_matmul.einsum(f"output subscript {n} appears more than once")
        kept += dots if n == ELLIPSIS else [n]
    return kept


def _sizes(tensors: Sequence[Tensor], labels: Sequence[Labels]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for k, (t, names) in enumerate(zip(tensors, labels)):
        for n, size in zip(names, t._shape):
            seen = sizes.get(n, 1)
            if seen != size and 1 not in (seen, size):
                raise errors_matmul.einsum(
                    f"subscript {n} has size {size} for operand {k}, which does not broadcast with "
                    f"the size {seen} seen before"
                )
            sizes[n] = size if seen == 1 else seen
    return sizes


def _contract(tensors: list[Tensor], labels: list[Labels], kept: Labels, sizes: dict[str, int]) -> Tensor:
    a, names = tensors[0], labels[0]
    for k in range(1, len(tensors)):
        later = set(kept).union(*labels[k + 1 :])
        a, names = _pair(a, names, tensors[k], labels[k], later, sizes)
    a, names = _sum_away(a, names, [n for n in names if n not in kept])
    order = [names.index(n) for n in kept]
    return a._view(tuple(a._shape[d] for d in order), tuple(a._strides[d] for d in order), a._offset)


def _sum_away(t: Tensor, names: Labels, gone: Labels) -> tuple[Tensor, Labels]:
    if not gone:
        return t, names
    dims = tuple(names.index(n) for n in gone)
    summed = t.sum(dims)
    return summed, [n for n in names if n not in gone]


def _pair(
    a: Tensor, a_names: Labels, b: Tensor, b_names: Labels, later: set[str], sizes: dict[str, int]
) -> tuple[Tensor, Labels]:
    """The product of two operands, summed over what nobody needs later."""
    gone = [n for n in dict.fromkeys(a_names + b_names) if n not in later]
    alone_a = [n for n in gone if n not in b_names or b._shape[b_names.index(n)] == 1 != sizes[n]]
    alone_b = [n for n in gone if n not in a_names or a._shape[a_names.index(n)] == 1 != sizes[n]]
    a, a_names = _reduced(a, a_names, [n for n in alone_a if n in a_names])
    b, b_names = _reduced(b, b_names, [n for n in alone_b if n in b_names])
    deep = [n for n in gone if n in a_names and n in b_names]
    a, a_names = _without_ones(a, a_names, [n for n in gone if n not in deep])
    b, b_names = _without_ones(b, b_names, [n for n in gone if n not in deep])
    if not deep:
        return _times(a, a_names, b, b_names)
    if a._dtype is not b._dtype:  # one of them was summed
        common = promote_types(a._dtype, b._dtype)
        a, b = a.to(common), b.to(common)
    check("einsum", "bmm", a=a, b=b)
    batch = [n for n in a_names if n in b_names and n not in deep]
    rows = [n for n in a_names if n not in b_names]
    columns = [n for n in b_names if n not in a_names]
    x = _shaped(a, a_names, batch, rows, deep)
    y = _shaped(b, b_names, batch, deep, columns)
    result = product("einsum", x, y)
    names = batch + rows + columns
    shape = tuple(
        max(t._shape[own.index(n)] for t, own in ((a, a_names), (b, b_names)) if n in own)
        if 0 not in [t._shape[own.index(n)] for t, own in ((a, a_names), (b, b_names)) if n in own]
        else 0
        for n in names
    )
    return result._view(shape, contiguous_strides(shape), result._offset), names


def _reduced(t: Tensor, names: Labels, gone: Labels) -> tuple[Tensor, Labels]:
    """`t` summed over dims that the other operand doesn't have; integers widen, as `sum` does."""
    if not gone:
        return t, names
    dims = tuple(names.index(n) for n in gone)
    summed = t.sum(dims)
    return summed, [n for n in names if n not in gone]


def _without_ones(t: Tensor, names: Labels, gone: Labels) -> tuple[Tensor, Labels]:
    left = [(n, size, step) for n, size, step in zip(names, t._shape, t._strides) if n not in gone]
    return (t._view(tuple(x[1] for x in left), tuple(x[2] for x in left), t._offset), [x[0] for x in left])


def _times(a: Tensor, a_names: Labels, b: Tensor, b_names: Labels) -> tuple[Tensor, Labels]:
    names = a_names + [n for n in b_names if n not in a_names]
    result = _aligned(a, a_names, names) * _aligned(b, b_names, names)
    return result, names


def _aligned(t: Tensor, own: Labels, names: Labels) -> Tensor:
    shape = tuple(t._shape[own.index(n)] if n in own else 1 for n in names)
    strides = tuple(t._strides[own.index(n)] if n in own else 0 for n in names)
    return t._view(shape, strides, t._offset)


def _shaped(t: Tensor, own: Labels, batch: Labels, rows: Labels, columns: Labels) -> Tensor:
    """`t` as matrices: the dims `batch` as they are, then `rows` and `columns` each as one dim."""
    order = [own.index(n) for n in batch + rows + columns]
    t = t._view(tuple(t._shape[d] for d in order), tuple(t._strides[d] for d in order), t._offset)
    cut = len(batch)
    lead: Ints = t._shape[:cut]
    m = numel(t._shape[cut : cut + len(rows)])
    n = numel(t._shape[cut + len(rows) :])
    return flat(t, (*lead, m, n))
