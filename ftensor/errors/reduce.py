"""Errors of reductions."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message

argument_unexpected = Message(TypeError, "{name}(): `{argument}` can't be given {why}")
no_fractions = Message(RuntimeError, "{name}(): {dtype} has no fractions; pass dtype=ftensor.float32, for example")


def nothing_to_reduce(name: str, shape: Sequence[int], dim: int | None) -> str:
    where = f"dim {dim} of shape {tuple(shape)}" if dim is not None else f"shape {tuple(shape)}"
    return f"{name}(): {where} has no elements, and {name} of none has no value"


def empty_input(name: str, shape: Sequence[int], kind: type[Exception]) -> Exception:
    """A reduction without an identity over a tensor without elements."""
    return kind(nothing_to_reduce(name, shape, None) + "; name a dim that has some")


def empty_dim(name: str, shape: Sequence[int], dim: int) -> IndexError:
    """A reduction without an identity over a dim of size 0."""
    return IndexError(nothing_to_reduce(name, shape, dim))


def empty_norm(order: object, shape: Sequence[int], dim: int | None) -> RuntimeError:
    """A norm without an identity over no elements."""
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


def implicit_dim(name: str) -> str:
    """The warning where softmax guesses its dim."""
    return f"{name}(): the dim that was left out is guessed from the number of dims; name it"


def no_identity(name: str, dtype: object, ordered: bool) -> Exception:
    """A masked reduction of a dtype that has no number to stand for what is masked."""
    kind = NotImplementedError if ordered else TypeError
    return kind(f"{name}() has no identity among {dtype} numbers, so none is masked")


mask_of_more_dims = Message(IndexError, "{name}(): the mask has shape {mask!t}, more dims than the input's {shape!t}")
mean_of = Message(ValueError, "masked.mean(): {dtype} has no fractions; pass dtype=ftensor.float32, for example")
nothing_let_through = Message(ValueError, "{name}(): all of a row is masked, and {dtype} has no NaN to say so")
