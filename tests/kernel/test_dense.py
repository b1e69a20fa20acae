"""Matrix factorizations and solvers: products of the factors equal the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import ftensor as ft
from ftensor.ops.linalg import forms
from ftensor.ops.linalg.factors import row_order

# All dtypes share one kernel text. The LU test covers the other dtypes, too.
DTYPES = ["float32", "complex128"]
ALL = ["float32", "float64", "complex64", "complex128"]
# Fewer columns than a vector has lanes, one vector and a remainder, and several vectors.
SIZES = [1, 5, 37]


def draw(rng: Any, of: str, *shape: int) -> Any:
    """Returns normally distributed numbers."""
    x = rng.standard_normal(shape)
    if of.startswith("complex"):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(of)


def near(got: ft.Tensor, expected: Any, n: int, growth: float = 1.0) -> None:
    """Asserts equality within n roundings of the largest element."""
    a = got.numpy()
    assert a.dtype == expected.dtype and a.shape == expected.shape
    eps = np.finfo(a.dtype).eps
    assert abs(a - expected).max() <= 8 * n * growth * eps * abs(expected).max()


def h(x: Any) -> Any:
    """Returns the conjugate transpose."""
    return x.conj().swapaxes(-1, -2)


@pytest.mark.parametrize("of", DTYPES)
def test_cholesky_and_cholesky_solve(of: str) -> None:
    rng = np.random.default_rng(1)
    for n in SIZES:
        x = draw(rng, of, 3, n, n)
        a = x @ h(x) + n * np.eye(n, dtype=of)
        for upper in (False, True):
            # Elements in the other triangle are not read.
            seen = np.triu(a) if upper else np.tril(a)
            factor = ft.linalg.cholesky(ft.from_numpy(seen), upper=upper)
            other = np.tril if upper else np.triu
            assert not other(factor.numpy(), -1 if upper else 1).any()
            near(factor.mH @ factor if upper else factor @ factor.mH, a, n)
            b = draw(rng, of, 3, n, 4)
            solved = ft.cholesky_solve(ft.from_numpy(b), factor, upper)
            near(ft.from_numpy(a) @ solved, b, n, 100)


@pytest.mark.parametrize("of", ["float64", "complex64", *DTYPES])
def test_lu_and_lu_solve(of: str) -> None:
    rng = np.random.default_rng(2)
    for m, n in [(n, n) for n in SIZES] + [(37, 20), (20, 37)]:
        a = draw(rng, of, 3, m, n)
        P, L, U = ft.linalg.lu(ft.from_numpy(a))
        near(P @ L @ U, a, n)
        # The pivot is a column's largest element, for complex numbers by the sum of the parts' sizes.
        assert float(L.abs().max()) <= (1.4143 if L.is_complex() else 1.0)
        if m == n:
            b = draw(rng, of, 3, n, 4)
            LU, pivots = ft.linalg.lu_factor(ft.from_numpy(a))
            for adjoint in (False, True):
                x = ft.linalg.lu_solve(LU, pivots, ft.from_numpy(b), adjoint=adjoint).numpy()
                growth = abs(x).max() * abs(a).max() * n
                near(ft.from_numpy((h(a) if adjoint else a) @ x), b, n, growth)


@pytest.mark.parametrize("of", DTYPES)
def test_triangular_solve(of: str) -> None:
    """Upper and lower triangles, from the left and the right, with and without a unit diagonal."""
    rng = np.random.default_rng(3)
    for n in SIZES:
        a = draw(rng, of, 2, n, n) / n + np.eye(n, dtype=of)
        b = draw(rng, of, 2, n, 3)
        for upper in (False, True):
            for unit in (False, True):
                t = np.triu(a) if upper else np.tril(a)
                if unit:
                    t = t - t * np.eye(n, dtype=of) + np.eye(n, dtype=of)
                flags = {"upper": upper, "unitriangular": unit}
                x = ft.linalg.solve_triangular(ft.from_numpy(a), ft.from_numpy(b), **flags)
                near(ft.from_numpy(t) @ x, b, n, 20)
                right = ft.from_numpy(h(b).copy())
                x = ft.linalg.solve_triangular(ft.from_numpy(a), right, left=False, **flags)
                near(x @ ft.from_numpy(t), h(b), n, 20)


def test_many_right_hand_sides() -> None:
    """More columns than a board takes at once are split, for two matrices."""
    rng = np.random.default_rng(4)
    n, of = 20, "float32"
    a, b = draw(rng, of, 2, n, n) / n + np.eye(n, dtype=of), draw(rng, of, 2, n, 150)
    for upper in (False, True):
        t = np.triu(a) if upper else np.tril(a)
        x = ft.linalg.solve_triangular(ft.from_numpy(a), ft.from_numpy(b), upper=upper)
        near(ft.from_numpy(t) @ x, b, n, 20)


@pytest.mark.parametrize("of", DTYPES)
def test_qr_and_products_with_its_reflectors(of: str) -> None:
    rng = np.random.default_rng(4)
    for m, n in [(n, n) for n in SIZES] + [(37, 20), (20, 37)]:
        a = draw(rng, of, 2, m, n)
        Q, R = ft.linalg.qr(ft.from_numpy(a), "complete")
        near(Q @ R, a, m)
        near(Q.mH @ Q, np.broadcast_to(np.eye(m, dtype=of), (2, m, m)), m)
        assert not np.tril(R.numpy(), -1).any()
        if m >= n:
            reflections = ft.geqrf(ft.from_numpy(a))
            near(ft.linalg.householder_product(*reflections), Q.numpy()[..., :n], m)
            c = draw(rng, of, 2, m, 3)
            for transpose in (False, True):
                q = h(Q.numpy()) if transpose else Q.numpy()
                result = ft.ormqr(*reflections, ft.from_numpy(c), True, transpose)
                near(result, q @ c, m)
                right = ft.from_numpy(h(c).copy())
                near(ft.ormqr(*reflections, right, False, transpose), h(c) @ q, m)


def test_matrices_larger_than_a_board_holds() -> None:
    """Batches in several groups, columns in several pieces, and matrices that stay in global
    memory."""
    rng = np.random.default_rng(5)
    for batch, n, k in ((150, 6, 2), (2, 50, 100), (1, 130, 2)):
        a = draw(rng, "float32", batch, n, n)
        b = draw(rng, "float32", batch, n, k)
        spd = a @ h(a) + n * np.eye(n, dtype="float32")
        x = ft.linalg.solve(ft.from_numpy(spd), ft.from_numpy(b))
        near(ft.from_numpy(spd) @ x, b, n, 100)
        factor = ft.linalg.cholesky(ft.from_numpy(spd))
        near(factor @ factor.mT, spd, n)
        near(ft.from_numpy(spd) @ ft.cholesky_solve(ft.from_numpy(b), factor), b, n, 100)
        P, L, U = ft.linalg.lu(ft.from_numpy(a))
        near(P @ L @ U, a, n)


def orthonormal(got: ft.Tensor) -> None:
    """Asserts orthonormal columns."""
    n = got.shape[-1]
    near(got.mH @ got, np.broadcast_to(np.eye(n, dtype=got.numpy().dtype), (*got.shape[:-2], n, n)), got.shape[-2])


def matrices(of: str) -> Iterator[Any]:
    """Yields matrices of each shape, including low rank, zeros, ties, and very large or small
    elements."""
    rng = np.random.default_rng(6)
    for m, n in ((1, 1), (2, 2), (5, 5), (12, 12), (20, 7), (7, 20)):
        x = draw(rng, of, 2, m, n)
        yield from (x, x * np.asarray(1e30, of), x * np.asarray(1e-30, of))
        yield draw(rng, of, m, 1) @ draw(rng, of, 1, n)
        yield np.stack([np.zeros((m, n)), np.ones((m, n)), np.eye(m, n) - 2 * np.eye(m, n, 1)]).astype(of)


@pytest.mark.parametrize("of", [pytest.param(d, marks=[] if d in DTYPES else pytest.mark.long) for d in ALL])
def test_singular_values_and_vectors(of: str) -> None:
    for a in matrices(of):
        m, n = a.shape[-2:]
        for full in (False, True):
            U, S, Vh = ft.linalg.svd(ft.from_numpy(a), full)
            assert U.shape[-1] == (m if full else min(m, n)) and Vh.shape[-2] == (n if full else min(m, n))
            k = min(m, n)
            near(U[..., :k] * S.unsqueeze(-2) @ Vh[..., :k, :], a, max(m, n))
            orthonormal(U)
            orthonormal(Vh.mH)
            expected = np.linalg.svd(a.astype(np.complex128), compute_uv=False).astype(S.numpy().dtype)
            near(S, expected, max(m, n))
            assert (np.diff(S.numpy()) <= 0).all() and (S.numpy() >= 0).all()
        near(ft.linalg.svdvals(ft.from_numpy(a)), expected, max(m, n))


@pytest.mark.parametrize("of", [pytest.param(d, marks=[] if d in DTYPES else pytest.mark.long) for d in ALL])
def test_eigenvalues_and_eigenvectors(of: str) -> None:
    """Only the given triangle and the real parts of the diagonal are read."""
    for a in matrices(of):
        n = a.shape[-1]
        if a.shape[-2] != n:
            continue
        for half in "LU":
            seen = np.tril(a, -1) if half == "L" else np.triu(a, 1)
            hermitian = seen + h(seen) + a * np.eye(n, dtype=a.real.dtype)
            hermitian = hermitian - 0.5 * (hermitian - h(hermitian)) * np.eye(n, dtype=a.real.dtype)
            w, V = ft.linalg.eigh(ft.from_numpy(a), half)
            expected = np.linalg.eigvalsh(hermitian.astype(np.complex128)).astype(w.numpy().dtype)
            near(w, expected, n)
            near(V * w.unsqueeze(-2) @ V.mH, hermitian, n)
            orthonormal(V)
            assert (np.diff(w.numpy()) >= 0).all()
            near(ft.linalg.eigvalsh(ft.from_numpy(a), half), expected, n)


def test_singular_values_of_inf_and_nan_are_an_error() -> None:
    """One such matrix among many finite ones is an error, as in torch."""
    for x in (float("inf"), -float("inf"), float("nan")):
        a = ft.eye(3).repeat(4, 1, 1)
        a[2, 1, 0] = x
        for function in (ft.linalg.svd, ft.linalg.svdvals, ft.linalg.eigh, ft.linalg.eigvalsh, ft.linalg.pinv):
            with pytest.raises(ft.linalg.LinAlgError, match="did not converge"):
                function(a)


def test_factorizations_do_not_use_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_numpy(op: str, *_: Any) -> None:
        raise AssertionError(f"{op} is computed by NumPy")

    monkeypatch.setattr(forms, "run_numpy", run_numpy)
    rng = np.random.default_rng(7)
    a, b = ft.from_numpy(draw(rng, "float32", 9, 4)), ft.from_numpy(draw(rng, "float32", 9, 2))
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        X = ft.linalg.lstsq(a, b, driver=driver).solution
        near(a.mT @ (a @ X), (a.mT @ b).numpy(), 9)
    near(ft.linalg.pinv(a) @ b, X.numpy(), 9)
    assert ft.linalg.matrix_rank(a @ a.mT).item() == 4
    for p in (2, -2, "nuc"):
        assert ft.linalg.matrix_norm(a, p).item() > 0
    X = ft.linalg.lstsq(a.mT, b[:4], driver="gels").solution
    near(a.mT @ X, b[:4].numpy(), 9)
    near(X, (ft.linalg.pinv(a.mT) @ b[:4]).numpy(), 9)
    for rank, batch in ((0, ()), (1, (2,))):
        with pytest.raises(ft.linalg.LinAlgError, match="no full rank"):
            ft.linalg.lstsq(ft.full((*batch, 4, 3), float(rank)), ft.ones(*batch, 4, 1), driver="gels")


def test_reflectors_of_subnormal_columns() -> None:
    """Differences of subnormals have few digits; those of their quotients have all."""
    rng = np.random.default_rng(8)
    a = draw(rng, "complex64", 20, 6)
    a[:, 3:] *= np.float32(1e-43)
    orthonormal(ft.linalg.qr(ft.from_numpy(a)).Q)


def test_factors_of_columns_whose_squares_overflow() -> None:
    """A column of zeros has a reflector, too."""
    for size in (1e-30, 1e30):
        a = np.array([[3, 1], [4, 1]], np.float32) * np.float32(size)
        R = abs(np.linalg.qr(a.astype(np.float64))[1]).astype(np.float32)
        near(ft.linalg.qr(ft.from_numpy(a)).R.abs(), R, 4)
    zeros = ft.linalg.qr(ft.zeros(3, 2))
    assert zeros.R.tolist() == [[0, 0], [0, 0]] and zeros.Q.tolist() == [[1, 0], [0, 1], [0, 0]]


def test_info_names_the_failure_of_each_matrix() -> None:
    a = np.stack([np.eye(3), np.diag([1.0, 0, 1]), np.diag([1.0, 1, -1])]).astype(np.float32)
    assert ft.linalg.inv_ex(ft.from_numpy(a)).info.tolist() == [0, 2, 0]
    assert ft.linalg.cholesky_ex(ft.from_numpy(a)).info.tolist() == [0, 2, 3]


def test_pivots_out_of_range_are_refused() -> None:
    """The kernel itself never accesses memory outside a matrix's rows."""
    pivots = ft.tensor([[3, -1], [2, 2]], dtype=ft.int32)
    for wrong in (pivots, pivots.clamp(0, 2), pivots.clamp(1, 3)):
        with pytest.raises(RuntimeError, match="pivots must be rows from 1 to 2"):
            ft.lu_unpack(ft.zeros(2, 2, 2), wrong)
        with pytest.raises(RuntimeError, match="pivots must be rows from 1 to 2"):
            ft.linalg.lu_solve(ft.ones(2, 2, 2), wrong, ft.ones(2, 2, 1))
    assert row_order(pivots, 2).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("of", ["float32", "complex64"])
def test_matrix_exp_error_of_squarings(of: str) -> None:
    """Some matrices need several squarings. The mean error is a few roundings."""
    x = torch.from_numpy(2 * draw(np.random.default_rng(9), of, 24, 5, 5))
    wide = torch.matrix_exp(x.to(torch.promote_types(x.dtype, torch.float64)))
    got = ft.linalg.matrix_exp(ft.from_torch(x)).to_torch()
    assert got.dtype == x.dtype
    most = wide.abs().amax((-2, -1))
    errors = (got - wide).abs().amax((-2, -1)) / most
    assert errors.mean() < 6e-7
    zero = ft.linalg.matrix_exp(ft.zeros(2, 2)).numpy()
    assert (zero == np.eye(2)).all()
