"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import matmul as errors_matmul
from ...execute.copy import into
from ...execute.known import known
from ...graph.fused import fused
from ...iterator.shape import Ints, broadcast_shapes, numel
from ...iterator.stride import contiguous_strides, view_strides
from ...rows.catalogue import also_in, op
from .product import DOT, VDOT, added_to, check, combine, finish, folded, need_ndim, output, product


@op()
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices of one dtype. float16 and bfloat16 are summed in float32,
    integers wrap. RuntimeError for other numbers of dims, sizes that don't fit, or different
    dtypes.
    """
    if out is None and (result := known("mm", input, mat2, input)) is not None:
        return result
    if type(input) is Tensor and type(mat2) is Tensor:
        need_ndim("mm", 2, input=input, mat2=mat2)
        if input._shape[1] != mat2._shape[0]:
            raise errors_matmul.shapes_differ("mm", input._shape, mat2._shape)
    check("mm", input=input, mat2=mat2)
    return product("mm", input, mat2, out)


@op()
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of two batches of matrices, pair by pair. Errors as for `mm`."""
    if out is None and (result := known("bmm", input, mat2, input)) is not None:
        return result
    if type(input) is Tensor and type(mat2) is Tensor:
        batches_fit("bmm", input, mat2)
    check("bmm", input=input, mat2=mat2)
    return product("bmm", input, mat2, out)


def batches_fit(name: str, a: Tensor, b: Tensor) -> None:
    """RuntimeError unless these are batches of matrices that can be multiplied pair by pair."""
    need_ndim(name, 3, batch1=a, batch2=b)
    if a._shape[0] != b._shape[0] or a._shape[2] != b._shape[1]:
        raise errors_matmul.shapes_differ(name, a._shape, b._shape)


@op()
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector. Errors as for `mm`."""
    return _mv(input, vec) if out is None else _mv_to(input, vec, out)


def _mv_to(input: Tensor, vec: Tensor, out: Tensor | None = None) -> Tensor:
    if type(input) is Tensor and type(vec) is Tensor:
        matrix_vector_fit("mv", input, vec)
    check("mv", input=input, vec=vec)
    return matrix_vector("mv", input, vec, out)


# From its second call on without checks and views, which take longer than many a product.
_mv = fused(_mv_to)


def matrix_vector_fit(name: str, mat: Tensor, vec: Tensor) -> None:
    """RuntimeError unless these are a matrix and a vector that can be multiplied."""
    need_ndim(name, 2, mat=mat)
    need_ndim(name, 1, vec=vec)
    if mat._shape[1] != vec._shape[0]:
        raise errors_matmul.shapes_differ(name, mat._shape, vec._shape)


def matrix_vector(
    name: str, mat: Tensor, vec: Tensor, out: Tensor | None, added: Tensor | None = None, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """`beta * added + alpha * mat @ vec`, the operands checked."""
    shape = mat._shape[:1]
    inplace = out is not None and out is added
    read = [mat, vec]
    if added is not None:
        added = None if beta == 0 else added_to(name, added, shape)
        read += [added] if added is not None and not inplace else []
    target, copy = output(name, out, shape, mat, read, inplace)
    product(name, mat, column(vec), column(target), column(added), beta, alpha)
    return finish(target, out, copy)


def column(t: Tensor | None) -> Any:
    """A vector (or None) as a matrix of one column."""
    return None if t is None else t._view((*t._shape, 1), (*t._strides, 1), t._offset)


def _dot(name: str, red: Any, a: Any, b: Any, out: Tensor | None = None) -> Tensor:
    if type(a) is Tensor and type(b) is Tensor:
        if len(a._shape) != 1 or len(b._shape) != 1:
            raise errors_matmul.needs_ndim(name, "each operand", 1, (a if len(a._shape) != 1 else b)._shape)
    check(name, "dot", input=a, other=b)
    if a._shape != b._shape:
        raise errors_matmul.shapes_differ(name, a._shape, b._shape)
    target, copy = output(name, out, (), a, (a, b), False)
    combine(folded(red, (a, b), None), target, None, 1, 1)
    return finish(target, out, copy)


@fused
def _of_vectors(input: Tensor, tensor: Tensor) -> Tensor:
    return _dot("dot", DOT, input, tensor)


@fused
def _of_conjugate(input: Tensor, other: Tensor) -> Tensor:
    return _dot("vdot", VDOT, input, other)


@op()
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of two vectors' products."""
    return _of_vectors(input, tensor) if out is None else _dot("dot", DOT, input, tensor, out)


@op()
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`dot` with the conjugate of `input`."""
    return _of_conjugate(input, other) if out is None else _dot("vdot", VDOT, input, other, out)


@op(operators=("__matmul__", "__rmatmul__"))
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix product. A vector on the left is a row, one on the right a column, and that dim is
    left out of the result; all dims before the last two are batches, which broadcast.
    RuntimeError for 0-d operands, sizes that don't fit, or different dtypes.
    """
    for arg, x in (("input", input), ("other", other)):
        if type(x) is not Tensor:
            raise errors.not_a_tensor("matmul", arg, x)
    first, second = len(input._shape), len(other._shape)
    if first == 2 and second == 2:
        return mm(input, other, out=out)
    if not first or not second:
        raise errors_matmul.no_dims("matmul", (input._shape, other._shape))
    if first == 1 and second == 1:
        return dot(input, other, out=out)
    if first == 2 and second == 1:
        return mv(input, other, out=out)
    if first == 1 and second == 2:
        return mv(turned(other), input, out=out)
    return _batched(input, other, out)


also_in("linalg", "matmul")


def turned(t: Tensor) -> Tensor:
    """The dims in reverse order."""
    return t._view(t._shape[::-1], t._strides[::-1], t._offset)


def _batched(a: Tensor, b: Tensor, out: Tensor | None) -> Tensor:
    """`matmul` where an operand has more than two dims."""
    if out is None and (result := known("matmul", a, b, a)) is not None:
        return result
    row, single = len(a._shape) == 1, len(b._shape) == 1
    contracted = b._shape[0] if single else b._shape[-2]
    if a._shape[-1] != contracted:
        raise errors_matmul.shapes_differ("matmul", a._shape, b._shape)
    check("matmul", "bmm", input=a, other=b)
    if row:
        a = a._view((1, *a._shape), (0, *a._strides), a._offset)
    if single:
        b = column(b)
    if len(b._shape) == 2:
        # One matrix for all: the batches are more rows, where they lie like rows.
        rows = (numel(a._shape[:-1]), a._shape[-1])
        strides = view_strides(a._shape, a._strides, rows)
        if strides is not None:
            shape = a._shape[:-1] if single else (*a._shape[:-1], b._shape[1])
            flat = a._view(rows, strides, a._offset)
            if out is None:
                result = mm(flat, b)
                return result._view(shape, contiguous_strides(shape), 0)
    if out is None and not (row or single):
        return product("matmul", a, b)
    shape = _result_shape(a, b, row, single)
    target, copy = output("matmul", out, shape, a, (a, b), False)
    whole = target
    if single:
        whole = whole._view((*whole._shape, 1), (*whole._strides, 1), whole._offset)
    if row:
        size, step = whole._shape, whole._strides
        whole = whole._view((*size[:-1], 1, size[-1]), (*step[:-1], 0, step[-1]), whole._offset)
    product("matmul", a, b, whole)
    return finish(target, out, copy)


def _result_shape(a: Tensor, b: Tensor, row: bool, single: bool) -> Ints:
    shape = broadcast_shapes(a._shape[:-2], b._shape[:-2])
    return shape + (() if row else (a._shape[-2],)) + (() if single else (b._shape[-1],))


@op(method=False, namespace="linalg")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """`vdot` along a dim, of tensors that broadcast."""
    for t in (x, y):
        if type(t) is Tensor and t._dtype.kind not in "fc":
            raise errors.floating_only("linalg.vecdot", t._dtype)
    of = check("linalg.vecdot", x=x, y=y)
    if of.itemsize == 2:  # torch rounds the products to the 16-bit type
        return into("linalg.vecdot", out, (x * y).sum(dim))
    sums = folded(VDOT, (x, y), dim)
    target, copy = output("linalg.vecdot", out, sums._shape, x, (x, y), False)
    combine(sums, target, None, 1, 1)
    return finish(target, out, copy)
