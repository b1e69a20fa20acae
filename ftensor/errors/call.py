"""Messages about reading tensors and calling ops."""

from __future__ import annotations

import warnings
from collections.abc import Sequence


def not_one_element(shape: Sequence[int]) -> RuntimeError:
    """`item()` of a tensor that does not hold exactly one element."""
    return RuntimeError(
        f"a Tensor of shape {tuple(shape)} has no single value; index one element, or use tolist()"
    )


def not_one_number(shape: Sequence[int]) -> ValueError:
    """`int()`, `float()` or `complex()` of a tensor that does not hold exactly one element."""
    return ValueError(
        "only tensors of one element can be made a Python number, "
        f"not one of shape {tuple(shape)}; use tolist()"
    )


def ambiguous_truth(shape: Sequence[int]) -> RuntimeError:
    """The truth of a tensor that does not hold exactly one element."""
    return RuntimeError(
        f"the truth of a Tensor of shape {tuple(shape)} is ambiguous; use any() or all()"
    )


def not_an_index(dtype: object, shape: Sequence[int]) -> TypeError:
    """A tensor used where Python wants an integer."""
    return TypeError(
        f"only integer tensors of a single element can be an index, not {dtype} of {tuple(shape)}"
    )


def len_of_zero_dim() -> TypeError:
    """`len()` of a 0-d tensor."""
    return TypeError("a 0-d tensor has no len(); numel() is 1")


def iteration_over_zero_dim() -> TypeError:
    """Iterating over a 0-d tensor."""
    return TypeError("a 0-d tensor can't be iterated over; item() gives its value")


def needs_a_tensor(op: str, inputs: Sequence[object]) -> TypeError:
    """An op called with numbers alone."""
    kinds = ", ".join(type(x).__name__ for x in inputs)
    return TypeError(f"{op}(): at least one argument must be a Tensor, but got {kinds}")


def not_a_tensor_or_number(op: str, value: object) -> TypeError:
    """An op's operand that is neither a tensor nor a number."""
    kind = type(value)
    makers = {"numpy": "from_numpy", "torch": "from_torch"}
    maker = makers.get(kind.__module__.partition(".")[0], "as_tensor")
    if maker == "as_tensor" and hasattr(value, "__dlpack__"):
        maker = "from_dlpack"
    return TypeError(
        f"{op}(): arguments must be ftensor's Tensors or Python numbers, not "
        f"{kind.__module__}.{kind.__qualname__}; ft.{maker}(x) makes a Tensor of it"
    )


def argument_type(op: str, argument: str, wanted: str, value: object) -> TypeError:
    """An argument of a type that an op does not take."""
    return TypeError(f"{op}(): `{argument}` must be {wanted}, not {value!r}")


def not_a_tensor(op: str, argument: str | int, value: object) -> TypeError:
    """Something else where a tensor is wanted; the argument by its name, or its place from 1 on."""
    return TypeError(
        f"{op}(): argument {argument!r} must be a Tensor, not {type(value).__name__} {value!r}; "
        "ft.tensor(x) makes one of a number"
    )


def missing_argument(op: str, argument: str) -> TypeError:
    """A call without an argument that it cannot do without."""
    return TypeError(f"{op}() needs the argument `{argument}`")


def out_dtype(op: str, needed: object, given: object) -> RuntimeError:
    """An `out=` (or an in-place tensor) that must have exactly the result's dtype."""
    return RuntimeError(f"{op}(): expected out to have dtype {needed}, but got {given}")


def different_devices(op: str, devices: Sequence[object]) -> RuntimeError:
    """Operands of one op on more than one device."""
    found = ", ".join(sorted({str(d) for d in devices}))
    return RuntimeError(
        f"{op}(): all tensors must be on the same device, but they are on {found}; "
        "move them with .to(device)"
    )


def not_implemented_for(op: str, dtype: object) -> NotImplementedError:
    """An op that has no meaning for a dtype."""
    return NotImplementedError(f'"{op}" not implemented for {dtype}; convert with .to(dtype)')


def dtype_not_supported(op: str, dtype: object) -> RuntimeError:
    """A dtype that an op refuses where torch raises RuntimeError itself."""
    return RuntimeError(f"{op}() does not support {dtype} tensors; convert with .to(dtype)")


def floating_only(op: str, dtype: object) -> RuntimeError:
    """Integers where floating point or complex numbers are needed."""
    return RuntimeError(
        f"{op}() takes floating point or complex tensors, not {dtype}; convert with .float()"
    )


def dtypes_differ(op: str, dtypes: Sequence[object]) -> RuntimeError:
    """Operands that are not promoted and must have one dtype."""
    given = " and ".join(str(d) for d in dtypes)
    return RuntimeError(
        f"{op}(): expected all operands to have the same dtype, but got {given}; "
        "convert them with .to(dtype)"
    )


def cannot_cast_result(op: str, result: object, out: object) -> RuntimeError:
    """A result whose category the given output cannot hold."""
    return RuntimeError(
        f"{op}(): result type {result} can't be cast to the desired output type {out}"
    )


def output_overlaps_itself(op: str, shape: Sequence[int], strides: Sequence[int]) -> RuntimeError:
    """An in-place op on a tensor whose elements share memory."""
    return RuntimeError(
        f"{op}(): unsupported operation: more than one element of the written-to tensor refers to "
        f"a single memory location (shape {tuple(shape)}, strides {tuple(strides)}); "
        "clone() the tensor first"
    )


def output_overlaps_input(op: str) -> RuntimeError:
    """An output that shares some, but not all, of its memory with an input."""
    return RuntimeError(
        f"{op}(): unsupported operation: some elements of the input tensor and the written-to "
        "tensor refer to a single memory location; clone() one of them first"
    )


def warn_resized(old: Sequence[int], new: Sequence[int]) -> None:
    """torch's warning for an `out=` whose shape is not the result's."""
    warnings.warn(
        f"An output with one or more elements was resized since it had shape {list(old)}, which "
        f"does not match the required output shape {list(new)}. Resize it with out.resize_(0) "
        "before, or give an empty tensor.",
        UserWarning,
        stacklevel=5,
    )


def memory_format_ndim(wanted: object, need: int, ndim: int) -> RuntimeError:
    """A memory format for another number of dims."""
    return RuntimeError(f"{wanted} needs a {need}-d tensor, but this one has {ndim} dims")


def bad_to_argument(value: object) -> TypeError:
    """`to()` with something that names neither dtype nor device."""
    return TypeError(
        f"to() takes a dtype, a device or a Tensor, not {type(value).__name__} {value!r}"
    )


def fill_value_dims(shape: Sequence[int]) -> RuntimeError:
    """`fill_` with a tensor that has dims."""
    return RuntimeError(
        f"fill_ takes a number or a 0-d tensor, but the value has shape {tuple(shape)}; use copy_"
    )


def complex_to_real_value(value: complex, dtype: object) -> RuntimeError:
    """A complex number for a tensor of a real dtype."""
    return RuntimeError(f"the value {value} cannot be converted to {dtype} without overflow")


def read_only(op: str) -> RuntimeError:
    """A write (in place, or out=) to memory that its owner shares for reading only."""
    return RuntimeError(
        f"{op}: the output's memory is read-only (it was imported from a read-only array); "
        f"write to a clone() instead"
    )


def contains_no_such(element: object) -> RuntimeError:
    """`x in tensor` of something that no element can equal."""
    return RuntimeError(
        f"`in` asks a tensor for a number or a tensor, not for {element!r} "
        f"({type(element).__name__})"
    )


def taken_name(name: str) -> ValueError:
    """A row under the name of an op that is there."""
    return ValueError(
        f"add_rows(): there is an op ftensor.{name} already; give the row another name"
    )
