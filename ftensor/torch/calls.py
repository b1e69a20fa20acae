"""Calls of a captured graph that take ftensor's tensors, or need no dispatcher."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.fx import Node

from .._tensor import Tensor
from ..ops.compose import f
from ..ops.nn import conv_gradients as convolutions
from ..rows.catalogue import ENTRIES
from . import backward, sequences, spatial
from . import memory as m
from .copies import MEMORY
from .fallback import run
from .kernels import PADDING, REDUCTION, SAMPLING, bound, parameters_text
from .private import overload
from .registration import written
from .schema import LINE, inplace, qualified


def _slice(x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _same(x: Tensor) -> Tensor:
    return x


def _strided(x: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    return x.as_strided(tuple(size), tuple(stride), storage_offset)


def _clone(x: Tensor, *, memory_format: Any = None) -> Tensor:
    return x.clone(memory_format=MEMORY[memory_format or torch.preserve_format])


# Views of ftensor's tensors, and copies, by aten's names.
VIEWS: dict[str, Callable[..., Any]] = {
    "_reshape_alias": _strided,
    "_unsafe_view": lambda x, size: x.reshape(size),
    "alias": _same,
    "as_strided": _strided,
    "clone": _clone,
    "detach": _same,
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
}  # fmt: skip


def _batch_norm(
    input: Tensor, weight: Any, bias: Any, mean: Tensor, var: Tensor, training: bool,
    momentum: float, eps: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Batch normalization that returns the running statistics instead of writing them."""
    mean, var = mean.clone(), var.clone()
    made = f.native_batch_norm(input, weight, bias, mean, var, training, momentum, eps)
    return (*made, mean, var)


def _convolution(*args: Any) -> Any:
    try:
        return convolutions.convolution(*args)
    except NotImplementedError:
        return by_host(overload("convolution"), *args)


def _convolution_backward(grad: Any, input: Any, weight: Any, bias_sizes: Any, *args: Any) -> Any:
    return written["convolution_backward_overrideable"](grad, input, weight, *args)


# What captured graphs have under other names than the device's kernels: on ftensor's tensors,
DIRECT: dict[str, Callable[..., Any]] = {
    **VIEWS,
    "_native_batch_norm_legit_functional": _batch_norm,
    "_native_batch_norm_legit_no_training": lambda x, weight, bias, mean, var, momentum, eps: (
        f.native_batch_norm(x, weight, bias, mean, var, False, momentum, eps)
    ),
    "convolution": _convolution,
    "native_group_norm": lambda *args: f.native_group_norm(*args),
    "native_layer_norm": lambda *args: f.native_layer_norm(*args),
}
# and as the hand-written kernels of derivatives, which take ftensor's tensors and torch's.
EITHER = {"convolution_backward": _convolution_backward}


def either(name: str) -> Callable[..., Any] | None:
    """The kernel of a derivative, for tensors of either kind; what it returns is torch's."""
    found = EITHER.get(name) or written.get(name)
    own = backward.__name__, sequences.__name__, spatial.__name__, __name__
    return found if getattr(found, "__module__", "") in own else None


def by_host(op: Any, *args: Any, **kwargs: Any) -> Any:
    """An op on the host, for ftensor's tensors."""
    found = run(op, *args, **kwargs)
    return m.lift(found) if isinstance(found, torch.Tensor) else [m.lift(x) for x in found]


def direct(node: Node, op: Any) -> Callable[..., Any] | None:
    """The function on ftensor tensors that serves a node; None where there is none."""
    if op.namespace != "aten":
        return None
    schema = op._schema
    name = qualified(schema)
    if (found := DIRECT.get(name)) is not None:
        return found
    line = bound.get(name)
    if line is None or inplace(schema) or any(a.is_out for a in schema.arguments):
        return None
    match = LINE.fullmatch(line)
    assert match is not None
    if match[5] is not None and not _holds(match[5], node, schema):
        return None
    return _function(line)


def _holds(condition: str, node: Node, schema: Any) -> bool:
    """Whether a line's condition holds for a node's arguments, as far as these are known."""
    given = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    given |= {a.name: v for a, v in zip(schema.arguments, node.args)} | node.kwargs
    used = {n: v for n, v in given.items() if re.search(rf"\b{n}\b", condition)}
    if any(isinstance(v, Node) for v in used.values()):
        return False
    return bool(eval(condition, {}, used))


@cache
def _function(line: str) -> Callable[..., Any]:
    """A line of the table as a function of ftensor tensors, with its schema's arguments."""
    match = LINE.fullmatch(line)
    assert match is not None
    op = overload(match[1])
    schema, call, inside = op._schema, match[3], match[4]
    head, forward = parameters_text(schema)
    for a in schema.arguments:
        text = {"dtype": "None if dtype is None else DTYPES[dtype]",
                "memory_format": "MEMORY[memory_format or PRESERVE]"}.get(a.name)  # fmt: skip
        if text is not None:
            inside = re.sub(rf"\b{a.name}\b(?!=)", f"({text})", inside)
    of = [a.name for a in schema.arguments if "Tensor" in str(a.type) and "[" not in str(a.type)]
    single = len(schema.returns) == 1 and str(schema.returns[0].type) == "Tensor"
    row = ENTRIES[call].row if call in ENTRIES else None
    made = f"F({inside})"
    if single and row is None:
        made = f"fresh({made}, {', '.join(of)})"
    text = (
        f"def make(F, OP, D):\n    def call({head}):\n        try:\n            return {made}\n"
        f"        except NotImplementedError:\n            return by_host(OP, {forward})\n"
        "    return call\n"
    )
    scope: dict[str, Any] = {
        "DTYPES": m.TO_FT, "MEMORY": MEMORY, "PADDING": PADDING, "PRESERVE": torch.preserve_format,
        "REDUCTION": REDUCTION, "SAMPLING": SAMPLING, "by_host": by_host, "fresh": m.fresh,
    }  # fmt: skip
    exec(compile(text, "<ftensor torch call>", "exec"), scope)
    own = call.startswith("Tensor.")
    function = getattr(Tensor, call[7:]) if own else ENTRIES[call].call
    defaults = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    found: Callable[..., Any] = scope["make"](function, op, defaults)
    return found
