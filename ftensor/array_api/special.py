"""Special functions under SciPy's names, for `scipy.special` on tensors.

They are no part of the standard. SciPy asks an array's namespace for `special` before it passes
elements to compiled code on the host. The functions are ftensor's ops, or composed of them by the
formulas of SciPy's documentation, and broadcast tensors and numbers together. Integers are computed
in the default floating-point dtype.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import reduce
from typing import Any

from .._tensor import Tensor
from ..dtypes import get_default_dtype
from ..rows.catalogue import op_of
from ..rows.spelling import named
from .creation import asarray
from .dtypes import NUMBERS, common_dtype

_SAME_NAME = (
    "digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammainc gammaincc gammaln i0 i0e i1 i1e "
    "log1p log_ndtr logit ndtr ndtri psi sinc xlog1py xlogy"
)
_OPS = {name: f"special.{name}" for name in _SAME_NAME.split()} | {
    "j0": "special.bessel_j0",
    "j1": "special.bessel_j1",
    "y0": "special.bessel_y0",
    "y1": "special.bessel_y1",
    "k0": "special.modified_bessel_k0",
    "k1": "special.modified_bessel_k1",
    "k0e": "special.scaled_modified_bessel_k0",
    "k1e": "special.scaled_modified_bessel_k1",
}
_where = op_of("where")
_gammainc, _gammaincc = op_of("special.gammainc"), op_of("special.gammaincc")


def _operands(values: tuple[Any, ...]) -> list[Tensor]:
    """Returns tensors and numbers as tensors of the tensors' common floating-point dtype."""
    arrays = [v for v in values if not isinstance(v, NUMBERS)]
    floats = [x.dtype for x in arrays if x.dtype.kind in "fc"]
    d = reduce(common_dtype, floats) if floats else get_default_dtype()
    return [asarray(v, dtype=d, device=arrays[0].device) if isinstance(v, NUMBERS) else v.to(d) for v in values]


def _boxcox(x: Tensor, power: Tensor) -> Tensor:
    return _where(power == 0, x, (power * x).expm1() / power)


def _unboxed(y: Tensor, power: Tensor) -> Tensor:
    return _where(power == 0, y, (power * y).log1p() / power)


def _kl_div(x: Tensor, y: Tensor) -> Tensor:
    divergence = _where((x > 0) & (y > 0), x * (x / y).log() - x + y, builtins.float("inf"))
    divergence = _where((x == 0) & (y >= 0), y, divergence)
    return _where(x.isnan() | y.isnan(), builtins.float("nan"), divergence)


def _huber(delta: Tensor, r: Tensor) -> Tensor:
    size = r.abs()
    loss = _where(size <= delta, r * r / 2, delta * (size - delta / 2))
    return _where(delta < 0, builtins.float("inf"), loss)


def _pseudo_huber(delta: Tensor, r: Tensor) -> Tensor:
    loss = delta * delta * (((r / delta).square()).log1p() / 2).expm1()
    loss = _where((delta == 0) | (r == 0), 0.0, loss)
    return _where(delta < 0, builtins.float("inf"), loss)


_COMPOSED: dict[str, Callable[..., Tensor]] = {
    "boxcox": lambda x, power: _boxcox(x.log(), power),
    "boxcox1p": lambda x, power: _boxcox(x.log1p(), power),
    "inv_boxcox": lambda y, power: _unboxed(y, power).exp(),
    "inv_boxcox1p": lambda y, power: _unboxed(y, power).expm1(),
    "cosm1": lambda x: (x / 2).sin().square() * -2,
    "exp10": lambda x: 10.0**x,
    "exprel": lambda x: _where(x == 0, 1.0, _where(x.isposinf(), x, x.expm1() / x)),
    "gdtr": lambda a, b, x: _gammainc(b, a * x),
    "gdtrc": lambda a, b, x: _gammaincc(b, a * x),
    "huber": _huber,
    "kl_div": _kl_div,
    "pdtr": lambda k, m: _gammaincc(k.floor() + 1, m),
    "pdtrc": lambda k, m: _gammainc(k.floor() + 1, m),
    "pseudo_huber": _pseudo_huber,
    "zeta": lambda x, q=None: op_of("special.zeta")(x, 1.0 if q is None else q),
}


def _function(name: str, compute: Callable[..., Tensor]) -> Callable[..., Tensor]:
    @named(name, f"`scipy.special.{name}` of tensors and numbers, broadcast together.")
    def function(*values: Any) -> Tensor:
        return compute(*_operands(tuple([v for v in values if v is not None])))

    return function


def polygamma(n: int | Tensor, x: Tensor) -> Tensor:
    """Returns the `n`-th derivative of digamma. Raises ValueError for a tensor of different
    orders.
    """
    (x,) = _operands((x,))
    return op_of("polygamma")(builtins.int(n), x)


def multigammaln(a: Tensor, d: int | Tensor) -> Tensor:
    """Returns the logarithm of the multivariate gamma function of dimension `d`."""
    (a,) = _operands((a,))
    return op_of("special.multigammaln")(a, builtins.int(d))


FUNCTIONS = {
    name: _function(name, compute)
    for name, compute in [(name, op_of(op)) for name, op in _OPS.items()] + list(_COMPOSED.items())
} | {"polygamma": polygamma, "multigammaln": multigammaln}
globals().update(FUNCTIONS)
__all__ = sorted(FUNCTIONS)
