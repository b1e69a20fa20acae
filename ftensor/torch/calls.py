"""Functions on ftensor tensors for the nodes of an FX graph: these calls skip the dispatcher."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node

from .. import arange, constant_pad_nd, full, full_like
from .._tensor import Tensor
from ..execute.pointwise import convert, copy
from ..iterator.shape import numel
from ..ops.index.index import put
from ..ops.linalg.matmul import flat
from ..ops.nn.layers.norm import native_batch_norm
from . import memory as m
from .copies import MEMORY
from .kernels import bound, make
from .memory import TO_FT, device_of_calls, unaliased
from .schema import LINE, derived, qualified


def _slice(x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _identity(x: Tensor) -> Tensor:
    return x


def _strided(x: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    return x.as_strided(tuple(size), tuple(stride), storage_offset)


def _clone(x: Tensor, *, memory_format: Any = None) -> Tensor:
    return x.clone(memory_format=MEMORY[memory_format or torch.preserve_format])


# Views and copies on ftensor tensors, by the names of aten's overloads.
VIEWS: dict[str, Callable[..., Any]] = {
    "_reshape_alias": _strided,
    "_unsafe_view": lambda x, size: x.reshape(size),
    "alias": _identity,
    "as_strided": _strided,
    "clone": _clone,
    "detach": _identity,
    "diagonal": lambda x, offset=0, dim1=0, dim2=1: x.diagonal(offset, dim1, dim2),
    "expand": lambda x, size, implicit=False: x.expand(size),
    "permute": lambda x, dims: x.permute(dims),
    "select.int": lambda x, dim, index: x.select(dim, index),
    "slice.Tensor": _slice,
    "split.Tensor": lambda x, size, dim=0: x.split(size, dim),
    "split_with_sizes": lambda x, sizes, dim=0: x.split(sizes, dim),
    "squeeze": lambda x: x.squeeze(),
    "squeeze.dim": lambda x, dim: x.squeeze(dim),
    "squeeze.dims": lambda x, dims: x.squeeze(tuple(dims)),
    "t": lambda x: x.t(),
    "transpose.int": lambda x, dim0, dim1: x.transpose(dim0, dim1),
    "unbind.int": lambda x, dim=0: x.unbind(dim),
    "unfold": lambda x, dim, size, step: x.unfold(dim, size, step),
    "unsqueeze": lambda x, dim: x.unsqueeze(dim),
    "view": lambda x, size: x.view(size),
}


def _copy(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    return copy(src.expand(self.shape), self)


def embedding(weight: Tensor, indices: Tensor, *_: Any) -> Tensor:
    """Returns the rows of `weight` that `indices` selects."""
    index_shape = indices._shape
    if len(index_shape) == 1:
        return weight.index_select(0, indices)
    rows = weight.index_select(0, flat(indices, (numel(index_shape),)))
    return flat(rows, (*index_shape, *weight._shape[1:]))


def _full(size: Any, value: Any, *, dtype: Any = None, **_: Any) -> Tensor:
    return full(tuple(size), value, dtype=_dtype(dtype), device=device_of_calls())


def _full_like(x: Tensor, value: Any, *, dtype: Any = None, memory_format: Any = None, **_: Any) -> Tensor:
    target_format = MEMORY[memory_format or torch.preserve_format]
    return full_like(x, value, dtype=_dtype(dtype), memory_format=target_format)


def arange_of_call(*bounds: Any, dtype: Any = None, **_: Any) -> Tensor:
    """Returns arange of one, two or three bounds on the device."""
    return arange(*bounds, dtype=_dtype(dtype), device=device_of_calls())


def _index(x: Tensor, indices: Any) -> Tensor:
    positions = _positions(indices)
    return unaliased(x[positions[0] if len(positions) == 1 else positions], x)


def _index_put(x: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    result = x.clone()
    put(result, _positions(indices), values, accumulate)
    return result


def _positions(indices: Any) -> tuple[Any, ...]:
    return tuple([slice(None) if t is None else t for t in indices])


def _to(x: Tensor, *, dtype: Any = None, memory_format: Any = None, **_: Any) -> Tensor:
    target_format = MEMORY[memory_format or torch.preserve_format]
    return convert(x, _dtype(dtype) or x.dtype, x.device, True, target_format)


def _dtype(torch_dtype: torch.dtype | None) -> Any:
    return None if torch_dtype is None else TO_FT[torch_dtype]


def _batch_norm(
    input: Tensor, weight: Any, bias: Any, mean: Tensor, var: Tensor, training: bool, momentum: float, eps: float
) -> tuple[Tensor, ...]:
    """Functional batch normalization: returns updated copies of the running statistics."""
    mean, var = mean.clone(), var.clone()
    results = native_batch_norm(input, weight, bias, mean, var, training, momentum, eps)
    return (*results, mean, var)


# Functions on ftensor tensors for overloads that occur in FX graphs but have no line in
# `table.txt`.
DIRECT: dict[str, Callable[..., Any]] = {
    **VIEWS,
    "_to_copy": _to,
    "add.Scalar": lambda x, other, alpha=1: x.add(other, alpha=alpha),
    "arange.start_step": arange_of_call,
    "constant_pad_nd": lambda x, pad, value=0: unaliased(constant_pad_nd(x, tuple(pad), value), x),
    "div.Scalar": lambda x, other: x / other,
    "embedding": embedding,
    "full": _full,
    "full_like": _full_like,
    "index.Tensor": _index,
    "index_put": _index_put,
    "scalar_tensor": lambda value, **options: _full((), value, **options),
    "sub.Scalar": lambda x, other, alpha=1: x.sub(other, alpha=alpha),
    "_native_batch_norm_legit_functional": _batch_norm,
    "_native_batch_norm_legit_no_training": lambda x, weight, bias, mean, var, momentum, eps: native_batch_norm(
        x, weight, bias, mean, var, False, momentum, eps
    ),
}
# Ops that torch decomposes before it calls a backend in eager mode, but keeps whole in a graph.
WHOLE = ("convolution", "convolution_backward")


def direct_function(node: Node, op: Any) -> Callable[..., Any] | None:
    """Returns the function on ftensor tensors that computes `node`, or None if there is none.

    Checks the condition of the table's line against the node's arguments. Ops that write an
    argument have none, except a `copy_` into an input of the graph.
    """
    if op.namespace != "aten":
        return None
    schema = op._schema
    name = qualified(schema)
    if (function := DIRECT.get(name)) is not None:
        return function
    if name == "copy_" and _slice_reaches_end(node):
        return _copy
    line = derived(schema) if name in WHOLE else bound.get(name)
    is_written = [a.alias_info is not None and a.alias_info.is_write for a in schema.arguments]
    if line is None or any(is_written):
        return None
    match = LINE.fullmatch(line)
    assert match is not None
    if match[5] is not None and not _condition_holds(match[5], node, schema):
        return None
    return make(line, direct=True)


def _slice_reaches_end(node: Node) -> bool:
    """True if `node` copies into a real device tensor that is an input, and no node uses it."""
    end = node.args[0]
    if not isinstance(end, Node) or end.op != "placeholder" or node.users:
        return False
    return m.is_here(end.meta["val"]) and not end.meta["val"].is_complex()


def _condition_holds(condition: str, node: Node, schema: Any) -> bool:
    """True if a line's condition holds for the node's arguments; False if it reads a tensor."""
    arguments = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    arguments |= {a.name: v for a, v in zip(schema.arguments, node.args)} | node.kwargs
    known_values = {n: v for n, v in arguments.items() if re.search(rf"\b{n}\b", condition)}
    if any(isinstance(v, Node) for v in known_values.values()):
        return False
    return bool(eval(condition, {}, known_values))
