"""Messages about pointwise ops, reductions, scans, sorting and integrals."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message, names_called_op

number_does_not_fit = Message(RuntimeError, "{op}(): value {number} cannot be converted to {dtype} without overflow")


@names_called_op
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


@names_called_op
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
# A mask is inverted by another op.
bool_negation = Message(
    RuntimeError, "{op}() does not support {dtype} tensors; use `~` or logical_not() to invert a mask"
)
invert_dtype = Message(TypeError, "~ is only for integer and bool tensors, not for {dtype}")


@names_called_op
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
argument_unexpected = Message(TypeError, "{name}(): `{argument}` can't be given {why}")
no_fractions = Message(RuntimeError, "{name}(): {dtype} has no fractions; pass dtype=ftensor.float32, for example")


def nothing_to_reduce(name: str, shape: Sequence[int], dim: int | None) -> str:
    location = f"dim {dim} of shape {tuple(shape)}" if dim is not None else f"shape {tuple(shape)}"
    return f"{name}(): {location} has no elements, and {name} of none has no value"


@names_called_op
def empty_input(name: str, shape: Sequence[int], kind: type[Exception]) -> Exception:
    """Error for a reduction without an identity over a tensor without elements."""
    return kind(nothing_to_reduce(name, shape, None) + "; name a dim that has some")


@names_called_op
def empty_dim(name: str, shape: Sequence[int], dim: int) -> IndexError:
    """Error for a reduction without an identity over a dim of size 0."""
    return IndexError(nothing_to_reduce(name, shape, dim))


@names_called_op
def empty_norm(order: object, shape: Sequence[int], dim: int | None) -> RuntimeError:
    """Error for a norm without an identity over no elements."""
    return RuntimeError(nothing_to_reduce(f"norm of order {order}", shape, dim))


out_not_bool = Message(RuntimeError, "{name}(): out must be bool or uint8, not {got}")
out_not_floating = Message(RuntimeError, "{name}(): out must be floating point or complex, not {got}")
norm_dtype = Message(RuntimeError, "norm: dtype must be {wanted}, not {dtype}", "dtype wanted")
norm_narrows = Message(RuntimeError, "norm: dtype={requested} is narrower than the input's {dtype}", "dtype requested")
norm_order = Message(
    RuntimeError, "there is no vector norm of order {order!r}; orders are numbers, inf, -inf and 'fro'"
)
too_many_dims = Message(RuntimeError, "{name}() takes tensors of at most {most} dims, not {ndim}", "name ndim most")
not_summable_to = Message(
    RuntimeError, "a tensor of shape {shape!t} can't be summed to {size!t}, which does not broadcast to it"
)


@names_called_op
def implicit_dim(name: str) -> str:
    """Returns the warning for a softmax that infers its dim."""
    return f"{name}(): the dim that was left out is guessed from the number of dims; name it"


@names_called_op
def no_identity(name: str, dtype: object, ordered: bool) -> Exception:
    """Error for a masked reduction of a dtype without an identity to replace masked elements by."""
    kind = NotImplementedError if ordered else TypeError
    return kind(f"{name}() has no identity among {dtype} numbers, so none is masked")


mask_of_more_dims = Message(IndexError, "{name}(): the mask has shape {mask!t}, more dims than the input's {shape!t}")
mean_of = Message(ValueError, "masked.mean(): {dtype} has no fractions; pass dtype=ftensor.float32, for example")
nothing_let_through = Message(ValueError, "{name}(): all of a row is masked, and {dtype} has no NaN for its result")
no_order = Message(RuntimeError, "{name}(): {dtype} has no order; sort by x.abs() or x.real, for example")
not_of_bool = Message(RuntimeError, "{name}() is not made for {dtype}; convert with .to(ftensor.uint8)")
selected = Message(
    RuntimeError, "{name}(): k must be between {least} and {size}, the dim's size, not {k}", "name k size least"
)
no_elements = Message(IndexError, "{name}(): dim {dim} has no elements to select from")
quantile_dtype = Message(RuntimeError, "quantile(): the input must be float32 or float64, not {dtype}")
quantile_rank_dtype = Message(RuntimeError, "quantile(): q is {dtype}; it must be {wanted}, as the input is")
quantile_ranks = Message(RuntimeError, "quantile(): q must be numbers in [0, 1] in at most one dim, not {q}")
interpolation = Message(
    RuntimeError,
    "quantile(): interpolation must be 'linear', 'lower', 'higher', 'midpoint' or 'nearest', not {interpolation!r}",
)
empty_quantile = Message(RuntimeError, "quantile(): the input has no elements to rank")
search_dtypes = Message(RuntimeError, "searchsorted(): the sorted values are {row}, those to place {values}")
search_shapes = Message(
    RuntimeError,
    "searchsorted(): sorted rows of shape {row!t} and values of shape {values!t} must agree but "
    "for the last dim, or there is one row of one dim",
)
search_side = Message(
    RuntimeError,
    "searchsorted(): side must be 'left' or 'right', and agree with right={right}, not {side!r}",
    "side right",
)
search_sorter = Message(
    RuntimeError,
    "searchsorted(): sorter must be int64 of shape {wanted!t}, not {dtype} of {shape!t}",
    "shape dtype wanted",
)
sorter_range = Message(RuntimeError, "searchsorted(): sorter has positions outside [0, {size})")
boundaries = Message(RuntimeError, "bucketize(): boundaries must have one dim, not shape {shape!t}")
bins = Message(RuntimeError, "{name}(): bins must be at least 1, not {bins}")
value_range = Message(RuntimeError, "{name}(): a range from {low} to {high} holds no finite numbers in order")
range_length = Message(RuntimeError, "{name}(): range must hold {wanted} numbers, not {count}", "name count wanted")
bins_for_dims = Message(RuntimeError, "histogramdd(): {bins} bins for samples of {dims} coordinates")
at_least_two_dims = Message(RuntimeError, "histogramdd(): samples need two dims, not shape {shape!t}")
bin_edges = Message(
    RuntimeError,
    "{name}(): bins must be {wanted} numbers in one dim, not {dtype} of shape {shape!t}",
    "name shape dtype wanted",
)
weight_shape = Message(RuntimeError, "{name}(): weights of shape {shape!t} for samples of shape {wanted!t}")
weight_dtype = Message(RuntimeError, "{name}(): weights are {dtype}; they must be {wanted}, as the input is")
counted = Message(
    RuntimeError, "bincount() counts non-negative integers in one dim, not {dtype} of shape {shape!t}", "shape dtype"
)
minlength = Message(RuntimeError, "bincount(): minlength must not be negative, not {minlength}")
integer_range = Message(
    RuntimeError,
    "{name}(): {bins} bins from {low} to {high} need numbers beyond int64; convert the input to float64",
    "name bins low high",
)
counted_too_large = Message(
    RuntimeError, "bincount(): the input has {greatest}; a result with an element for each number up to it is too long"
)
negative_counted = Message(RuntimeError, "bincount(): the input has {least}; it counts what is not negative")
unique_of_scalar = Message(IndexError, "unique(): dim {dim} of a 0-d tensor, which has none; leave dim out")
unique_empty = Message(RuntimeError, "unique(): the slices of shape {shape!t} along dim {dim} are empty")
one_dim = Message(RuntimeError, "{op}(): the input needs at least one dim")
order = Message(RuntimeError, "diff(): n must not be negative, but is {n}")
ends = Message(
    RuntimeError, "diff(): prepend and append must have the input's shape {input!t} but for the dim, not {shape!t}"
)
scalar_points = Message(RuntimeError, "{op}(): x needs at least one dim; a distance is given as dx")
points = Message(RuntimeError, "{op}(): {needed} samples need as many points, not {count}")
two_widths = Message(RuntimeError, "{op}(): give x or dx, not both")
width = Message(RuntimeError, "{op}(): dx must be a real number, not {dx!r}")
no_bool = Message(RuntimeError, "{op}(): differences need signed numbers; convert with .to(dtype)")
edge_order = Message(RuntimeError, "gradient(): edge_order must be 1 or 2, but is {value}")
repeated = Message(RuntimeError, "gradient(): dim names a dim twice: {dims!t}")
spacings = Message(RuntimeError, "gradient(): {needed} dims need as many spacings, not {count}", "count needed")


@names_called_op
def too_few(size: int, order: int) -> RuntimeError:
    """Error for fewer samples than the formula needs."""
    return RuntimeError(f"gradient(): edge_order {order} needs {order + 1} samples along each dim, not {size}")
