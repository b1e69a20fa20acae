"""Jitted functions have eager's results, writes, views and random numbers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.errors.call import kernel_not_built
from ftensor.runtime.stream import DeviceStream


def both(function: Callable[..., Any], *args: ft.Tensor) -> tuple[Any, Any, list[Any], list[Any]]:
    """Returns (eager's result, the second jitted result, the arguments after each)."""
    jitted = ft.jit(function)
    jitted(*[x.clone() for x in args])
    mine, others = [x.clone() for x in args], [x.clone() for x in args]
    return function(*mine), jitted(*others), mine, others


def equal(a: Any, b: Any) -> None:
    """Asserts equal bits, shapes and strides, part by part."""
    if isinstance(a, (tuple, list)):
        assert type(a) is type(b) and len(a) == len(b)
        for one, other in zip(a, b):
            equal(one, other)
        return
    assert (a.shape, a.stride(), a.dtype) == (b.shape, b.stride(), b.dtype)
    np.testing.assert_array_equal(a.numpy(), b.numpy())


def chain(a: ft.Tensor, b: ft.Tensor) -> ft.Tensor:
    return ft.tanh(a * b + a) * ft.exp(-b) + 0.5


def views(a: ft.Tensor, b: ft.Tensor) -> tuple[ft.Tensor, ...]:
    c = (a + b).t()
    return c, c[1:] * 2, a.reshape(-1)[3:9], b


def in_place(a: ft.Tensor, b: ft.Tensor) -> ft.Tensor:
    a[0] += 1
    a.mul_(b)
    row = a[1]
    row.sub_(b[0])
    return a.sum(1) + row.max()


def mixed(a: ft.Tensor, b: ft.Tensor) -> tuple[ft.Tensor, ...]:
    m = a > b
    return m, m.sum(0), ft.where(m, a, b.to(ft.int64)), (a * 3).to(ft.float16) + b


def normalized(a: ft.Tensor, b: ft.Tensor) -> ft.Tensor:
    d = a - a.mean(-1, keepdim=True)
    return d / (d.square().mean(-1, keepdim=True) + 1e-5).sqrt() * b


def made_inside(a: ft.Tensor, b: ft.Tensor) -> tuple[ft.Tensor, ...]:
    w = ft.tensor([[1.0], [2.0], [3.0]])
    z = ft.zeros(3, 5)
    z[1] = 2
    return a * w + z, w, ft.arange(4)


FUNCTIONS = [chain, views, in_place, mixed, normalized, made_inside]


@pytest.mark.core
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_calls_have_the_bits_of_eager_calls(function: Callable[..., Any]) -> None:
    """Each call leaves its arguments as eager does."""
    if function is mixed and default_backend().images is not None:
        pytest.skip("an image's kernels are of few mixed dtypes")
    ft.manual_seed(3)
    a, b = ft.randn(3, 5), ft.randn(3, 5)
    eager, jitted, mine, others = both(function, a, b)
    equal(eager, jitted)
    equal(mine, others)


@pytest.mark.core
def test_random_numbers_are_eagers() -> None:
    """Each call draws new numbers, as eager does, and a trace draws none."""

    def noisy(x: ft.Tensor) -> ft.Tensor:
        return ft.nn.functional.dropout(x + ft.rand(4, 6), 0.5) * ft.randn(6)

    jitted, x = ft.jit(noisy), ft.ones(4, 6)
    ft.manual_seed(5)
    eager = [noisy(x) for _ in range(3)]
    ft.manual_seed(5)
    for one in eager:
        equal(one, jitted(x))


@pytest.mark.core
def test_an_index_out_of_range_is_eagers_error() -> None:
    """The first such op raises the error, and the next call works."""
    jitted = ft.jit(lambda x, i: x[i].neg() + 1)
    x = ft.arange(6.0)
    equal(jitted(x, ft.tensor([0, -1])), ft.tensor([1.0, -4.0]))
    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension 0 with size 6"):
        jitted(x, ft.tensor([9, 1]))
    equal(jitted(x, ft.tensor([2, 1])), ft.tensor([-1.0, 0.0]))


def test_no_call_waits_for_indices_with_known_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without jit, a later write makes their bounds unknown."""
    waits: list[DeviceStream] = []
    finish = DeviceStream.finish
    monkeypatch.setattr(DeviceStream, "finish", lambda self: (waits.append(self), finish(self)))
    jitted = ft.jit(lambda x, i: x[i].neg())
    x, known, other = ft.arange(6.0), ft.tensor([0, 3]), ft.tensor([-1, 5])
    jitted(x, known)
    waits.clear()
    jitted(x, other)
    assert not waits
    known += 3
    with pytest.raises(IndexError, match="index 6 is out of bounds"):
        jitted(x, known)
    assert waits


def test_arguments_that_share_memory() -> None:
    """A write to one is visible in the other. There is a graph for each way in which arguments
    share memory."""

    def shifted(a: ft.Tensor, b: ft.Tensor) -> ft.Tensor:
        a += 1
        return b * 2

    jitted = ft.jit(shifted)
    for start in (0, 2, 2, 4):
        memory, same = ft.arange(10.0), ft.arange(10.0)
        got = jitted(memory[:4], memory[start : start + 4])
        equal(got, shifted(same[:4], same[start : start + 4]))
        equal(memory, same)


def test_offsets_share_a_graph() -> None:
    """A window that moves over a memory has one signature."""
    traces = []

    @ft.jit
    def doubled(x: ft.Tensor) -> tuple[ft.Tensor, ft.Tensor]:
        traces.append(x.shape)
        return x * 2, x[1:]

    memory = ft.arange(64.0)
    for k in range(4):
        whole, part = doubled(memory[16 * k : 16 * k + 4])
        equal(whole, memory[16 * k : 16 * k + 4] * 2)
        equal(part, memory[16 * k + 1 : 16 * k + 4])
    assert len(traces) == 1


def test_view_as_another_dtype() -> None:
    """The view may be of a moving window."""
    jitted = ft.jit(lambda z: ft.view_as_real(z).sum(-1))
    z = ft.complex(ft.arange(8.0), ft.ones(8))
    for k in (0, 3):
        equal(jitted(z[k : k + 4]), ft.arange(8.0)[k : k + 4] + 1)


def test_signatures() -> None:
    """Different shapes, dtypes and types of numbers get different graphs."""
    traces = []

    @ft.jit
    def f(x: ft.Tensor, by: Any, **more: Any) -> ft.Tensor:
        traces.append(1)
        return x / by if not more else x / by + more["shift"]

    x, y = ft.ones(3), ft.ones(4)
    for args in ((x, 2.0), (y, 2.0), (x, 2), (x, 0.0), (x, -0.0), (x.to(ft.float64), 2.0)):
        equal(f(*args), args[0] / args[1])
        equal(f(*args), args[0] / args[1])
    assert len(traces) == 4
    equal(f(x, 2.0, shift=y[:3]), x / 2 + 1)
    assert len(traces) == 5


def test_threads_share_graphs() -> None:
    """A thread without a device so far uses the graphs of other threads."""
    traces = []

    @ft.jit
    def f(x: ft.Tensor) -> ft.Tensor:
        traces.append(1)
        return x * 2 + 1

    x = ft.ones(3)
    for _ in range(2):
        with ThreadPoolExecutor(1) as other:
            equal(other.submit(f, x).result(), ft.full((3,), 3.0))
        equal(f(x), ft.full((3,), 3.0))
    assert len(traces) == 1


def test_captured_tensors_are_held_by_reference() -> None:
    """A write to one is visible at the next call."""
    weight = ft.ones(3)
    jitted = ft.jit(lambda x: x * weight)
    equal(jitted(ft.ones(3)), ft.ones(3))
    weight += 1
    equal(jitted(ft.ones(3)), ft.full((3,), 2.0))


def test_structures_methods_and_nesting() -> None:
    """Arguments and results are lists, tuples and dicts. Methods are jitted, and graphs are
    nested."""

    class Scale:
        def __init__(self, by: float) -> None:
            self.by = by

        @ft.jit
        def apply(self, x: ft.Tensor) -> ft.Tensor:
            return x * self.by

    two, three = Scale(2.0), Scale(3.0)
    equal(two.apply(ft.ones(2)), ft.full((2,), 2.0))
    equal(three.apply(ft.ones(2)), ft.full((2,), 3.0))

    @ft.jit
    def f(pairs: list[tuple[ft.Tensor, ft.Tensor]], *, by: dict[str, ft.Tensor]) -> dict[str, Any]:
        return {"sums": [two.apply(a) + b for a, b in pairs], "max": ft.max(by["x"], 0), "n": 3}

    a, b, x = ft.ones(2), ft.arange(2.0), ft.tensor([[1.0, 5.0], [4.0, 2.0]])
    for _ in range(2):
        got = f([(a, b), (b, a)], by={"x": x})
        equal(got["sums"], [a * 2 + b, b * 2 + a])
        assert (got["n"], type(got["max"])) == (3, ft.return_types.max)
        equal(list(got["max"]), [ft.tensor([4.0, 5.0]), ft.tensor([1, 0])])


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,)])
def test_small_shapes(shape: tuple[int, ...]) -> None:
    """0-d tensors, and tensors without elements."""
    x = ft.ones(shape)
    jitted = ft.jit(lambda x: (x * 2 + x.sum(), x.t() if x.ndim < 3 else x))
    equal(jitted(x), (x * 2 + x.sum(), x.t()))


def test_calls_without_tensor_arguments() -> None:
    """The function may have no tensor arguments, or compute nothing."""
    equal(ft.jit(lambda n: ft.ones(n) * 3)(2), ft.full((2,), 3.0))
    x = ft.ones(2)
    assert ft.jit(lambda x: x)(x) is x
    assert ft.jit(lambda x: None)(x) is None
    equal(ft.jit(lambda x: x[1:])(x), ft.ones(1))


def test_reduction_that_is_overwritten() -> None:
    def f(x: ft.Tensor) -> ft.Tensor:
        return x.t().sum(0).zero_()

    eager, jitted, *_ = both(f, ft.arange(12.0).reshape(4, 3))
    equal(eager, jitted)


def test_more_outputs_than_a_kernel_has() -> None:
    """Values are written to two tensors each and returned, which takes several kernels."""

    def f(a: ft.Tensor, b: ft.Tensor) -> list[ft.Tensor]:
        a.abs_()
        twice = ft.maximum(b, b)
        b.neg_()
        zero, least = a == 0, ft.fmin(b, a)
        kept = ft.clamp(a, -1, 2)
        rest = [ft.where(zero, least, b), ft.relu(kept), 1 - least]
        return [twice, zero, least, kept, *rest, ft.hstack([a, least]), ft.cat([a, b])]

    a, b = ft.arange(-9.0, 11.0), ft.arange(4.0, -16.0, -1)
    eager, jitted, mine, others = both(f, a, b)
    equal(eager, jitted)
    equal(mine, others)


def test_kernels_missing_from_images_are_found_by_one_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    held: set[str] = set()
    traced: list[str] = []

    def lower(*args: Any) -> None:
        traced.append("second" if "first" in held else "first")
        raise kernel_not_built("add", (), "", "linear", traced[-1], (), None, "")

    x, jitted, backend = ft.ones(2), ft.jit(lambda x: x), default_backend()
    backend.synchronize()
    monkeypatch.setattr(backend, "images", SimpleNamespace(has=held.__contains__))
    monkeypatch.setattr(jitted, "lower", lower)
    for entry in ("first", "second"):
        for _ in range(2):
            assert jitted(x) is x
        assert traced[-1] == entry
        held.add(entry)  # the image now has this kernel and lacks another
    assert traced == ["first", "second"]
