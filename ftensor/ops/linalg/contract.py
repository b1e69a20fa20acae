"""Contractions made of matrix products: tensordot, kron, chains and powers of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import matmul as errors_matmul
from ...execute import memory
from ...execute.copy import into
from ...execute.pointwise import pointwise
from ...iterator.shape import Ints, normalize_dim, numel
from ...iterator.stride import contiguous_strides
from ...ops.types import copy
from ...rows.catalogue import op
from ..pointwise.binary import MUL
from .addmm import flat
from .matmul import matmul
from .product import check, product
from .solve import inv


def _tensors(name: str, **operands: Any) -> None:
    for arg, x in operands.items():
        if type(x) is not Tensor:
            raise errors.not_a_tensor(name, arg, x)


def _permuted(t: Tensor, order: Sequence[int]) -> Tensor:
    return t._view(tuple(t._shape[d] for d in order), tuple(t._strides[d] for d in order), t._offset)


@op(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """The products of two tensors summed over dims: the last `dims` of `a` with the first of `b`,
    or the dims in two lists. RuntimeError for dims of different sizes or operands of different
    dtypes.
    """
    _tensors("tensordot", a=a, b=b)
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise errors_matmul.tensordot_dims(dims, "must not be negative")
        if dims > min(len(a._shape), len(b._shape)):
            raise errors_matmul.tensordot_dims(dims, f"the tensors have {len(a._shape)} and {len(b._shape)} dims")
        first, second = tuple(range(-dims, 0)), tuple(range(dims))
    else:
        first, second = ((d,) if isinstance(d, int) else tuple(d) for d in dims)
    return contracted("tensordot", a, b, first, second, out)


def contracted(name: str, a: Tensor, b: Tensor, first: Ints, second: Ints, out: Tensor | None = None) -> Tensor:
    """The products of `a` and `b` summed over the dims `first` of `a` and `second` of `b`."""
    if len(first) != len(second):
        raise errors_matmul.tensordot_dims((first, second), "both lists need the same length")
    first = tuple(normalize_dim(d, len(a._shape)) for d in first)
    second = tuple(normalize_dim(d, len(b._shape)) for d in second)
    if len(set(first)) != len(first) or len(set(second)) != len(second):
        raise errors_matmul.tensordot_dims((first, second), "a dim is named twice")
    check(name, a=a, b=b)
    for p, q in zip(first, second):
        n, k = a._shape[p], b._shape[q]
        if n != k and 1 not in (n, k):
            raise errors_matmul.tensordot_sizes(p, n, q, k)
    # A dim of size 1 broadcasts: the other's is summed up by itself.
    a = _summed(a, [p for p, q in zip(first, second) if b._shape[q] == 1])
    b = _summed(b, [q for p, q in zip(first, second) if a._shape[p] == 1])
    left = [d for d in range(len(a._shape)) if d not in first]
    right = [d for d in range(len(b._shape)) if d not in second]
    depth = numel(tuple(a._shape[d] for d in first))
    rows = tuple(a._shape[d] for d in left)
    columns = tuple(b._shape[d] for d in right)
    x = flat(_permuted(a, [*left, *first]), (numel(rows), depth))
    y = flat(_permuted(b, [*second, *right]), (depth, numel(columns)))
    result = product(name, x, y)
    result = result._view(rows + columns, contiguous_strides(rows + columns), result._offset)
    return into(name, out, result)


def _summed(t: Tensor, dims: list[int]) -> Tensor:
    dims = [d for d in dims if t._shape[d] != 1]
    if not dims:
        return t
    return t.sum(tuple(dims), keepdim=True, dtype=t._dtype)


@op()
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sums of products along the last dims; with a 0-d operand, the products."""
    _tensors("inner", input=input, other=other)
    if not input._shape or not other._shape:
        return pointwise(MUL, (input, other), (), out)
    if input._shape[-1] != other._shape[-1]:
        raise errors_matmul.inner_sizes(input._shape, other._shape)
    if len(input._shape) == 1 and len(other._shape) == 1:
        return matmul(input, other, out=out)
    return contracted("inner", input, other, (-1,), (-1,), out)


@op()
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product: each element of `input` times all of `other`. Dtypes are promoted."""
    _tensors("kron", input=input, other=other)
    ndim = max(len(input._shape), len(other._shape))
    first = (1,) * (ndim - len(input._shape)) + input._shape
    second = (1,) * (ndim - len(other._shape)) + other._shape
    wide = _spread(input, first, 0)
    narrow = _spread(other, second, 1)
    shape = tuple(m * n for m, n in zip(first, second))
    return into("kron", out, flat(wide * narrow, shape), cast=True)


def _spread(t: Tensor, shape: Ints, place: int) -> Tensor:
    """Every dim of `shape` as two: its own at `place` of the pair, the other of size 1."""
    lead = len(shape) - len(t._shape)
    strides = (0,) * lead + t._strides
    sizes: list[int] = []
    steps: list[int] = []
    for n, s in zip(shape, strides):
        sizes += [n, 1] if not place else [1, n]
        steps += [s, 0] if not place else [0, s]
    return t._view(tuple(sizes), tuple(steps), t._offset)


def _order(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to cut each part of a chain so that the fewest multiplications are done.

    Matrix i has sizes[i] rows and sizes[i + 1] columns.
    """
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    cut: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            choices = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], cut[i, j] = min(choices)
    return cut


def _chain(name: str, matrices: Sequence[Tensor]) -> Tensor:
    for a, b in pairwise(matrices):
        if a._shape[1] != b._shape[0]:
            raise errors_matmul.shapes_differ(name, a._shape, b._shape)
    cut = _order([m._shape[0] for m in matrices] + [matrices[-1]._shape[1]])

    def part(i: int, j: int) -> Tensor:
        if i == j:
            return matrices[i]
        k = cut[i, j]
        return matmul(part(i, k), part(k + 1, j))

    return part(0, len(matrices) - 1)


@op(method=False, namespace="linalg")
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of a chain of matrices in the order that takes the fewest multiplications. The
    first may be a vector (a row), and so may the last (a column).
    """
    name = "linalg.multi_dot"
    if len(tensors) < 2:
        raise errors_matmul.too_few(name, 2, len(tensors))
    _tensors(name, **{f"tensors[{k}]": x for k, x in enumerate(tensors)})
    last = len(tensors) - 1
    for k, x in enumerate(tensors):
        if len(x._shape) != 2 and not (len(x._shape) == 1 and k in (0, last)):
            raise errors_matmul.chain_ndim(name, k, x._shape)
    check(name, "", **{f"tensors[{k}]": x for k, x in enumerate(tensors)})
    chain = list(tensors)
    row, column = len(chain[0]._shape) == 1, len(chain[-1]._shape) == 1
    if row:
        x = chain[0]
        chain[0] = x._view((1, *x._shape), (0, *x._strides), x._offset)
    if column:
        x = chain[-1]
        chain[-1] = x._view((*x._shape, 1), (*x._strides, 1), x._offset)
    result = _chain(name, chain)
    shape = result._shape[1 if row else 0 : 1 if column else 2]
    return into(name, out, result._view(shape, contiguous_strides(shape), result._offset))


@op(method=False)
def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """See `linalg.multi_dot`; matrices only."""
    name = "chain_matmul"
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    if not matrices:
        raise errors_matmul.too_few(name, 1, 0)
    _tensors(name, **{f"matrices[{k}]": x for k, x in enumerate(matrices)})
    for k, x in enumerate(matrices):
        if len(x._shape) != 2:
            raise errors_matmul.chain_ndim(name, k, x._shape)
    if len(matrices) == 1:
        result = matrices[0]
    else:
        check(name, "", **{f"matrices[{k}]": x for k, x in enumerate(matrices)})
        result = _chain(name, matrices)
    return into(name, out, result)


def _power(input: Tensor, n: int, out: Tensor | None) -> Tensor:
    name = "linalg.matrix_power"
    _tensors(name, input=input)
    shape = input._shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise errors_matmul.not_square(name, shape)
    if n < 0:
        return _power(inv(input), -n, out)
    if n == 0:
        result = copy.zero_(memory.new_like(input, shape))
        diagonal = result._view((*shape[:-2], shape[-1]), (*result._strides[:-2], shape[-1] + 1), result._offset)
        copy.fill_(diagonal, 1)
    elif n == 1:
        result = copy.clone(input)
    else:
        check(name, input=input)
        power, square = None, input
        while n:  # n's bits, from the lowest: the squares that make up the power
            if n & 1:
                power = square if power is None else matmul(power, square)
            n >>= 1
            if n:
                square = matmul(square, square)
        assert power is not None
        result = power
    return into(name, out, result)


@op(name="matrix_power", method=False, namespace="linalg")
def linalg_matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Square matrices to an integer power, by repeated squaring; power 0 is the identity. For
    a negative power they are inverted first: LinAlgError where one is singular."""
    return _power(input, n, out)


@op()
def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """See `linalg.matrix_power`."""
    return _power(input, n, out)
