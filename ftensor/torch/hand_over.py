"""How kernels hand on to the host what they can't do, and what has no kernel goes there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from ..errors import torch_device as errors
from .fallback import run
from .private import all_schemas, has_kernel, has_kernel_for, overload
from .registration import F, aten, everything, impl
from .schema import qualified


def _convolution_backward(grad: Any, input: Any, weight: Any, *args: Any) -> Any:
    transposed, groups = args[3], args[5]
    bias = [weight.shape[1] * groups if transposed else weight.shape[0]]
    return run(overload("convolution_backward"), grad, input, weight, bias, *args)


# What only backends have, by what the host has in its place.
_INSTEAD: dict[str, Callable[..., Any]] = {
    "convolution_overrideable": partial(run, overload("convolution")),
    "convolution_backward_overrideable": _convolution_backward,
}


def on_host(name: str) -> Callable[..., Any]:
    """What runs an overload on the host."""
    return _INSTEAD.get(name) or partial(run, overload(name))


def kernel(*names: str) -> Callable[[F], F]:
    """As `impl`; where the function raises NotImplementedError, the host does it."""

    def register(function: F) -> F:
        for name in names:
            impl(name)(_or(function, on_host(name)))
        return function

    return register


def _or(function: Callable[..., Any], host: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except NotImplementedError:
            return host(*args, **kwargs)

    return either


# Other kinds of tensors than strided ones, by the words in their keys.
_KINDS = {"Sparse": "sparse", "SparseCsr": "sparse", "Quantized": "quantized", "NestedTensor": "nested"}


def _refuse(kind: str) -> Callable[..., Any]:
    def refused(op: Any, *args: Any, **kwargs: Any) -> Any:
        raise errors.other_kind(qualified(op._schema), kind)

    return refused


def install() -> None:
    """Let everything without a kernel come here.

    Structured ops come directly: torch would else allocate a result on the device, and ask for the
    overload that writes it.
    """
    everything.fallback(run, "PrivateUse1")
    for word, kind in _KINDS.items():
        everything.fallback(_refuse(kind), f"{word}PrivateUse1")
    for name in structured():
        if not has_kernel_for(f"aten::{name}", "PrivateUse1"):
            aten.impl(name, on_host(name))


def structured() -> list[str]:
    """The overloads that torch makes of a meta function and the overload that writes the result."""
    schemas = [s for s in all_schemas() if s.name.startswith("aten::")]
    with_out = set()
    for s in schemas:
        if any(a.is_out for a in s.arguments) and has_kernel_for(_name(s), "CPU"):
            with_out.add((s.name, tuple(a.name for a in s.arguments if not a.is_out)))
    return [
        _name(s)[6:]
        for s in schemas
        if (s.name, tuple(a.name for a in s.arguments)) in with_out
        and has_kernel(_name(s))
        and has_kernel_for(_name(s), "CompositeExplicitAutogradNonFunctional")
        and not has_kernel_for(_name(s), "CompositeImplicitAutograd")
        and not any(a.alias_info is not None for a in s.arguments)
    ]


def _name(schema: Any) -> str:
    return schema.name + f".{schema.overload_name}" * bool(schema.overload_name)
