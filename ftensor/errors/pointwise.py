"""Messages of pointwise ops."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message, of_call

number_does_not_fit = Message(RuntimeError, "{op}(): value {number} cannot be converted to {dtype} without overflow")


@of_call
def bool_subtraction(op: str, dtypes: Sequence[object]) -> RuntimeError:
    """Error for a difference with a bool operand."""
    dtype_list = " and ".join(str(d) for d in dtypes)
    return RuntimeError(
        f"{op}(): subtraction, the `-` operator, is not supported with a bool operand ({dtype_list}); "
        "use `~` or logical_not() to invert a mask, `^` or logical_xor() for its difference"
    )


alpha_kind = Message(
    RuntimeError,
    "{op}(): for operands of {dtype}, `{name}` must not be {value!r}, a {value!k}; convert an "
    "operand to a dtype that can hold it",
    "op name value dtype",
)
zero_division = Message(RuntimeError, "{op}(): ZeroDivisionError: integers cannot be divided by 0")
rounding_mode = Message(RuntimeError, "div(): rounding_mode must be None, 'trunc' or 'floor', but found {mode!r}")
negative_integer_power = Message(
    RuntimeError,
    "pow(): integers to negative integer powers are not allowed (exponent {exponent}); convert "
    "the base to a floating-point dtype",
)


@of_call
def needs_real_floats(op: str, dtypes: Sequence[object]) -> RuntimeError:
    """Error for parts of a complex number that are not real floating-point numbers."""
    dtype_list = " and ".join(str(d) for d in dtypes)
    return RuntimeError(f"{op}(): expected float16, float32 or float64 tensors, but got {dtype_list}")


not_a_condition = Message(
    RuntimeError,
    "where() expected the condition to be a bool tensor, but it is {dtype}; compare it with "
    "something, or convert it with .bool()",
)
where_arguments = Message(TypeError, "where() takes the condition alone, or the condition, `input` and `other`")
no_bounds = Message(RuntimeError, "{op}(): at least one of 'min' and 'max' must not be None")
# `addcdiv` of two integer tensors, which torch no longer computes.
integer_addcdiv = Message(
    RuntimeError,
    "addcdiv() does not divide integers; use input + value * div(tensor1, tensor2, "
    "rounding_mode='trunc'), or convert tensor1 or tensor2 to a floating-point dtype",
)
negative_tolerance = Message(RuntimeError, "isclose(): {name} must be greater than or equal to zero, but got {value}")
inplace_out = Message(TypeError, "{name}() writes into its tensor and takes no `out`")
invert_dtype = Message(TypeError, "~ is only for integer and bool tensors, not for {dtype}")


@of_call
def no_clamp(op: str, dtype: object) -> RuntimeError:
    """Error for relu and hardtanh of bool (RuntimeError in torch) or complex
    (NotImplementedError).
    """
    kind = RuntimeError if str(dtype).endswith("bool") else NotImplementedError
    return kind(f"{op}() does not support {dtype} tensors; convert with .to(dtype)")


limits_swapped = Message(ValueError, "{op}(): min_val {low} is above max_val {high}")
negative_limit = Message(RuntimeError, "{op}(): min_val {low} is negative, which {dtype} cannot be")
zero_alpha = Message(RuntimeError, "ZeroDivisionError: {op}() divides by alpha, which is 0")
gelu_approximation = Message(RuntimeError, 'gelu(): approximate must be "none" or "tanh", not {name!r}')
negative_lambda = Message(RuntimeError, "{op}(): lambd must be 0 or more, not {value}")
negative_order = Message(RuntimeError, "{op}(): the order n must not be negative, but is {n}")
