"""The functions of ftensor.linalg, torch's.

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from ._device import DeviceLike, device as _device
from ._tensor import Tensor as _Tensor
from .dtypes import dtype as _dtype
from .formats import Size as _Size, layout as _layout, memory_format as _memory_format
from .modules import Module as _Module
from . import return_types as _return_types

_Number = _complex | np.generic

from .errors.linalg import LinAlgError as LinAlgError
def cholesky(input: _Tensor, *, upper: _bool=False, out: _Tensor | None=None) -> _Tensor:
    """L of input = L @ L.mH, lower triangular with a positive diagonal; or `upper`: L.mH. Only that
    triangle of the input is read. LinAlgError where it is not positive definite.
    """
def cholesky_ex(input: _Tensor, *, upper: _bool=False, check_errors: _bool=False, out: _Tensor | None=None) -> _return_types.linalg_cholesky_ex:
    """(L, info): see `linalg.cholesky`; info (int32) is 0, or the order of the first leading minor
    that is not positive. LinAlgError for these with `check_errors`.
    """
def cond(input: _Tensor, p: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """The condition of each matrix: its norm of order `p` (None: 2) times that of its inverse; inf
    where there is none. RuntimeError for orders that `linalg.matrix_norm` doesn't have.
    """
@overload
def cross(input: _Tensor, other: _Tensor, *, dim: _int=-1, out: _Tensor | None=None) -> _Tensor:
    """The cross products along `dim`, which has size 3; the other dims are broadcast. RuntimeError
    for other sizes and different numbers of dims.
    """
@overload
def cross(input: _Tensor, other: _Tensor, *, axis: _int | Sequence[_int]=-1, out: _Tensor | None=None) -> _Tensor: ...
def det(A: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """The determinants of square matrices, by LU with partial pivoting."""
def diagonal(A: _Tensor, *, offset: _int=0, dim1: _int=-2, dim2: _int=-1) -> _Tensor:
    """A view of the diagonals of matrices; offset > 0 lies above them, < 0 below."""
def eig(input: _Tensor, *, out: _Tensor | None=None) -> _return_types.linalg_eig:
    """(eigenvalues, eigenvectors as columns) of square matrices, complex, in no certain order. The
    host computes them. RuntimeError for infinities and NaN.
    """
def eigh(input: _Tensor, UPLO: str='L', *, out: _Tensor | None=None) -> _return_types.linalg_eigh:
    """(eigenvalues in ascending order, eigenvectors as columns) of symmetric or Hermitian matrices,
    of which the lower triangle is read, or the upper one (`UPLO=\"U\"`). The host computes them.
    """
def eigvals(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """The eigenvalues of square matrices, complex; see `linalg.eig`."""
def eigvalsh(input: _Tensor, UPLO: str='L', *, out: _Tensor | None=None) -> _Tensor:
    """The eigenvalues of symmetric or Hermitian matrices, ascending; see `linalg.eigh`."""
def householder_product(input: _Tensor, tau: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """The first columns of the product of reflections, as many as `input` has; see `geqrf`."""
def inv(A: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """The inverses of square matrices. LinAlgError where one is singular."""
def inv_ex(A: _Tensor, *, check_errors: _bool=False, out: _Tensor | None=None) -> _return_types.linalg_inv_ex:
    """(inverse, info): see `linalg.inv` and `linalg.solve_ex`."""
def ldl_factor(input: _Tensor, *, hermitian: _bool=False, out: _Tensor | None=None) -> _return_types.linalg_ldl_factor:
    """(LD, pivots) of symmetric matrices, or Hermitian ones: P.mT @ A @ P = L @ D @ L.mT (or L.mH),
    with blocks of size 1 and 2 in D, as LAPACK's sytrf and hetrf leave them in the lower triangle.
    The host computes it. LinAlgError for a block of 0.
    """
def ldl_factor_ex(input: _Tensor, *, hermitian: _bool=False, check_errors: _bool=False, out: _Tensor | None=None) -> _return_types.linalg_ldl_factor_ex:
    """(LD, pivots, info): see `linalg.ldl_factor`; info (int32) is 0, or the first place of a 0 on
    D's diagonal. LinAlgError for these with `check_errors`.
    """
def ldl_solve(LD: _Tensor, pivots: _Tensor, B: _Tensor, *, hermitian: _bool=False, out: _Tensor | None=None) -> _Tensor:
    """X of A @ X = B by the factors that `linalg.ldl_factor` gave. The host computes it.
    RuntimeError for operands that don't fit.
    """
def lstsq(input: _Tensor, b: _Tensor, rcond: _float | None=None, *, driver: str | None=None, out: _Tensor | None=None) -> _return_types.linalg_lstsq:
    """(solution, residuals, rank, singular_values) of input @ X = b with the least squares, and of
    these the smallest X. Singular values up to `rcond` times the largest are taken as 0 (None: eps
    times the larger size). What torch's `driver` leaves out has no elements here, too: \"gelsy\" the
    residuals and singular values, \"gels\" the ranks and singular values. The host computes it.
    RuntimeError for operands that don't fit.
    """
def lu(A: _Tensor, *, pivot: _bool=True, out: _Tensor | None=None) -> _return_types.linalg_lu:
    """(P, L, U) of A = P @ L @ U by partial pivoting: a permutation, a lower triangular matrix with
    ones on its diagonal, an upper triangular one.
    """
def lu_factor(A: _Tensor, *, pivot: _bool=True, out: _Tensor | None=None) -> _return_types.linalg_lu_factor:
    """(LU, pivots) of A = P @ L @ U by partial pivoting: U on and above the diagonal of LU, L below
    it, without its diagonal of ones. pivots (int32) are the rows, counted from 1, with which each
    row in turn changed places.
    """
def lu_factor_ex(A: _Tensor, *, pivot: _bool=True, check_errors: _bool=False, out: _Tensor | None=None) -> _return_types.linalg_lu_factor_ex:
    """(LU, pivots, info): see `linalg.lu_factor`; info (int32) is 0, or the first place (from 1)
    of a 0 on U's diagonal. RuntimeError for these with `check_errors`.
    """
def lu_solve(LU: _Tensor, pivots: _Tensor, B: _Tensor, *, left: _bool=True, adjoint: _bool=False, out: _Tensor | None=None) -> _Tensor:
    """X of A @ X = B by A's factors from `linalg.lu_factor`; not `left`: of X @ A = B, `adjoint`:
    with A.mH. RuntimeError for operands that don't fit.
    """
def matmul(input: _Tensor, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """The matrix product. A vector on the left is a row, one on the right a column, and that dim is
    left out of the result; all dims before the last two are batches, which broadcast.
    RuntimeError for 0-d operands, sizes that don't fit, or different dtypes.
    """
def matrix_exp(input: _Tensor) -> _Tensor:
    """exp of square matrices, the sum of input^k / k!. Each matrix is halved until its norm is at
    most 2, and the sum of the series squared as often. RuntimeError for integers.
    """
@overload
def matrix_norm(input: _Tensor, ord: Any='fro', dim: Sequence[_int]=(-2, -1), keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """The norm of each matrix in the two dims: \"fro\", the root of the squares' sum; inf and 1, the
    largest sum of a row's or column's sizes; 2, the largest singular value; \"nuc\", their sum; with
    a minus, the smallest. Singular values come from the host. RuntimeError for other orders.
    """
@overload
def matrix_norm(input: _Tensor, ord: Any='fro', *, axis: _int | Sequence[_int]=(-2, -1), keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
def matrix_power(input: _Tensor, n: _int, *, out: _Tensor | None=None) -> _Tensor:
    """Square matrices to an integer power, by repeated squaring; power 0 is the identity. For
    a negative power they are inverted first: LinAlgError where one is singular.
    """
def matrix_rank(input: _Tensor, tol: Any=None, hermitian: _bool=False, *, atol: Any=None, rtol: Any=None, out: _Tensor | None=None) -> _Tensor:
    """How many singular values of each matrix are above the tolerances (see `linalg.pinv`; `tol`
    is the older form of `atol`), as int64. `hermitian`: sizes of eigenvalues. The host computes
    it.
    """
def multi_dot(tensors: Sequence[_Tensor], *, out: _Tensor | None=None) -> _Tensor:
    """The product of a chain of matrices in the order that takes the fewest multiplications. The
    first may be a vector (a row), and so may the last (a column).
    """
def norm(input: _Tensor, ord: Any=None, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """The norm of matrices where `dim` names two dims, else of vectors: `linalg.matrix_norm` and
    `linalg.vector_norm`. Without `ord`, the 2-norm of all elements; without `dim`, of the whole
    tensor, which then has one or two dims.
    """
def pinv(input: _Tensor, rcond: Any=None, hermitian: _bool=False, *, atol: Any=None, rtol: Any=None, out: _Tensor | None=None) -> _Tensor:
    """The Moore-Penrose inverse of each matrix. Singular values up to `atol` and up to `rtol`
    (`rcond` in its older form) times the largest are taken as 0; without either, `rtol` is the
    dtype's eps times the larger size. `hermitian`: by eigenvalues. The host computes it.
    """
def qr(A: _Tensor, mode: str='reduced', *, out: _Tensor | None=None) -> _return_types.linalg_qr:
    """(Q, R) of A = Q @ R by Householder's reflections: orthonormal columns and an upper triangular
    matrix. `mode` \"complete\" has square Q, \"r\" none. RuntimeError for other modes.
    """
def slogdet(A: _Tensor, *, out: _Tensor | None=None) -> _return_types.linalg_slogdet:
    """(sign, logarithm of the size) of each determinant; (0, -inf) for a singular matrix."""
def solve(A: _Tensor, B: _Tensor, *, left: _bool=True, out: _Tensor | None=None) -> _Tensor:
    """X of A @ X = B, or of X @ A = B where not `left`, for square A; B may be a vector for each
    matrix. LinAlgError where A is singular, RuntimeError for shapes that don't fit.
    """
def solve_ex(A: _Tensor, B: _Tensor, *, left: _bool=True, check_errors: _bool=False, out: _Tensor | None=None) -> _return_types.linalg_solve_ex:
    """(X, info): see `linalg.solve`; info (int32) is 0, or the first place of a 0 on the diagonal
    of A's factor U. LinAlgError for these with `check_errors`.
    """
def solve_triangular(input: _Tensor, B: _Tensor, *, upper: _bool, left: _bool=True, unitriangular: _bool=False, out: _Tensor | None=None) -> _Tensor:
    """X of A @ X = B, or of X @ A = B where not `left`, for a triangular A, of which the other
    triangle is not read, nor the diagonal with `unitriangular`. Not checked: a 0 on the diagonal
    gives infinities and NaN. RuntimeError for shapes that don't fit.
    """
def svd(A: _Tensor, full_matrices: _bool=True, *, driver: str | None=None, out: _Tensor | None=None) -> _return_types.linalg_svd:
    """(U, S, Vh) with A = U @ diag(S) @ Vh: singular values in descending order between matrices
    with orthonormal columns and rows, which are square where `full_matrices`. The host computes
    it. LinAlgError where A holds infinities or NaN.
    """
def svdvals(A: _Tensor, *, driver: str | None=None, out: _Tensor | None=None) -> _Tensor:
    """The singular values of each matrix, in descending order. The host computes them."""
def tensorinv(input: _Tensor, ind: _int=2, *, out: _Tensor | None=None) -> _Tensor:
    """The inverse of a tensor seen as a matrix, whose rows are the first `ind` dims. RuntimeError
    where these have not as many elements as the others; LinAlgError for a singular one.
    """
def tensorsolve(input: _Tensor, other: _Tensor, dims: Sequence[_int] | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """X with tensordot(input, X, X.ndim) = other; the `dims` of input are moved to its end before.
    RuntimeError where input, seen as a matrix, is not square; LinAlgError where it is singular.
    """
def vander(x: _Tensor, *, N: _int | None=None) -> _Tensor:
    """(..., n) to (..., n, N): the powers 0 to N - 1 of each element, N being n unless it is given.
    RuntimeError for an N below 2, bool, and floating dtypes of 16 bits.
    """
@overload
def vecdot(x: _Tensor, y: _Tensor, *, dim: _int=-1, out: _Tensor | None=None) -> _Tensor:
    """`vdot` along a dim, of tensors that broadcast."""
@overload
def vecdot(x: _Tensor, y: _Tensor, *, axis: _int | Sequence[_int]=-1, out: _Tensor | None=None) -> _Tensor: ...
@overload
def vector_norm(input: _Tensor, ord: Any=2, dim: _int | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """The norm of order `ord` (any number, inf or -inf; 0 counts what is not zero) of all elements
    or over `dim`. RuntimeError for integers.
    """
@overload
def vector_norm(input: _Tensor, ord: Any=2, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
