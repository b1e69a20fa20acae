"""Products of matrices and vectors."""

from __future__ import annotations

from typing import Any

from .. import errors_arith, errors_matmul
from ..iterator.shape import Ints, numel
from ..iterator.stride import contiguous_strides, view_strides
from ..tensor import Tensor
from . import memory
from .binary import check_factor
from .call import pointwise
from .catalogue import ENTRIES, Entry, op, register
from .numbers import rounded
from .op import Op
from .product import (
    DOT,
    VDOT,
    added_to,
    check,
    combine,
    factors,
    finish,
    folded,
    need_ndim,
    output,
    product,
)


@op()
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """mm(input, mat2, *, out=None) -> Tensor

    The product of two matrices of one dtype. float16 and bfloat16 are summed in float32, integers
    wrap. RuntimeError for other numbers of dims, sizes that don't fit, or different dtypes.
    """
    if type(input) is Tensor and type(mat2) is Tensor:
        need_ndim("mm", 2, input=input, mat2=mat2)
        if input._shape[1] != mat2._shape[0]:
            raise errors_matmul.shapes_differ("mm", input._shape, mat2._shape)
    check("mm", input=input, mat2=mat2)
    return product("mm", input, mat2, out)


@op()
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """bmm(input, mat2, *, out=None) -> Tensor

    The products of two batches of matrices, pair by pair. Errors as for `mm`.
    """
    if type(input) is Tensor and type(mat2) is Tensor:
        _batches("bmm", input, mat2)
    check("bmm", input=input, mat2=mat2)
    return product("bmm", input, mat2, out)


def _batches(name: str, a: Tensor, b: Tensor) -> None:
    need_ndim(name, 3, batch1=a, batch2=b)
    if a._shape[0] != b._shape[0] or a._shape[2] != b._shape[1]:
        raise errors_matmul.shapes_differ(name, a._shape, b._shape)


@op()
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """mv(input, vec, *, out=None) -> Tensor

    The product of a matrix and a vector. Errors as for `mm`.
    """
    if type(input) is Tensor and type(vec) is Tensor:
        _matrix_vector("mv", input, vec)
    check("mv", input=input, vec=vec)
    return _mv("mv", input, vec, out)


def _matrix_vector(name: str, mat: Tensor, vec: Tensor) -> None:
    need_ndim(name, 2, mat=mat)
    need_ndim(name, 1, vec=vec)
    if mat._shape[1] != vec._shape[0]:
        raise errors_matmul.shapes_differ(name, mat._shape, vec._shape)


def _mv(
    name: str, mat: Tensor, vec: Tensor, out: Tensor | None, added: Tensor | None = None,
    beta: Any = 1, alpha: Any = 1,
) -> Tensor:  # fmt: skip
    """`beta * added + alpha * mat @ vec`, the operands checked."""
    shape = mat._shape[:1]
    inplace = out is not None and out is added
    read = [mat, vec]
    if added is not None:
        added = None if beta == 0 else added_to(name, added, shape)
        read += [added] if added is not None and not inplace else []
    target, copy = output(name, out, shape, mat, read, inplace)
    column = vec._view((*vec._shape, 1), (*vec._strides, 1), vec._offset)
    sums = product(name, mat, column, _column(target), _column(added), beta, alpha)
    assert sums is not None
    return finish(target, out, copy)


def _column(t: Tensor | None) -> Any:
    return None if t is None else t._view((*t._shape, 1), (*t._strides, 1), t._offset)


def _dot(name: str, red: Any, a: Any, b: Any, out: Tensor | None) -> Tensor:
    if type(a) is Tensor and type(b) is Tensor:
        if len(a._shape) != 1 or len(b._shape) != 1:
            raise errors_matmul.needs_ndim(
                name, "each operand", 1, (a if len(a._shape) != 1 else b)._shape
            )
    check(name, "dot", input=a, other=b)
    if a._shape != b._shape:
        raise errors_matmul.shapes_differ(name, a._shape, b._shape)
    target, copy = output(name, out, (), a, (a, b), False)
    combine(folded(red, (a, b), None), target, None, 1, 1)
    return finish(target, out, copy)


@op()
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """dot(input, tensor, *, out=None) -> Tensor: the sum of two vectors' products."""
    return _dot("dot", DOT, input, tensor, out)


@op()
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """vdot(input, other, *, out=None) -> Tensor: `dot` with the conjugate of `input`."""
    return _dot("vdot", VDOT, input, other, out)


@op(operators=("__matmul__", "__rmatmul__"))
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """matmul(input, other, *, out=None) -> Tensor

    The matrix product. A vector on the left is a row, one on the right a column, and that dim is
    left out of the result; all dims before the last two are batches, which broadcast.
    RuntimeError for 0-d operands, sizes that don't fit, or different dtypes.
    """
    for arg, x in (("input", input), ("other", other)):
        if type(x) is not Tensor:
            raise errors_arith.not_a_tensor("matmul", arg, x)
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
        return mv(_turned(other), input, out=out)
    return _batched(input, other, out)


register(Entry("matmul", matmul, method=False, namespace="linalg"))


def _turned(t: Tensor) -> Tensor:
    return t._view(t._shape[::-1], t._strides[::-1], t._offset)


def _batched(a: Tensor, b: Tensor, out: Tensor | None) -> Tensor:
    """`matmul` where an operand has more than two dims."""
    row, column = len(a._shape) == 1, len(b._shape) == 1
    contracted = b._shape[0] if column else b._shape[-2]
    if a._shape[-1] != contracted:
        raise errors_matmul.shapes_differ("matmul", a._shape, b._shape)
    check("matmul", "bmm", input=a, other=b)
    if row:
        a = a._view((1, *a._shape), (0, *a._strides), a._offset)
    if column:
        b = _column(b)
    if len(b._shape) == 2:
        # One matrix for all: the batches are more rows, where they lie like rows.
        rows = (numel(a._shape[:-1]), a._shape[-1])
        strides = view_strides(a._shape, a._strides, rows)
        if strides is not None:
            shape = a._shape[:-1] if column else (*a._shape[:-1], b._shape[1])
            flat = a._view(rows, strides, a._offset)
            if out is None:
                made = product("matmul", flat, b)
                return made._view(shape, contiguous_strides(shape), 0)
    shape = _result_shape(a, b, row, column)
    target, copy = output("matmul", out, shape, a, (a, b), False)
    whole = target
    if column:
        whole = whole._view((*whole._shape, 1), (*whole._strides, 1), whole._offset)
    if row:
        size, step = whole._shape, whole._strides
        whole = whole._view((*size[:-1], 1, size[-1]), (*step[:-1], 0, step[-1]), whole._offset)
    product("matmul", a, b, whole)
    return finish(target, out, copy)


def _result_shape(a: Tensor, b: Tensor, row: bool, column: bool) -> Ints:
    from ..iterator.shape import broadcast_shapes

    shape = broadcast_shapes(a._shape[:-2], b._shape[:-2])
    return shape + (() if row else (a._shape[-2],)) + (() if column else (b._shape[-1],))


@op(inplace=True)
def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None) -> Tensor

    `beta * input + alpha * (mat1 @ mat2)`; with `beta` 0, `input` is not read. RuntimeError for
    matrices that don't fit, an `input` that doesn't expand to the product, or different dtypes.
    """
    if type(mat1) is Tensor and type(mat2) is Tensor:
        need_ndim("addmm", 2, mat1=mat1, mat2=mat2)
        if mat1._shape[1] != mat2._shape[0]:
            raise errors_matmul.shapes_differ("addmm", mat1._shape, mat2._shape)
    of = check("addmm", input=input, mat1=mat1, mat2=mat2)
    factors("addmm", of, beta, alpha)
    return product("addmm", mat1, mat2, out, input, beta, alpha)


@op(inplace=True)
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """addmv(input, mat, vec, *, beta=1, alpha=1, out=None) -> Tensor

    `beta * input + alpha * (mat @ vec)`; with `beta` 0, `input` is not read. Errors as `addmm`.
    """
    if type(mat) is Tensor and type(vec) is Tensor:
        _matrix_vector("addmv", mat, vec)
    of = check("addmv", input=input, mat=mat, vec=vec)
    factors("addmv", of, beta, alpha)
    return _mv("addmv", mat, vec, out, input, beta, alpha)


@op(inplace=True)
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """baddbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None) -> Tensor

    `addmm` for each pair of two batches of matrices.
    """
    if type(batch1) is Tensor and type(batch2) is Tensor:
        _batches("baddbmm", batch1, batch2)
    of = check("baddbmm", input=input, batch1=batch1, batch2=batch2)
    factors("baddbmm", of, beta, alpha)
    return product("baddbmm", batch1, batch2, out, input, beta, alpha)


# addbmm adds so few products one after the other, each rounded to the dtype, as torch does.
FEW_MATRICES = 32


@op(inplace=True)
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """addbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None) -> Tensor

    `beta * input + alpha` times the sum of all products of the two batches' matrices.
    """
    if type(batch1) is Tensor and type(batch2) is Tensor:
        _batches("addbmm", batch1, batch2)
    of = check("addbmm", input=input, batch1=batch1, batch2=batch2)
    factors("addbmm", of, beta, alpha)
    batch, m, k = batch1._shape
    n = batch2._shape[2]
    if 0 < batch <= FEW_MATRICES:
        made = added_to("addbmm", input, (m, n))
        for i in range(batch):
            last = out if i == batch - 1 else None
            made = addmm(
                made,
                _matrix(batch1, i),
                _matrix(batch2, i),
                beta=beta if i == 0 else 1,
                alpha=alpha,
                out=last,
            )
        return made
    # The batch is more depth: (m, batch * k) times (batch * k, n).
    s0, s1, s2 = batch1._strides
    left = batch1._view((m, batch, k), (s1, s0, s2), batch1._offset)
    return product(
        "addbmm",
        _flat(left, (m, batch * k)),
        _flat(batch2, (batch * k, n)),
        out,
        input,
        beta,
        alpha,
    )


def _matrix(t: Tensor, i: int) -> Tensor:
    """Matrix i of a batch."""
    return t._view(t._shape[1:], t._strides[1:], t._offset + i * t._strides[0])


def _flat(t: Tensor, shape: Ints) -> Tensor:
    """`t` in another shape, as a view if it can be one."""
    strides = view_strides(t._shape, t._strides, shape)
    if strides is None:
        t = memory.clone(t, memory_format=memory.contiguous_format)
        strides = contiguous_strides(shape)
    return t._view(shape, strides, t._offset)


@op(aliases=("ger",))
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """outer(input, vec2, *, out=None) -> Tensor

    The products of every element of a vector with every one of another; dtypes are promoted.
    """
    for arg, x in (("input", input), ("vec2", vec2)):
        if type(x) is not Tensor:
            raise errors_arith.not_a_tensor("outer", arg, x)
    need_ndim("outer", 1, input=input, vec2=vec2)
    made: Tensor = ENTRIES["mul"].call(_column(input), vec2, out=out)
    return made


ADDR = Op(
    "addr", "addr(input, vec1, vec2) -> Tensor", "a * beta + b * c * alpha",
    bool_="(a & beta) | (b & c & alpha)",
    complex_="ft_cadd(ft_cmul(a, beta), ft_cmul(ft_cmul(b, c), alpha))",
    params=("beta", "alpha"), check=check_factor,
)  # fmt: skip
# Without `input`, which takes part in promotion only.
ADDR_FRESH = Op(
    "addr", "addr(input, vec1, vec2) -> Tensor", "b * c * alpha", bool_="b & c & alpha",
    complex_="ft_cmul(ft_cmul(b, c), alpha)", params=("beta", "alpha"), check=check_factor,
)  # fmt: skip


@op(inplace=True, rows=(ADDR, ADDR_FRESH))
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """addr(input, vec1, vec2, *, beta=1, alpha=1, out=None) -> Tensor

    `beta * input + alpha * outer(vec1, vec2)`; dtypes are promoted. With `beta` 0, `input` is
    not read.
    """
    for arg, x in (("input", input), ("vec1", vec1), ("vec2", vec2)):
        if type(x) is not Tensor:
            raise errors_arith.not_a_tensor("addr", arg, x)
    need_ndim("addr", 1, vec1=vec1, vec2=vec2)
    shape = (*vec1._shape, *vec2._shape)
    whole = input if out is input and input._shape == shape else added_to("addr", input, shape)
    if input._dtype.kind == "f" and input._dtype.itemsize == 2 and out is not input and beta != 0:
        # torch rounds every step to the 16-bit type.
        mul, add = ENTRIES["mul"].call, ENTRIES["add"].call
        beta, alpha = (rounded(float(x), input._dtype) for x in (beta, alpha))
        scaled = mul(mul(_column(vec1), alpha), vec2)
        made: Tensor = add(mul(whole, beta), scaled, out=out)
        return made
    row = ADDR_FRESH if beta == 0 else ADDR
    return pointwise(
        row, (whole, _column(vec1), vec2), (beta, alpha), out, out is input and out is not None
    )


@op(method=False, namespace="linalg")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """linalg.vecdot(x, y, *, dim=-1, out=None) -> Tensor

    `vdot` along a dim, of tensors that broadcast.
    """
    for t in (x, y):
        if type(t) is Tensor and t._dtype.kind not in "fc":
            raise errors_matmul.needs_floats("linalg.vecdot", t._dtype)
    of = check("linalg.vecdot", x=x, y=y)
    if of.itemsize == 2:  # torch rounds the products to the 16-bit type
        rounded_sum: Tensor = ENTRIES["sum"].call(ENTRIES["mul"].call(x, y), dim, out=out)
        return rounded_sum
    made = folded(VDOT, (x, y), dim)
    target, copy = output("linalg.vecdot", out, made._shape, x, (x, y), False)
    combine(made, target, None, 1, 1)
    return finish(target, out, copy)


@op(method=False, namespace="nn.functional")
def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """nn.functional.linear(input, weight, bias=None, *, out=None) -> Tensor

    `input @ weight.T + bias`; the dims of `input` before the last are kept.
    """
    for arg, x in (("input", input), ("weight", weight)):
        if type(x) is not Tensor:
            raise errors_arith.not_a_tensor("linear", arg, x)
    turned = _turned(weight) if len(weight._shape) < 3 else weight
    if bias is None:
        return matmul(input, turned, out=out)
    check("linear", "addmm", input=input, weight=weight, bias=bias)
    if len(input._shape) == 2 and len(weight._shape) == 2:
        return addmm(bias, input, turned, out=out)
    if len(weight._shape) == 2 and len(bias._shape) == 1 and input.is_contiguous():
        shape = (*input._shape[:-1], weight._shape[0])
        rows = _flat(input, (numel(input._shape[:-1]), input._shape[-1]))
        made = _flat(addmm(bias, rows, turned), shape)
    else:
        made = ENTRIES["add"].call(matmul(input, turned), bias)
    if out is None:
        return made
    target, _ = output("linear", out, made._shape, made, (), False)
    return finish(made, target, True)
