"""The identity matrix, and the indices of triangles in row-major order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import creation as errors_creation
from ...execute.memory import new
from ...execute.pointwise import pointwise
from ...ops.types.copy import fill_, zero_
from ...rows.catalogue import enter
from ...rows.copies import COPY
from ...rows.op import Op
from ..view.arguments import as_int
from .factory import Options, factory
from .ranges import filled

if TYPE_CHECKING:
    pass

CATEGORY = "ranges"
# `count` elements come first, their rows; the same number of columns follow. `flip` turns a lower
# triangle by 180 degrees, which makes it an upper one.
TRIANGLE = Op(
    "triangle",
    "triangle() -> Tensor",
    "FT_POSITION < count ? (flip != K(0) ? rows - K(1) - row : row) : (flip != K(0) ? cols - K(1) - column : column)",
    int_="FT_POSITION < count ? (flip != K(0) ? rows - K(1) - row : row) "
    ": (flip != K(0) ? cols - K(1) - column : column)",
    lets=(
        ("nth", "FT_POSITION < count ? FT_POSITION : FT_POSITION - count"),
        ("k", "flip != K(0) ? count - K(1) - nth : nth"),
        ("row", "ft_triangle_row(k, first, full, least, cols)"),
        ("column", "k - ft_triangle_before(row, first, full, least, cols)"),
    ),
    params=("count", "first", "full", "least", "rows", "cols", "flip"),
    only=("int64",),
)
enter(__name__, TRIANGLE)


@factory(method=False)
def eye(options: Options, n: int, m: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Ones on the diagonal, else zeros."""
    rows = as_int(n, "eye", "n")
    cols = rows if m is None else as_int(m, "eye", "m")
    for name, value in (("n", rows), ("m", cols)):
        if value < 0:
            raise errors_creation.negative_count("eye", name, value)
    matrix = options.destination((rows, cols), out)
    if matrix._dtype.bare in ("u", "h"):
        raise errors.not_implemented_for("eye", matrix._dtype)
    zero_(matrix)
    diagonal = (min(rows, cols),), (sum(matrix._strides),), matrix._offset
    fill_(matrix._view(*diagonal), 1)
    return matrix


@factory(method=False, without=("requires_grad",))
def tril_indices(options: Options, row: int, col: int, offset: int = 0) -> Tensor:
    """The rows (first) and columns (second) of the elements of a lower triangle, in row-major
    order.
    """
    return _triangle(options, row, col, offset, flip=False)


@factory(method=False, without=("requires_grad",))
def triu_indices(options: Options, row: int, col: int, offset: int = 0) -> Tensor:
    """The rows (first) and columns (second) of the elements of an upper triangle, in row-major
    order.
    """
    return _triangle(options, row, col, offset, flip=True)


def _triangle(options: Options, row: Any, col: Any, offset: Any, flip: bool) -> Tensor:
    function = options.function
    rows, cols = as_int(row, function, "row"), as_int(col, function, "col")
    for name, value in (("row", rows), ("col", cols)):
        if value < 0:
            raise errors_creation.negative_count(function, name, value)
    of = options.dtype or dtypes.int64
    if of not in (dtypes.int32, dtypes.int64):
        raise errors.not_implemented_for(function, of)
    shift = as_int(offset, function, "offset")
    if flip:  # seen from the other corner, an upper triangle is a lower one
        shift = cols - rows - shift
    first = min(max(0, -shift), rows)  # the first row with elements
    least = max(0, min(cols, first + shift + 1))
    full = min(max(first, cols - shift - 1), rows)  # the first row with all columns
    grown = full - first
    count = grown * least + grown * (grown - 1) // 2 + (rows - full) * cols if cols else 0
    indices = new((2, count), dtypes.int64, options.device)
    if count:
        filled(TRIANGLE, (count, first, full, least, rows, cols, int(flip)), indices)
    if of is dtypes.int64:
        return indices
    return pointwise(COPY, (indices,), (), options.new((2, count)), True)
