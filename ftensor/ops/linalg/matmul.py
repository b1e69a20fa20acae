"""Products of matrices and vectors, and products added to a tensor."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import int8, int32, uint8
from ...errors import linalg as errors_matmul
from ...execute import output as execute_output
from ...execute.dispatch import cached_result
from ...execute.layers import FLOAT_LINEAR, is_traced, layer
from ...execute.output import check_device
from ...execute.pointwise import common_dtype, pointwise, write_result
from ...execute.scalars import fitted, rounded
from ...graph.fused import fused
from ...iterator.shape import Ints, broadcast_shapes, contiguous_strides, numel, view_strides
from ...rows.catalogue import add_to_namespace, name_called, op
from ...rows.op import Op
from ..arguments import check_tensors
from ..nn.spatial.conv import byte_products
from ..pointwise.binary import MUL, add, check_factor
from ..types import conversion
from .product import (
    DOT,
    FOLD_TERMS,
    VDOT,
    are_unit_factors,
    check,
    combine,
    expand_addend,
    factors,
    finish,
    folded,
    need_ndim,
    output,
    product,
)


@op()
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the product of two matrices of one dtype. float16 and bfloat16 are summed in float32,
    integers wrap. Raises RuntimeError for other numbers of dims, sizes that don't fit, or different
    dtypes."""
    if out is None and (result := cached_result("mm", input, mat2, input)) is not None:
        return result
    if type(input) is Tensor and type(mat2) is Tensor:
        need_ndim("mm", 2, input=input, mat2=mat2)
        if input._shape[1] != mat2._shape[0]:
            raise errors_matmul.shapes_differ(name_called("mm"), input._shape, mat2._shape)
    check("mm", input=input, mat2=mat2)
    return product("mm", input, mat2, out)


@op()
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the products of two batches of matrices, pair by pair. Raises the errors of `mm`."""
    if out is None and (result := cached_result("bmm", input, mat2, input)) is not None:
        return result
    if type(input) is Tensor and type(mat2) is Tensor:
        batches_fit("bmm", input, mat2)
    check("bmm", input=input, mat2=mat2)
    return product("bmm", input, mat2, out)


def batches_fit(name: str, a: Tensor, b: Tensor) -> None:
    need_ndim(name, 3, batch1=a, batch2=b)
    if a._shape[0] != b._shape[0] or a._shape[2] != b._shape[1]:
        raise errors_matmul.shapes_differ(name_called(name), a._shape, b._shape)


@op()
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the product of a matrix and a vector. Raises the errors of `mm`."""
    return _mv(input, vec) if out is None else _mv_to(input, vec, out)


def _mv_to(input: Tensor, vec: Tensor, out: Tensor | None = None) -> Tensor:
    if type(input) is Tensor and type(vec) is Tensor:
        matrix_vector_fit("mv", input, vec)
    check("mv", input=input, vec=vec)
    return matrix_vector("mv", input, vec, out)


# From the second call on it runs as a graph: checks and views take longer than many products.
_mv = fused(_mv_to)


def matrix_vector_fit(name: str, mat: Tensor, vec: Tensor) -> None:
    need_ndim(name, 2, mat=mat)
    need_ndim(name, 1, vec=vec)
    if mat._shape[1] != vec._shape[0]:
        raise errors_matmul.shapes_differ(name_called(name), mat._shape, vec._shape)


def matrix_vector(
    name: str, mat: Tensor, vec: Tensor, out: Tensor | None, added: Tensor | None = None, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Returns `beta * added + alpha * mat @ vec` of checked operands."""
    shape = mat._shape[:1]
    inplace = out is not None and out is added
    read = [mat, vec]
    if added is not None:
        added = None if beta == 0 else expand_addend(name, added, shape)
        read += [added] if added is not None and not inplace else []
    target, copy = output(name, out, shape, mat, read, inplace)
    product(name, mat, column(vec), column(target), column(added), beta, alpha)
    return finish(target, out, copy)


def column(t: Tensor | None) -> Any:
    return None if t is None else t._view((*t._shape, 1), (*t._strides, 1), t._offset)


def _dot(name: str, red: Any, a: Any, b: Any, out: Tensor | None = None) -> Tensor:
    if type(a) is Tensor and type(b) is Tensor:
        if len(a._shape) != 1 or len(b._shape) != 1:
            raise errors_matmul.needs_ndim(name, "each operand", 1, (a if len(a._shape) != 1 else b)._shape)
    check(name, "dot", input=a, other=b)
    if a._shape != b._shape:
        raise errors_matmul.shapes_differ(name_called(name), a._shape, b._shape)
    target, copy = output(name, out, (), a, (a, b), False)
    combine(folded(red, (a, b), None), target, None, 1, 1)
    return finish(target, out, copy)


@fused
def _dot_vectors(input: Tensor, tensor: Tensor) -> Tensor:
    return _dot("dot", DOT, input, tensor)


@fused
def _vdot_conjugated(input: Tensor, other: Tensor) -> Tensor:
    return _dot("vdot", VDOT, input, other)


@op()
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the sum of the products of two vectors."""
    return _dot_vectors(input, tensor) if out is None else _dot("dot", DOT, input, tensor, out)


@op()
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Like `dot`, with the conjugate of `input`."""
    return _vdot_conjugated(input, other) if out is None else _dot("vdot", VDOT, input, other, out)


@op(operators=("__matmul__", "__rmatmul__"))
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the matrix product. A vector on the left is a row, a vector on the right a column,
    and the result lacks that dim. All dims before the last two are batch dims and broadcast. Raises
    RuntimeError for 0-d operands, sizes that don't fit, or different dtypes."""
    check_tensors("matmul", input=input, other=other)
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
        return mv(transpose_last(other), input, out=out)
    return _batched(input, other, out)


add_to_namespace("linalg", "matmul")


def transpose_last(t: Tensor) -> Tensor:
    return t._view(t._shape[::-1], t._strides[::-1], t._offset)


def _batched(a: Tensor, b: Tensor, out: Tensor | None) -> Tensor:
    """Implements `matmul` for an operand with more than two dims."""
    if out is None and (result := cached_result("matmul", a, b, a)) is not None:
        return result
    row, single = len(a._shape) == 1, len(b._shape) == 1
    contracted = b._shape[0] if single else b._shape[-2]
    if a._shape[-1] != contracted:
        raise errors_matmul.shapes_differ(name_called("matmul"), a._shape, b._shape)
    check("matmul", "bmm", input=a, other=b)
    if row:
        a = a._view((1, *a._shape), (0, *a._strides), a._offset)
    if single:
        b = column(b)
    if len(b._shape) == 2:
        # One matrix for all batches: they are further rows if the layout allows it.
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
    target_3d = target
    if single:
        target_3d = target_3d._view((*target_3d._shape, 1), (*target_3d._strides, 1), target_3d._offset)
    if row:
        size, step = target_3d._shape, target_3d._strides
        target_3d = target_3d._view((*size[:-1], 1, size[-1]), (*step[:-1], 0, step[-1]), target_3d._offset)
    product("matmul", a, b, target_3d)
    return finish(target, out, copy)


def _result_shape(a: Tensor, b: Tensor, row: bool, single: bool) -> Ints:
    shape = broadcast_shapes(a._shape[:-2], b._shape[:-2])
    return shape + (() if row else (a._shape[-2],)) + (() if single else (b._shape[-1],))


@op(method=False, namespace="linalg")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Returns `vdot` along a dim of tensors that broadcast."""
    for t in (x, y):
        if type(t) is Tensor and t._dtype.kind not in "fc":
            raise errors.floating_only("linalg.vecdot", t._dtype)
    compute = check("linalg.vecdot", x=x, y=y)
    if compute.itemsize == 2:  # torch rounds the products to the 16-bit dtype
        return write_result("linalg.vecdot", out, (x * y).sum(dim))
    sums = folded(VDOT, (x, y), dim)
    target, copy = output("linalg.vecdot", out, sums._shape, x, (x, y), False)
    combine(sums, target, None, 1, 1)
    return finish(target, out, copy)


@op(inplace=True)
def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """Returns `beta * input + alpha * (mat1 @ mat2)`. With `beta` 0 `input` is not read, with
    `alpha` 0 no matrix is. Raises RuntimeError for matrices that don't fit, an `input` that doesn't
    expand to the product's shape, or different dtypes."""
    if out is None and are_unit_factors(alpha, beta):
        if (result := cached_result("addmm", mat1, mat2, input)) is not None:
            return result
    if type(mat1) is Tensor and type(mat2) is Tensor:
        need_ndim("addmm", 2, mat1=mat1, mat2=mat2)
        if mat1._shape[1] != mat2._shape[0]:
            raise errors_matmul.shapes_differ(name_called("addmm"), mat1._shape, mat2._shape)
    compute = check("addmm", input=input, mat1=mat1, mat2=mat2)
    beta, alpha = factors("addmm", compute, beta, alpha)
    return product("addmm", mat1, mat2, out, input, beta, alpha)


@op(inplace=True)
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """Returns `beta * input + alpha * (mat @ vec)`. With `beta` 0 `input` is not read. Raises the
    errors of `addmm`."""
    if out is None and are_unit_factors(alpha, beta):
        return _addmv(input, mat, vec)
    return _addmv_to(input, mat, vec, beta, alpha, out)


def _addmv_to(
    input: Tensor, mat: Tensor, vec: Tensor, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    if type(mat) is Tensor and type(vec) is Tensor:
        matrix_vector_fit("addmv", mat, vec)
    compute = check("addmv", input=input, mat=mat, vec=vec)
    beta, alpha = factors("addmv", compute, beta, alpha)
    return matrix_vector("addmv", mat, vec, out, input, beta, alpha)


# Like `mv`: a graph from the second call on.
_addmv = fused(_addmv_to)


@op(inplace=True)
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """Returns `addmm` for each pair of two batches of matrices."""
    if out is None and are_unit_factors(alpha, beta):
        if (result := cached_result("baddbmm", batch1, batch2, input)) is not None:
            return result
    if type(batch1) is Tensor and type(batch2) is Tensor:
        batches_fit("baddbmm", batch1, batch2)
    compute = check("baddbmm", input=input, batch1=batch1, batch2=batch2)
    beta, alpha = factors("baddbmm", compute, beta, alpha)
    return product("baddbmm", batch1, batch2, out, input, beta, alpha)


# Up to this number, addbmm adds the products one by one, each rounded to the dtype, as torch does.
FEW_MATRICES = 32


@op(inplace=True)
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """Returns `beta * input + alpha` times the sum of the products of all pairs of matrices."""
    if type(batch1) is Tensor and type(batch2) is Tensor:
        batches_fit("addbmm", batch1, batch2)
    compute = check("addbmm", input=input, batch1=batch1, batch2=batch2)
    beta, alpha = factors("addbmm", compute, beta, alpha)
    batch, m, k = batch1._shape
    n = batch2._shape[2]
    if 0 < batch <= FEW_MATRICES:
        total = expand_addend("addbmm", input, (m, n))
        for i in range(batch):
            last = out if i == batch - 1 else None
            total = addmm(
                total, _matrix(batch1, i), _matrix(batch2, i), beta=beta if i == 0 else 1, alpha=alpha, out=last
            )
        return total
    # The batch is part of the depth: (m, batch * k) times (batch * k, n).
    s0, s1, s2 = batch1._strides
    left = batch1._view((m, batch, k), (s1, s0, s2), batch1._offset)
    return product("addbmm", flat(left, (m, batch * k)), flat(batch2, (batch * k, n)), out, input, beta, alpha)


def _matrix(t: Tensor, i: int) -> Tensor:
    return t._view(t._shape[1:], t._strides[1:], t._offset + i * t._strides[0])


def flat(t: Tensor, shape: Ints) -> Tensor:
    """Returns `t` in another shape, as a view where possible."""
    strides = view_strides(t._shape, t._strides, shape)
    if strides is None:
        t = conversion.clone(t, memory_format=execute_output.contiguous_format)
        strides = contiguous_strides(shape)
    return t._view(shape, strides, t._offset)


@op(aliases=("ger",))
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the products of every element of a vector with every element of another. Dtypes are
    promoted."""
    check_tensors("outer", input=input, vec2=vec2)
    need_ndim("outer", 1, input=input, vec2=vec2)
    return pointwise(MUL, (column(input), vec2), (), out)


ADDR = Op(
    "addr",
    "input, vec1, vec2",
    "a * beta + b * c * alpha",
    bool_="(a & beta) | (b & c & alpha)",
    complex_="ft_cadd(ft_cmul(a, beta), ft_cmul(ft_cmul(b, c), alpha))",
    params=("beta", "alpha"),
    check=check_factor,
)
# Without `input`, which only takes part in promotion.
ADDR_FRESH = Op(
    "addr",
    "input, vec1, vec2",
    "b * c * alpha",
    bool_="b & c & alpha",
    complex_="ft_cmul(ft_cmul(b, c), alpha)",
    params=("beta", "alpha"),
    check=check_factor,
)


@op(inplace=True, rows=(ADDR, ADDR_FRESH))
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """Returns `beta * input + alpha * outer(vec1, vec2)`. Dtypes are promoted. With `beta` 0
    `input` is not read."""
    check_tensors("addr", input=input, vec1=vec1, vec2=vec2)
    need_ndim("addr", 1, vec1=vec1, vec2=vec2)
    compute = common_dtype(ADDR, (input, vec1, vec2))
    beta, alpha = fitted("addr", beta, compute), fitted("addr", alpha, compute)
    shape = (*vec1._shape, *vec2._shape)
    addend = input if out is input and input._shape == shape else expand_addend("addr", input, shape)
    if compute.kind == "f" and compute.itemsize == 2 and out is not input and beta != 0:
        # torch rounds every step to the 16-bit dtype.
        beta, alpha = (rounded(float(x), compute) for x in (beta, alpha))
        addend, vec1, vec2 = addend.to(compute), vec1.to(compute), vec2.to(compute)
        return add(addend * beta, column(vec1) * alpha * vec2, out=out)
    row = ADDR_FRESH if beta == 0 else ADDR
    return pointwise(row, (addend, column(vec1), vec2), (beta, alpha), out, out is input and out is not None)


@op(method=False, namespace="nn.functional")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns `input @ weight.T + bias`. The dims of `input` before the last are kept."""
    check_tensors("linear", input=input, weight=weight)
    shape = weight._shape
    if out is None and is_traced(input):
        settings = {"weight": weight, "bias": bias}
        return layer(FLOAT_LINEAR, (input,), settings, lambda: _linear(input, weight, bias))
    if out is None and len(shape) == 2 and numel(shape) >= FOLD_TERMS:
        if input._shape[-1:] == shape[1:] and numel(input._shape) == shape[1]:
            return _linear_row(input, weight, bias)
    return _linear(input, weight, bias, out)


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor | None = None) -> Tensor:
    weights = transpose_last(weight) if len(weight._shape) < 3 else weight
    if bias is None:
        return matmul(input, weights, out=out)
    if out is None and (result := cached_result("addmm", input, weights, bias)) is not None:
        return result
    check("linear", "addmm", input=input, weight=weight, bias=bias)
    if len(input._shape) == 2 and len(weight._shape) == 2:
        return addmm(bias, input, weights, out=out)
    if len(weight._shape) == 2 and len(bias._shape) == 1 and input._shape:
        shape = (*input._shape[:-1], weight._shape[0])
        rows = (numel(input._shape[:-1]), input._shape[-1])
        if input._shape[-1] != weight._shape[1] or view_strides(input._shape, input._strides, rows) is not None:
            result = flat(addmm(bias, flat(input, rows), weights), shape)
        else:
            result = product("addmm", input, weights, None, bias)
    else:
        result = matmul(input, weights) + bias
    return write_result("linear", out, result)


# A language model multiplies one row for each token; a graph has no checks and views.
_linear_row = fused(_linear)


@op(method=False)
def _int_mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the product of an (n, k) matrix of int8 or uint8 and a (k, m) matrix of int8, summed
    exactly in int32, the result's dtype. Raises RuntimeError for other dtypes, numbers of dims,
    sizes that don't fit, and an `out` that is not (n, m) of int32."""
    name = "_int_mm"
    check_tensors(name, input=input, mat2=mat2)
    need_ndim(name, 2, input=input, mat2=mat2)
    if input._dtype not in (int8, uint8) or mat2._dtype is not int8:
        raise errors_matmul.small_integers(name, input._dtype, mat2._dtype)
    if input._shape[1] != mat2._shape[0]:
        raise errors_matmul.shapes_differ(name_called(name), input._shape, mat2._shape)
    if out is not None:
        shape = (input._shape[0], mat2._shape[1])
        check_tensors(name, out=out)
        if out._dtype is not int32 or out._shape != shape:
            raise errors_matmul.integer_out(name, out._dtype, out._shape, shape)
        check_device(name, out, input._storage.device)
    sums = byte_products(input, mat2.t(), 0)
    if sums is not None:
        return sums if out is None else out.copy_(sums)
    return mm(input.to(int32), mat2.to(int32), out=out)
