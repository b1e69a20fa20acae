"""Whether and how a given tensor takes a result: torch's rules for `out=` and in-place ops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import errors
from .._tensor import Tensor
from ..dtypes import can_cast, dtype
from ..iterator.shape import Ints
from ..iterator.stride import full_overlap, has_internal_overlap, partial_overlap
from .memory import new, resize

if TYPE_CHECKING:
    from .._device import device


def region(x: Tensor) -> tuple[int, Ints, Ints, int]:
    """The memory that a tensor reaches, as `iterator.stride` knows it."""
    return x._offset * x._dtype.itemsize, x._shape, x._strides, x._dtype.itemsize


def check_dtype(op: str, out: Tensor, of: dtype, cast: bool = False) -> None:
    """RuntimeError for an output of another dtype; with `cast`, for one that can't hold `of`.

    TypeError for what is no tensor.
    """
    if type(out) is not Tensor:
        raise errors.not_a_tensor(op, "out", out)
    if cast and not can_cast(of, out._dtype):
        raise errors.cannot_cast_result(op, of, out._dtype)
    if not cast and out._dtype is not of:
        raise errors.out_dtype(op, of, out._dtype)


def check_place(op: str, out: Tensor, where: device) -> None:
    """RuntimeError for memory of another device, or that must not be written."""
    if out._storage.device is not where:
        raise errors.different_devices(op, (where, out._storage.device))
    if out._storage.readonly:
        raise errors.read_only(op)


def check_overlap(op: str, out: Tensor, read: Iterable[Any], aligned: bool = False) -> None:
    """RuntimeError for an output that overlaps itself, or what is read.

    `aligned`: an element is written where, or after, it is read, so that an input may be the output
    itself or lie exactly on it.
    """
    if has_internal_overlap(out._shape, out._strides):
        raise errors.output_overlaps_itself(op, out._shape, out._strides)
    for x in read:
        if type(x) is not Tensor or x._storage is not out._storage:
            continue
        if x is out:
            bad = not aligned
        else:
            a, b = region(x), region(out)
            bad = partial_overlap(a, b) or (not aligned and full_overlap(a, b))
        if bad:
            raise errors.output_overlaps_input(op)


def check_written(op: str, out: Tensor, read: Iterable[Any]) -> None:
    """RuntimeError for an output that must not be written, overlaps itself, or what is read."""
    check_place(op, out, out._storage.device)
    check_overlap(op, out, read)


def sized(out: Tensor, shape: Ints, fixed: bool = False, strides: Ints | None = None) -> Tensor:
    """`out` in the result's shape, with torch's warning where it had elements to lose.

    Another shape comes with `strides`, or row-major.
    RuntimeError where it is `fixed`: an op in place, or an output that is read.
    """
    if out._shape != shape:
        if fixed:
            raise errors.output_shape(out._shape, shape)
        if out.numel():
            errors.warn_resized(out._shape, shape)
        resize(out, shape, strides)
    return out


def out_or_new(
    op: str,
    out: Tensor | None,
    shape: Ints,
    of: dtype,
    like: Tensor,
    read: Iterable[Any] = (),
    strides: Ints | None = None,
) -> Tensor:
    """The tensor a result is written to: `out`, resized to fit, or a fresh one on `like`'s device.

    `out` must have the result's dtype, lie on the same device and not overlap what is read.
    """
    if out is None:
        return new(shape, of, like._storage.device, strides)
    check_dtype(op, out, of)
    check_place(op, out, like._storage.device)
    check_overlap(op, out, read)
    return sized(out, shape)
