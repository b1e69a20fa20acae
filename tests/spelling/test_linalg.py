"""Factorizations and solvers: properties of the results, errors, names, empty matrices."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle")

import ftensor as ft  # noqa: E402

from ..oracle import ours  # noqa: E402


def close(a: ft.Tensor, b: Any, rtol: float = 1e-3) -> None:
    """Asserts equality with a tensor of either library, relative to its largest element."""
    x, y = (t.to_torch() if isinstance(t, ft.Tensor) else t for t in (a, b))
    assert x.dtype == y.dtype and x.shape == y.shape
    assert float((x - y).abs().max()) <= rtol * float(y.abs().max())


@pytest.fixture
def matrix() -> Any:
    torch.manual_seed(7)
    return torch.randn(2, 4, 4, dtype=torch.complex64)


def test_eigenvectors(matrix: Any) -> None:
    """The phase is arbitrary: A v = w v, and v has unit length."""
    a = ours(matrix)
    w, v = ft.linalg.eig(a)
    close(a @ v, (v * w.unsqueeze(-2)))
    h = a + a.mH
    for half in "LU":
        w, v = ft.linalg.eigh(h, half)
        close(w, torch.linalg.eigvalsh(matrix + matrix.mH))
        close(h @ v, v * w.unsqueeze(-2))
        close(v.mH @ v, torch.eye(4, dtype=torch.complex64).expand(2, 4, 4))


def test_pinv_of_a_rank_deficient_matrix(matrix: Any) -> None:
    x = matrix[:, :, :2] @ matrix[:, :2]
    close(ft.linalg.pinv(ours(x)), torch.linalg.pinv(x, rtol=1e-5), 1e-2)
    assert ft.linalg.matrix_rank(ours(x), rtol=1e-5).tolist() == [2, 2]


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss", None])
def test_least_squares(matrix: Any, driver: str | None) -> None:
    for m, n in ((4, 2), (2, 4), (3, 3)):
        a, b = matrix[:, :m, :n], matrix[:, :m, 1:]
        got = ft.linalg.lstsq(ours(a), ours(b), driver=driver)
        expected = torch.linalg.lstsq(a, b, driver=driver)
        close(got.solution, expected.solution, 1e-2)
        assert got.rank.tolist() == expected.rank.tolist()
        for name in ("residuals", "singular_values"):
            x, y = getattr(got, name), getattr(expected, name)
            assert x.shape == y.shape
            if y.numel():
                close(x, y, 1e-2)


def test_det_and_slogdet(matrix: Any) -> None:
    for x in (matrix, matrix.real, torch.zeros(2, 2), torch.ones(0, 0)):
        for got, expected in zip(ft.slogdet(ours(x)), torch.slogdet(x), strict=True):
            torch.testing.assert_close(got.to_torch(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("linalg.inv(zeros)", "LinAlgError"),
        ("linalg.solve(zeros, ones)", "LinAlgError"),
        ("linalg.cholesky(-ones)", "LinAlgError"),
        ("linalg.cholesky_ex(-ones, check_errors=True)", "LinAlgError"),
        ("linalg.matrix_power(zeros, -1)", "LinAlgError"),
        ("linalg.lu_factor(zeros)", "RuntimeError"),
        ("linalg.eig(zeros / 0)", "RuntimeError"),
        ("linalg.svd(zeros / 0)", "LinAlgError"),
        ("linalg.det(wide)", "RuntimeError"),
        ("linalg.solve(ones, wide.mT)", "RuntimeError"),
        ("linalg.qr(ones, 'half')", "RuntimeError"),
        ("linalg.eigh(ones, 'X')", "RuntimeError"),
        ("linalg.svd(ones.half())", "RuntimeError"),
        ("linalg.svd(ones.long())", "RuntimeError"),
        ("linalg.matrix_norm(ones, 3)", "RuntimeError"),
        ("linalg.norm(ones, 'fro', 0)", "RuntimeError"),
        ("linalg.norm(ones[0], 'x')", "RuntimeError"),
        ("linalg.lstsq(ones, ones, driver='gelx')", "RuntimeError"),
        ("linalg.tensorinv(wide, ind=1)", "RuntimeError"),
        ("linalg.tensorinv(ones[:1, :1], ind=0)", "RuntimeError"),
        ("lu_solve(ones, ones, ones)", "RuntimeError"),
    ],
)
def test_linalg_errors_are_torchs_and_name_the_op(words: str, kind: str) -> None:
    """The class is torch's."""
    for lib in (torch, ft):
        matrices = {"zeros": lib.zeros(2, 2), "ones": lib.ones(2, 2), "wide": lib.ones(2, 3)}
        with pytest.raises(RuntimeError) as refusal:
            eval(f"lib.{words}", {"lib": lib, **matrices})
        if lib is ft:
            is_own = isinstance(refusal.value, ft.linalg.LinAlgError)
            assert is_own == (kind == "LinAlgError") or words.startswith("linalg.lu_factor")
            name = words.partition("(")[0]
            assert name.replace("linalg.matrix_power", "matrix_power()") in str(refusal.value)
        elif kind == "LinAlgError":
            assert isinstance(refusal.value, torch.linalg.LinAlgError)


def test_error_names_the_matrix_of_a_batch() -> None:
    x = ft.eye(3).repeat(4, 1, 1)
    x[2, 1, 1] = 0
    with pytest.raises(ft.linalg.LinAlgError, match=r"batch element 2.* element 2 "):
        ft.linalg.inv(x)
    result, info = ft.linalg.inv_ex(x)
    assert info.tolist() == [0, 0, 2, 0] and result.shape == x.shape


def test_outputs_are_filled_and_named(matrix: Any) -> None:
    x = ours(matrix)
    out = (ft.empty(0, dtype=ft.complex64), ft.empty(0, dtype=ft.complex64))
    factors = ft.linalg.qr(x, out=out)
    assert factors.Q is out[0] and factors.R is out[1]
    close(factors.Q @ factors.R, matrix)
    assert type(ft.linalg.svd(x)).__name__ == "linalg_svd"


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_empty_matrices(shape: tuple[int, ...]) -> None:
    """Empty matrices and empty batches give torch's results."""
    x = torch.zeros(shape)
    for name in ("cholesky", "inv", "det", "qr", "svd", "eigh", "lu_factor", "pinv", "ldl_factor"):
        got, expected = getattr(ft.linalg, name)(ours(x)), getattr(torch.linalg, name)(x)
        if name in ("cholesky", "inv", "det", "pinv"):
            got, expected = (got,), (expected,)
        for a, b in zip(got, expected, strict=True):
            assert torch.equal(a.to_torch(), b)


def test_ldl_solve(matrix: Any) -> None:
    """Blocks have size 1 and 2, symmetric and Hermitian."""
    b = ours(matrix[:, :, :3])
    for hermitian in (False, True):
        x = matrix + (matrix.mH if hermitian else matrix.mT)
        x[1].diagonal().zero_()
        got = ft.linalg.ldl_factor(ours(x), hermitian=hermitian)
        expected = torch.linalg.ldl_factor(x, hermitian=hermitian)
        assert got.pivots.tolist() == expected.pivots.tolist() and int(got.pivots.min()) < 0
        close(got.LD, expected.LD)
        close(ours(x) @ ft.linalg.ldl_solve(*got, b, hermitian=hermitian), b)


def test_low_rank_decompositions() -> None:
    """For a matrix of rank 3, and for observations around a mean, wide and tall."""
    torch.manual_seed(3)
    for m, n in ((20, 8), (8, 20)):
        x = torch.randn(m, 3) @ torch.randn(3, n)
        U, S, V = ft.svd_lowrank(ours(x), q=4)
        assert U.shape == (m, 4) and V.shape == (n, 4) and S.shape == (4,)
        close((U * S) @ V.mT, x)
        U, S, V = ft.pca_lowrank(ours(x + 5), q=4)
        close((U * S) @ V.mT, x - x.mean(0))
    with pytest.raises(ValueError, match="q must be from 0 to 8, but is 9"):
        ft.pca_lowrank(ours(x), q=9)
