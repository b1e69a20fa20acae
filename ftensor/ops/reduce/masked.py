"""torch.masked: reductions and normalizations of the elements that a mask lets through.

A masked element counts as the identity of the operation. A mask may have fewer dims than the
input, to whose shape it is broadcast; no mask lets all elements through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import dtype, float32, int64
from ...errors import reduce as errors_reduce
from ...iterator.shape import normalize_dim
from ...limits import iinfo
from ...rows.catalogue import op
from ..compose import f
from .arguments import checked, dims_of


def _least(name: str, of: dtype) -> Any:
    """The identity of a maximum."""
    if of.kind == "b" or (of.is_complex and name != "logsumexp"):
        raise errors_reduce.no_identity(name, of, not of.is_complex)
    return -math.inf if of.kind in "fc" else iinfo(of).min


def _most(name: str, of: dtype) -> Any:
    """The identity of a minimum."""
    if of.kind in "bc":
        raise errors_reduce.no_identity(name, of, not of.is_complex)
    return math.inf if of.kind == "f" else iinfo(of).max


def _mask(name: str, input: Tensor, mask: Any) -> Tensor:
    """A mask as bools of the input's shape; IndexError for one of more dims."""
    if not isinstance(mask, Tensor):
        raise errors.not_a_tensor(name, "mask", mask)
    if mask.ndim > input.ndim:
        raise errors_reduce.mask_of_more_dims(name, mask._shape, input._shape)
    made: Tensor = f.broadcast_to(mask, input._shape).to(dtypes.bool)
    return made


def _filled(name: str, input: Tensor, mask: Any, identity: Any) -> Tensor:
    """The input with `identity`, or what that says for the dtype, in place of what is masked."""
    checked(name, input)
    if mask is None:
        return input
    number = identity(name, input._dtype) if callable(identity) else identity
    made: Tensor = f.where(_mask(name, input, mask), input, input.new_full((), number))
    return made


def _summed_in(input: Tensor, dtype: dtype | None) -> dtype:
    if dtype is None:
        return int64 if input._dtype.kind in "bui" else input._dtype
    return dtype


@op(name="sum", namespace="masked", method=False)
def _sum(
    input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool | None = False,
    dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The sum over `dim` (None or () for all) of the elements that `mask` lets through; integers
    are summed as int64.
    """
    filled = _filled("masked.sum", input, mask, 0)
    dims = dims_of("masked.sum", dim, input.ndim)
    made: Tensor = f.sum(filled, dims, bool(keepdim), dtype=_summed_in(input, dtype))
    return made


@op(name="prod", namespace="masked", method=False)
def _prod(
    input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool | None = False,
    dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The product over `dim` (None or () for all) of the elements that `mask` lets through;
    integers are multiplied as int64.
    """
    made = _filled("masked.prod", input, mask, 1).to(_summed_in(input, dtype))
    for d in sorted(dims_of("masked.prod", dim, input.ndim), reverse=True):
        made = made.prod(dim=d, keepdim=bool(keepdim))
    return made


def _running(name: str, identity: int, doc: str) -> None:
    def call(
        input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
    ) -> Tensor:
        filled = _filled(f"masked.{name}", input, mask, identity)
        at = normalize_dim(dim, input.ndim)
        made: Tensor = f[name](filled, at, dtype=input._dtype if dtype is None else dtype)
        return made

    call.__name__, call.__doc__ = name, doc
    op(namespace="masked", method=False)(call)


_running("cumsum", 0, "Running sums along `dim`, in which masked elements count as 0.")
_running("cumprod", 1, "Running products along `dim`, in which masked elements count as 1.")


def _extreme(name: str, identity: Callable[[str, dtype], Any], doc: str) -> None:
    def call(
        input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool | None = False,
        dtype: dtype | None = None, mask: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        filled = _filled(f"masked.{name}", input, mask, identity)
        dims = dims_of(f"masked.{name}", dim, input.ndim)
        made: Tensor = f[name](filled, dims, bool(keepdim))
        return made.to(input._dtype if dtype is None else dtype)

    call.__name__, call.__doc__ = name, doc
    op(namespace="masked", method=False)(call)


def _place(name: str, identity: Callable[[str, dtype], Any], doc: str) -> None:
    def call(
        input: Tensor, dim: int | None = None, *, keepdim: bool | None = False,
        dtype: dtype | None = None, mask: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        filled = _filled(f"masked.{name}", input, mask, identity)
        made: Tensor = f[name](filled, dim, bool(keepdim))
        return made.to(input._dtype if dtype is None else dtype)

    call.__name__, call.__doc__ = name, doc
    op(namespace="masked", method=False)(call)


_ENDS = "Where all are masked, it is the %s number of the dtype."
_extreme("amax", _least, "The largest over `dim` of what `mask` lets through. " + _ENDS % "least")
_extreme("amin", _most, "The smallest over `dim` of what `mask` lets through. " + _ENDS % "largest")
_PLACES = "of what `mask` lets through stands, in the input's dtype unless `dtype` names another."
_place("argmax", _least, f"Where along `dim` the largest {_PLACES}")
_place("argmin", _most, f"Where along `dim` the smallest {_PLACES}")


def _count(
    name: str, input: Tensor, dim: int | Sequence[int] | None, keepdim: Any, mask: Any
) -> Tensor:
    """How many elements a mask lets through."""
    if mask is None:
        ones = f.ones((), dtype=int64, device=input.device).expand(input._shape)
    else:
        ones = _mask(name, input, mask)
    made: Tensor = f.sum(ones, dims_of(name, dim, input.ndim), bool(keepdim))
    return made


@op(name="mean", namespace="masked", method=False)
def _mean(
    input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool | None = False,
    dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The mean over `dim` of the elements that `mask` lets through: NaN where that is none.
    ValueError for a dtype without fractions.
    """
    checked("masked.mean", input)
    of = input._dtype if dtype is None else dtype
    if of.kind not in "fc":
        raise errors_reduce.mean_of(of)
    total = _sum(input, dim, keepdim=keepdim, dtype=of, mask=mask)
    return total / _count("masked.mean", input, dim, keepdim, mask)


@op(name="median", namespace="masked", method=False)
def _median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The lower median along `dim` of the elements that `mask` lets through and that are numbers;
    NaN where there is none, which is a ValueError for integers.
    """
    checked("masked.median", input)
    at, of = normalize_dim(dim, input.ndim), input._dtype
    values = input if of.kind == "f" else input.to(float32)
    made: Tensor = f.nanmedian(_filled("masked.median", values, mask, math.nan), at, keepdim)[0]
    if of.kind == "f":
        return made
    if made.isnan().any():
        raise errors_reduce.nothing_let_through("masked.median", of)
    return made.to(of if dtype is None else dtype)


@op(name="logsumexp", namespace="masked", method=False)
def _logsumexp(
    input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
    dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """log of the sum over `dim` of exp of the elements that `mask` lets through."""
    name = "masked.logsumexp"
    filled = _filled("logsumexp", input, mask, _least)
    made: Tensor = f.logsumexp(filled, dims_of(name, dim, input.ndim), keepdim)
    return made.to(input._dtype if dtype is None else dtype)


@op(name="logaddexp", namespace="masked", method=False)
def _logaddexp(
    input: Tensor, other: Tensor, *, dtype: dtype | None = None,
    input_mask: Tensor | None = None, other_mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """log(exp(input) + exp(other)), elementwise; what a mask hides adds nothing."""
    name = "masked.logaddexp"
    left = _filled(name, input, input_mask, _least)
    right = _filled(name, other, other_mask, _least)
    made: Tensor = f.logaddexp(left, right)
    return made.to(input._dtype if dtype is None else dtype)


@op(name="norm", namespace="masked", method=False)
def _norm(
    input: Tensor, ord: float | None = 2.0, dim: int | Sequence[int] | None = None, *,
    keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The vector norm of order `ord` over `dim` of the elements that `mask` lets through."""
    name = "masked.norm"
    filled = _filled(name, input, mask, _most if ord == -math.inf else 0)
    made: Tensor = f["linalg.vector_norm"](
        filled, 2.0 if ord is None else ord, dims_of(name, dim, input.ndim), bool(keepdim),
        dtype=input._dtype if dtype is None else dtype,
    )  # fmt: skip
    return made


def _spread(
    name: str, input: Tensor, dim: int | Sequence[int] | None, unbiased: bool | None,
    correction: float | None, keepdim: Any, dtype: dtype | None, mask: Any,
) -> Tensor:  # fmt: skip
    """The variance: the squares of the distances to the mean, summed, by their count."""
    if unbiased is not None and correction is not None:
        raise errors_reduce.argument_unexpected(name, "correction", "beside `unbiased`")
    checked(name, input)
    taken = (1.0 if unbiased is not False else 0.0) if correction is None else float(correction)
    of = input._dtype if dtype is None else dtype
    of = float32 if dtype is None and of.kind in "bui" else of
    total = _sum(input, dim, keepdim=True, dtype=of, mask=mask)
    count = _count(name, input, dim, True, mask)
    apart = input - total / count
    compute = of if of.kind in "fc" else float32
    squares = _sum(apart * apart.conj(), dim, keepdim=keepdim, dtype=compute, mask=mask)
    count = count.reshape(squares._shape)
    if taken:
        count = (count.to(compute.to_real()) - taken).clamp(min=0)
    return (squares / count).to(of)


@op(name="var", namespace="masked", method=False)
def _var(
    input: Tensor, dim: int | Sequence[int] | None = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool | None = False, dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The variance over `dim` of the elements that `mask` lets through; the squares are divided by
    their count less `correction` (1; 0 where `unbiased` is False).
    """
    return _spread("masked.var", input, dim, unbiased, correction, keepdim, dtype, mask)


@op(name="std", namespace="masked", method=False)
def _std(
    input: Tensor, dim: int | Sequence[int] | None = None, unbiased: bool | None = None, *,
    correction: float | None = None, keepdim: bool | None = False, dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The square root of `masked.var`."""
    return _spread("masked.std", input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def _shares(name: str, identity: Callable[[str, dtype], Any], doc: str) -> None:
    def call(
        input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
    ) -> Tensor:
        filled = _filled(f"masked.{name}", input, mask, identity)
        made: Tensor = f[f"nn.functional.{name}"](
            filled, normalize_dim(dim, input.ndim), dtype=input._dtype if dtype is None else dtype
        )
        return made

    call.__name__, call.__doc__ = name, doc
    op(namespace="masked", method=False)(call)


_shares("softmax", _least, "softmax along `dim`, in which masked elements have no share.")
_shares("log_softmax", _least, "log_softmax along `dim`, in which masked elements have no share.")
_shares("softmin", _most, "softmin along `dim`, in which masked elements have no share.")


@op(namespace="masked", method=False)
def normalize(
    input: Tensor, ord: float, dim: int | Sequence[int] | None, *, eps: float = 1e-12,
    dtype: dtype | None = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The elements that `mask` lets through, others as 0, by their norm of order `ord` over `dim`,
    or by `eps` where that is more.
    """
    filled = _filled("masked.normalize", input, mask, 0)
    sizes = _norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    made: Tensor = f.div(filled, f.maximum(sizes, sizes.new_full((), eps)))
    return made
