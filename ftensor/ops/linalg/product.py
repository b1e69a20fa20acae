"""Shared by matrix ops: checks of operands, output tensors, and the choice of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import linalg as errors_matmul
from ...execute import output as memory
from ...execute.device_traits import specializes
from ...execute.matmul import cache_matmul, gemm, transposed
from ...execute.output import check_device, check_dtype, check_overlap, region, resize_out
from ...execute.pointwise import pointwise
from ...execute.reduce import fold
from ...execute.scalars import fitted
from ...graph.fused import fused
from ...iterator.shape import Ints, broadcast_shapes, broadcast_strides, numel, partial_overlap
from ...rows.catalogue import enter
from ...rows.copies import COPY
from ...rows.op import Op, Promote, Reduce
from ..types import conversion

# Matrix times vector: from this number of terms on the lanes work along the sums.
FOLD_TERMS = 1 << 12
# Up to FEW rows of one matrix and from FEW_TERMS terms on, the other matrix is read again for each
# row, because packing it costs more (2 x 1024 by 1024 x 1024 takes a fifth; 4 rows take longer).
FEW, FEW_TERMS = 3, 1 << 17


def _dot(name: str, complex_lift: str) -> Reduce:
    complex_ = (complex_lift, "ft_cadd(x, y)", "FT_PAIR(FT_T, K(0), K(0))")
    return Reduce(
        name, "a * b", "x + y", "K(0)", complex_=complex_, kinds="uifc", promote=Promote.UNROUNDED,
        second_input=Promote.SAME,
    )  # fmt: skip


DOT = _dot("dot", "ft_cmul(a, b)")
VDOT = _dot("vdot", "ft_cmul(ft_cmake(a.re, -a.im), b)")
SCALED = Op("scaled", "product", "a * alpha", complex_="ft_cmul(a, alpha)", params=("alpha",))
MIXED = Op(
    "mixed",
    "input, product",
    "a * beta + b * alpha",
    complex_="ft_cadd(ft_cmul(a, beta), ft_cmul(b, alpha))",
    params=("beta", "alpha"),
)
enter(__name__, DOT, VDOT, SCALED, MIXED)


def check(op: str, dispatch: str = "", /, **tensors: Any) -> dtype:
    """Returns the common dtype of operands, which must be tensors of one dtype on one device.

    `dispatch` is the op that the message for bool names, if it isn't `op`. Raises TypeError if an
    operand is no tensor, RuntimeError for different dtypes or devices, NotImplementedError for bool
    and dtypes with few ops.
    """
    for arg, x in tensors.items():
        if type(x) is not Tensor:
            raise errors.not_a_tensor(op, arg, x)
    all_ = list(tensors.values())
    first = all_[0]
    for x in all_:
        if x._dtype is not first._dtype:
            raise errors.dtypes_differ(op, [y._dtype for y in all_])
        if x._storage.device is not first._storage.device:
            raise errors.different_devices(op, [y.device for y in all_])
    common_dtype: dtype = first._dtype
    # As in torch, products of empty matrices accept any dtype.
    empty = op in ("bmm", "mm", "mv") and any(not x.numel() for x in all_)
    if (common_dtype.kind == "b" and not empty) or common_dtype.bare:
        raise errors.not_implemented_for(dispatch or op, common_dtype)
    return common_dtype


def need_ndim(op: str, ndim: int, **tensors: Tensor) -> None:
    for name, x in tensors.items():
        if len(x._shape) != ndim:
            raise errors_matmul.needs_ndim(op, name, ndim, x._shape)


def factors(op: str, result_dtype: dtype, beta: Any, alpha: Any) -> tuple[Any, Any]:
    """Returns (beta, alpha). Raises RuntimeError for a factor that the compute dtype can't hold."""
    for name, value in (("beta", beta), ("alpha", alpha)):
        if not isinstance(value, (bool, int, float, complex)):
            raise errors.not_a_tensor_or_number(name, value)
    compute = result_dtype.compute if result_dtype.kind == "f" else result_dtype
    return fitted(op, beta, compute), fitted(op, alpha, compute)


def expand_addend(op: str, input: Tensor, shape: Ints) -> Tensor:
    """Returns `input` expanded to the product's shape."""
    input_shape = input._shape
    if input_shape == shape:
        return input
    leading = len(shape) - len(input_shape)
    if leading < 0 or any(n not in (1, s) for n, s in zip(input_shape, shape[leading:])):
        raise errors_matmul.added_shape(op, input_shape, shape)
    return input._view(shape, broadcast_strides(input_shape, input._strides, shape), input._offset)


def output(
    op: str, out: Tensor | None, shape: Ints, like: Tensor, read: Sequence[Tensor], inplace: bool
) -> tuple[Tensor, bool]:
    """Returns (the tensor to write, whether it must then be copied to `out`).

    `read` are the tensors that must not be overwritten before the end. Raises RuntimeError for an
    `out` of another dtype or device, of another shape with `inplace`, or whose elements share
    memory.
    """
    if out is None:
        return memory.new(shape, like._dtype, like._storage.device), False
    check_dtype(op, out, like._dtype)
    check_device(op, out, like._storage.device)
    check_overlap(op, resize_out(out, shape, fixed=inplace), ())
    if any(x._storage is out._storage for x in read):
        return memory.new(shape, like._dtype, like._storage.device), True
    return out, False


def finish(result: Tensor, out: Tensor | None, copy: bool) -> Tensor:
    """Returns the result, copied to `out` if `copy`."""
    if out is None:
        return result
    if copy:
        pointwise(COPY, (result,), (), out, True)
    return out


def are_unit_factors(alpha: Any, beta: Any) -> bool:
    return alpha.__class__ is int and beta.__class__ is int and alpha == beta == 1


def product(
    op: str,
    a: Tensor,
    b: Tensor,
    out: Tensor | None = None,
    addend: Tensor | None = None,
    beta: Any = 1,
    alpha: Any = 1,
) -> Tensor:
    """Returns `beta * addend + alpha * a @ b` of matrices, or of batches of matrices that
    broadcast.

    The operands have been checked. With `beta` 0 `addend` is not read, with `alpha` 0 the product
    is not computed.
    """
    operands = (a, b, a if addend is None else addend)
    shape: Ints = (a._shape[-2], b._shape[-1])
    if len(a._shape) > 2 or len(b._shape) > 2:
        batch = broadcast_shapes(a._shape[:-2], b._shape[:-2])
        a, b = _with_dims(a, len(batch) + 2), _with_dims(b, len(batch) + 2)
        shape = (*batch, *shape)
    inplace = out is not None and out is addend
    if addend is not None:
        addend = None if beta == 0 else expand_addend(op, addend, shape)
    read = [a, b]
    if addend is not None and out is not None and partial_overlap(region(addend), region(out)):
        read.append(addend)
    target, copy = output(op, out, shape, a, read, inplace)
    result = target
    dim = _longest_dim(a) if all(n == 1 for n in b._shape[:-2]) else len(shape) - 2
    if dim != len(shape) - 2:  # one matrix for all batches: few products of many rows
        shape, target, a = _swapped(target, dim)._shape, _swapped(target, dim), _swapped(a, dim)
        addend = None if addend is None else _swapped(addend, dim)
    # Other factors may change at each call, and each would make a new graph.
    has_unit_factors = are_unit_factors(alpha, beta)
    if alpha == 0:  # as in BLAS, infinities and NaN of the matrices have no effect then
        if addend is None:
            pointwise(COPY, (0,), (), target, True)
        else:
            pointwise(SCALED, (addend,), (beta,), target, True)
    elif numel(shape) * a._shape[-1] >= FOLD_TERMS and (1 in shape[-2:] or _few_rows(a, b)):
        (_one_kernel if has_unit_factors else _by_rows)(a, b, target, addend, beta, alpha)
    else:
        gemm(target, a, b, addend, alpha, beta)
        if out is None and has_unit_factors:
            cache_matmul(op, operands, result, target, a, b, addend)
    return finish(result, out, copy)


def _longest_dim(a: Tensor) -> int:
    """Returns the longest dim of `a` before the last, which is the depth; the last of equal ones."""
    rows = a._shape[:-1]
    return max(range(len(rows)), key=lambda d: (rows[d], d))


def _swapped(t: Tensor, dim: int) -> Tensor:
    """Returns `t` with `dim` and the last dim but one exchanged."""
    order = [*range(len(t._shape))]
    order[dim], order[-2] = order[-2], order[dim]
    return t._view(tuple([t._shape[d] for d in order]), tuple([t._strides[d] for d in order]), t._offset)


def _few_rows(a: Tensor, b: Tensor) -> bool:
    (m, depth), n = a._shape[-2:], b._shape[-1]
    in_line = a._strides[-1] == b._strides[-2] == 1 and m * n * depth >= FEW_TERMS
    return in_line and len(a._shape) == len(b._shape) == 2 and min(m, n) <= FEW and specializes(a)


def _by_rows(a: Tensor, b: Tensor, target: Tensor, added: Tensor | None, beta: Any, alpha: Any) -> None:
    """Computes the product as sums along rows into `target`."""
    shape, strides = target._shape, target._strides
    sums_shape, sums_strides = shape, strides
    if shape[-2] == 1:
        inputs, dim = (transposed(a), b), -2
        sums_shape, sums_strides = (*shape[:-2], shape[-1]), (*strides[:-2], strides[-1])
    elif shape[-1] == 1:
        inputs, dim = (a, transposed(b)), -1
        sums_shape, sums_strides = shape[:-1], strides[:-1]
    else:
        (m, depth), n = a._shape, b._shape[1]
        left = a._view((m, 1, depth), (a._strides[0], 0, a._strides[1]), a._offset)
        right = b._view((1, n, depth), (0, b._strides[1], b._strides[0]), b._offset)
        inputs, dim = (left, right), -1
    compute = a._dtype.compute
    if added is None and target._dtype is compute and are_unit_factors(alpha, 1):
        # The sums are the result, which needs no launch that copies them.
        into = target._view(sums_shape, sums_strides, target._offset)
        fold(DOT, inputs, dim, False, compute, (compute,), into=(into,))
    else:
        sums = folded(DOT, inputs, dim)
        combine(sums._view(shape, memory.contiguous_strides(shape), 0), target, added, beta, alpha)


_one_kernel = fused(_by_rows)


def folded(red: Reduce, inputs: Sequence[Tensor], dim: int | None) -> Tensor:
    compute = inputs[0]._dtype.compute
    (sums,) = fold(red, inputs, dim, False, compute, (compute,))
    return conversion.contiguous(sums)


def combine(sums: Tensor, target: Tensor, added: Tensor | None, beta: Any, alpha: Any) -> None:
    """Writes `beta * added + alpha * sums` to `target`. The sums keep their precision until
    then."""
    if added is not None:
        pointwise(MIXED, (added, sums), (beta, alpha), target, True)
    elif alpha.__class__ is int and alpha == 1:
        pointwise(COPY, (sums,), (), target, True)
    else:
        pointwise(SCALED, (sums,), (alpha,), target, True)


def _with_dims(t: Tensor, ndim: int) -> Tensor:
    leading = ndim - len(t._shape)
    if not leading:
        return t
    return t._view((1,) * leading + t._shape, (0,) * leading + t._strides, t._offset)
