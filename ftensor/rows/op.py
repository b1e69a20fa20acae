"""Rows, the definitions of ops: name, expression, and the compute and result dtypes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .. import errors
from ..dtypes import bool as bool_
from ..dtypes import dtype, float32, float64, get_default_dtype, int64, uint8
from ..kernels.key import COMPLEX, MASK, REAL, VALUE


class Promote(Enum):
    """Rule for an op's compute and result dtypes, given the promoted dtype of its inputs."""

    SAME = "both are the promoted dtype"
    INT_TO_FLOAT = "integers and bool become the default dtype"
    ALWAYS_BOOL = "compute in the promoted dtype, the expression yields a mask"
    COMPLEX_TO_REAL = "as SAME, but a complex input gives its real dtype"
    FLOAT_REAL = "as INT_TO_FLOAT, but a complex input gives its real dtype"
    REAL_TO_COMPLEX = "a real input gives the complex dtype, integers complex64"
    WIDE = "compute in double precision, where the device has it, for a result of any dtype"
    FLOATING = "compute in double for float64, else in single precision, for a result of any dtype"
    SINGLE = "compute in single precision, for a result of any dtype"
    INT_TO_LONG = "bool and integers become int64"
    TRUTH = "compute with truth values; uint8 for uint8, else bool"
    COUNT = "both are int64"
    UNROUNDED = "the result keeps the precision that is computed in"
    UNROUNDED_REAL = "as UNROUNDED, but a complex input gives its real dtype"


# All groups of `dtype.bare`.
BARE = "8h"


def refuses_bare(promote: Promote, bare: str, common: dtype) -> bool:
    """True if `common` is float8 or complex32 (`dtype.bare`) and its group is not in a row's
    `bare`."""
    return bool(common.bare) and common.bare not in bare and promote is not Promote.TRUTH


def compute_and_result_dtypes(promote: Promote, common: dtype, wide: bool = True) -> tuple[dtype, dtype]:
    """Returns (compute dtype, result dtype) of an op whose inputs promote to `common`.

    `wide` is True if the device has double precision.
    """
    if promote is Promote.WIDE:
        real = float64 if wide else float32
        return (real.to_complex() if common.is_complex else real), common
    if promote is Promote.FLOATING:
        return (common if common is float64 else float32), common
    if promote is Promote.SINGLE:
        return float32, common
    if promote is Promote.TRUTH:
        return bool_, uint8 if common is uint8 else bool_
    if promote in (Promote.INT_TO_FLOAT, Promote.FLOAT_REAL) and common.kind in "bui":
        common = get_default_dtype()
    if promote is Promote.COUNT or (promote is Promote.INT_TO_LONG and common.kind in "bui"):
        common = int64
    if promote is Promote.REAL_TO_COMPLEX and common.kind in "bui":
        common = float32
    result = common
    if promote is Promote.ALWAYS_BOOL:
        result = bool_
    elif promote in (Promote.COMPLEX_TO_REAL, Promote.FLOAT_REAL):
        result = common.to_real()
    elif promote is Promote.REAL_TO_COMPLEX:
        result = common.to_complex()
    elif promote is Promote.UNROUNDED:
        result = common.compute
    elif promote is Promote.UNROUNDED_REAL:
        result = common.compute.to_real()
    return common.compute, result


def check_parameters(name: str, parameters: str) -> None:
    """Raises ValueError if the parameters of a row are a signature, with a name before them."""
    if parameters.partition("(")[0].strip().isidentifier() and parameters.rstrip().endswith(")"):
        raise errors.row_parameters(name, parameters)


@dataclass(frozen=True, eq=False)
class Op:
    """One pointwise op.

    `parameters` are those of the function without `out`, such as "input, other, *, alpha": the
    tensors, then `params`.
    `body` is an expression for any number of lanes over the inputs a, b, c, ... and `params`, for
    real dtypes; `int_`, `bool_`, `complex_` replace it for those kinds. An empty string means that
    the op refuses the kind; None means that `body` applies (for complex, that the op refuses the
    kind). `masks` are the positions of inputs that are masks: bool tensors, which take no part in
    promotion. `only` restricts the op to these dtypes or kinds, though its expressions allow more.
    `check(op, inputs, params, common dtype)` raises for inputs that the op refuses. It runs once
    for each combination of dtypes and geometries, so it may read types but not values.
    """

    name: str
    parameters: str
    body: str
    promote: Promote = Promote.SAME
    doc: str = ""
    int_: str | None = None
    bool_: str | None = None
    complex_: str | None = None
    float_only: bool = False
    masks: tuple[int, ...] = ()
    params: tuple[str, ...] = ()
    lets: tuple[tuple[str, str], ...] = ()
    operators: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    namespace: str = ""
    method: bool = True
    function: bool = True
    inplace: bool = True
    any_out: bool = False  # writes to an output of any dtype (copies)
    exact_out: bool = False  # accepts only an output of the result's dtype, as torch's simplest ops
    refuses: tuple[str, ...] = ()  # names of dtypes that the op refuses despite `body`
    refusal: Callable[[str, object], Exception] = errors.not_implemented_for
    round_scalars: bool = True  # Python numbers take the precision of the operands' dtype
    numbers_affect_strides: bool = True  # Python numbers count as operands when torch orders the result's dims
    tensors: tuple[int, ...] = ()  # positions of inputs that must be tensors
    allows_only_scalars: bool = False  # also computes if all inputs are Python numbers
    only: tuple[str, ...] = ()
    located: bool = False  # also writes, and combines, at positions from index tensors
    gathers: tuple[int, ...] = ()  # positions of inputs that index tensors may select from
    check: Callable[[Op, Any, Any, dtype], None] | None = None
    bare: str = ""  # the groups of dtypes with few ops (`dtype.bare`) that the op accepts
    copies_bits: bool = False  # writes the bits unchanged if the dtypes are equal

    def __post_init__(self) -> None:
        check_parameters(self.name, self.parameters)

    @property
    def arity(self) -> int:
        """Number of tensor inputs of the expression."""
        words = self.parameters.partition("*")[0].split(",")
        names = [word.partition("=")[0].strip() for word in words]
        return len([name for name in names if name and name not in self.params])

    @property
    def sees(self) -> tuple[str, ...]:
        """`Port.sees` of each input: VALUE or MASK."""
        return tuple(MASK if k in self.masks else VALUE for k in range(self.arity))

    def expression(self, compute: dtype) -> str:
        """Returns the expression for a compute dtype; "" if the op refuses the dtype."""
        if compute.is_complex:
            return self.complex_ or ""
        if compute.kind == "b":
            chosen = self.bool_ if self.bool_ is not None else self.int_
        elif compute.kind in "ui":
            chosen = self.int_
        else:
            chosen = None
        if chosen is None:
            chosen = "" if self.float_only and compute.kind != "f" else self.body
        return chosen


class Dims(Enum):
    """Accepted values of a reduction's `dim`."""

    SOME = "an int, several, or None or () for all"
    LISTED = "an int, several (of () none), or None for all"
    ONE = "an int, or None for all"


@dataclass(frozen=True, eq=False)
class Reduce:
    """One reduction: a monoid (`combine` over x and y, `identity`) on lifted elements.

    With `arg`, y (at position j) replaces x (at position i) if `beats` holds, or if j < i and
    `combine` holds. `finish` computes each output from the folded x (and i). `params` are
    real numbers that `finish` and `lift` may use; `n` is the number of folded elements. With
    `truth`, nonzero elements count as 1.

    `promote` determines the compute and result dtypes; an output "i" is int64. `kinds` are the
    kinds of dtype that the expressions accept, and `instead` maps further kinds to rows.
    `second_input` is the dtype of a second tensor that is lifted with the first.

    The remaining fields are for rows that a user calls. Empty `parameters` follow from the other
    fields; `converts` adds the `dtype` parameter. A reduction whose identity is no result raises
    `nothing` for no elements and no `dim`.
    """

    name: str
    lift: str
    combine: str
    identity: str
    finish: tuple[str, ...] = ("x",)
    arg: bool = False
    complex_: tuple[str, str, str] | None = None  # lift, combine, identity for complex values
    state_complex: bool = True  # the state of the complex form is complex, too
    params: tuple[str, ...] = ()
    beats: str = ""
    truth: bool = False
    promote: Promote = Promote.SAME
    kinds: str = "buif"
    instead: Mapping[str, Reduce] = field(default_factory=dict)
    second_input: Promote | None = None
    doc: str = ""
    parameters: str = ""
    dims: Dims = Dims.SOME
    converts: bool = False
    nothing: type[Exception] | None = None
    refusal: Callable[[str, object], Exception] = errors.not_implemented_for
    refuses_first: bool = False  # refuses a dtype before it checks the dims
    bare: str = ""  # the groups of dtypes of few ops (`dtype.bare`) that the row accepts

    def __post_init__(self) -> None:
        check_parameters(self.name, self.parameters)

    @property
    def arguments(self) -> str:
        """Parameter list of the function, as in its definition."""
        if self.parameters:
            return self.parameters
        converts = "dtype=None, " if self.converts else ""
        return f"input, dim=None, keepdim=False, *, {converts}out=None"

    def serves(self, kind: str) -> bool:
        """True if the op supports a kind of dtype ("float", "int", ...), by an expression of its
        row or by another row."""
        return kind in self.kinds or kind in self.instead

    def results(self, dtype: dtype) -> tuple[dtype, ...]:
        """Returns the dtypes of all outputs for values of dtype `dtype`."""
        return tuple(int64 if text.strip() == "i" else dtype for text in self.finish)


def yields(promote: Promote, compute: dtype) -> str:
    """Returns `Port.sees` of the result: MASK, REAL, COMPLEX or VALUE."""
    if promote is Promote.ALWAYS_BOOL:
        return MASK
    if promote in (Promote.COMPLEX_TO_REAL, Promote.FLOAT_REAL) and compute.is_complex:
        return REAL
    if promote is Promote.REAL_TO_COMPLEX and not compute.is_complex:
        return COMPLEX
    return VALUE
