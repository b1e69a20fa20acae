"""einsum, tensordot, kron, chains and powers of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import promote_types
from ...errors import linalg as errors_matmul
from ...execute import output
from ...execute.pointwise import pointwise, write_result
from ...iterator.shape import Ints, contiguous_strides, normalize_dim, numel
from ...rows.catalogue import op
from ..arguments import check_tensors
from ..pointwise.binary import MUL
from ..types import conversion
from .matmul import flat, matmul
from .product import check, product
from .solve import inv

ELLIPSIS = "..."
Labels = list[str]


@op(method=False, forms=("einsum(equation, *operands) -> Tensor",))
def einsum(*args: Any) -> Tensor:
    """Sums products named by subscripts: `"ij,jk->ik"` is the matrix product. A letter in several
    operands is one dim of all of them. A letter that is not behind the arrow is summed. Without an
    arrow, the letters that appear once are kept, in alphabetical order. `...` represents dims that
    broadcast. Instead of an equation, each operand may be followed by a list of numbers below 52,
    and the last list is the output's. Raises RuntimeError for sizes or subscripts that don't fit.
    """
    equation, operands = _arguments(args)
    for k, x in enumerate(operands):
        if type(x) is not Tensor:
            raise errors.not_a_tensor("einsum", f"operand {k}", x)
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        comparison = "more" if len(operands) > len(terms) else "fewer"
        counts = f"{len(operands)} for the {len(terms)} of {left!r}"
        raise errors_matmul.einsum(f"{comparison} operands were given than the equation has terms: {counts}")
    for d in [x._dtype for x in operands]:
        if d is not operands[0]._dtype:
            raise errors.dtypes_differ("einsum", [x._dtype for x in operands])
    parsed = [_labels(t, f"operand {k}") for k, t in enumerate(terms)]
    ellipsis_ndim = max((_ellipsis_ndim(x, p, k) for k, (x, p) in enumerate(zip(operands, parsed))), default=0)
    dots = [f".{k}" for k in range(ellipsis_ndim)]
    labels, tensors = [], []
    for k, (x, p) in enumerate(zip(operands, parsed)):
        covered = _ellipsis_ndim(x, p, k)
        names = [n for q in p for n in (dots[ellipsis_ndim - covered :] if q == ELLIPSIS else [q])]
        t, names = _diagonal(x, names, k)
        labels.append(names)
        tensors.append(t)
    output_labels = _output_labels(right if arrow else None, parsed, dots)
    sizes = _sizes(tensors, labels)
    input_labels = {n for names in labels for n in names}
    for n in output_labels:
        if n not in input_labels:
            raise errors_matmul.einsum(f"output subscript {n} is in no operand")
    return _contract(tensors, labels, output_labels, sizes)


def _arguments(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Returns (equation, operands), also for the form in which lists of numbers follow the
    operands."""
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


def _labels(term: str, argument: str) -> Labels:
    """Returns the subscripts of a term; the ellipsis is one of them."""
    out: Labels = []
    remaining = term
    while remaining:
        if remaining.startswith(ELLIPSIS):
            if ELLIPSIS in out:
                raise errors_matmul.einsum(f"{argument} has more than one ellipsis: {term}")
            out.append(ELLIPSIS)
            remaining = remaining[3:]
        elif remaining[0].isascii() and remaining[0].isalpha():
            out.append(remaining[0])
            remaining = remaining[1:]
        else:
            raise errors_matmul.einsum(f"{argument}: {remaining[0]!r} in {term!r} is no letter from a to z")
    return out


def _ellipsis_ndim(x: Tensor, labels: Labels, k: int) -> int:
    label_count = len(labels) - (ELLIPSIS in labels)
    if label_count > x.ndim or (ELLIPSIS not in labels and label_count < x.ndim):
        raise errors_matmul.einsum(f"operand {k} has {x.ndim} dims, but {label_count} subscripts: {''.join(labels)}")
    return x.ndim - label_count


def _diagonal(x: Tensor, names: Labels, k: int) -> tuple[Tensor, Labels]:
    """Merges a subscript that occurs twice in operand `k` into one dim: the diagonal."""
    shape: list[int] = []
    strides: list[int] = []
    out: Labels = []
    for n, size, stride in zip(names, x._shape, x._strides):
        if n not in out:
            out.append(n)
            shape.append(size)
            strides.append(stride)
            continue
        position = out.index(n)
        if shape[position] != size:
            raise errors_matmul.einsum(f"subscript {n} of operand {k} has sizes {shape[position]} and {size}")
        strides[position] += stride
    return x._view(tuple(shape), tuple(strides), x._offset), out


def _output_labels(right: str | None, parsed: Sequence[Labels], dots: Labels) -> Labels:
    if right is None:
        all_labels = [n for p in parsed for n in p if n != ELLIPSIS]
        return dots + sorted(n for n in set(all_labels) if all_labels.count(n) == 1)
    output_labels: Labels = []
    for n in _labels(right, "the output"):
        if n in output_labels:
            raise errors_matmul.einsum(f"output subscript {n} appears more than once")
        output_labels += dots if n == ELLIPSIS else [n]
    return output_labels


def _sizes(tensors: Sequence[Tensor], labels: Sequence[Labels]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for k, (t, names) in enumerate(zip(tensors, labels)):
        for n, size in zip(names, t._shape):
            known_size = sizes.get(n, 1)
            if known_size != size and 1 not in (known_size, size):
                raise errors_matmul.einsum(
                    f"subscript {n} has size {size} for operand {k}, which does not broadcast with "
                    f"the size {known_size} seen before"
                )
            sizes[n] = size if known_size == 1 else known_size
    return sizes


def _contract(tensors: list[Tensor], labels: list[Labels], output_labels: Labels, sizes: dict[str, int]) -> Tensor:
    a, names = tensors[0], labels[0]
    for k in range(1, len(tensors)):
        later = set(output_labels).union(*labels[k + 1 :])
        a, names = _contract_pair(a, names, tensors[k], labels[k], later, sizes)
    a, names = _sum_labels(a, names, [n for n in names if n not in output_labels])
    order = [names.index(n) for n in output_labels]
    return a._view(tuple(a._shape[d] for d in order), tuple(a._strides[d] for d in order), a._offset)


def _sum_labels(t: Tensor, names: Labels, summed_labels: Labels) -> tuple[Tensor, Labels]:
    """Returns `t` summed over the dims of some subscripts. Integers widen, as in `sum`."""
    if not summed_labels:
        return t, names
    return t.sum(tuple(map(names.index, summed_labels))), [n for n in names if n not in summed_labels]


def _contract_pair(
    a: Tensor, a_names: Labels, b: Tensor, b_names: Labels, later_labels: set[str], sizes: dict[str, int]
) -> tuple[Tensor, Labels]:
    """Returns the product of two operands, summed over the subscripts that no later operand or
    output needs."""
    summed_labels = [n for n in dict.fromkeys(a_names + b_names) if n not in later_labels]
    alone_a = [n for n in summed_labels if n not in b_names or b._shape[b_names.index(n)] == 1 != sizes[n]]
    alone_b = [n for n in summed_labels if n not in a_names or a._shape[a_names.index(n)] == 1 != sizes[n]]
    a, a_names = _sum_labels(a, a_names, [n for n in alone_a if n in a_names])
    b, b_names = _sum_labels(b, b_names, [n for n in alone_b if n in b_names])
    deep = [n for n in summed_labels if n in a_names and n in b_names]
    a, a_names = _drop_size_one(a, a_names, [n for n in summed_labels if n not in deep])
    b, b_names = _drop_size_one(b, b_names, [n for n in summed_labels if n not in deep])
    if not deep:
        return _times(a, a_names, b, b_names)
    if a._dtype is not b._dtype:  # one operand was summed and widened
        compute = promote_types(a._dtype, b._dtype)
        a, b = a.to(compute), b.to(compute)
    check("einsum", "bmm", a=a, b=b)
    batch = [n for n in a_names if n in b_names and n not in deep]
    rows = [n for n in a_names if n not in b_names]
    columns = [n for n in b_names if n not in a_names]
    x = _as_matrices(a, a_names, batch, rows, deep)
    y = _as_matrices(b, b_names, batch, deep, columns)
    result = product("einsum", x, y)
    names = batch + rows + columns
    operands = ((a, a_names), (b, b_names))
    dim_sizes = {n: [t._shape[labels.index(n)] for t, labels in operands if n in labels] for n in names}
    shape = tuple(0 if 0 in dim_sizes[n] else max(dim_sizes[n]) for n in names)
    return result._view(shape, contiguous_strides(shape), result._offset), names


def _drop_size_one(t: Tensor, names: Labels, size_one_labels: Labels) -> tuple[Tensor, Labels]:
    left = [(n, size, step) for n, size, step in zip(names, t._shape, t._strides) if n not in size_one_labels]
    return (t._view(tuple(x[1] for x in left), tuple(x[2] for x in left), t._offset), [x[0] for x in left])


def _times(a: Tensor, a_names: Labels, b: Tensor, b_names: Labels) -> tuple[Tensor, Labels]:
    names = a_names + [n for n in b_names if n not in a_names]
    result = _aligned(a, a_names, names) * _aligned(b, b_names, names)
    return result, names


def _aligned(t: Tensor, t_names: Labels, names: Labels) -> Tensor:
    shape = tuple(t._shape[t_names.index(n)] if n in t_names else 1 for n in names)
    strides = tuple(t._strides[t_names.index(n)] if n in t_names else 0 for n in names)
    return t._view(shape, strides, t._offset)


def _as_matrices(t: Tensor, t_names: Labels, batch: Labels, rows: Labels, columns: Labels) -> Tensor:
    """Returns `t` as matrices: keeps the dims `batch`, joins `rows` into one dim and `columns` into
    another."""
    order = [t_names.index(n) for n in batch + rows + columns]
    t = t._view(tuple(t._shape[d] for d in order), tuple(t._strides[d] for d in order), t._offset)
    batch_ndim = len(batch)
    batch_shape: Ints = t._shape[:batch_ndim]
    m = numel(t._shape[batch_ndim : batch_ndim + len(rows)])
    n = numel(t._shape[batch_ndim + len(rows) :])
    return flat(t, (*batch_shape, m, n))


def _permuted(t: Tensor, order: Sequence[int]) -> Tensor:
    return t._view(tuple(t._shape[d] for d in order), tuple(t._strides[d] for d in order), t._offset)


@op(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sums the products of two tensors over dims: the last `dims` of `a` with the first of `b`, or
    the dims in two lists. Raises RuntimeError for dims of different sizes or operands of different
    dtypes."""
    check_tensors("tensordot", a=a, b=b)
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
    """Returns the products of `a` and `b` summed over the dims `first` of `a` and `second` of
    `b`."""
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
    # A dim of size 1 broadcasts, so the other operand is summed over it first.
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
    return write_result(name, out, result)


def _summed(t: Tensor, dims: list[int]) -> Tensor:
    dims = [d for d in dims if t._shape[d] != 1]
    if not dims:
        return t
    return t.sum(tuple(dims), keepdim=True, dtype=t._dtype)


@op()
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the sums of products along the last dims; with a 0-d operand, the products."""
    check_tensors("inner", input=input, other=other)
    if not input._shape or not other._shape:
        return pointwise(MUL, (input, other), (), out)
    if input._shape[-1] != other._shape[-1]:
        raise errors_matmul.inner_sizes(input._shape, other._shape)
    if len(input._shape) == 1 and len(other._shape) == 1:
        return matmul(input, other, out=out)
    return contracted("inner", input, other, (-1,), (-1,), out)


@op()
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the Kronecker product: each element of `input` times all of `other`. Dtypes are
    promoted."""
    check_tensors("kron", input=input, other=other)
    ndim = max(len(input._shape), len(other._shape))
    first = (1,) * (ndim - len(input._shape)) + input._shape
    second = (1,) * (ndim - len(other._shape)) + other._shape
    input_pairs = _as_pairs(input, first, 0)
    other_pairs = _as_pairs(other, second, 1)
    shape = tuple(m * n for m, n in zip(first, second))
    return write_result("kron", out, flat(input_pairs * other_pairs, shape), cast=True)


def _as_pairs(t: Tensor, shape: Ints, pair_index: int) -> Tensor:
    """Returns `t` broadcast to `shape` with each dim as a pair: its size at index `pair_index`, 1
    at the other."""
    missing = len(shape) - len(t._shape)
    strides = (0,) * missing + t._strides
    sizes: list[int] = []
    steps: list[int] = []
    for n, s in zip(shape, strides):
        sizes += [n, 1] if not pair_index else [1, n]
        steps += [s, 0] if not pair_index else [0, s]
    return t._view(tuple(sizes), tuple(steps), t._offset)


def _best_splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Returns where to split each part of a chain so that the number of multiplications is minimal.

    Matrix i has sizes[i] rows and sizes[i + 1] columns.
    """
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split_at: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            choices = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], split_at[i, j] = min(choices)
    return split_at


def _chain(name: str, matrices: Sequence[Tensor]) -> Tensor:
    for a, b in pairwise(matrices):
        if a._shape[1] != b._shape[0]:
            raise errors_matmul.shapes_differ(name, a._shape, b._shape)
    split_at = _best_splits([m._shape[0] for m in matrices] + [matrices[-1]._shape[1]])

    def product_of(i: int, j: int) -> Tensor:
        if i == j:
            return matrices[i]
        k = split_at[i, j]
        return matmul(product_of(i, k), product_of(k + 1, j))

    return product_of(0, len(matrices) - 1)


@op(method=False, namespace="linalg")
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Returns the product of a chain of matrices, in the order with the fewest multiplications. The
    first operand may be a vector (a row), and so may the last (a column)."""
    name = "linalg.multi_dot"
    if len(tensors) < 2:
        raise errors_matmul.too_few(name, 2, len(tensors))
    check_tensors(name, **{f"tensors[{k}]": x for k, x in enumerate(tensors)})
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
    return write_result(name, out, result._view(shape, contiguous_strides(shape), result._offset))


@op(method=False)
def chain_matmul(*matrices: Any, out: Tensor | None = None) -> Tensor:
    """See `linalg.multi_dot`; matrices only."""
    name = "chain_matmul"
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    if not matrices:
        raise errors_matmul.too_few(name, 1, 0)
    check_tensors(name, **{f"matrices[{k}]": x for k, x in enumerate(matrices)})
    for k, x in enumerate(matrices):
        if len(x._shape) != 2:
            raise errors_matmul.chain_ndim(name, k, x._shape)
    if len(matrices) == 1:
        result = matrices[0]
    else:
        check(name, "", **{f"matrices[{k}]": x for k, x in enumerate(matrices)})
        result = _chain(name, matrices)
    return write_result(name, out, result)


def _power(input: Tensor, n: int, out: Tensor | None) -> Tensor:
    name = "linalg.matrix_power"
    check_tensors(name, input=input)
    shape = input._shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise errors_matmul.not_square_matrix(name, shape)
    if n < 0:
        return _power(inv(input), -n, out)
    if n == 0:
        result = conversion.zero_(output.new_like(input, shape))
        diagonal = result._view((*shape[:-2], shape[-1]), (*result._strides[:-2], shape[-1] + 1), result._offset)
        conversion.fill_(diagonal, 1)
    elif n == 1:
        result = conversion.clone(input)
    else:
        check(name, input=input)
        power, square = None, input
        while n:  # bits of n from the lowest: multiply the squares whose bit is set
            if n & 1:
                power = square if power is None else matmul(power, square)
            n >>= 1
            if n:
                square = matmul(square, square)
        assert power is not None
        result = power
    return write_result(name, out, result)


@op(name="matrix_power", method=False, namespace="linalg")
def linalg_matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Returns square matrices to an integer power, by repeated squaring; power 0 is the identity. A
    negative power inverts first and raises LinAlgError for a singular matrix."""
    return _power(input, n, out)


@op()
def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """See `linalg.matrix_power`."""
    return _power(input, n, out)
