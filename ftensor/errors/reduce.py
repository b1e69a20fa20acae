"""Errors of reductions. Each function returns the exception to raise."""

from __future__ import annotations

from collections.abc import Sequence


def argument_unexpected(name: str, argument: str, why: str) -> TypeError:
    """An argument that makes no sense beside the others."""
    return TypeError(f"{name}(): `{argument}` can't be given {why}")


def no_fractions(name: str, dtype: object) -> RuntimeError:
    """A mean in a dtype without fractions."""
    return RuntimeError(
        f"{name}(): {dtype} has no fractions; pass dtype=ftensor.float32, for example"
    )


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


def out_not_bool(name: str, got: object) -> RuntimeError:
    """An `out=` of all or any."""
    return RuntimeError(f"{name}(): out must be bool or uint8, not {got}")


def out_not_floating(name: str, got: object) -> RuntimeError:
    """An `out=` without fractions."""
    return RuntimeError(f"{name}(): out must be floating point or complex, not {got}")


def norm_dtype(dtype: object, wanted: str) -> RuntimeError:
    """A `dtype=` of another category than the input of a norm."""
    return RuntimeError(f"norm: dtype must be {wanted}, not {dtype}")


def norm_narrows(dtype: object, requested: object) -> RuntimeError:
    """A `dtype=` of a norm that is narrower than the input."""
    return RuntimeError(f"norm: dtype={requested} is narrower than the input's {dtype}")


def norm_order(order: object) -> RuntimeError:
    """A norm of an order that does not exist."""
    return RuntimeError(
        f"there is no vector norm of order {order!r}; orders are numbers, inf, -inf and 'fro'"
    )


def too_many_dims(name: str, ndim: int, most: int) -> RuntimeError:
    """A tensor of more dims than reductions take."""
    return RuntimeError(f"{name}() takes tensors of at most {most} dims, not {ndim}")


def not_summable_to(shape: Sequence[int], size: Sequence[int]) -> RuntimeError:
    """sum_to_size to a shape that would not broadcast back."""
    return RuntimeError(
        f"a tensor of shape {tuple(shape)} can't be summed to {tuple(size)}, which does not "
        f"broadcast to it"
    )


def implicit_dim(name: str) -> str:
    """The warning where softmax guesses its dim."""
    return f"{name}(): the dim that was left out is guessed from the number of dims; name it"


def no_identity(name: str, dtype: object, ordered: bool) -> Exception:
    """A masked reduction of a dtype that has no number to stand for what is masked."""
    kind = NotImplementedError if ordered else TypeError
    return kind(f"{name}() has no identity among {dtype} numbers, so none is masked")


def mask_of_more_dims(name: str, mask: Sequence[int], shape: Sequence[int]) -> IndexError:
    """A mask that cannot be broadcast to its tensor."""
    return IndexError(
        f"{name}(): the mask has shape {tuple(mask)}, more dims than the input's {tuple(shape)}"
    )


def mean_of(dtype: object) -> ValueError:
    """A masked mean in a dtype without fractions."""
    return ValueError(
        f"masked.mean(): {dtype} has no fractions; pass dtype=ftensor.float32, for example"
    )


def nothing_let_through(name: str, dtype: object) -> ValueError:
    """A masked median of no elements, which integers have no number for."""
    return ValueError(f"{name}(): all of a row is masked, and {dtype} has no NaN to say so")
