"""Running sums, products, extremes."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import dtype
from ...execute.scan import scan
from ...rows.catalogue import op
from ..compose import deliver
from .arguments import along, returned


def _run(name: str, x: Tensor, dim: int, shape: Any) -> tuple[Tensor, ...]:
    return tuple([result.reshape(shape) for result in scan(name, x, dim)])


def _running(name: str, input: Any, dim: Any, dtype: Any, out: Any) -> Tensor:
    """cumsum and cumprod: in `dtype`, or in that of `out`, or in int64 for whole numbers."""
    x, at = along(name, input, dim)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise errors.not_a_dtype(name, "dtype", dtype, dtypes.meant_by(dtype))
    if out is not None and not isinstance(out, Tensor):
        raise errors.not_a_tensor(name, "out", out)
    of = dtype or (out._dtype if out is not None else None)
    if of is None:
        of = x._dtype if x._dtype.kind in "fc" else dtypes.int64
    if of is dtypes.bool or of.bare:
        raise errors.not_implemented_for(name, of)
    # Whole numbers wrap around: the low bits of a sum are those of the wide one.
    wide = of if of.kind in "fc" else dtypes.int64
    result = _run(name, x.to(of).to(wide), at, input._shape)[0].to(of)
    if out is None:
        return result
    to: Tensor = deliver(name, result, out, exact=True, fixed=out is input)
    return to


@op(inplace=True)
def cumsum(input: Tensor, dim: int, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The sums of the elements up to each along `dim`: whole numbers in int64. RuntimeError for an
    `out` of another dtype than `dtype`, NotImplementedError for bool as that.
    """
    return _running("cumsum", input, dim, dtype, out)


@op(inplace=True)
def cumprod(input: Tensor, dim: int, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The products of the elements up to each along `dim`: whole numbers in int64. RuntimeError for
    an `out` of another dtype than `dtype`, NotImplementedError for bool as that.
    """
    return _running("cumprod", input, dim, dtype, out)


@op()
def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithms of the sums of exponentials up to each element along `dim`.
    NotImplementedError for whole numbers.
    """
    x, at = along("logcumsumexp", input, dim)
    if x._dtype.kind not in "fc":
        raise errors.not_implemented_for("logcumsumexp", x._dtype)
    result = _run("logcumsumexp", x, at, input._shape)[0]
    if out is None:
        return result
    to: Tensor = deliver("logcumsumexp", result, out, exact=True)
    return to


def _extreme(name: str, input: Any, dim: Any, out: Any) -> Any:
    x, at = along(name, input, dim)
    if x._dtype.is_complex:
        raise errors.not_implemented_for(name, x._dtype)
    return returned(name, _run(name, x, at, input._shape), out)


@op(bare="h")
def cummax(input: Tensor, dim: int, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """The largest element up to each along `dim`, and the last place where it was found; NaN is
    the largest. NotImplementedError for complex numbers.
    """
    result: tuple[Tensor, Tensor] = _extreme("cummax", input, dim, out)
    return result


@op(bare="h")
def cummin(input: Tensor, dim: int, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """The smallest element up to each along `dim`, and the last place where it was found; NaN is
    the smallest. NotImplementedError for complex numbers.
    """
    result: tuple[Tensor, Tensor] = _extreme("cummin", input, dim, out)
    return result
