"""Differences and integrals of sampled functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import arithmetic as errors_arithmetic
from ...iterator.shape import normalize_dim
from ...rows.catalogue import Entry, op, register
from ...rows.spelling import MISSING
from ..arguments import check_tensors
from ..bind import composed
from ..create.sizes import zeros
from ..rearrange.cat import cat


@composed()
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Returns the differences of neighbours along `dim`, taken `n` times, with `prepend` and
    `append` added at the ends first; `!=` for bool. Raises RuntimeError for a negative `n`, 0-d
    inputs and shapes that don't fit, IndexError for a dim out of range."""
    for word, x in (("prepend", prepend), ("append", append)):
        if x is not None and not isinstance(x, Tensor):
            raise errors.not_a_tensor("diff", word, x)
    if not input.ndim:
        raise errors_arithmetic.one_dim("diff")
    dim = normalize_dim(dim, input.ndim)
    if n < 0:
        raise errors_arithmetic.order(n)
    added = [x for x in (prepend, append) if x is not None]
    for x in added:
        if x.ndim != input.ndim:
            raise errors_arithmetic.ends(input._shape, x._shape)
        for d, (a, b) in enumerate(zip(input._shape, x._shape)):
            if d != dim and a != b:
                raise errors_arithmetic.ends(input._shape, x._shape)
    if added and n:
        inputs = [x for x in (prepend, input, append) if x is not None]
        input = cat(inputs, dim)
    differences = input
    if not n:
        return input.clone()
    if n >= input._shape[dim]:
        return input.narrow(dim, 0, 0).clone()
    for _ in range(n):
        size = differences._shape[dim] - 1
        right, left = differences.narrow(dim, 1, size), differences.narrow(dim, 0, size)
        differences = right.logical_xor(left) if differences._dtype.kind == "b" else right - left
    return differences


def _widths(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """Returns the distances between the points `x`, shaped to multiply sums of neighbours along
    `dim` of `y`."""
    if not x.ndim:
        raise errors_arithmetic.scalar_points(name)
    if x.ndim == 1:
        if x._shape[0] != y._shape[dim]:
            raise errors_arithmetic.points(name, y._shape[dim], x._shape[0])
        widths = x.narrow(0, 1, x._shape[0] - 1) - x.narrow(0, 0, x._shape[0] - 1)
        return widths.reshape([-1 if d == dim else 1 for d in range(y.ndim)])
    if x.ndim < y.ndim:
        x = x.reshape([1] * (y.ndim - x.ndim) + list(x._shape))
    size = x._shape[dim]
    if not size:
        raise errors_arithmetic.points(name, y._shape[dim], size)
    return x.narrow(dim, 1, size - 1) - x.narrow(dim, 0, size - 1)


def _checked_widths(name: str, y: Tensor, x: Any, dx: Any, dim: int) -> tuple[Any, int]:
    """Returns the widths of the trapezoids along `dim`, a tensor if there are points `x`, and the dim."""
    dx = None if dx is MISSING else dx
    if x is not None and dx is not None:
        raise errors_arithmetic.two_widths(name)
    check_tensors(name, y=y)
    if x is not None and not isinstance(x, Tensor):
        x, dx = None, x  # torch's form (y, dx)
    if y._dtype.kind == "b" or (x is not None and x._dtype.kind == "b"):
        raise errors_arithmetic.no_bool(name)
    if not y.ndim:
        raise errors_arithmetic.one_dim(name, kind=IndexError)
    dim = normalize_dim(dim, y.ndim)
    if x is not None:
        return (_widths(name, y, x, dim) if y._shape[dim] or not x.ndim else 1), dim
    if isinstance(dx, complex) or (dx is not None and not isinstance(dx, (int, float))):
        raise errors_arithmetic.width(name, dx)
    return 1 if dx is None else dx, dim


def _areas(y: Tensor, widths: Any, dim: int) -> Tensor:
    """Returns the area of each trapezoid between neighbours along `dim`."""
    size = y._shape[dim]
    if not size:
        return y if y._dtype.kind in "fc" else y.to(zeros(0)._dtype)
    return (y.narrow(dim, 0, size - 1) + y.narrow(dim, 1, size - 1)) * widths / 2


@op(method=False)
def trapezoid(y: Tensor, x: Any = None, *, dx: Any = MISSING, dim: int = -1) -> Tensor:
    """Returns the integral of samples along `dim` by trapezoids, at points `x`, or `dx` apart
    (default 1). Raises RuntimeError for bool, for both arguments, and for shapes that don't fit."""
    widths, dim = _checked_widths("trapezoid", y, x, dx, dim)
    if isinstance(widths, Tensor) or not y._shape[dim]:
        return _areas(y, widths, dim).sum(dim)
    # As torch: one infinite sample at an end gives NaN.
    ends = y.select(dim, 0) + y.select(dim, y._shape[dim] - 1)
    return (y.sum(dim) - ends * 0.5) * widths


@op(method=False)
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = MISSING, dim: int = -1) -> Tensor:
    """Returns the running integral along `dim`: one element fewer than samples."""
    widths, dim = _checked_widths("cumulative_trapezoid", y, x, dx, dim)
    return _areas(y, widths, dim).cumsum(dim)


@op(method=False)
def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Returns the derivative along each dim, or those in `dim`: central differences of second order
    inside, one-sided ones of `edge_order` (1 or 2) at the ends.

    `spacing` is the distance of the samples (one for all dims, or a list) or a list of tensors with
    their coordinates. Raises RuntimeError for sizes that are too small and lists that don't fit.
    """
    if edge_order not in (1, 2):
        raise errors_arithmetic.edge_order(edge_order)
    if input._dtype.kind in "bu":
        raise errors_arithmetic.no_bool("gradient")
    if dim is None:
        dims = tuple(range(input.ndim))
    else:
        dims = tuple(normalize_dim(d, input.ndim) for d in ((dim,) if isinstance(dim, int) else dim))
    if len(set(dims)) != len(dims):
        raise errors_arithmetic.repeated(dims)
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, (tuple, list)):
        if len(spacing) != len(dims):
            raise errors_arithmetic.spacings(len(spacing), len(dims))
        steps: Sequence[Any] = spacing
    elif isinstance(spacing, Tensor):
        if len(dims) != 1 and spacing.ndim:
            raise errors_arithmetic.spacings(1, len(dims))
        steps = [spacing] * len(dims)
    else:
        steps = [spacing] * len(dims)
    for d in dims:
        if input._shape[d] < edge_order + 1:
            raise errors_arithmetic.too_few(input._shape[d], edge_order)
    return tuple(_derivative(input, d, step, edge_order) for d, step in zip(dims, steps))


def _derivative(y: Tensor, dim: int, step: Any, edge_order: int) -> Tensor:
    """Returns the derivative along one dim, by the formulas that numpy.gradient's documentation
    derives."""
    n = y._shape[dim]

    def samples(first: int, count: int) -> Tensor:
        return y.narrow(dim, first, count)

    if isinstance(step, Tensor):
        if step._shape != (n,):
            raise errors_arithmetic.points("gradient", n, step.numel())
        h = step.narrow(0, 1, n - 1) - step.narrow(0, 0, n - 1)
    else:
        h = None
    if h is None:
        inner = (samples(2, n - 2) - samples(0, n - 2)) / (2 * step)
        if edge_order == 1:
            first, last = (samples(1, 1) - samples(0, 1)) / step, (samples(n - 1, 1) - samples(n - 2, 1)) / step
        else:
            first = (-1.5 * samples(0, 1) + 2 * samples(1, 1) - 0.5 * samples(2, 1)) / step
            last = (0.5 * samples(n - 3, 1) - 2 * samples(n - 2, 1) + 1.5 * samples(n - 1, 1)) / step
        return cat([first, inner, last], dim)
    step_shape = [-1 if d == dim else 1 for d in range(y.ndim)]
    left, right = h[:-1].reshape(step_shape), h[1:].reshape(step_shape)
    inner = (
        samples(0, n - 2) * (-right / (left * (left + right)))
        + samples(1, n - 2) * ((right - left) / (left * right))
        + samples(2, n - 2) * (left / (right * (left + right)))
    )
    if edge_order == 1:
        first, last = (samples(1, 1) - samples(0, 1)) / h[0], (samples(n - 1, 1) - samples(n - 2, 1)) / h[-1]
    else:
        first, last = _one_sided(samples, 0, h[0], h[1]), _one_sided(samples, n - 1, -h[-1], -h[-2])
    return cat([first, inner, last], dim)


def _one_sided(samples: Any, end: int, p: Tensor, q: Tensor) -> Tensor:
    """Returns the derivative at an end from three samples; p and q are the steps away from it."""
    direction = 1 if end == 0 else -1
    return (
        samples(end, 1) * (-(2 * p + q) / (p * (p + q)))
        + samples(end + direction, 1) * ((p + q) / (p * q))
        + samples(end + 2 * direction, 1) * (-p / (q * (p + q)))
    )


register(Entry("trapz", trapezoid, method=False))
