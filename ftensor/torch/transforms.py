"""What torch asks a backend for under names of its own: Fourier transforms, systems of equations,
distances, scans and sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .. import errors
from .._tensor import Tensor
from ..errors import factor as errors_factor
from ..execute.copy import copy
from ..ops.compose import f
from ..ops.linalg.factors import raise_for
from ..ops.nn import distance_gradients as distances
from ..ops.nn.margin_loss import listed_classes, multilabel_margin_input
from .fallback import run as on_host
from .kernels import REDUCTION
from .memory import fresh, lift, unwrap, wrap
from .private import overload
from .registration import impl


def _served(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what computes an overload on ftensor's tensors; where it can't, the host does."""
    op = overload(name)

    def register(call: Callable[..., Any]) -> Callable[..., Any]:
        @impl(name)
        def kernel(*args: Any, **kwargs: Any) -> Any:
            given = [lift(x) if isinstance(x, torch.Tensor) else x for x in args]
            read = [x for x in given if type(x) is Tensor]
            try:
                made = call(*given, **kwargs)
            except NotImplementedError:
                return on_host(op, *args, **kwargs)
            if type(made) is Tensor:
                return wrap(fresh(made, *read))
            return tuple([wrap(fresh(x, *read)) for x in made])

        return kernel

    return register


# --- Fourier transforms, and what torch calls their scales: none, 1 / sqrt(n), 1 / n

_FORTH = ("backward", "ortho", "forward")
_BACK = ("forward", "ortho", "backward")


@_served("_fft_c2c")
def _fft_c2c(x: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    if not dim:
        return x.clone()
    if forward:
        return f["fft.fftn"](x, None, tuple(dim), _FORTH[normalization])
    return f["fft.ifftn"](x, None, tuple(dim), _BACK[normalization])


@_served("_fft_r2c")
def _fft_r2c(x: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    name = "fft.rfftn" if onesided else "fft.fftn"
    return f[name](x, None, tuple(dim), _FORTH[normalization])


@_served("_fft_c2r")
def _fft_c2r(x: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    sizes = (*[x._shape[d] for d in dim[:-1]], last_dim_size)
    return f["fft.irfftn"](x, sizes, tuple(dim), _BACK[normalization])


# --- determinants, and systems of equations


def _factors(A: Tensor) -> tuple[Tensor, Tensor]:
    """(LU, pivots). torch's formula of the gradient takes the factors of a contiguous real matrix
    for those of its transpose, whose columns lie in line."""
    turned = A.is_contiguous() and not A._dtype.is_complex
    LU, pivots, _ = f["linalg.lu_factor_ex"](A.mT if turned else A)
    return LU, pivots


def _swapped(pivots: Tensor) -> Tensor:
    """Which pivots change places with another row."""
    own = f.arange(1, pivots._shape[-1] + 1, dtype=pivots._dtype, device=pivots.device)
    return pivots != own


def _sign(LU: Tensor, pivots: Tensor) -> Tensor:
    """1, or -1 where an odd number of rows has changed places."""
    odd = _swapped(pivots).sum(-1) % 2
    return (1 - 2 * odd).to(LU._dtype)


@_served("_linalg_det")
def _linalg_det(A: Tensor) -> tuple[Tensor, ...]:
    LU, pivots = _factors(A)
    return LU.diagonal(0, -2, -1).prod(-1) * _sign(LU, pivots), LU, pivots


@_served("_linalg_slogdet")
def _linalg_slogdet(A: Tensor) -> tuple[Tensor, ...]:
    LU, pivots = _factors(A)
    diagonal = LU.diagonal(0, -2, -1)
    return diagonal.sgn().prod(-1) * _sign(LU, pivots), diagonal.abs().log().sum(-1), LU, pivots


@_served("_linalg_solve_ex")
def _linalg_solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Tensor, ...]:
    LU, pivots, info = f["linalg.lu_factor_ex"](A)
    if check_errors:
        raise_for(info, errors_factor.singular, "linalg.solve_ex")
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B._shape == A._shape[:-1])
    if vector and not left:
        raise errors_factor.shapes("linalg.solve_ex", A._shape, B._shape, "B needs two dims")
    right = B.unsqueeze(-1) if vector else B
    made = f["linalg.lu_solve"](LU, pivots, right, left=left)
    return made.squeeze(-1) if vector else made, LU, pivots, info


@_served("_cholesky_solve_helper")
def _cholesky_solve(B: Tensor, A: Tensor, upper: bool) -> Tensor:
    return f.cholesky_solve(B, A, upper)


# --- distances


@_served("_cdist_forward")
def _cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    mode = {1: "use_mm_for_euclid_dist", 2: "donot_use_mm_for_euclid_dist"}
    default = "use_mm_for_euclid_dist_if_necessary"
    return f.cdist(x1, x2, p, mode.get(compute_mode or 0, default))


@_served("_cdist_backward")
def _cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, dist: Tensor) -> Tensor:
    return distances.cdist(grad, x1, x2, p, dist)


@_served("_pdist_forward")
def _pdist_forward(x: Tensor, p: float = 2.0) -> Tensor:
    return f["nn.functional.pdist"](x, p)


@_served("_pdist_backward")
def _pdist_backward(grad: Tensor, x: Tensor, p: float, dist: Tensor) -> Tensor:
    return distances.pdist(grad, x, p, dist)


@_served("multilabel_margin_loss_forward")
def _multilabel_margin(x: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, Tensor]:
    loss = f["nn.functional.multilabel_margin_loss"]
    made = loss(x, target, reduction=REDUCTION[reduction])
    return made, listed_classes(x, target)[2].to(x._dtype).reshape(target._shape)


@_served("multilabel_margin_loss_backward")
def _multilabel_margin_backward(
    grad: Tensor, x: Tensor, target: Tensor, reduction: int, is_target: Tensor
) -> Tensor:
    return multilabel_margin_input(grad, x, target, REDUCTION[reduction])


# --- scans and sets


def _extreme(name: str) -> None:
    op = overload(f"_{name}_helper")

    @impl(f"_{name}_helper")
    def kernel(self: Any, values: Any, indices: Any, dim: int) -> None:
        try:
            made = f[name](lift(self), dim)
        except NotImplementedError:
            on_host(op, self, values, indices, dim)
            return
        for one, out in zip(made, (values, indices)):
            copy(one, unwrap(out))


_extreme("cummax")
_extreme("cummin")


@_served("_logcumsumexp")
def _logcumsumexp(x: Tensor, dim: int) -> Tensor:
    if x._dtype.is_complex:  # the host's derivative asks for more than single precision
        raise errors.not_implemented_for("logcumsumexp", x._dtype)
    return f.logcumsumexp(x, dim)


@_served("repeat_interleave.Tensor")
def _repeat_interleave(repeats: Tensor, *, output_size: int | None = None) -> Tensor:
    return f.repeat_interleave(repeats, output_size=output_size)


@_served("_unique2")
def _unique2(
    x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, ...]:
    return f.unique(x, sorted, True, True)


@_served("unique_dim")
def _unique_dim(
    x: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    return f.unique(x, sorted, True, True, dim)
