"""The copying forms of views: `transpose_copy` and its relatives."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from ..._tensor import Tensor
from ...errors import view as errors_view
from ...errors.message import call_named
from ...execute import output
from ...execute.copy import clone, write_result
from ...formats import contiguous_format
from ...rows.catalogue import Entry, register
from ...rows.spelling import describe
from .dims import permute, squeeze, t, transpose, unsqueeze, view_as_complex, view_as_real
from .shape import alias, as_strided, detach, diagonal, expand, narrow, select, unfold, view
from .split import split_with_sizes, unbind, unsafe_split

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
