"""Overloads that exist in aten only for backends, except derivatives.

These are Fourier transforms, systems of equations, distances, scans, sets, embedding bags and
activations with an extra result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .. import dtypes, errors
from .._tensor import Tensor
from ..errors import linalg as errors_factor
from ..errors import nn as errors_nn
from ..execute.pointwise import copy, pointwise
from ..graph.fused import fused
from ..iterator.shape import normalize_dim
from ..ops.create.ranges import arange
from ..ops.create.sizes import empty, zeros
from ..ops.linalg.factors import lu_factor_ex
from ..ops.linalg.forms import raise_for
from ..ops.linalg.solve import linalg_lu_solve
from ..ops.nn.layers import embedding
from ..ops.nn.layers.activation import ELU, logsigmoid
from ..ops.nn.layers.embedding import renormalize_rows
from ..ops.nn.losses.margin_loss import cdist, listed_classes, multilabel_margin_loss
from ..ops.order import select as sets
from ..ops.order.sort import cummax, cummin
from ..ops.reduce.softmax import LOG_SOFTMAX, SOFTMAX, softmaxed
from ..ops.spectral.fft import fftn, ifftn, irfftn, rfftn
from ..rows.catalogue import aten_op
from ..rows.op import Op

# --- Fourier transforms. Indexed by torch's `normalization`: no scale, 1 / sqrt(n), 1 / n

_FORTH = ("backward", "ortho", "forward")
_BACK = ("forward", "ortho", "backward")


@aten_op()
def _fft_c2c(x: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    if not dim:
        return x.clone()
    if forward:
        return fftn(x, None, tuple(dim), _FORTH[normalization])
    return ifftn(x, None, tuple(dim), _BACK[normalization])


@aten_op()
def _fft_r2c(x: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    transform = rfftn if onesided else fftn
    return transform(x, None, tuple(dim), _FORTH[normalization])


@aten_op()
def _fft_c2r(x: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    sizes = (*[x._shape[d] for d in dim[:-1]], last_dim_size)
    return irfftn(x, sizes, tuple(dim), _BACK[normalization])


# --- determinants, and systems of equations


def _factors(A: Tensor) -> tuple[Tensor, Tensor]:
    """Returns (LU, pivots) of A, or of A.mT if A is contiguous and real.

    torch's gradient formula expects the factors of the transpose in that case, because LAPACK
    reads a contiguous matrix in column-major order.
    """
    is_transposed = A.is_contiguous() and not A._dtype.is_complex
    LU, pivots, _ = lu_factor_ex(A.mT if is_transposed else A)
    return LU, pivots


def _swapped(pivots: Tensor) -> Tensor:
    identity_rows = arange(1, pivots._shape[-1] + 1, dtype=pivots._dtype, device=pivots.device)
    return pivots != identity_rows


def _sign(LU: Tensor, pivots: Tensor) -> Tensor:
    """Returns the sign of the row permutation: 1, or -1 for an odd number of swaps."""
    odd = _swapped(pivots).sum(-1) % 2
    return (1 - 2 * odd).to(LU._dtype)


@aten_op()
def _linalg_det(A: Tensor) -> tuple[Tensor, ...]:
    LU, pivots = _factors(A)
    return LU.diagonal(0, -2, -1).prod(-1) * _sign(LU, pivots), LU, pivots


@aten_op()
def _linalg_slogdet(A: Tensor) -> tuple[Tensor, ...]:
    LU, pivots = _factors(A)
    diagonal = LU.diagonal(0, -2, -1)
    return diagonal.sgn().prod(-1) * _sign(LU, pivots), diagonal.abs().log().sum(-1), LU, pivots


@aten_op()
def _linalg_solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> tuple[Tensor, ...]:
    LU, pivots, info = lu_factor_ex(A)
    if check_errors:
        raise_for(info, errors_factor.singular, "linalg.solve_ex")
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B._shape == A._shape[:-1])
    if vector and not left:
        raise errors_factor.shapes("linalg.solve_ex", A._shape, B._shape, "B needs two dims")
    right = B.unsqueeze(-1) if vector else B
    solution = linalg_lu_solve(LU, pivots, right, left=left)
    return solution.squeeze(-1) if vector else solution, LU, pivots, info


# --- distances


@aten_op()
def _cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    mode = {1: "use_mm_for_euclid_dist", 2: "donot_use_mm_for_euclid_dist"}
    default = "use_mm_for_euclid_dist_if_necessary"
    return cdist(x1, x2, p, mode.get(compute_mode or 0, default))


@aten_op()
def multilabel_margin_loss_forward(x: Tensor, target: Tensor, reduction: str) -> tuple[Tensor, Tensor]:
    loss = multilabel_margin_loss(x, target, reduction=reduction)
    return loss, listed_classes(x, target)[2].to(x._dtype).reshape(target._shape)


# --- scans and sets


def _extremes(scan: Callable[..., Any], x: Tensor, values: Tensor, indices: Tensor, dim: int) -> None:
    for result, out in zip(scan(x, dim), (values, indices)):
        copy(result, out)


for _scan in (cummax, cummin):
    aten_op(f"_{_scan.__name__}_helper")(partial(_extremes, _scan))


@aten_op()
def _unique2(
    x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, ...]:
    return tuple(sets.unique(x, sorted, True, True))


@aten_op()
def unique_dim(
    x: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, ...]:
    return tuple(sets.unique(x, sorted, True, True, dim))


@aten_op()
def unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, ...]:
    """Returns (values without repetitions, inverse indices, counts).

    Inverse indices and counts are empty tensors unless requested.
    """
    values, inverse, counts = sets.unique_consecutive(x, True, True, dim)
    none = empty(0, dtype=dtypes.int64, device=x.device)
    return values, inverse if return_inverse else none, counts if return_counts else none


# --- activations


def _softmax_of(row: Op, x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    result_dtype = dtypes.float32 if half_to_float else x._dtype
    if result_dtype.kind != "f":
        raise errors.not_implemented_for(row.name, result_dtype)
    return softmaxed(row, x, normalize_dim(dim, x.ndim), result_dtype)


aten_op("_softmax")(fused(partial(_softmax_of, SOFTMAX)))
aten_op("_log_softmax")(fused(partial(_softmax_of, LOG_SOFTMAX)))


@aten_op()
def elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    """Kernel of aten::elu, which torch also calls for selu and celu."""
    return pointwise(ELU, (x,), (alpha * scale, scale, input_scale))


@aten_op()
def log_sigmoid_forward(x: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the result and an empty tensor in place of the buffer of the CPU's derivative."""
    return logsigmoid(x), empty(0, dtype=x._dtype, device=x.device)


# --- tables


@aten_op()
def embedding_renorm_(x: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows of `x` that `indices` selects, in place, to a norm of at most `max_norm`."""
    renormalize_rows(x, indices, max_norm, norm_type)


@aten_op("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(
    table: Tensor,
    index: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, ...]:
    """Returns (bags, bag of each index, indices per bag, rows of the maxima).

    The last result is empty unless `mode` is "max".
    """
    word = embedding.MODES[mode]
    if not table._dtype.is_floating_point:
        raise errors_nn.floating_inputs(embedding.NAME, table._dtype)
    _, bag_of_index = embedding.bags_of_offsets(index, offsets, include_last_offset)
    index_count = bag_of_index.numel()
    pooled, bag_sizes = embedding.pool_offsets(table, index, offsets, include_last_offset, word, weights, padding_idx)
    index = index.narrow(0, 0, index_count)
    if word == "max":
        return pooled, bag_of_index, bag_sizes, embedding.maximum_rows(table, index, bag_of_index, pooled, padding_idx)
    return pooled, bag_of_index, bag_sizes, zeros((0,), dtype=dtypes.int64, device=pooled.device)
