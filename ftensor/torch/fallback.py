"""CPU fallback: ops without a device kernel are decomposed or run on the host."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable
from functools import partial, wraps
from math import prod
from typing import Any, NamedTuple

import torch
from torch._decomp import decomposition_table
from torch.library import Library

from .._tensor import Tensor
from ..errors import torch as errors
from ..errors.message import levels_to_user
from ..errors.nn import unpool_bounds
from ..execute.capture import thread_capture
from ..runtime.fallback import FallbackWarning, get_fallback
from ..terminal import table
from . import memory
from . import memory as m
from .internals import ExcludeKeys, Key, Keys, all_schemas, has_kernel, has_kernel_for, overload, untyped_storage
from .registration import CPU, F, aten, impl, op_names
from .schema import qualified

_AUTOCAST = Keys(Key.AutocastCPU)


class ArgumentSlot(NamedTuple):
    """An argument of a schema; `is_list` is True for a list."""

    position: int
    name: str
    is_list: bool


class FallbackPlan(NamedTuple):
    """Facts about an op's schema: tensor arguments, written arguments, results that alias
    arguments."""

    name: str
    tensors: tuple[ArgumentSlot, ...]
    written: tuple[ArgumentSlot, ...]
    state: tuple[ArgumentSlot, ...]  # arguments that are written but not returned: the op may resize them
    outs: tuple[ArgumentSlot, ...]
    device: bool
    indexed: bool  # True if index tensors may be on the host
    results: tuple[ArgumentSlot | None, ...]  # the argument that a result aliases; None: new tensor


class TorchFallbackRow(NamedTuple):
    """Calls of an op that ran on the host, and the bytes copied for these."""

    op: str
    calls: int
    bytes_to_host: int
    bytes_back: int


class TorchFallbackReport(tuple[TorchFallbackRow, ...]):
    """The rows of `fallback_report`, which print as a table, the most calls first."""

    __slots__ = ()

    def __new__(cls, rows: Iterable[TorchFallbackRow]) -> TorchFallbackReport:
        return super().__new__(cls, sorted(rows, key=lambda row: (-row.calls, row.op)))

    def reset(self) -> None:
        """Sets all counts to 0. This report keeps its figures."""
        with _lock:
            _counts.clear()

    def __str__(self) -> str:
        if not self:
            return "no op has fallen back to the host"
        head = ("op", "calls", "bytes to host", "bytes back")
        return table([head, *[tuple(row) for row in self]], indent="")

    __repr__ = __str__


_lock = threading.Lock()
_counts: dict[str, list[int]] = {}
_plans: dict[Any, FallbackPlan] = {}


def fallback_report() -> TorchFallbackReport:
    """Returns which overloads of aten ran on the host, how often, and the bytes copied to the host
    and back."""
    with _lock:
        return TorchFallbackReport(TorchFallbackRow(name, *c) for name, c in _counts.items())


def _plan(op: Any) -> FallbackPlan:
    schema = op._schema
    tensors: list[ArgumentSlot] = []
    written: list[ArgumentSlot] = []
    outs: list[ArgumentSlot] = []
    by_set: dict[str, ArgumentSlot] = {}
    device = False
    for i, a in enumerate(schema.arguments):
        kind = str(a.type)
        slot = ArgumentSlot(i, a.name, "List[" in kind)
        device |= a.name == "device"
        if "Tensor" in kind:
            tensors.append(slot)
        if a.alias_info is not None and a.alias_info.is_write:
            (outs if a.is_out else written).append(slot)
            for name in a.alias_info.before_set:
                by_set[name] = slot
    results = []
    for r in schema.returns:
        returned_slot = None
        if r.alias_info is not None and r.alias_info.is_write:
            returned_slot = next((by_set[n] for n in r.alias_info.before_set if n in by_set), None)
        results.append(returned_slot)
    name = schema.name.partition("::")[2] + f".{schema.overload_name}" * bool(schema.overload_name)
    state = tuple(w for w in written if w not in results and not w.is_list)
    written = [w for w in written if w not in state]
    return FallbackPlan(
        name, tuple(tensors), tuple(written), state, tuple(outs), device, "index" in name, tuple(results)
    )


def _check_policy(name: str) -> list[int]:
    """Counts a fallback of op `name` and returns its counters.

    Raises under the policy "error"; under "warn" warns at the first call of an op.
    """
    policy = get_fallback()
    if policy == "error":
        raise errors.fallback_refused(name)
    counts = _counts.get(name)
    if counts is None:
        with _lock:
            counts = _counts.setdefault(name, [0, 0, 0])
        if policy == "warn":
            warnings.warn(errors.falls_back(name), FallbackWarning, stacklevel=levels_to_user())
    counts[0] += 1
    return counts


class _Call:
    """The host storages of the device storages that one fallback call uses."""

    __slots__ = ("copied", "device_storages", "foreign", "host_storages")

    def __init__(self) -> None:
        self.host_storages: dict[int, torch.UntypedStorage] = {}  # by `_cdata` of the device storage
        self.device_storages: dict[int, torch.UntypedStorage] = {}  # by `_cdata` of the host storage
        self.copied = 0
        self.foreign: torch.Tensor | None = None  # a tensor of another device with ndim > 0

    def lower(self, t: Any) -> Any:
        """Returns the host view of a tensor; any other argument is returned unchanged."""
        if type(t) is Tensor:  # a call in a captured graph
            t = m.tensor_over(m.new_storage(t._storage), m.FROM_FT[t._dtype], t._shape, t._strides, t._offset)
        if not isinstance(t, torch.Tensor):
            return t
        if not m.is_here(t):
            if t.dim():
                self.foreign = t
            return t
        storage = untyped_storage(t)
        host_storage = self.host_storages.get(storage._cdata)
        if host_storage is None:
            host_storage = self.host_storages[storage._cdata] = memory.host_storage(storage)
            self.device_storages[host_storage._cdata] = storage
            if storage._ft.ptr is None:
                self.copied += storage.nbytes()
        return memory.on_host(t, host_storage)

    def lift(self, result: Any) -> Any:
        """Returns a result, or the tensors in a list or tuple, as device tensors."""
        if isinstance(result, torch.Tensor):
            return memory.adopt(result, self.device_storages)
        if isinstance(result, (list, tuple)):
            return type(result)([self.lift(x) for x in result])
        return result

    def write_back(self, t: Any) -> int:
        """Copies tensors that the host wrote back to the device; returns the bytes copied."""
        if isinstance(t, (list, tuple)):
            return sum(self.write_back(x) for x in t)
        if not isinstance(t, torch.Tensor) or not m.is_here(t):
            return 0
        storage = untyped_storage(t)
        return memory.mark_written(storage, self.host_storages[storage._cdata])


def _argument_at(slot: ArgumentSlot, args: Any, kwargs: dict[str, Any]) -> Any:
    return args[slot.position] if slot.position < len(args) else kwargs.get(slot.name)


def run(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Runs overload `op` on the host and returns its results on the device."""
    plan = _plans.get(op)
    if plan is None:
        plan = _plans[op] = _plan(op)
    counts = _check_policy(plan.name)
    if (capture := thread_capture()) is not None:
        capture.host_op(plan.name)
    call = _Call()
    positional, keywords = list(args), dict(kwargs) if kwargs else kwargs
    for slot in plan.tensors:
        if slot.position < len(positional):
            value = positional[slot.position]
            positional[slot.position] = (
                [call.lower(x) for x in value] if isinstance(value, (list, tuple)) else call.lower(value)
            )
        elif (value := keywords.get(slot.name)) is not None:
            keywords[slot.name] = (
                [call.lower(x) for x in value] if isinstance(value, (list, tuple)) else call.lower(value)
            )
    if plan.device and keywords.get("device") is not None:
        keywords["device"] = CPU
    if call.foreign is not None and not plan.indexed:
        raise errors.two_devices(call.foreign.device)
    new_outs = _fresh_outs(plan, keywords)
    state_copies = _copy_state(plan.state, positional, keywords, args, kwargs)
    if torch.is_autocast_enabled("cpu"):
        with ExcludeKeys(_AUTOCAST):
            result = op(*positional, **keywords)
    else:
        result = op(*positional, **keywords)
    bytes_back = 0
    for slot in plan.written:
        bytes_back += call.write_back(_argument_at(slot, args, kwargs))
    for out, copy in state_copies:
        _deliver(out, copy)
    for slot in plan.outs:
        if slot.name in new_outs:
            _deliver(kwargs[slot.name], new_outs[slot.name])
        else:
            bytes_back += call.write_back(_argument_at(slot, args, kwargs))
    counts[1] += call.copied
    counts[2] += bytes_back
    results = plan.results
    if len(results) == 1:
        returned_slot = results[0]
        return call.lift(result) if returned_slot is None else _argument_at(returned_slot, args, kwargs)
    if not results:
        return None
    return tuple([call.lift(r) if k is None else _argument_at(k, args, kwargs) for k, r in zip(results, result)])


def _fresh_outs(plan: FallbackPlan, keywords: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Replaces `out` tensors in `keywords` by empty host tensors and returns those by name.

    The op resizes its `out`, and a host view of device memory can't be resized.
    """
    new_outs = {}
    for slot in plan.outs:
        out = keywords.get(slot.name)
        if isinstance(out, torch.Tensor):
            new_outs[slot.name] = keywords[slot.name] = torch.empty(0, dtype=out.dtype)
    return new_outs


def _copy_state(
    state: tuple[ArgumentSlot, ...], positional: list[Any], keywords: dict[str, Any], args: Any, kwargs: dict[str, Any]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Replaces the device tensors of `state` arguments by host copies in `positional` and
    `keywords`.

    Returns (device tensor, host copy) pairs. The op may resize these arguments, as observers of
    ranges do, and a host view of device memory can't be resized.
    """
    pairs = []
    for slot in state:
        value = _argument_at(slot, args, kwargs)
        if isinstance(value, torch.Tensor) and m.is_here(value):
            copy = _argument_at(slot, positional, keywords).clone()
            pairs.append((value, copy))
            if slot.position < len(positional):
                positional[slot.position] = copy
            else:
                keywords[slot.name] = copy
    return pairs


def _deliver(out: torch.Tensor, result: torch.Tensor) -> None:
    if out.shape != result.shape:
        out.resize_(result.shape)
    out.copy_(result)


__all__ = ["fallback_report", "run"]


def _convolution_backward(grad: Any, input: Any, weight: Any, *args: Any) -> Any:
    transposed, groups = args[3], args[5]
    bias = [weight.shape[1] * groups if transposed else weight.shape[0]]
    return run(overload("convolution_backward"), grad, input, weight, bias, *args)


# Host functions for overloads that only exist for backends, by name.
_REPLACEMENTS: dict[str, Callable[..., Any]] = {
    "convolution_overrideable": partial(run, overload("convolution")),
    "convolution_backward_overrideable": _convolution_backward,
}


def on_host(name: str) -> Callable[..., Any]:
    """Returns the function that runs overload `name` on the host."""
    return _REPLACEMENTS.get(name) or partial(run, overload(name))


def kernel(*names: str) -> Callable[[F], F]:
    """Like `impl`, but falls back to the host if the function raises NotImplementedError."""

    def register(function: F) -> F:
        for name in names:
            impl(name)(_or(name, function, on_host(name)))
        return function

    return register


def _or(name: str, function: Callable[..., Any], host: Callable[..., Any]) -> Callable[..., Any]:
    def either(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except NotImplementedError:
            return host(*args, **kwargs)

    # Messages take the name of the outermost function of this package as that of the op.
    either.__code__ = either.__code__.replace(co_name=name.partition(".")[0])
    return wraps(function)(either)


# Kinds of tensors that are not strided, by the prefix of their dispatch key.
_KINDS = {"Sparse": "sparse", "SparseCsr": "sparse", "Quantized": "quantized", "NestedTensor": "nested"}


def _refuse(kind: str) -> Callable[..., Any]:
    def refused(op: Any, *args: Any, **kwargs: Any) -> Any:
        raise errors.other_kind(qualified(op._schema), kind)

    return refused


# torch assembles these from parts on the device without asking for a kernel.
_compressed = Library("aten", "IMPL", "SparseCsrPrivateUse1")
_COMPRESSED = (
    "_sparse_compressed_tensor_unsafe",
    "sparse_compressed_tensor.comp_plain_value_size",
    "sparse_compressed_tensor.comp_plain_value",
    *(
        f"{name}{overload}"
        for kind, words in {"csr": "crow_col", "csc": "ccol_row", "bsr": "crow_col", "bsc": "ccol_row"}.items()
        for name, overload in (
            (f"_sparse_{kind}_tensor_unsafe", ""),
            (f"sparse_{kind}_tensor", f".{words}_value_size"),
            (f"sparse_{kind}_tensor", f".{words}_value"),
        )
    ),
)


def _refuse_made(name: str) -> Callable[..., Any]:
    def refused(*args: Any, **kwargs: Any) -> Any:
        raise errors.other_kind(name.partition(".")[0], "sparse")

    return refused


def install() -> None:
    """Registers `run` as the fallback of all ops without a device kernel.

    Registers structured ops by name: torch would otherwise allocate the result on the device and
    call the overload with `out`.
    """
    op_names.fallback(run, "PrivateUse1")
    for word, kind in _KINDS.items():
        op_names.fallback(_refuse(kind), f"{word}PrivateUse1")
    for name in _COMPRESSED:
        _compressed.impl(name, _refuse_made(name))
    for name in structured():
        if not has_kernel_for(f"aten::{name}", "PrivateUse1"):
            aten.impl(name, on_host(name))


def structured() -> list[str]:
    """Returns the overloads that torch derives from a meta function and an `out` overload."""
    schemas = [s for s in all_schemas() if s.name.startswith("aten::")]
    with_out = set()
    for s in schemas:
        if any(a.is_out for a in s.arguments) and has_kernel_for(_schema_name(s), "CPU"):
            with_out.add((s.name, tuple(a.name for a in s.arguments if not a.is_out)))
    return [
        _schema_name(s)[6:]
        for s in schemas
        if (s.name, tuple(a.name for a in s.arguments)) in with_out
        and has_kernel(_schema_name(s))
        and has_kernel_for(_schema_name(s), "CompositeExplicitAutogradNonFunctional")
        and not has_kernel_for(_schema_name(s), "CompositeImplicitAutograd")
        and not any(a.alias_info is not None for a in s.arguments)
    ]


def _schema_name(schema: Any) -> str:
    return schema.name + f".{schema.overload_name}" * bool(schema.overload_name)


ALLOWED = (
    "_prelu_kernel",
    "_prelu_kernel_backward",
    "_weight_norm_interface",
    "binary_cross_entropy_backward",
    "elu_",
    "glu_backward",
    "logit_backward",
    "unfold_backward",
)


for _name in ALLOWED:
    kernel(_name)(decomposition_table[overload(_name)])


def _unpool(n: int) -> None:
    parts = decomposition_table[overload(f"max_unpool{n}d")]

    @kernel(f"max_unpool{n}d")
    def unpool(self: Any, indices: Any, output_size: Any, *args: Any) -> Any:
        """Checks `indices` and runs the decomposition.

        The decomposition indexes all planes as one array, so an index beyond its plane would
        write to another plane.
        """
        if indices.numel():
            low, high = (int(x) for x in indices.aminmax())
            if low < 0 or high >= prod(output_size):
                raise unpool_bounds(f"max_unpool{n}d", low, high, prod(output_size))
        return parts(self, indices, output_size, *args)


for _n in (2, 3):
    _unpool(_n)
