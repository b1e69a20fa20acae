"""torch.masked: reductions and normalizations of the elements where a mask is True.

A masked element counts as the identity of the operation. A mask may have fewer dims than the input,
to whose shape it broadcasts; without a mask all elements count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes
from ..._tensor import Tensor
from ...dtypes import dtype, float32, int64
from ...dtypes.limits import iinfo
from ...errors import arithmetic as errors_arithmetic
from ...iterator.shape import Ints, normalize_dim
from ...rows.catalogue import op
from ...rows.op import Reduce
from ...rows.spelling import written
from ..arguments import check_tensors
from ..create.sizes import ones
from ..order.select import nanmedian
from ..order.sort import cumprod, cumsum
from ..pointwise.ternary import where
from ..view.shape import broadcast_to
from .fold import AMAX, AMIN, ARGMAX, ARGMIN, SUM
from .reduction import check_arguments, dims_of, reduce_call
from .softmax import log_softmax, logsumexp, softmax
from .stats import vector_norm


def _lowest_identity(name: str, element: dtype) -> Any:
    if element.kind == "b" or (element.is_complex and name != "logsumexp"):
        raise errors_arithmetic.no_identity(name, element, not element.is_complex)
    return -math.inf if element.kind in "fc" else iinfo(element).min


def _highest_identity(name: str, element: dtype) -> Any:
    if element.kind in "bc":
        raise errors_arithmetic.no_identity(name, element, not element.is_complex)
    return math.inf if element.kind == "f" else iinfo(element).max


def _mask(name: str, input: Tensor, mask: Any) -> Tensor:
    """Returns a mask as bools of the input's shape. Raises IndexError for a mask of more dims."""
    check_tensors(name, mask=mask)
    if mask.ndim > input.ndim:
        raise errors_arithmetic.mask_of_more_dims(name, mask._shape, input._shape)
    return broadcast_to(mask, input._shape).to(dtypes.bool)


def _fill_masked(name: str, input: Tensor, mask: Any, identity: Any) -> Tensor:
    """Returns the input with masked elements replaced by `identity`, which may be a function of the
    dtype."""
    check_arguments(name, input)
    if mask is None:
        return input
    number = identity(name, input._dtype) if callable(identity) else identity
    return where(_mask(name, input, mask), input, input.new_full((), number))


def _input_dtype(input: Tensor, dtype: dtype | None) -> dtype:
    return input._dtype if dtype is None else dtype


def _summed_in(input: Tensor, dtype: dtype | None) -> dtype:
    return int64 if dtype is None and input._dtype.kind in "bui" else _input_dtype(input, dtype)


# The parameters of reductions over several dims, over one or all, and of functions along one dim.
_TYPED = "*, dtype: dtype | None = None, mask: Tensor | None = None"
_KEPT = _TYPED.replace("*", "*, keepdim: bool | None = False")
OVER = f"input: Tensor, dim: int | Sequence[int] | None = None, {_KEPT}"
PLACE = f"input: Tensor, dim: int | None = None, {_KEPT}"
ALONG = f"input: Tensor, dim: int, {_TYPED}"
# The arguments for `dim` and `keepdim` of the op that runs on the filled tensor.
_DIMS = {
    OVER: "dims_of(FULL, dim, input.ndim), bool(keepdim)",
    PLACE: "dim, bool(keepdim)",
    ALONG: "normalize_dim(dim, input.ndim)",
}


def _masked(
    name: str, parameters: str, identity: Any, run: Callable[..., Tensor], doc: str,
    dtype_rule: Callable[[Tensor, dtype | None], dtype] = _input_dtype,
) -> Callable[..., Tensor]:  # fmt: skip
    """Registers a masked op. It replaces masked elements by `identity`, which may be a function of
    the dtype, and calls `run(filled, *dims, dtype=)`; `dtype_rule(input, dtype)` determines that
    dtype."""
    return op(namespace="masked", method=False)(
        written(
            name, parameters,
            "filled = fill(FULL, input, mask, identity)\n"
            f"return run(filled, {_DIMS[parameters]}, dtype=of(input, dtype))", doc,
            __name__=__name__, FULL=f"masked.{name}", fill=_fill_masked, identity=identity, run=run,
            of=dtype_rule, dims_of=dims_of, normalize_dim=normalize_dim,
        )
    )  # fmt: skip


def _folded(row: Reduce) -> Callable[..., Tensor]:
    """Returns the reduction of a row with a parameter `dtype`; for a row without one, the result is
    converted."""

    def run(filled: Tensor, dims: Any, keepdim: bool, dtype: dtype) -> Tensor:
        result: Tensor = reduce_call(row, filled, dims, keepdim, dtype if row.converts else None, None)
        return result if row.converts else result.to(dtype)

    return run


def _prod(filled: Tensor, dims: Ints, keepdim: bool, dtype: dtype) -> Tensor:
    product = filled.to(dtype)
    for d in sorted(dims, reverse=True):
        product = product.prod(dim=d, keepdim=keepdim)
    return product


_sum = _masked("sum", OVER, 0, _folded(SUM), """
Returns the sum over `dim` (None or () for all) of the elements where `mask` is True; integers
are summed as int64.
""", _summed_in)  # fmt: skip
_masked("prod", OVER, 1, _prod, """
Returns the product over `dim` (None or () for all) of the elements where `mask` is True;
integers are multiplied as int64.
""", _summed_in)  # fmt: skip
_masked("cumsum", ALONG, 0, cumsum, "Returns the cumulative sums along `dim`; masked elements count as 0.")
_masked("cumprod", ALONG, 1, cumprod, "Returns the cumulative products along `dim`; masked elements count as 1.")
_ENDS = "If all are masked, it is the %s number of the dtype."
_masked(
    "amax",
    OVER,
    _lowest_identity,
    _folded(AMAX),
    "Returns the largest element over `dim` where `mask` is True. " + _ENDS % "least",
)
_masked(
    "amin",
    OVER,
    _highest_identity,
    _folded(AMIN),
    "Returns the smallest element over `dim` where `mask` is True. " + _ENDS % "largest",
)
_PLACES = "where `mask` is True, in the input's dtype or in `dtype`."
_masked(
    "argmax",
    PLACE,
    _lowest_identity,
    _folded(ARGMAX),
    f"Returns the index along `dim` of the largest element {_PLACES}",
)
_masked(
    "argmin",
    PLACE,
    _highest_identity,
    _folded(ARGMIN),
    f"Returns the index along `dim` of the smallest element {_PLACES}",
)
_SHARES = "along `dim` of the elements where `mask` is True; %s for the others."
_masked("softmax", ALONG, _lowest_identity, softmax, f"Returns softmax {_SHARES % 0}")
_masked("log_softmax", ALONG, _lowest_identity, log_softmax, f"Returns log_softmax {_SHARES % '-inf'}")
_masked(
    "softmin",
    ALONG,
    _highest_identity,
    lambda filled, dim, dtype: softmax(-filled, dim, dtype),
    f"Returns softmin {_SHARES % 0}",
)


def _count(name: str, input: Tensor, dim: int | Sequence[int] | None, keepdim: Any, mask: Any) -> Tensor:
    """Returns how many elements a mask selects."""
    if mask is None:
        ones_ = ones((), dtype=int64, device=input.device).expand(input._shape)
    else:
        ones_ = _mask(name, input, mask)
    return reduce_call(SUM, ones_, dims_of(name, dim, input.ndim), bool(keepdim), None, None)


@op(name="mean", namespace="masked", method=False)
def _mean(
    input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool | None = False,
    dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Returns the mean over `dim` of the elements where `mask` is True; NaN if there are none.
    Raises ValueError for an integer dtype."""
    check_arguments("masked.mean", input)
    result_dtype = input._dtype if dtype is None else dtype
    if result_dtype.kind not in "fc":
        raise errors_arithmetic.mean_of(result_dtype)
    total = _sum(input, dim, keepdim=keepdim, dtype=result_dtype, mask=mask)
    return total / _count("masked.mean", input, dim, keepdim, mask)


@op(name="median", namespace="masked", method=False)
def _median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Returns the lower median along `dim` of the elements where `mask` is True and that are not
    NaN. Without such elements it is NaN, or raises ValueError for integers."""
    check_arguments("masked.median", input)
    axis, element = normalize_dim(dim, input.ndim), input._dtype
    values = input if element.kind == "f" else input.to(float32)
    median: Tensor = nanmedian(_fill_masked("masked.median", values, mask, math.nan), axis, keepdim)[0]
    if element.kind == "f":
        return median
    if median.isnan().any():
        raise errors_arithmetic.nothing_let_through("masked.median", element)
    return median.to(element if dtype is None else dtype)


@op(name="logsumexp", namespace="masked", method=False)
def _logsumexp(
    input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
    dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Returns log of the sum over `dim` of exp of the elements where `mask` is True."""
    name = "masked.logsumexp"
    filled = _fill_masked("logsumexp", input, mask, _lowest_identity)
    result: Tensor = logsumexp(filled, dims_of(name, dim, input.ndim), keepdim)
    return result.to(input._dtype if dtype is None else dtype)


@op(name="logaddexp", namespace="masked", method=False)
def _logaddexp(
    input: Tensor, other: Tensor, *, dtype: dtype | None = None,
    input_mask: Tensor | None = None, other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Returns log(exp(input) + exp(other)), elementwise; a masked element contributes nothing."""
    name = "masked.logaddexp"
    left = _fill_masked(name, input, input_mask, _lowest_identity)
    right = _fill_masked(name, other, other_mask, _lowest_identity)
    return left.logaddexp(right).to(input._dtype if dtype is None else dtype)


@op(name="norm", namespace="masked", method=False)
def _norm(
    input: Tensor, ord: float | None = 2.0, dim: int | Sequence[int] | None = None, *,
    keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Returns the vector norm of order `ord` over `dim` of the elements where `mask` is True."""
    name = "masked.norm"
    filled = _fill_masked(name, input, mask, _highest_identity if ord == -math.inf else 0)
    return vector_norm(
        filled,
        2.0 if ord is None else ord,
        dims_of(name, dim, input.ndim),
        bool(keepdim),
        dtype=input._dtype if dtype is None else dtype,
    )


def _variance(
    name: str, input: Tensor, dim: int | Sequence[int] | None, unbiased: bool | None,
    correction: float | None, keepdim: Any, dtype: dtype | None, mask: Any,
) -> Tensor:  # fmt: skip
    """Returns the variance: the mean of the squared distances to the mean."""
    if unbiased is not None and correction is not None:
        raise errors_arithmetic.argument_unexpected(name, "correction", "beside `unbiased`")
    check_arguments(name, input)
    correction_ = (1.0 if unbiased is not False else 0.0) if correction is None else float(correction)
    result_dtype = input._dtype if dtype is None else dtype
    result_dtype = float32 if dtype is None and result_dtype.kind in "bui" else result_dtype
    total = _sum(input, dim, keepdim=True, dtype=result_dtype, mask=mask)
    count = _count(name, input, dim, True, mask)
    deviation = input - total / count
    compute = result_dtype if result_dtype.kind in "fc" else float32
    squares = _sum(deviation * deviation.conj(), dim, keepdim=keepdim, dtype=compute, mask=mask)
    count = count.reshape(squares._shape)
    if correction_:
        count = (count.to(compute.to_real()) - correction_).clamp(min=0)
    return (squares / count).to(result_dtype)


@op(name="var", namespace="masked", method=False)
def _var(
    input: Tensor, dim: int | Sequence[int] | None = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool | None = False, dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Returns the variance over `dim` of the elements where `mask` is True; the sum of squares is
    divided by their count minus `correction` (1; 0 if `unbiased` is False)."""
    return _variance("masked.var", input, dim, unbiased, correction, keepdim, dtype, mask)


@op(name="std", namespace="masked", method=False)
def _std(
    input: Tensor, dim: int | Sequence[int] | None = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool | None = False, dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Returns the square root of `masked.var`."""
    return _variance("masked.std", input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


@op(namespace="masked", method=False)
def normalize(
    input: Tensor, ord: float, dim: int | Sequence[int] | None, *, eps: float = 1e-12,
    dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Returns the elements where `mask` is True, others as 0, divided by their norm of order `ord`
    over `dim`, or by `eps` if that is larger."""
    filled = _fill_masked("masked.normalize", input, mask, 0)
    sizes = _norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return filled / sizes.maximum(sizes.new_full((), eps))
