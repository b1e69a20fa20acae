"""What Fourier transforms are asked for: inputs, dims, points, norms."""

from __future__ import annotations

import math
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import get_default_dtype
from ...errors import spectral as errors_spectral
from ...iterator.shape import Ints, normalize_dim
from ..view.arguments import as_int, int_list

NORMS = (None, "backward", "forward", "ortho")


def numbers(op: str, input: Any, real: bool = False) -> Tensor:
    """The input in a floating-point dtype; RuntimeError for one that isn't transformed."""
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(op, "input", input)
    of = input._dtype
    if real and of.is_complex:
        raise errors_spectral.real_needed(op, of)
    if of.kind not in "fc":
        of = get_default_dtype()
    if of.compute is not of:
        raise errors_spectral.dtype(op, of)
    return input.to(of)


def real_out(op: str, out: Any) -> None:
    """RuntimeError for a complex `out=` of real results."""
    if isinstance(out, Tensor) and out._dtype.is_complex:
        raise errors_spectral.real_output(op, out._dtype)


def factor_of(op: str, norm: Any, n: int, inverse: bool) -> float:
    """What results are scaled by; RuntimeError for an unknown `norm`, TypeError for no string."""
    if norm is not None and not isinstance(norm, str):
        raise errors_spectral.norm_type(op, norm)
    if norm not in NORMS:
        raise errors_spectral.norm(op, norm)
    if norm == "ortho":
        return 1.0 / math.sqrt(n)
    return 1.0 / n if (norm == "forward") != inverse else 1.0


def dim_of(op: str, x: Tensor, dim: Any) -> int:
    dim = as_int(dim, op, "dim")
    if not x.ndim:
        raise errors_spectral.no_dims(op, dim)
    return normalize_dim(dim, x.ndim)


def points_of(op: str, n: int) -> int:
    if n < 1:
        raise errors_spectral.points(op, n)
    return n


def along_one(op: str, x: Tensor, n: Any, dim: Any, real_output: bool = False) -> tuple[int, int]:
    """(dim, points) of a transform along one dim. To m numbers of half a spectrum belong
    2 * (m - 1) in `real_output`."""
    dim = dim_of(op, x, dim)
    if n is not None:
        return dim, points_of(op, as_int(n, op, "n"))
    size = x._shape[dim]
    return dim, points_of(op, 2 * (size - 1) if real_output else size)


def along_several(op: str, x: Tensor, s: Any, dim: Any, real_output: bool = False) -> tuple[Ints, Ints]:
    """(dims, points) of a transform along several dims."""
    lengths = None if s is None else int_list([s] if isinstance(s, int) else s, op, "s")
    if dim is not None:
        dims = int_list([dim] if isinstance(dim, int) else dim, op, "dim")
        dims = tuple([dim_of(op, x, d) for d in dims])
        if lengths is not None and len(lengths) != len(dims):
            raise errors_spectral.lengths(op, lengths, dims)
    else:
        if lengths is not None and len(lengths) > x.ndim:
            raise errors_spectral.too_many(op, lengths, x.ndim)
        dims = tuple(range(x.ndim - (x.ndim if lengths is None else len(lengths)), x.ndim))
    if len(set(dims)) < len(dims):
        raise errors_spectral.repeated(op, dims)
    points = [x._shape[d] if lengths is None or lengths[i] == -1 else lengths[i] for i, d in enumerate(dims)]
    if real_output and dims and (lengths is None or lengths[-1] == -1):
        points[-1] = 2 * (points[-1] - 1)
    return dims, tuple([points_of(op, n) for n in points])
