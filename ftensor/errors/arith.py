"""Messages of the ops on two and three operands; see `errors`."""

from __future__ import annotations

from collections.abc import Sequence


def number_does_not_fit(op: str, number: object, dtype: object) -> RuntimeError:
    """A Python number beyond the limits of the dtype it must take."""
    return RuntimeError(f"{op}(): value {number} cannot be converted to {dtype} without overflow")


def bool_subtraction(op: str, dtypes: Sequence[object]) -> RuntimeError:
    """A difference with a bool operand."""
    given = " and ".join(str(d) for d in dtypes)
    return RuntimeError(
        f"{op}(): subtraction, the `-` operator, is not supported with a bool operand ({given}); "
        "use `~` or logical_not() to invert a mask, `^` or logical_xor() for its difference"
    )


def alpha_kind(op: str, name: str, value: object, dtype: object) -> RuntimeError:
    """A factor of a higher category than the operands."""
    return RuntimeError(
        f"{op}(): for operands of {dtype}, `{name}` must not be {value!r}, a "
        f"{type(value).__name__}; convert an operand to a dtype that can hold it"
    )


def zero_division(op: str) -> RuntimeError:
    """Integers divided by the number 0."""
    return RuntimeError(f"{op}(): ZeroDivisionError: integers cannot be divided by 0")


def rounding_mode(mode: object) -> RuntimeError:
    """A rounding mode that div does not have."""
    return RuntimeError(
        f"div(): rounding_mode must be None, 'trunc' or 'floor', but found {mode!r}"
    )


def negative_integer_power(exponent: object) -> RuntimeError:
    """Integers to a negative power."""
    return RuntimeError(
        f"pow(): integers to negative integer powers are not allowed (exponent {exponent}); "
        "convert the base to a floating-point dtype"
    )


def needs_real_floats(op: str, dtypes: Sequence[object]) -> RuntimeError:
    """Parts of a complex number that are no real floating-point numbers."""
    given = " and ".join(str(d) for d in dtypes)
    return RuntimeError(f"{op}(): expected float16, float32 or float64 tensors, but got {given}")


def not_a_condition(dtype: object) -> RuntimeError:
    """`where` by something that is no mask."""
    return RuntimeError(
        f"where() expected the condition to be a bool tensor, but it is {dtype}; "
        "compare it with something, or convert it with .bool()"
    )


def where_arguments() -> TypeError:
    """`where` with a condition and one of the two choices."""
    return TypeError("where() takes the condition alone, or the condition, `input` and `other`")


def no_bounds(op: str) -> RuntimeError:
    """`clamp` without limits."""
    return RuntimeError(f"{op}(): at least one of 'min' and 'max' must not be None")


def integer_addcdiv() -> RuntimeError:
    """`addcdiv` of two integer tensors, whose quotient torch no longer computes."""
    return RuntimeError(
        "addcdiv() does not divide integers; use input + value * div(tensor1, tensor2, "
        "rounding_mode='trunc'), or convert tensor1 or tensor2 to a floating-point dtype"
    )


def negative_tolerance(name: str, value: object) -> RuntimeError:
    """A tolerance below zero."""
    return RuntimeError(f"isclose(): {name} must be greater than or equal to zero, but got {value}")


def inplace_out(name: str) -> TypeError:
    """`out=` for a method that writes into its tensor."""
    return TypeError(f"{name}() writes into its tensor and takes no `out`")


def invert_dtype(dtype: object) -> TypeError:
    """`~` of numbers that are no integers."""
    return TypeError(f"~ is only for integer and bool tensors, not for {dtype}")
