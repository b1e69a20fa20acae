"""Elements by rank, and unique elements."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes.limits import iinfo
from ...errors import arithmetic as errors_arithmetic
from ...execute.output import check_overlap
from ...execute.sort import select, selects, topk
from ...formats import contiguous_format
from ...iterator.shape import normalize_dim, numel
from ...kernels.skeletons.cpu.sort import MEDIAN, NANMEDIAN, RANK
from ...rows.catalogue import op
from ...rows.spelling import MISSING
from ..arguments import check_kind
from ..bind import composed, write_outputs
from ..create.ranges import arange
from ..create.sizes import full, full_like, zeros, zeros_like
from ..pointwise.ternary import where
from ..rearrange.cat import cat
from ..reduce.reduction import check_out_tuple
from .sort import differs_from_previous, dim_argument, pad_edge, returned, sort_call, sorted_values


def _gather_pair(
    input: Tensor, pair: tuple[Tensor, ...], dim: int, position: Tensor, keepdim: bool
) -> tuple[Tensor, ...]:
    results = tuple([t.gather(dim, position) for t in pair])
    if not input.ndim:
        return tuple([t.reshape(()) for t in results])
    return results if keepdim else tuple([t.squeeze(dim) for t in results])


def _check_not_empty(name: str, x: Tensor, dim: int) -> None:
    check_kind(name, x._dtype, "buif")
    if not x._shape[dim]:
        raise errors_arithmetic.no_elements(name, dim)


@op(bare="h")
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Returns the `k`-th smallest element along `dim`, counted from 1, and its index. Raises
    RuntimeError for a `k` out of range, IndexError for a dim without elements, NotImplementedError
    for complex numbers and bool."""
    x, axis = dim_argument("kthvalue", input, dim)
    _check_not_empty("kthvalue", x, axis)
    if x._dtype is dtypes.bool:
        raise errors.not_implemented_for("kthvalue", x._dtype)
    if not 1 <= k <= x._shape[axis]:
        raise errors_arithmetic.selected("kthvalue", k, x._shape[axis], 1)
    for result in () if out is None else check_out_tuple("kthvalue", out, 2):
        check_overlap("kthvalue", result, (input,))
    if selects(x):
        results = select(x, axis, RANK, k)
    else:
        pair = topk(x, axis, k, False) or sort_call("kthvalue", x, axis)
        results = tuple([t.narrow(axis, k - 1, 1) for t in pair])
    if not input.ndim:
        results = tuple([t.reshape(()) for t in results])
    elif not keepdim:
        results = tuple([t.squeeze(axis) for t in results])
    results = tuple([t.clone(memory_format=contiguous_format) for t in results])
    return returned("kthvalue", results, out)


def _median_call(name: str, input: Any, dim: Any, keepdim: Any, out: Any) -> Any:
    """Implements median and nanmedian, of all elements or along a dim: the lower one of two middle
    elements."""
    skips = name == "nanmedian"
    if dim is MISSING:
        if keepdim is not MISSING:
            raise errors.missing_argument(name, "dim")
        empty = not input.numel()
        if input._dtype.is_complex or (input._dtype is dtypes.bool and not empty):
            raise errors.not_implemented_for(name, input._dtype)
        if empty:
            value: float = float("nan")
            if input._dtype.kind in "iu":  # NaN as int32, then the low bits
                value = iinfo(input._dtype).min if input._dtype.itemsize > 2 else 0
            middle = full((), value, dtype=input._dtype, device=input.device)
        else:
            middle = _median_along(input.reshape(-1), 0, skips, False)[0]
        return middle if out is None else write_outputs(name, middle, out, exact=True)
    x, axis = dim_argument(name, input, dim)
    _check_not_empty(name, x, axis)
    if x._dtype is dtypes.bool:
        raise errors.not_implemented_for(name, x._dtype)
    if keepdim is not MISSING and not isinstance(keepdim, bool):
        raise errors.argument_type(name, "keepdim", "a bool", keepdim)
    results = _median_along(x, axis, skips, keepdim is True)
    if not input.ndim:
        results = tuple([t.reshape(()) for t in results])
    return returned(name, results, out)


def _median_along(x: Tensor, dim: int, ignore_nan: bool, keepdim: bool) -> tuple[Tensor, ...]:
    if selects(x):
        results = select(x, dim, RANK, NANMEDIAN if ignore_nan else MEDIAN)
        return results if keepdim else tuple([t.squeeze(dim) for t in results])
    pair = sort_call("median", x, dim)
    n = x._shape[dim]
    if x._dtype.kind != "f":
        results = tuple([t.narrow(dim, (n - 1) // 2, 1) for t in pair])
        results = results if keepdim else tuple([t.squeeze(dim) for t in results])
        return tuple([t.clone(memory_format=contiguous_format) for t in results])
    nans = x.isnan().sum(dim, keepdim=True)
    if ignore_nan:
        middle = ((n - 1 - nans).clamp(min=0) / 2).to(dtypes.int64)
    else:
        middle = where(nans > 0, n - nans, (n - 1) // 2)
    return _gather_pair(x, pair, dim, middle, keepdim)


_MEDIAN_FORMS = (
    "{0}(input, *, out=None) -> Tensor",
    ("{0}(input, dim=-1, keepdim=False, *, out=None) -> (values, indices)"),
)


@op(forms=tuple(text.format("median") for text in _MEDIAN_FORMS), bare="h")
def median(input: Tensor, dim: Any = MISSING, keepdim: Any = MISSING, *, out: Any = None) -> Any:
    """Returns the median of all elements, or along `dim` with its index: of two middle elements the
    lower, and NaN if there is a NaN. Raises IndexError for a dim without elements,
    NotImplementedError for complex numbers and bool."""
    return _median_call("median", input, dim, keepdim, out)


@op(forms=tuple(text.format("nanmedian") for text in _MEDIAN_FORMS), bare="h")
def nanmedian(input: Tensor, dim: Any = MISSING, keepdim: Any = MISSING, *, out: Any = None) -> Any:
    """Returns the `median` of the elements that are not NaN."""
    return _median_call("nanmedian", input, dim, keepdim, out)


@op(bare="h")
def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Returns the most frequent element along `dim`, the smallest of several, and its last index.
    Raises IndexError for a dim without elements, NotImplementedError for complex numbers."""
    x, axis = dim_argument("mode", input, dim)
    _check_not_empty("mode", x, axis)
    pair = sort_call("mode", x, axis)
    n = x._shape[axis]
    differs = differs_from_previous(pair[0], axis)
    along_dim = [-1 if d == axis else 1 for d in range(x.ndim)]
    position = arange(n, device=x.device).reshape(along_dim)
    begins = where(pad_edge(differs, axis, True), position, 0)
    length = position + 1 - begins.cummax(axis)[0]
    length = where(pad_edge(differs, axis, False), length, 0)
    results = _gather_pair(input, pair, axis, length.argmax(axis, True), keepdim)
    return returned("mode", results, out)


def _quantile(name: str, input: Any, q: Any, dim: Any, keepdim: bool, interpolation: str) -> Tensor:
    if not input.numel():
        raise errors_arithmetic.empty_quantile()
    if input._dtype not in (dtypes.float32, dtypes.float64):
        raise errors_arithmetic.quantile_dtype(input._dtype)
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise errors_arithmetic.interpolation(interpolation)
    if isinstance(q, Tensor):
        if q.ndim > 1:
            raise errors_arithmetic.quantile_ranks(f"of shape {q._shape}")
        if q._dtype is not input._dtype:
            raise errors_arithmetic.quantile_rank_dtype(q._dtype, input._dtype)
        ranks = q.reshape(-1)
        if q.device != input.device:
            raise errors.different_devices(name, (input.device, q.device))
    else:
        if isinstance(q, bool) or not isinstance(q, (int, float)):
            raise errors.argument_type(name, "q", "a number or a Tensor", q)
        if not 0 <= q <= 1:
            raise errors_arithmetic.quantile_ranks([q])
        ranks = full((1,), q, dtype=input._dtype, device=input.device)
    if isinstance(q, Tensor) and ranks.numel() and not bool(((ranks >= 0) & (ranks <= 1)).all().item()):
        raise errors_arithmetic.quantile_ranks(ranks.tolist())
    x, axis = (input.reshape(-1), 0) if dim is None else dim_argument(name, input, dim)
    rows = sorted_values(name, x.movedim(axis, -1), -1)
    last = rows._shape[-1] - 1
    nan = rows.isnan()
    if name == "nanquantile":
        position = ranks * ((~nan).sum(-1, keepdim=True) - 1)
        position = where(position < 0, 0.0, position)
    else:
        position = where(nan.any(-1, keepdim=True), float(last), ranks * last)
    position = position.to(input._dtype)
    nearer = {"lower": Tensor.floor, "higher": Tensor.ceil, "nearest": Tensor.round}.get(interpolation)
    position = nearer(position) if nearer is not None else position
    lower_index = position.to(dtypes.int64)
    quantiles: Tensor = rows.gather(-1, lower_index)
    if interpolation in ("linear", "midpoint"):
        upper = rows.gather(-1, position.ceil().to(dtypes.int64))
        weight = full_like(position, 0.5) if interpolation == "midpoint" else position - lower_index
        quantiles = quantiles.lerp(upper, weight)
    quantiles = quantiles.movedim(-1, 0)  # the dim of `q` first
    if keepdim:
        sizes = [1] * input.ndim if dim is None else list(input._shape)
        if dim is not None and input.ndim:
            sizes[axis] = 1
        quantiles = quantiles.reshape([ranks.numel(), *sizes])
    elif not input.ndim:
        quantiles = quantiles.reshape(ranks.numel())
    return quantiles if isinstance(q, Tensor) and q.ndim else quantiles.squeeze(0)


@composed(exact=True)
def quantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """Returns the `q`-quantile of all elements or along `dim`: a share `q` of the elements is below
    it. `q` is a number in [0, 1], or a vector, which becomes the result's first dim.
    `interpolation` between two elements is "linear", "lower", "higher", "midpoint" or "nearest".
    NaN if there is a NaN. Raises RuntimeError for dtypes other than float32 and float64, a `q` of
    another dtype, and no elements."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


@composed(exact=True)
def nanquantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """Returns the `quantile` of the elements that are not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


def _lexicographic(rows: Tensor) -> Tensor:
    order = arange(rows._shape[0], device=rows.device)
    for column in reversed(range(rows._shape[1])):
        order = order[sort_call("unique", rows.select(1, column)[order], 0)[1]]
    return order


def _unique(name: str, input: Any, is_sorted: bool, return_inverse: bool, return_counts: bool, dim: Any) -> Any:
    check_kind(name, input._dtype, "buif")
    if dim is None:
        rows, shape = input.reshape(-1), input._shape
    else:
        dim = normalize_dim(dim, input.ndim)
        if not input.ndim:
            raise errors_arithmetic.unique_of_scalar(dim)
        rows = input.movedim(dim, 0)
        if not numel(rows._shape[1:]) or (0 in input._shape and input._shape.count(0) > 1):
            raise errors_arithmetic.unique_empty(input._shape, dim)
        shape = (rows._shape[0],)
    n = rows._shape[0]
    order = None
    flat = rows if dim is None else rows.reshape(n, numel(rows._shape[1:]))
    if is_sorted and n and dim is None and not return_inverse:
        rows = flat = sorted_values(name, flat, 0)
    elif is_sorted and n:
        order = sort_call(name, flat, 0)[1] if flat.ndim == 1 else _lexicographic(flat)
        rows, flat = rows[order], flat[order]
    if n:
        differs = differs_from_previous(flat, 0)
        first = pad_edge(differs if flat.ndim == 1 else differs.any(1), 0, True)
    else:
        first = zeros(0, dtype=dtypes.bool, device=input.device)
    starts = first.nonzero().reshape(-1)
    distinct = rows[starts] if dim is None else rows.index_select(0, starts).movedim(0, dim)
    results = [distinct]
    if return_inverse:
        inverse = first.cumsum(0) - 1
        if order is not None:
            inverse = zeros_like(inverse).scatter_(0, order, inverse)
        results.append(inverse.reshape(shape))
    if return_counts:
        total = full((1,), n, dtype=dtypes.int64, device=input.device)
        results.append(cat([starts, total]).diff() if n else starts)
    return results[0] if len(results) == 1 else tuple(results)


@op(bare="h")
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Returns each element once, in order, or each slice along `dim` in lexicographic order;
    optionally the index of each input element among them, and the counts. NaN differs from NaN.
    Raises RuntimeError for slices without elements, NotImplementedError for complex numbers."""
    return _unique("unique", input, True, return_inverse, return_counts, dim)


@op(bare="h")
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Returns the first element of each run of equal elements, or of equal slices along `dim`;
    optionally the run of each input element, and the lengths of the runs."""
    return _unique("unique_consecutive", input, False, return_inverse, return_counts, dim)
