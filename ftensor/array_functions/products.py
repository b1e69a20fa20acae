"""NumPy's products, `numpy.linalg` and `numpy.fft`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import array_api as xp
from .._tensor import Tensor
from ..array_api.linalg import EigResult, QRResult, SVDResult
from .values import first_tensor, floating, op, promote_pair, tensor

linalg: Any = xp.linalg


def _pair(function: Callable[[Tensor, Tensor], Any]) -> Callable[..., Any]:
    return lambda a, b: function(*promote_pair(a, b))


def _dot(a: Tensor, b: Tensor) -> Any:
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim == 1:
        return a @ b
    return op("tensordot")(a, b, ([a.ndim - 1], [b.ndim - 2]))


def _tensordot(a: Tensor, b: Tensor, axes: Any) -> Any:
    if not isinstance(axes, int):
        axes = [[k] if isinstance(k, int) else list(k) for k in axes]
    return op("tensordot")(a, b, axes)


def _cross(a: Any, b: Any, axis: int | None = None) -> Any:
    dim = -1 if axis is None else axis
    if a.shape[dim] != 3 or b.shape[dim] != 3:
        return NotImplemented
    return op("linalg.cross")(a, b, dim=dim)


def _einsum(subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    like = first_tensor(operands)
    if not isinstance(subscripts, str) or like is None:
        return NotImplemented
    return op("einsum")(subscripts.replace(" ", ""), *[tensor(x, like) for x in operands])


def _cov(
    m: Tensor,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    if y is not None:
        return NotImplemented
    correction = (0 if bias else 1) if ddof is None else ddof
    x = floating(m)
    weights = [None if w is None else tensor(w, m) for w in (fweights, aweights)]
    return op("cov")(
        x if rowvar or x.ndim < 2 else x.mT, correction=correction, fweights=weights[0], aweights=weights[1]
    )


def _qr(a: Tensor, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        return NotImplemented
    factors = op("linalg.qr")(floating(a), mode)
    return factors[1] if mode == "r" else QRResult(*factors)


def _svd(a: Tensor, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    x = floating(a)
    if not compute_uv:
        return op("linalg.svdvals")(x)
    return SVDResult(*op("linalg.svd")(x, full_matrices))


def _norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is None and axis is None:
        flat = op("linalg.vector_norm")(floating(x).reshape(-1))
        return flat.reshape([1] * x.ndim) if keepdims else flat
    return op("linalg.norm")(floating(x), ord, axis, keepdims)


def _solve(a: Tensor, b: Any) -> Any:
    return linalg.solve(floating(a), floating(tensor(b, a)))


def _make_fft(name: str) -> Callable[..., Any]:
    return lambda a, *args: op(f"linalg.{name}")(floating(a), *args)


def _make_transform(name: str) -> Callable[..., Any]:
    """Returns a transform along one axis."""

    def function(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        return op(f"fft.{name}")(a, n, axis, norm)

    return function


def _make_transform_nd(name: str) -> Callable[..., Any]:
    """Returns a transform along several axes, by default all or the last two."""
    default = (-2, -1) if name.endswith("2") else None

    def function(a: Tensor, s: Any = None, axes: Any = default, norm: str | None = None) -> Any:
        return op(f"fft.{name}")(a, s, axes, norm)

    return function


def _make_shift(name: str) -> Callable[..., Any]:
    return lambda x, axes=None: op(f"fft.{name}")(x, axes)


_MATRIX_FUNCTIONS = "det eigvals eigvalsh inv multi_dot slogdet svdvals tensorinv"
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "corrcoef": lambda x, rowvar=True: op("corrcoef")(floating(x) if rowvar or x.ndim < 2 else floating(x).mT),
    "cov": _cov,
    "cross": _cross,
    "dot": _pair(_dot),
    "einsum": _einsum,
    "inner": _pair(lambda a, b: a * b if not (a.ndim and b.ndim) else op("inner")(a, b)),
    "kron": _pair(op("kron")),
    "outer": _pair(lambda a, b: op("outer")(a.reshape(-1), b.reshape(-1))),
    "tensordot": lambda a, b, axes=2: _pair(lambda x, y: _tensordot(x, y, axes))(a, b),
    "vdot": _pair(lambda a, b: op("vdot")(a.reshape(-1), b.reshape(-1))),
}
LINALG: dict[str, Callable[..., Any]] = {name: _make_fft(name) for name in _MATRIX_FUNCTIONS.split()} | {
    "cholesky": lambda a, upper=False: op("linalg.cholesky")(floating(a), upper=upper),
    "cond": lambda x, p=None: op("linalg.cond")(floating(x), p),
    "cross": lambda x1, x2, axis=-1: op("linalg.cross")(x1, x2, dim=axis),
    "diagonal": lambda x, offset=0: x.diagonal(offset, -2, -1),
    "eig": lambda a: EigResult(*op("linalg.eig")(floating(a))),
    "eigh": lambda a, UPLO="L": EigResult(*op("linalg.eigh")(floating(a), UPLO)),
    "matmul": _pair(lambda a, b: a @ b),
    "matrix_norm": lambda x, keepdims=False, ord="fro": op("linalg.matrix_norm")(floating(x), ord, keepdim=keepdims),
    "matrix_power": lambda a, n: op("linalg.matrix_power")(a, n),
    "matrix_rank": lambda A, tol=None, hermitian=False, rtol=None: op("linalg.matrix_rank")(
        floating(A), atol=tol, rtol=rtol, hermitian=hermitian
    ),
    "matrix_transpose": lambda x: x.mT,
    "multi_dot": lambda arrays: op("linalg.multi_dot")(arrays),
    "norm": _norm,
    "outer": lambda x1, x2: op("outer")(x1, x2),
    "pinv": lambda a, rcond=None, hermitian=False: op("linalg.pinv")(
        floating(a), **({} if rcond is None else {"rtol": rcond}), hermitian=hermitian
    ),
    "qr": _qr,
    "solve": _solve,
    "svd": _svd,
    "tensordot": lambda x1, x2, axes=2: FUNCTIONS["tensordot"](x1, x2, axes),
    "tensorsolve": lambda a, b, axes=None: op("linalg.tensorsolve")(floating(a), floating(b), axes),
    "trace": lambda x, offset=0: x.diagonal(offset, -2, -1).sum(-1),
    "vecdot": lambda x1, x2, axis=-1: op("linalg.vecdot")(x1, x2, dim=axis),
    "vector_norm": lambda x, axis=None, keepdims=False, ord=2: op("linalg.vector_norm")(
        floating(x), ord, axis, keepdims
    ),
}
FFT: dict[str, Callable[..., Any]] = {
    **{name: _make_transform(name) for name in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]},
    **{
        name: _make_transform_nd(name)
        for name in ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
    },
    "fftshift": _make_shift("fftshift"),
    "ifftshift": _make_shift("ifftshift"),
}
