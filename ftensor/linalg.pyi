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
    """Returns the condition number of each matrix: its norm of order `p` (None: 2) times the norm
    of its inverse; inf for a singular matrix. Raises RuntimeError for orders that
    `linalg.matrix_norm` lacks.
    """
@overload
def cross(input: _Tensor, other: _Tensor, *, dim: _int=-1, out: _Tensor | None=None) -> _Tensor:
    """Returns the cross products along `dim`, whose size is 3. The other dims broadcast. Raises
    RuntimeError for other sizes and different numbers of dims.
    """
@overload
def cross(input: _Tensor, other: _Tensor, *, axis: _int | Sequence[_int]=-1, out: _Tensor | None=None) -> _Tensor: ...
def det(A: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the determinants of square matrices, by LU with partial pivoting."""
def diagonal(A: _Tensor, *, offset: _int=0, dim1: _int=-2, dim2: _int=-1) -> _Tensor:
    """Returns a view of the diagonals of matrices; offset > 0 is above the main diagonal, < 0
    below.
    """
def eig(input: _Tensor, *, out: _Tensor | None=None) -> _return_types.linalg_eig:
    """Returns (eigenvalues, eigenvectors as columns) of square matrices, complex, in no particular
    order. Computed on the host. Raises RuntimeError for infinities and NaN.
    """
def eigh(input: _Tensor, UPLO: str='L', *, out: _Tensor | None=None) -> _return_types.linalg_eigh:
    """Returns (eigenvalues in ascending order, eigenvectors as columns) of symmetric or Hermitian
    matrices. Reads the lower triangle, or the upper one with `UPLO=\"U\"`. Raises LinAlgError if it
    holds infinities or NaN.
    """
def eigvals(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the eigenvalues of square matrices, complex. See `linalg.eig`."""
def eigvalsh(input: _Tensor, UPLO: str='L', *, out: _Tensor | None=None) -> _Tensor:
    """Returns the eigenvalues of symmetric or Hermitian matrices, ascending. See `linalg.eigh`."""
def householder_product(input: _Tensor, tau: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """The first columns of the product of reflections, as many as `input` has; see `geqrf`."""
def inv(A: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverses of square matrices. LinAlgError where one is singular."""
def inv_ex(A: _Tensor, *, check_errors: _bool=False, out: _Tensor | None=None) -> _return_types.linalg_inv_ex:
    """Returns (inverse, info): see `linalg.inv` and `linalg.solve_ex`."""
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
    """Solves A @ X = B by the factors of `linalg.ldl_factor`. Computed on the host. Raises
    RuntimeError for operands that don't fit.
    """
def lstsq(input: _Tensor, b: _Tensor, rcond: _float | None=None, *, driver: str | None=None, out: _Tensor | None=None) -> _return_types.linalg_lstsq:
    """Returns (solution, residuals, rank, singular_values) of input @ X = b: the X of minimal norm
    among the least-squares solutions. Singular values up to `rcond` times the largest count as 0
    (None: eps times the larger size). `driver=\"gels\"` uses QR, for matrices of full rank. Results
    that torch's `driver` omits have no elements: \"gelsy\" omits residuals and singular values,
    \"gels\" ranks and singular values. Raises RuntimeError for operands that don't fit, LinAlgError
    for a singular R of \"gels\".
    """
def lu(A: _Tensor, *, pivot: _bool=True, out: _Tensor | None=None) -> _return_types.linalg_lu:
    """Returns (P, L, U) of A = P @ L @ U by partial pivoting: a permutation, a lower triangular
    matrix with ones on its diagonal, an upper triangular matrix.
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
    """Solves A @ X = B by A's factors from `linalg.lu_factor`. `left=False` solves X @ A = B,
    `adjoint` uses A.mH. Raises RuntimeError for operands that don't fit.
    """
def matmul(input: _Tensor, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the matrix product. A vector on the left is a row, a vector on the right a column,
    and the result lacks that dim. All dims before the last two are batch dims and broadcast. Raises
    RuntimeError for 0-d operands, sizes that don't fit, or different dtypes.
    """
def matrix_exp(input: _Tensor) -> _Tensor:
    """Returns the exponential of square matrices, the sum of input^k / k!. Each matrix is halved
    until its norm is at most 2; the sum of the series is then squared once for each halving. Raises
    RuntimeError for integers.
    """
@overload
def matrix_norm(input: _Tensor, ord: Any='fro', dim: Sequence[_int]=(-2, -1), keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the norm of each matrix in the two dims. \"fro\" is the root of the sum of squares; inf
    and 1 are the largest sum of absolute values of a row or column; 2 is the largest singular
    value; \"nuc\" is the sum of singular values; -inf, -1 and -2 take the smallest. Raises
    RuntimeError for other orders.
    """
@overload
def matrix_norm(input: _Tensor, ord: Any='fro', *, axis: _int | Sequence[_int]=(-2, -1), keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
def matrix_power(input: _Tensor, n: _int, *, out: _Tensor | None=None) -> _Tensor:
    """Returns square matrices to an integer power, by repeated squaring; power 0 is the identity. A
    negative power inverts first and raises LinAlgError for a singular matrix.
    """
def matrix_rank(input: _Tensor, tol: Any=None, hermitian: _bool=False, *, atol: Any=None, rtol: Any=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the number of singular values of each matrix above the tolerances, as int64. See
    `linalg.pinv`; `tol` is the older form of `atol`. `hermitian` uses absolute eigenvalues. Raises
    LinAlgError for infinities and NaN.
    """
def multi_dot(tensors: Sequence[_Tensor], *, out: _Tensor | None=None) -> _Tensor:
    """Returns the product of a chain of matrices, in the order with the fewest multiplications. The
    first operand may be a vector (a row), and so may the last (a column).
    """
def norm(input: _Tensor, ord: Any=None, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the norm of matrices if `dim` names two dims, else of vectors: `linalg.matrix_norm`
    and `linalg.vector_norm`. Without `ord` it is the 2-norm of all elements; without `dim` it is
    that of the whole tensor, which then has one or two dims.
    """
def pinv(input: _Tensor, rcond: Any=None, hermitian: _bool=False, *, atol: Any=None, rtol: Any=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the Moore-Penrose inverse of each matrix. Singular values up to `atol` and up to
    `rtol` (`rcond` in the older form) times the largest count as 0. Without either, `rtol` is the
    dtype's eps times the larger size. `hermitian` uses eigenvalues. Raises LinAlgError for
    infinities and NaN.
    """
def qr(A: _Tensor, mode: str='reduced', *, out: _Tensor | None=None) -> _return_types.linalg_qr:
    """Returns (Q, R) of A = Q @ R by Householder reflections: orthonormal columns and an upper
    triangular matrix. Mode \"complete\" gives a square Q, \"r\" no Q. Raises RuntimeError for other
    modes.
    """
def slogdet(A: _Tensor, *, out: _Tensor | None=None) -> _return_types.linalg_slogdet:
    """Returns (sign, logarithm of the absolute value) of each determinant; (0, -inf) for a singular
    matrix.
    """
def solve(A: _Tensor, B: _Tensor, *, left: _bool=True, out: _Tensor | None=None) -> _Tensor:
    """X of A @ X = B, or of X @ A = B where not `left`, for square A; B may be a vector for each
    matrix. LinAlgError where A is singular, RuntimeError for shapes that don't fit.
    """
def solve_ex(A: _Tensor, B: _Tensor, *, left: _bool=True, check_errors: _bool=False, out: _Tensor | None=None) -> _return_types.linalg_solve_ex:
    """(X, info): see `linalg.solve`; info (int32) is 0, or the first place of a 0 on the diagonal
    of A's factor U. LinAlgError for these with `check_errors`.
    """
def solve_triangular(input: _Tensor, B: _Tensor, *, upper: _bool, left: _bool=True, unitriangular: _bool=False, out: _Tensor | None=None) -> _Tensor:
    """Solves A @ X = B, or X @ A = B with `left=False`, for a triangular A. The other triangle is
    not read, nor the diagonal with `unitriangular`. A 0 on the diagonal is not checked and gives
    infinities and NaN. Raises RuntimeError for shapes that don't fit.
    """
def svd(A: _Tensor, full_matrices: _bool=True, *, driver: str | None=None, out: _Tensor | None=None) -> _return_types.linalg_svd:
    """Returns (U, S, Vh) with A = U @ diag(S) @ Vh: singular values in descending order, and
    matrices with orthonormal columns and rows, square with `full_matrices`. Raises LinAlgError if A
    holds infinities or NaN.
    """
def svdvals(A: _Tensor, *, driver: str | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the singular values of each matrix, in descending order. See `linalg.svd`."""
def tensorinv(input: _Tensor, ind: _int=2, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of a tensor seen as a matrix whose rows are the first `ind` dims. Raises
    RuntimeError unless the first and the last dims have equal numbers of elements; LinAlgError for
    a singular matrix.
    """
def tensorsolve(input: _Tensor, other: _Tensor, dims: Sequence[_int] | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Solves tensordot(input, X, X.ndim) = other; `dims` of input are moved to its end first.
    Raises RuntimeError if input, seen as a matrix, is not square; LinAlgError if it is singular.
    """
def vander(x: _Tensor, *, N: _int | None=None) -> _Tensor:
    """Returns the powers 0 to N - 1 of each element, (..., n) to (..., n, N); N is n unless given.
    Raises RuntimeError for an N below 2, bool, and 16-bit floating-point dtypes.
    """
@overload
def vecdot(x: _Tensor, y: _Tensor, *, dim: _int=-1, out: _Tensor | None=None) -> _Tensor:
    """Returns `vdot` along a dim of tensors that broadcast."""
@overload
def vecdot(x: _Tensor, y: _Tensor, *, axis: _int | Sequence[_int]=-1, out: _Tensor | None=None) -> _Tensor: ...
@overload
def vector_norm(input: _Tensor, ord: Any=2, dim: _int | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the norm of order `ord` (any number, inf or -inf; 0 counts nonzero elements) of all
    elements or over `dim`. Raises RuntimeError for integers.
    """
@overload
def vector_norm(input: _Tensor, ord: Any=2, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
