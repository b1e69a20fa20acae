"""Comparisons, element by element and of whole tensors, and logical ops."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import get_default_dtype, result_type
from ...errors import arithmetic as errors_arithmetic
from ...execute.pointwise import pointwise
from ...rows.catalogue import op
from ...rows.op import BARE, Op, Promote
from ..arguments import check_operands
from ..bind import add_rows
from ..order.sort import searchsorted

_BOOL = Promote.ALWAYS_BOOL
FEW_TESTS = 32  # up to this number `isin` compares with each element


def _order(name: str, sign: str, aliases: tuple[str, ...], doc: str, **fields: Any) -> Op:
    return Op(
        name, "input, other", f"a {sign} b", doc=doc, promote=_BOOL, tensors=(0,), operators=(f"__{name}__",),
        aliases=aliases, **fields,
    )  # fmt: skip


def _logic(name: str, body: str, complex_: str, doc: str) -> Op:
    return Op(f"logical_{name}", "input, other", body, doc=doc, promote=_BOOL, tensors=(0, 1), complex_=complex_)


_A = "((a.re != K(0)) || (a.im != K(0)))"
_B = "((b.re != K(0)) || (b.im != K(0)))"

ROWS = [
    _order("eq", "==", (), "Returns True where the elements are equal; NaN equals no element.",
           complex_="(a.re == b.re) && (a.im == b.im)", bare=BARE),
    _order("ne", "!=", ("not_equal",), "Returns True where the elements differ; NaN differs from every element.",
           complex_="(a.re != b.re) || (a.im != b.im)", bare=BARE),
    _order("lt", "<", ("less",), "Returns True where `input` is less than `other`."),
    _order("le", "<=", ("less_equal",), "Returns True where `input` is at most `other`."),
    _order("gt", ">", ("greater",), "Returns True where `input` is greater than `other`."),
    _order("ge", ">=", ("greater_equal",), "Returns True where `input` is at least `other`."),
    _logic("and", "(a != K(0)) && (b != K(0))", f"{_A} && {_B}", "Returns True where both elements are nonzero."),
    _logic("or", "(a != K(0)) || (b != K(0))", f"{_A} || {_B}", "Returns True where at least one element is nonzero."),
    _logic("xor", "(a != K(0)) != (b != K(0))", f"{_A} != {_B}", "Returns True where exactly one element is nonzero."),
]  # fmt: skip
add_rows(ROWS, __name__)

# Equality first, so that infinities are close to themselves.
_CLOSE = "(fabs(a - b) <= fabs(rtol * b) + atol) && (fabs(a - b) < K(INFINITY))"
_COMPLEX_EQUAL = "((a.re == b.re) && (a.im == b.im))"
_COMPLEX_CLOSE = (
    "((ft_cabs(ft_csub(a, b)) <= ft_cabs(b) * fabs(rtol.re) + atol.re) && (ft_cabs(ft_csub(a, b)) < K(INFINITY)))"
)


def _close(name: str, both_nan: str = "", both_complex_nan: str = "") -> Op:
    return Op(
        name, "input, other, *, rtol, atol", f"(a == b) || ({_CLOSE}){both_nan}",
        complex_=f"{_COMPLEX_EQUAL} || {_COMPLEX_CLOSE}{both_complex_nan}", promote=_BOOL, params=("rtol", "atol"),
        float_only=True, bare="h",
    )  # fmt: skip


ISCLOSE = _close("isclose")
ISCLOSE_NAN = _close(
    "isclose_nan",
    " || ((a != a) && (b != b))",
    " || (((a.re != a.re) || (a.im != a.im)) && ((b.re != b.re) || (b.im != b.im)))",
)


@op(rows=(ISCLOSE, ISCLOSE_NAN))
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Returns True where elements are equal, or both finite and no further apart than `atol + rtol
    * abs(other)`. Both tensors must have one dtype."""
    check_operands("isclose", input, other)
    if input._dtype is not other._dtype:
        raise errors.dtypes_differ("isclose", (input._dtype, other._dtype))
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise errors_arithmetic.negative_tolerance(name, value)
    if input._dtype.kind in "bui":
        if rtol == 0 and atol == 0:
            return pointwise(ROWS[0], (input, other))
        float_dtype = get_default_dtype()
        input, other = input.to(float_dtype), other.to(float_dtype)
    return pointwise(ISCLOSE_NAN if equal_nan else ISCLOSE, (input, other), (rtol, atol))


@op()
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """True if `isclose` holds for every element."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@op()
def equal(input: Tensor, other: Tensor) -> bool:
    """True if shapes and all elements are equal."""
    check_operands("equal", input, other)
    for x in (input, other):
        if x._dtype.bare == "h":
            raise errors.not_implemented_for("equal", x._dtype)
    if input._storage.device is not other._storage.device:
        raise errors.different_devices("equal", (input.device, other.device))
    if input._shape != other._shape:
        return False
    return bool(pointwise(ROWS[0], (input, other)).all())


@op(method=False, bare="h")
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False, out: Tensor | None = None
) -> Tensor:
    """Returns True where an element is among `test_elements` (with `invert`: is not). One of the
    two may be a number. A few test elements are compared one by one; more are sorted and searched.
    """
    if type(elements) is not Tensor and type(test_elements) is not Tensor:
        raise errors.needs_a_tensor("isin", (elements, test_elements))
    tests, values = test_elements, elements
    if type(tests) is Tensor and type(values) is Tensor and tests.numel() > FEW_TESTS:
        return _isin_by_search(values, tests, invert, out)
    if type(tests) is Tensor:
        _ordered(tests)
        tests = tests.reshape(-1)
        if type(values) is Tensor:
            values = values.unsqueeze(-1)
    if type(values) is Tensor:
        _ordered(values)
        equal = pointwise(ROWS[0], (values, tests))
    else:
        equal = pointwise(ROWS[0], (tests, values))
    if type(tests) is Tensor:
        equal = equal.any(-1)
    if invert:
        return pointwise(ROWS[0], (equal, False), (), out)
    return equal if out is None else pointwise(ROWS[1], (equal, False), (), out)


def _isin_by_search(elements: Tensor, tests: Tensor, invert: bool, out: Tensor | None) -> Tensor:
    _ordered(elements)
    _ordered(tests)
    if elements.device != tests.device:
        raise errors.different_devices("isin", (elements.device, tests.device))
    common = result_type(elements, tests)
    row = tests.reshape(-1).to(common).sort()[0]
    values = elements.to(common)
    position = searchsorted(row, values).clamp(max=row._shape[0] - 1)
    return pointwise(ROWS[int(invert)], (row[position], values), (), out)


def _ordered(x: Tensor) -> None:
    if x._dtype.is_complex or x._dtype.kind == "b":
        raise errors.dtype_not_supported("isin", x._dtype)
