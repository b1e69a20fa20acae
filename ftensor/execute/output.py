"""Where results go: `out=` made ready, and torch's rules against writing over what is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import errors
from .._tensor import Tensor
from ..dtypes import can_cast, dtype
from ..errors import index as errors_index
from ..iterator.shape import Ints
from ..iterator.stride import full_overlap, has_internal_overlap, partial_overlap
from . import memory
from .pointwise import resize_output


def _region(x: Tensor) -> tuple[int, Ints, Ints, int]:
    return x._offset * x._dtype.itemsize, x._shape, x._strides, x._dtype.itemsize


def check_written(name: str, written: Tensor, read: Iterable[Tensor]) -> None:
    """RuntimeError when a tensor about to be written overlaps itself, or one that is read."""
    if written._storage.readonly:
        raise errors.read_only(name)
    if has_internal_overlap(written._shape, written._strides):
        raise errors.output_overlaps_itself(name, written._shape, written._strides)
    for x in read:
        if x is written:
            raise errors.output_overlaps_input(name)
        if x._storage is written._storage:
            a, b = _region(written), _region(x)
            if partial_overlap(a, b) or full_overlap(a, b):
                raise errors.output_overlaps_input(name)


def out_or_new(
    name: str, out: Tensor | None, shape: Ints, of: dtype, like: Tensor,
    read: Iterable[Any] = (), strides: Ints | None = None,
) -> Tensor:  # fmt: skip
    """The tensor a result is written to: `out`, resized to fit, or a fresh one.

    `out` must have the result's dtype, lie on the same device and not overlap what is read.
    """
    if out is None:
        return memory.new(shape, of, like._storage.device, strides)
    if not isinstance(out, Tensor):
        raise errors_index.not_a_tensor(name, "out", out)
    if out._dtype is not of:
        raise errors_index.out_dtype(name, of, out._dtype)
    if out._storage.device is not like._storage.device:
        raise errors.different_devices(name, (like.device, out.device))
    check_written(name, out, [x for x in read if isinstance(x, Tensor)])
    if out._shape != shape:
        resize_output(out, shape)
    return out


def into(name: str, out: Tensor | None, made: Tensor, cast: bool = False) -> Tensor:
    """A result, or `out` with the result in it; with `cast`, of any dtype that can hold it."""
    if out is None:
        return made
    if out._dtype is not made._dtype and not (cast and can_cast(made._dtype, out._dtype)):
        raise errors_index.out_dtype(name, made._dtype, out._dtype)
    if out._storage.device is not made._storage.device:
        raise errors.different_devices(name, (made.device, out.device))
    if out._shape != made._shape:
        resize_output(out, made._shape)
    return memory.copy_(out, made)
