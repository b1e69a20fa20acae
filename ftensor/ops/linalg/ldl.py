"""Factors of symmetric matrices that need not be definite, by NumPy on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import return_types
from ..._tensor import Tensor
from ...errors import factor as errors_factor
from ..compose import composed
from .factors import check_pivots
from .forms import MatrixFunction
from .matrices import matrices, on_host, one_batch

# Bunch and Kaufman's bound: it keeps the growth of elements least over both kinds of steps.
GROWTH = (1 + 17**0.5) / 8


def _size(x: Any) -> Any:
    return abs(x.real) + abs(x.imag)


def _choice(a: Any, k: int) -> tuple[int, int]:
    """(the row that changes places, the size of the step) by the partial pivoting of Bunch and
    Kaufman (1977), as LAPACK's sytrf has it."""
    own = _size(a[k, k])
    if k == len(a) - 1:
        return k, 1
    below = _size(a[k + 1 :, k])
    r = k + 1 + int(below.argmax())
    most = below[r - k - 1]
    if own >= GROWTH * most:
        return k, 1
    row = max(_size(a[r, k:r]).max(), _size(a[r + 1 :, r]).max(initial=0))
    if own >= GROWTH * most * (most / row):
        return k, 1
    return (r, 1) if _size(a[r, r]) >= GROWTH * row else (r, 2)


def _swap(a: Any, k: int, p: int, turn: Any) -> None:
    """Exchange rows and columns k and p > k of what is left, of which the lower half is held."""
    a[p + 1 :, [k, p]] = a[p + 1 :, [p, k]]
    between = turn(a[k + 1 : p, k]).copy()
    a[k + 1 : p, k] = turn(a[p, k + 1 : p])
    a[p, k + 1 : p] = between
    a[p, k] = turn(a[p, k])
    a[k, k], a[p, p] = a[p, p], a[k, k]


def _factored(a: Any, hermitian: bool) -> tuple[Any, Any, int]:
    """(L and D, pivots, info) of one matrix: see `ldl_factor_ex`."""
    a, n = np.tril(a), len(a)
    turn = np.conj if hermitian else np.asarray
    pivots, info, k = np.zeros(n, np.int32), 0, 0
    while k < n:
        if hermitian:
            a[k, k] = a[k, k].real
        if _size(a[k:, k]).max() == 0:
            info = info or k + 1
            pivots[k] = k + 1
            k += 1
            continue
        p, step = _choice(a, k)
        last, rest = k + step - 1, k + step
        if p != last:
            _swap(a, last, p, turn)
            if step == 2:
                a[[last, p], k] = a[[p, last], k]
        pivots[k:rest] = p + 1 if step == 1 else -(p + 1)
        d = a[k:rest, k:rest].copy()
        if step == 2:
            d[0, 1] = turn(d[1, 0])
        below = a[rest:, k:rest].copy()
        a[rest:, k:rest] = below @ np.linalg.inv(d)
        a[rest:, rest:] -= np.tril(a[rest:, k:rest] @ turn(below).T)
        k = rest
    return a, pivots, info


def _each(function: Any, *arrays: Any) -> tuple[Any, ...]:
    """A function of single matrices over a batch, whose results are stacked."""
    batch = arrays[0].shape[:-2]
    results = [function(*[a[i] for a in arrays]) for i in np.ndindex(batch)]
    parts = [np.stack([np.asarray(m[k]) for m in results]) for k in range(len(results[0]))]
    return tuple(p.reshape(batch + p.shape[1:]) for p in parts)


def _ldl(name: str, input: Tensor, *, hermitian: bool = False) -> tuple[Tensor, ...]:
    matrices(name, square=True, A=input)

    def run(a: Any) -> tuple[Any, ...]:
        if not a.size:
            none = np.zeros(a.shape[:-1], np.int32), np.zeros(a.shape[:-2], np.int32)
            return (a, *none)
        LD, pivots, info = _each(lambda x: _factored(x, hermitian), a)
        return LD, pivots, info.astype(np.int32)

    return on_host(name, run, input, columns=(0,))


_LDL_FACTOR = MatrixFunction(
    "ldl_factor", _ldl, return_types.linalg_ldl_factor, errors_factor.singular, return_types.linalg_ldl_factor_ex
)
ldl_factor = _LDL_FACTOR.linalg("""
    (LD, pivots) of symmetric matrices, or Hermitian ones: P.mT @ A @ P = L @ D @ L.mT (or L.mH),
    with blocks of size 1 and 2 in D, as LAPACK's sytrf and hetrf leave them in the lower triangle.
    The host computes it. LinAlgError for a block of 0.
""")
ldl_factor_ex = _LDL_FACTOR.linalg_ex("""
    (LD, pivots, info): see `linalg.ldl_factor`; info (int32) is 0, or the first place of a 0 on
    D's diagonal. LinAlgError for these with `check_errors`.
""")


def _solved(a: Any, pivots: Any, b: Any, hermitian: bool) -> tuple[Any]:
    """X of one system by its factors, step by step as they were made, and back."""
    b, n = b.copy(), len(a)
    turn = np.conj if hermitian else np.asarray
    steps, k = [], 0
    while k < n:
        steps.append((k, 1 if pivots[k] > 0 else 2))
        k += steps[-1][1]
    for k, step in steps:
        last, rest, p = k + step - 1, k + step, abs(pivots[k]) - 1
        b[[last, p]] = b[[p, last]]
        b[rest:] -= a[rest:, k:rest] @ b[k:rest]
        d = a[k:rest, k:rest].copy()
        if step == 2:
            d[0, 1] = turn(d[1, 0])
        b[k:rest] = np.linalg.inv(d) @ b[k:rest]
    for k, step in reversed(steps):
        last, rest, p = k + step - 1, k + step, abs(pivots[k]) - 1
        b[k:rest] -= turn(a[rest:, k:rest]).T @ b[rest:]
        b[[last, p]] = b[[p, last]]
    return (b,)


@composed(namespace="linalg", method=False)
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """X of A @ X = B by the factors that `linalg.ldl_factor` gave. The host computes it.
    RuntimeError for operands that don't fit.
    """
    name = "linalg.ldl_solve"
    matrices(name, square=True, LD=LD)
    matrices(name, LD=LD, B=B)
    check_pivots(name, LD, pivots)
    if LD._shape[-1] != B._shape[-2]:
        raise errors_factor.shapes(name, LD._shape, B._shape, "B needs as many rows as LD")
    LD, B = one_batch(LD, B)
    pivots = pivots.expand(LD._shape[:-1])

    def run(a: Any, p: Any, b: Any) -> Any:
        if not b.size:
            return b
        return _each(lambda *x: _solved(x[0], x[1][0], x[2], hermitian), a, p[..., None, :], b)[0]

    return on_host(name, run, LD, pivots, B, columns=(0,))[0]
