"""Comparison and sharing of two tensors' memory, and the copying forms of views: `transpose_copy`
and its relatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from itertools import pairwise
from typing import Any

from ..._tensor import Tensor, method
from ...errors import view as errors_view
from ...errors.message import call_named
from ...execute import output
from ...execute.output import new
from ...execute.pointwise import clone, write_result
from ...formats import channels_last, channels_last_3d, contiguous_format, memory_format
from ...iterator.plan import loop_order
from ...iterator.shape import contiguous_strides, normalize_dim
from ...rows.catalogue import Entry, op, register
from ...rows.spelling import describe
from . import layout as view_math
from .dims import permute, squeeze, t, transpose, unsqueeze, view_as_complex, view_as_real
from .layout import as_int, int_list, layout
from .shape import alias, as_strided, detach, diagonal, expand, narrow, select, unfold, view
from .split import split_with_sizes, unbind, unsafe_split


@op()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """True if the shapes are equal."""
    return layout(input, "is_same_size")[0] == layout(other, "is_same_size", "other")[0]


@op(function=False)
def is_set_to(input: Tensor, tensor: Tensor) -> bool:
    """True if both are the same elements of one memory, with the same shape and strides."""
    same_geometry = layout(input, "is_set_to") == layout(tensor, "is_set_to", "tensor")
    return same_geometry and input._storage is tensor._storage and input._dtype is tensor._dtype


@op(function=False)
def set_(
    input: Tensor,
    source: Tensor | None = None,
    storage_offset: int = 0,
    size: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
) -> Tensor:
    """Makes the tensor share another's memory, with its layout or with the given one, in elements
    of its storage. Without `source` it becomes empty. Raises RuntimeError for another dtype and a
    layout beyond the storage's end."""
    layout(input, "set_")
    if source is None:
        return input._become(new((0,), input._dtype, input._storage.device))
    geometry = layout(source, "set_", "source")
    if source._dtype is not input._dtype:
        raise errors_view.set_dtype(input._dtype, source._dtype)
    if size is not None:
        shape = int_list(size, "set_", "size")
        strides = contiguous_strides(shape) if stride is None else int_list(stride, "set_", "stride")
        start = as_int(storage_offset, "set_", "storage_offset")
        source._start_is_read()
        itemsize, nbytes = source._dtype.itemsize, source._storage.nbytes
        geometry = view_math.as_strided(shape, strides, start, itemsize, nbytes)
    return input._become(source._view(*geometry))


_ORDERS = {contiguous_format: None, channels_last: 4, channels_last_3d: 5}


@op(function=False)
def dim_order(input: Tensor, *, ambiguity_check: bool | list[memory_format] = False) -> tuple[int, ...]:
    """Returns the dims in their memory order, outermost first. `ambiguity_check` raises
    RuntimeError if dims of size 1 or equal strides leave the order open; a list of memory formats
    raises unless exactly one of them fits. Raises TypeError for another argument."""
    shape, strides, _ = layout(input, "dim_order")
    formats_to_check: Any = ambiguity_check
    formats = formats_to_check if isinstance(formats_to_check, list) else []
    if not isinstance(formats_to_check, (bool, list)) or not set(map(type, formats)) <= {memory_format}:
        raise errors_view.ambiguity_check(formats_to_check)
    fits = [f for f in formats if _ORDERS.get(f) in (None, len(shape)) and input.is_contiguous(f)]
    open_ = 1 in shape or any(a == b for a, b in pairwise(strides))
    if formats_to_check and open_ and len(fits) != 1:
        raise errors_view.ambiguous_dims(shape, strides)
    is_contiguous, last = input.is_contiguous(), input.is_contiguous(channels_last)
    if is_contiguous != last:
        return tuple(range(len(shape))) if is_contiguous else (0, 2, 3, 1)
    if formats_to_check and 0 in strides:
        raise errors_view.ambiguous_dims(shape, strides)
    return loop_order(shape, (strides,))


@op(method=False)
def slice_copy(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of `start:end:step` of a dim, or writes it to `out`. Raises RuntimeError for a
    step that is not positive."""
    geometry = layout(input, "slice_copy")
    if not geometry[0]:
        raise errors_view.scalar_has_no_dims("slice_copy", kind=IndexError)
    dim = normalize_dim(as_int(dim, "slice_copy", "dim"), len(geometry[0]))
    if as_int(step, "slice_copy", "step") < 1:
        raise errors_view.slice_step(step, RuntimeError)
    first = 0 if start is None else as_int(start, "slice_copy", "start")
    last = geometry[0][dim] if end is None else as_int(end, "slice_copy", "end")
    sliced = input._view(*view_math.slice_dim(*geometry, dim, first, last, step))
    return clone(sliced, contiguous_format) if out is None else write_result("slice_copy", out, sliced)


@method("__reversed__")
def reversed_(self: Tensor) -> Tensor:
    """Returns a copy with the first dim reversed."""
    return self.flip((0,)) if self._shape else self


VIEWS = (
    alias, as_strided, detach, diagonal, expand, narrow, permute, select, unsafe_split,
    split_with_sizes, squeeze, t, transpose, unbind, unfold, unsqueeze, view, view_as_complex,
    view_as_real,
)  # fmt: skip

# torch has a method for only one of these.
METHODS = ("narrow_copy",)


def _narrow(input: Tensor, dim: int, *args: Any, **kwargs: Any) -> Tensor:
    """`narrow` for its copying form, which raises another exception class for a dim out of
    range."""
    if isinstance(input, Tensor) and isinstance(dim, int) and 0 < input.ndim <= dim:
        raise errors_view.narrow_copy_dim(dim, input.ndim)
    return narrow(input, dim, *args, **kwargs)


_narrow.__qualname__ = "narrow_copy"  # in Python's errors


def copying(name: str, view: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that copies the result of a view op, or writes it to `out`."""

    def copied(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        view_result = call_named(view, *args, **kwargs)
        if isinstance(view_result, Tensor):
            return clone(view_result, contiguous_format) if out is None else write_result(name, out, view_result)
        if out is None:
            if view_result:
                output.check_capacity(
                    view_result[0], sum(view_item.numel() for view_item in view_result), view_result[0]._dtype
                )
            return tuple(clone(view_item, contiguous_format) for view_item in view_result)
        for target, view_item in zip(out, view_result):
            write_result(name, target, view_item)
        return None

    copied.__name__ = copied.__qualname__ = name
    return copied


for _view in VIEWS:
    _name = f"{_view.__name__.removeprefix('unsafe_')}_copy"
    _call = copying(_name, _narrow if _view is narrow else _view)
    _out = Parameter("out", Parameter.KEYWORD_ONLY, default=None)
    _shown = signature(_view)
    _listed = list(_shown.parameters.values())
    _call.__signature__ = _shown.replace(parameters=[*_listed, _out])  # type: ignore[attr-defined]
    _call.__doc__ = f"Returns a copy of `{_name[:-5]}`, in new memory or in `out`."
    describe(_call, register(Entry(_name, _call, method=_name in METHODS)).forms)
