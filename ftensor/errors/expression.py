"""Messages about kernels that a user writes as an expression."""

from __future__ import annotations

from ..terminal import guess
from .message import Message, of_call

not_text = Message(TypeError, "{function}(): `{argument}` must be a str, not {value!r} ({value!k})")
not_name = Message(ValueError, "{function}(): {name!r} can't name a kernel: use letters, digits and '_'")
taken = Message(ValueError, "{function}(): there is an op {name!r} already; give the kernel another name")
not_parameters = Message(
    ValueError,
    "{function}(): {text!r} is no list of parameters in `{argument}`: write types and names, such as 'T x, float32 y'",
)
raw = Message(
    ValueError,
    "{function}(): `{name}` is raw; a kernel sees only its own element: use ft.fpga.opencl_kernel for other accesses",
)
too_many = Message(ValueError, "{function}(): {count} inputs, but a kernel has at most {most}")
no_value = Message(ValueError, "{function}(): a kernel needs an input that is not bool")
named_twice = Message(ValueError, "{function}(): {name!r} names two parameters")
reserved = Message(ValueError, "{function}(): {name!r} is a word of the expression and can't name a parameter")
no_such_type = Message(ValueError, "{function}(): {word!r} is no type{near}")
unknown_placeholder = Message(
    ValueError, "{function}(): the type {word} of {name!r} is the type of no input, so nothing decides it"
)


@of_call
def in_text(function: str, argument: str, text: str, at: int, problem: str) -> ValueError:
    """Error for a place in the text of a kernel. The message shows the line and marks the place."""
    line = text.count("\n", 0, at) + 1
    begin = text.rfind("\n", 0, at) + 1
    shown = text[begin:].split("\n", 1)[0]
    column = at - begin
    first = max(0, column - 40)
    shown, mark = shown[first : first + 80], " " * (column - first) + "^"
    return ValueError(
        f"{function}(): {problem}, at line {line}, column {column + 1} of `{argument}`:\n    {shown}\n    {mark}"
    )


def unknown_name(name: str, known: list[str]) -> str:
    """Returns the problem of a name that a text does not define."""
    return f"{name!r} is not defined{guess(name, known)}"


# Calls

call_count = Message(TypeError, "{kernel} takes {wanted} ({words}), not {given}")
not_an_operand = Message(TypeError, "{kernel}: `{name}` must be a tensor or a number, not {value!k}")
needs_tensor = Message(TypeError, "{kernel} needs a tensor among its arguments")
mismatched = Message(
    TypeError,
    "{kernel}: `{name}` is {found}, but {word} is {known} by `{first}`: convert one of them with .to()",
    "kernel name found word known first",
)
other_dtype = Message(TypeError, "{kernel}: `{name}` must be {wanted}, not {found}: convert it with .to()")
number_kind = Message(TypeError, "{kernel}: `{name}` is {value!r}, which {dtype} can't hold", "kernel name value dtype")
refused_bool = Message(
    TypeError, "{kernel} does not compute in bool: declare a condition as 'bool {name}', or convert it with .to()"
)
no_expression = Message(TypeError, "{kernel} does not compute in {dtype}: {why}")
read_output = Message(
    TypeError, "{kernel}: `{name}` is {found}, but its value is used in an expression of {compute}: declare a variable"
)
