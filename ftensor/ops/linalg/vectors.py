"""Products, combinations and statistics of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from itertools import combinations as chosen
from itertools import combinations_with_replacement as chosen_again
from math import comb
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...dtypes import float32, float64, int64, result_type
from ...errors import linalg as errors_linalg
from ...execute import output
from ...execute.device_traits import spares_double
from ...graph.fused import fused
from ...iterator.shape import broadcast_shapes, normalize_dim, numel
from ...rows.catalogue import add_to_namespace, op
from ..arguments import check_tensors
from ..bind import composed
from ..create.data import tensor
from ..create.ranges import arange
from ..create.sizes import ones
from ..pointwise.ternary import complex_, where
from ..rearrange.cat import cat, meshgrid, stack
from ..reduce.stats import vector_norm
from ..view.shape import diagonal as diagonal_of


@op()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Returns all combinations of `r` elements of a vector, one in each row. Raises RuntimeError
    for other numbers of dims and a negative `r`."""
    if input.ndim != 1:
        raise errors_linalg.one_dim("combinations", input._shape)
    if r < 0:
        raise errors_linalg.not_negative("combinations", "r", r)
    n = input._shape[0]
    if r == 0:
        return input[:0].clone()
    choose = chosen_again if with_replacement else chosen
    rows = comb(n + r - 1, r) if with_replacement and n else comb(n, r)
    # The host's table, and the index on the device.
    input._storage.backend.pool.check_capacity(rows * r * (16 + input._dtype.itemsize))
    entries = chain.from_iterable(choose(range(n), r) if rows else ())
    positions = np.fromiter(entries, np.int64, rows * r)
    index = tensor(positions, dtype=int64, device=input.device)
    elements: Tensor = input.index_select(0, index)
    return elements.reshape(rows, r)


@op(method=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """Returns all rows with one element of each vector; the last vector's elements change fastest.
    Raises RuntimeError for tensors that are not vectors."""
    vectors: Sequence[Tensor] = tensors
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        vectors = tensors[0]
    for t in vectors:
        if t.ndim != 1:
            raise errors_linalg.one_dim("cartesian_prod", t._shape)
    if len(vectors) == 1:
        return vectors[0]
    grids = meshgrid(*vectors, indexing="ij")
    return stack([g.reshape(-1) for g in grids], 1)


@composed(bare="")
def trace(input: Tensor) -> Tensor:
    """Returns the sum of a matrix's diagonal. Raises RuntimeError for other numbers of dims."""
    if input.ndim != 2:
        raise errors_linalg.needs_two_dims("trace", input._shape)
    return input.diagonal().sum()


def _cross_product(input: Tensor, other: Tensor, dim: int) -> Tensor:
    a, b = input.unbind(dim), other.unbind(dim)
    components = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return stack(components, dim)


@composed(namespace="linalg", name="cross", method=False)
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Returns the cross products along `dim`, whose size is 3. The other dims broadcast. Raises
    RuntimeError for other sizes and different numbers of dims."""
    name = "linalg.cross"
    check_tensors(name, input=input, other=other)
    if input.ndim != other.ndim:
        raise errors_linalg.same_dims(name, input._shape, other._shape)
    dim = normalize_dim(dim, input.ndim)
    if input._shape[dim] != 3 or other._shape[dim] != 3:
        raise errors_linalg.three(name, dim, input._shape[dim], other._shape[dim])
    shape = broadcast_shapes(input._shape, other._shape)
    return _cross_product(input.expand(shape), other.expand(shape), dim)


@composed()
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Returns `linalg.cross` along `dim`, or along the first dim of size 3. Raises RuntimeError if
    there is none."""
    if dim is None:
        if 3 not in input._shape:
            raise errors_linalg.no_three(input._shape)
        dim = input._shape.index(3)
    return linalg_cross(input, other, dim=dim)


@op()
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """Returns the covariance matrix of variables (rows) and observations (columns). `fweights`
    counts how often each observation was made, `aweights` weighs it. Raises RuntimeError for more
    than 2 dims, bool, and weights that don't fit."""
    if input.ndim > 2:
        raise errors_linalg.at_most_two("cov", input._shape)
    if input._dtype.kind == "b":
        raise errors_linalg.no_bool("cov")
    x = input if input.ndim == 2 else input.reshape(1, -1)
    rows, observed = x._shape
    output.check_capacity(x, max(numel(x._shape), rows * rows), x._dtype)
    for name, w, must_be_integer in (("fweights", fweights, True), ("aweights", aweights, False)):
        if w is None:
            continue
        if not isinstance(w, Tensor):
            raise errors.not_a_tensor("cov", name, w)
        if w.ndim > 1 or w.numel() != observed:
            raise errors_linalg.weights(name, observed, w._shape)
        if (w._dtype.kind in "iu") != must_be_integer:
            raise errors_linalg.weights_dtype(name, w._dtype, must_be_integer)
        if observed and float(w.min()) < 0:
            raise errors_linalg.negative_weights(name)
    w = None
    if fweights is not None or aweights is not None:
        w = aweights if fweights is None else fweights if aweights is None else fweights * aweights
    # Weights of a wider dtype widen the computation, step by step as in torch.
    total = observed if w is None else _exactly(w)
    mean = (x if w is None else x * w).sum(1) / total
    if w is None:
        norm: Any = observed - correction
    elif aweights is None or not correction:
        norm = total - correction
    else:
        norm = total - correction * _exactly(w * aweights) / total
    norm = norm.clamp(min=0) if isinstance(norm, Tensor) else max(0, norm)
    centred = x - mean.unsqueeze(1)
    weighted = centred if w is None else centred * w
    covariance = (centred @ weighted.conj().transpose(0, 1)) / norm
    return covariance.squeeze() if input.ndim < 2 or x._shape[0] == 1 else covariance


def _exactly(w: Tensor) -> Tensor:
    if w._dtype is float32 and spares_double(w):
        return w.sum(dtype=float64).to(float32)
    return w.sum()


@op()
def corrcoef(input: Tensor) -> Tensor:
    """Returns the correlation matrix of variables (rows): covariances over deviations, -1 to 1."""
    if input.ndim > 2:
        raise errors_linalg.at_most_two("corrcoef", input._shape)
    c = cov(input)
    if not c.ndim:
        return c / c
    d = c.diagonal()
    deviation = (d.real if d._dtype.is_complex else d).sqrt()
    correlation = c / deviation.unsqueeze(1) / deviation.unsqueeze(0)
    if correlation._dtype.is_complex:
        return complex_(correlation.real.clamp(-1, 1), correlation.imag.clamp(-1, 1))
    return correlation.clamp(-1, 1)


@composed(inplace=True)
@fused
def renorm(input: Tensor, p: Any, dim: int, maxnorm: Any) -> Tensor:
    """Scales each slice along `dim` to a p-norm of at most `maxnorm`. Raises RuntimeError for fewer
    than two dims, a `p` that is not positive, and a negative `maxnorm`."""
    if not p > 0:
        raise errors_linalg.positive("renorm", "p", p)
    if maxnorm < 0:
        raise errors_linalg.not_negative("renorm", "maxnorm", maxnorm)
    if input.ndim < 2:
        raise errors_linalg.needs_two_dims("renorm", input._shape)
    dim = normalize_dim(dim, input.ndim)
    reduced_dims = tuple(d for d in range(input.ndim) if d != dim)
    compute = input._dtype.compute
    norms = vector_norm(input.to(compute), p, reduced_dims, True)
    scale = where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)
    return (input * scale.to(input._dtype.to_real())).contiguous()


@composed(inplace=True)
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Returns the logarithm of the multivariate gamma function of dimension `p`: the sum of
    lgamma(input - i / 2) for i below p, plus p * (p - 1) / 4 * log(pi). Raises RuntimeError for `p`
    below 1."""
    if p < 1:
        raise errors_linalg.positive("mvlgamma", "p", p)
    if input._dtype.kind == "b":
        raise errors_linalg.no_bool("mvlgamma")
    result_dtype = result_type(input, 0.5)
    input._storage.backend.pool.check_capacity((max(numel(input._shape), 1) + 1) * p * result_dtype.itemsize)
    steps = arange(0.5 * (1 - p), 0.25, 0.5, dtype=result_dtype, device=input.device)
    total: Tensor = (input.unsqueeze(-1) + steps).lgamma().sum(-1)
    return total + 0.25 * p * (p - 1) * 1.1447298858494002


@op(namespace="linalg", name="vander", method=False)
def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Returns the powers 0 to N - 1 of each element, (..., n) to (..., n, N); N is n unless given.
    Raises RuntimeError for an N below 2, bool, and 16-bit floating-point dtypes."""
    if x._dtype.kind == "b":
        raise errors_linalg.no_bool("linalg.vander")
    if x._dtype is not x._dtype.compute:
        raise errors.dtype_not_supported("linalg.vander", x._dtype)
    x = x if x.ndim else x.reshape(1)
    if N is not None and N <= 1:
        raise errors_linalg.columns(N)
    return _powers(x, x._shape[-1] if N is None else N)


def _powers(x: Tensor, count: int) -> Tensor:
    result_dtype = x._dtype if x._dtype.kind in "fc" else x[:0].cumsum(-1)._dtype
    first = ones((*x._shape, 1), dtype=result_dtype, device=x.device)
    if count <= 1:
        return first.narrow(-1, 0, count)
    factors = x.to(result_dtype).unsqueeze(-1).expand(*x._shape, count - 1)
    return cat([first, factors.cumprod(-1)], -1)


@op(method=False)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Returns the powers of a vector's elements as columns, descending unless `increasing`. Raises
    RuntimeError for other numbers of dims and a negative N."""
    if x.ndim != 1:
        raise errors_linalg.one_dim("vander", x._shape)
    if N is not None and N < 0:
        raise errors_linalg.columns(N)
    powers = _powers(x, x._shape[0] if N is None else N)
    return powers if increasing else powers.flip(1)


add_to_namespace("special", multigammaln="mvlgamma")


@op(namespace="linalg")
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Returns a view of the diagonals of matrices; offset > 0 is above the main diagonal, < 0
    below."""
    return diagonal_of(A, offset, dim1, dim2)
