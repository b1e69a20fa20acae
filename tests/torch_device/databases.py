"""torch's databases of ops and modules: their samples on the device against the CPU.

A sample passes if results and gradients equal the CPU's. If they exceed torch's tolerance, double
precision decides: the device must be within the tolerance of it, or have at most twice the CPU's
error.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import torch
from torch.testing._internal import common_methods_invocations as invocations
from torch.utils._pytree import tree_leaves, tree_map

import ftensor.torch

from ..op_samples import first_samples

SAMPLES = 4  # of each op: the first samples
DTYPES = (torch.float32, torch.int64, torch.complex64, torch.bfloat16)
WIDER = {torch.float32: torch.float64, torch.bfloat16: torch.float64, torch.float16: torch.float64}
WIDER[torch.complex64] = torch.complex128
# Ops whose results are uninitialized memory.
UNDETERMINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty"}
UNDETERMINED |= {"new_empty_strided", "resize_", "resize_as_"}
# Ops for which torch wants every tensor but the first on the CPU.
OTHERS_ON_CPU = {"tensor_split"}
ON_HOST = Path(__file__).with_name("on_host.txt")  # float32 ops that need the host


def _unseeded(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return op(*args, **kwargs)


class Ran(NamedTuple):
    """Results of a call: tensors, other values, and gradients of its leaves."""

    results: list[Any]
    grads: list[torch.Tensor | None]


class Found(NamedTuple):
    """The check of an op: the first error ("" if none), and the ops that the host ran."""

    name: str
    error: str
    fallbacks: tuple[str, ...]


def dtype_name(dtype: torch.dtype) -> str:
    """Returns a dtype's name."""
    return str(dtype).removeprefix("torch.")


# The database, without entries that torch has only for other devices.
OPS = [op for op in invocations.op_db if not op.name.startswith("jiterator_")]


def ops(dtype: torch.dtype) -> list[Any]:
    """Returns the ops that support a dtype on the CPU."""
    return [op for op in OPS if dtype in op.supported_dtypes("cpu")]


def placed(value: Any, device: str, wide: bool = False) -> Any:
    """Returns an argument on a device, in double precision if `wide`.

    A tensor is a leaf with the CPU tensor's memory layout, since some samples read around it.
    """
    if isinstance(value, torch.dtype):
        return WIDER.get(value, value) if wide else value
    if isinstance(value, torch.Tensor):
        dtype = WIDER.get(value.dtype, value.dtype) if wide else value.dtype
        tensor = value.detach()
        strided = tensor.layout is torch.strided
        if strided and tensor.untyped_storage().nbytes() != tensor.numel() * tensor.itemsize:
            around = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
            around = around.to(device, dtype, copy=True)
            tensor = around.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()).detach()
        else:
            tensor = tensor.to(device, dtype, copy=True)
        return tensor.requires_grad_(value.requires_grad)
    if isinstance(value, torch.nn.Module):
        return deepcopy(value).to(device, torch.float64 if wide else None)
    if isinstance(value, torch.device) or (isinstance(value, str) and value == "cpu"):
        return torch.device(device)
    return value


def run(call: Callable[..., Any], args: Any, kwargs: Any, finish: Any, device: str) -> Ran:
    """Runs a call and its gradients, for outer gradients that are equal on every device."""
    with warnings.catch_warnings(), torch.device(device):
        warnings.simplefilter("ignore")
        result = call(*args, **kwargs)
        results = [r.detach() if isinstance(r, torch.Tensor) else r for r in tree_leaves(result)]
        leaves = tree_leaves((args, kwargs))
        leaves += [p for m in leaves if isinstance(m, torch.nn.Module) for p in m.parameters()]
        wanting = [t for t in leaves if isinstance(t, torch.Tensor) and t.requires_grad]
        if not wanting:
            return Ran(results, [])
        outputs = [t for t in tree_leaves(finish(result)) if isinstance(t, torch.Tensor) and t.requires_grad]
        if not outputs:
            return Ran(results, [])
        random = torch.Generator().manual_seed(1)
        outer = [drawn(t, random).to(device, t.dtype) for t in outputs]
        return Ran(results, list(torch.autograd.grad(outputs, wanting, outer, allow_unused=True)))


def drawn(like: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Returns random numbers that every dtype can represent."""
    wide = torch.complex128 if like.is_complex() else torch.float64
    numbers = torch.randn(like.shape, generator=random, dtype=wide, device="cpu")
    if like.is_complex():
        return torch.view_as_complex(torch.view_as_real(numbers).bfloat16().double())
    return numbers.bfloat16()


ROUNDINGS = 16 * 2.0**-24  # relative to the largest float32 element


def same(actual: Any, wanted: Any, exact: Callable[[], Any], values: bool = True) -> None:
    """Compares a result of the device with the CPU's, and with `exact()` if they differ."""
    if not isinstance(wanted, torch.Tensor):
        assert not values or actual == wanted or actual != actual, f"{actual!r}, not {wanted!r}"
        return
    assert actual.device.type == "fpga", f"a result on {actual.device}"
    assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape), (
        f"{actual.dtype} {tuple(actual.shape)}, not {wanted.dtype} {tuple(wanted.shape)}"
    )
    if not values:
        return
    mine = actual.cpu()
    if close(mine, wanted):
        return
    truth = exact()
    if close(mine, truth.to(mine.dtype)):
        return
    off, theirs = max_distance(mine, truth), max_distance(wanted, truth)
    # If large terms cancel, either side may be closer by chance.
    finite = torch.where(truth.isfinite(), truth, 0)
    rounding = ROUNDINGS * max_distance(finite, torch.zeros_like(finite))
    assert off <= max(2 * theirs, rounding), f"off by {off}, the CPU by {theirs}"


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    """True within torch's tolerance of a dtype."""
    try:
        torch.testing.assert_close(one, other, equal_nan=True)
    except AssertionError:
        return False
    return True


def max_distance(t: torch.Tensor, truth: torch.Tensor) -> float:
    """Returns the largest distance of two tensors. Elements where both are NaN, or the same
    infinity, do not count."""
    t, truth = t.to(truth.dtype).resolve_conj(), truth.resolve_conj()
    wrong = ~((t == truth) | (t.isnan() & truth.isnan()))
    return float((t - truth).abs()[wrong].nan_to_num(torch.inf).max()) if wrong.any() else 0.0


def compare(
    call: Callable[..., Any],
    args: Any,
    kwargs: Any,
    finish: Any = lambda x: x,
    values: bool = True,
    here: Callable[..., Any] | None = None,
) -> None:
    """Compares a call on the device with the CPU (or with `here`, twice). Only the shapes of random
    results are compared."""
    runs = []
    there = [(call, "cpu", 0), (call, "cpu", 1)]
    for what, device, seed in there + [(here or call, "fpga", 0)] * (1 if here is None else 2):
        torch.manual_seed(seed)
        operands = tree_map(partial(placed, device=device), (args, kwargs))
        runs.append(run(what, *operands, finish, device))
    wanted, again, actual = runs[0], runs[1], runs[-1]
    values = values and equal(wanted, again)

    def exact() -> Ran:
        operands = tree_map(partial(placed, device="cpu", wide=True), (args, kwargs))
        torch.manual_seed(0)
        return run(call, *operands, finish, "cpu")

    for part in ("results", "grads"):
        mine, theirs = getattr(actual, part), getattr(wanted, part)
        assert len(mine) == len(theirs), f"{len(mine)} {part}, not {len(theirs)}"
        for k, (a, b) in enumerate(zip(mine, theirs)):
            try:
                same(a, b, lambda: getattr(exact(), part)[k], values)  # noqa: B023 - called here
            except AssertionError as error:
                raise AssertionError(f"{part}[{k}]: {error}") from error


def equal(one: Ran, other: Ran) -> bool:
    """Returns whether two runs with different seeds have equal results, so the call draws no random
    numbers."""
    for a, b in zip([*one.results, *one.grads], [*other.results, *other.grads]):
        if isinstance(a, torch.Tensor):
            if a.shape != b.shape or a.layout != b.layout:
                return False
            if a.layout is torch.strided and not torch.allclose(a, b, 0, 0, equal_nan=True):
                return False
        elif a != b and a == a:
            return False
    return True


def samples(op: Any, dtype: torch.dtype, count: int) -> Sequence[Any]:
    """Returns the first samples of an op. If there are fewer than SAMPLES, it returns those with
    the most elements."""
    grads = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    first = first_samples(op, dtype, SAMPLES, requires_grad=grads)
    if count < SAMPLES:
        return sorted(first, key=size)[-count:]
    return first


def size(sample: Any) -> int:
    """Returns the number of elements of a sample's input; the first samples of some ops have none."""
    return sum(t.numel() for t in tree_leaves(sample.input) if isinstance(t, torch.Tensor))


def with_others(call: Callable[..., Any], sample: Any) -> Callable[..., Any]:
    """Returns a call that takes only a sample's input; the other arguments are fixed."""

    def of_one(input: Any) -> Any:
        return call(input, *sample.args, **sample.kwargs)

    return of_one


def compiled(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a call compiled by `torch.compile` with an empty cache."""
    torch._dynamo.reset()
    return torch.compile(call, backend="ftensor")


def check(op: Any, dtype: torch.dtype, count: int = SAMPLES, compiles: bool = False) -> Found:
    """Checks an op on the device, forward and backward, by its samples."""
    jitted = None
    ftensor.torch.fallback_report().reset()
    error = ""
    for k, sample in enumerate(samples(op, dtype, count)):
        try:
            call, args, kwargs = op.op, (sample.input, *sample.args), sample.kwargs
            if op.name in OTHERS_ON_CPU:
                call, args, kwargs = with_others(call, sample), (sample.input,), {}
            if compiles and (jitted is None or op.name in OTHERS_ON_CPU):
                jitted = compiled(call)
            finish = sample.output_process_fn_grad
            # The database seeds some ops itself; here the test's seed determines random numbers.
            with mock.patch.object(invocations, "wrapper_set_seed", _unseeded):
                compare(call, args, kwargs, finish, op.name not in UNDETERMINED, jitted)
        except Exception as raised:  # noqa: BLE001 - whatever it is, the op is not right
            error = error or f"sample {k}: {type(raised).__name__}: {raised}"
    rows = ftensor.torch.fallback_report()
    return Found(op.full_name, error, tuple(sorted(row.op for row in rows)))


def call_module(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
    """Returns a module's results, and its buffers afterwards."""
    return module(*args, **kwargs), list(module.buffers())


def check_module(
    info: Any, dtype: torch.dtype, training: bool, count: int | None = None, compiles: bool = False
) -> Found:
    """Checks a module on the device: its results, its inputs' and its parameters' gradients."""
    ftensor.torch.fallback_report().reset()
    error = ""
    torch.manual_seed(0)
    inputs = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
    for sample in itertools.islice(inputs, count):
        if sample.forward_input is None:
            continue
        arguments, forward = sample.constructor_input, sample.forward_input
        module = info.module_cls(*arguments.args, **arguments.kwargs).to(dtype).train(training)
        try:
            here = compiled(call_module) if compiles else None
            compare(call_module, (module, *forward.args), forward.kwargs, here=here)
        except Exception as raised:  # noqa: BLE001 - whatever it is, the module is not right
            error = error or f"{sample.desc}: {type(raised).__name__}: {raised}"
    rows = ftensor.torch.fallback_report()
    name = f"{info.name} {'train' if training else 'eval'}"
    return Found(name, error, tuple(sorted(row.op for row in rows)))
