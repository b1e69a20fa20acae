"""Products added to a tensor: addmm and its relatives, outer products, linear layers."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import matmul as errors_matmul
from ...execute import memory
from ...execute.copy import into
from ...execute.known import known
from ...execute.numbers import fitted, rounded
from ...execute.pointwise import pointwise
from ...execute.prepare import common_dtype
from ...graph.fused import fused
from ...iterator.shape import Ints, numel
from ...iterator.stride import contiguous_strides, view_strides
from ...ops.types import copy
from ...rows.catalogue import op
from ...rows.op import Op
from ..pointwise.binary import MUL, add, check_factor
from .matmul import batches_fit, column, matmul, matrix_vector, matrix_vector_fit, turned
from .product import FOLD_TERMS, added_to, check, factors, is_plain, need_ndim, product


@op(inplace=True)
def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)`; with `beta` 0, `input` is not read, and with `alpha`
    0, no matrix is. RuntimeError for matrices that don't fit, an `input` that doesn't expand to the
    product, or different dtypes.
    """
    if out is None and is_plain(alpha, beta):
        if (result := known("addmm", mat1, mat2, input)) is not None:
            return result
    if type(mat1) is Tensor and type(mat2) is Tensor:
        need_ndim("addmm", 2, mat1=mat1, mat2=mat2)
        if mat1._shape[1] != mat2._shape[0]:
            raise errors_matmul.shapes_differ("addmm", mat1._shape, mat2._shape)
    of = check("addmm", input=input, mat1=mat1, mat2=mat2)
    beta, alpha = factors("addmm", of, beta, alpha)
    return product("addmm", mat1, mat2, out, input, beta, alpha)


@op(inplace=True)
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """`beta * input + alpha * (mat @ vec)`; with `beta` 0, `input` is not read. Errors as
    `addmm`.
    """
    if out is None and is_plain(alpha, beta):
        return _addmv(input, mat, vec)
    return _addmv_to(input, mat, vec, beta, alpha, out)


def _addmv_to(
    input: Tensor, mat: Tensor, vec: Tensor, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    if type(mat) is Tensor and type(vec) is Tensor:
        matrix_vector_fit("addmv", mat, vec)
    of = check("addmv", input=input, mat=mat, vec=vec)
    beta, alpha = factors("addmv", of, beta, alpha)
    return matrix_vector("addmv", mat, vec, out, input, beta, alpha)


# As `mv`, from its second call on without checks and views.
_addmv = fused(_addmv_to)


@op(inplace=True)
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """`addmm` for each pair of two batches of matrices."""
    if out is None and is_plain(alpha, beta):
        if (result := known("baddbmm", batch1, batch2, input)) is not None:
            return result
    if type(batch1) is Tensor and type(batch2) is Tensor:
        batches_fit("baddbmm", batch1, batch2)
    of = check("baddbmm", input=input, batch1=batch1, batch2=batch2)
    beta, alpha = factors("baddbmm", of, beta, alpha)
    return product("baddbmm", batch1, batch2, out, input, beta, alpha)


# addbmm adds so few products one after the other, each rounded to the dtype, as torch does.
FEW_MATRICES = 32


@op(inplace=True)
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """`beta * input + alpha` times the sum of all products of the two batches' matrices."""
    if type(batch1) is Tensor and type(batch2) is Tensor:
        batches_fit("addbmm", batch1, batch2)
    of = check("addbmm", input=input, batch1=batch1, batch2=batch2)
    beta, alpha = factors("addbmm", of, beta, alpha)
    batch, m, k = batch1._shape
    n = batch2._shape[2]
    if 0 < batch <= FEW_MATRICES:
        total = added_to("addbmm", input, (m, n))
        for i in range(batch):
            last = out if i == batch - 1 else None
            total = addmm(
                total, _matrix(batch1, i), _matrix(batch2, i), beta=beta if i == 0 else 1, alpha=alpha, out=last
            )
        return total
    # The batch is more depth: (m, batch * k) times (batch * k, n).
    s0, s1, s2 = batch1._strides
    left = batch1._view((m, batch, k), (s1, s0, s2), batch1._offset)
    return product("addbmm", flat(left, (m, batch * k)), flat(batch2, (batch * k, n)), out, input, beta, alpha)


def _matrix(t: Tensor, i: int) -> Tensor:
    """Matrix i of a batch."""
    return t._view(t._shape[1:], t._strides[1:], t._offset + i * t._strides[0])


def flat(t: Tensor, shape: Ints) -> Tensor:
    """`t` in another shape, as a view if it can be one."""
    strides = view_strides(t._shape, t._strides, shape)
    if strides is None:
        t = copy.clone(t, memory_format=memory.contiguous_format)
        strides = contiguous_strides(shape)
    return t._view(shape, strides, t._offset)


@op(aliases=("ger",))
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of every element of a vector with every one of another; dtypes are promoted."""
    for arg, x in (("input", input), ("vec2", vec2)):
        if type(x) is not Tensor:
            raise errors.not_a_tensor("outer", arg, x)
    need_ndim("outer", 1, input=input, vec2=vec2)
    return pointwise(MUL, (column(input), vec2), (), out)


ADDR = Op(
    "addr",
    "addr(input, vec1, vec2) -> Tensor",
    "a * beta + b * c * alpha",
    bool_="(a & beta) | (b & c & alpha)",
    complex_="ft_cadd(ft_cmul(a, beta), ft_cmul(ft_cmul(b, c), alpha))",
    params=("beta", "alpha"),
    check=check_factor,
)
# Without `input`, which takes part in promotion only.
ADDR_FRESH = Op(
    "addr",
    "addr(input, vec1, vec2) -> Tensor",
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
    """`beta * input + alpha * outer(vec1, vec2)`; dtypes are promoted. With `beta` 0, `input` is
    not read.
    """
    for arg, x in (("input", input), ("vec1", vec1), ("vec2", vec2)):
        if type(x) is not Tensor:
            raise errors.not_a_tensor("addr", arg, x)
    need_ndim("addr", 1, vec1=vec1, vec2=vec2)
    common = common_dtype(ADDR, (input, vec1, vec2))
    beta, alpha = fitted("addr", beta, common), fitted("addr", alpha, common)
    shape = (*vec1._shape, *vec2._shape)
    whole = input if out is input and input._shape == shape else added_to("addr", input, shape)
    if input._dtype.kind == "f" and input._dtype.itemsize == 2 and out is not input and beta != 0:
        # torch rounds every step to the 16-bit type.
        beta, alpha = (rounded(float(x), input._dtype) for x in (beta, alpha))
        return add(whole * beta, column(vec1) * alpha * vec2, out=out)
    row = ADDR_FRESH if beta == 0 else ADDR
    return pointwise(row, (whole, column(vec1), vec2), (beta, alpha), out, out is input and out is not None)


@op(method=False, namespace="nn.functional")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`; the dims of `input` before the last are kept."""
    for arg, x in (("input", input), ("weight", weight)):
        if type(x) is not Tensor:
            raise errors.not_a_tensor("linear", arg, x)
    shape = weight._shape
    if out is None and len(shape) == 2 and numel(shape) >= FOLD_TERMS:
        if input._shape[-1:] == shape[1:] and numel(input._shape) == shape[1]:
            return _of_row(input, weight, bias)
    return _linear(input, weight, bias, out)


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor | None = None) -> Tensor:
    weights = turned(weight) if len(weight._shape) < 3 else weight
    if bias is None:
        return matmul(input, weights, out=out)
    if out is None and (result := known("addmm", input, weights, bias)) is not None:
        return result
    check("linear", "addmm", input=input, weight=weight, bias=bias)
    if len(input._shape) == 2 and len(weight._shape) == 2:
        return addmm(bias, input, weights, out=out)
    if len(weight._shape) == 2 and len(bias._shape) == 1 and input.is_contiguous():
        shape = (*input._shape[:-1], weight._shape[0])
        rows = flat(input, (numel(input._shape[:-1]), input._shape[-1]))
        result = flat(addmm(bias, rows, weights), shape)
    else:
        result = matmul(input, weights) + bias
    return into("linear", out, result)


# What a word costs a network that writes text: one row, and no checks and views once it is a graph.
_of_row = fused(_linear)
