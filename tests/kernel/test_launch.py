"""Launches as data: every call goes through the executor, which can observe or replace it."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.dispatch import Observer, bound_to, observed
from ftensor.execute.launch import Launch
from ftensor.execute.pointwise import prepare
from ftensor.graph.lowering import Lowered
from ftensor.ops.pointwise.unary import ABS
from ftensor.runtime.backend import host_bytes
from ftensor.runtime.launch_cache import LaunchTable, Tables

from .processors import family

pytestmark = pytest.mark.core
THREE_BY_FOUR = np.arange(12, dtype=np.float32).reshape(3, 4)


class Seen(Observer):
    """Records launches and other events, in order."""

    def __init__(self) -> None:
        self.launches: list[tuple[Launch, list[ft.Tensor], list[Any]]] = []
        self.passed: list[str] = []

    def launch(self, launch: Launch, stream: Any, tensors: Any, numbers: Any) -> None:
        self.launches.append((launch, list(tensors), list(numbers)))
        self.passed += [getattr(step.key, "entry", step.key) for step in launch.steps]
        super().launch(launch, stream, tensors, numbers)

    def upload(self, storage: Any, byte_offset: int, array: np.ndarray) -> None:
        self.passed.append(f"upload {array.nbytes}")
        super().upload(storage, byte_offset, array)

    def download(self, storage: Any, byte_offset: int, array: np.ndarray) -> None:
        self.passed.append(f"download {array.nbytes}")
        super().download(storage, byte_offset, array)

    @property
    def kernels(self) -> list[str]:
        """Returns the kernels that ran, as prefixes of their entry names."""
        return [p for p in self.passed if not p.startswith(("upload", "download"))]


@pytest.fixture
def seen() -> Iterator[Seen]:
    """Records the events of the default device."""
    seen = Seen()
    with observed(default_backend(), seen):
        yield seen


def image() -> ft.Tensor:
    return ft.tensor(THREE_BY_FOUR)


def product(m: int, k: int, n: int) -> Callable[[], Any]:
    return lambda: ft.ones(m, k) @ ft.ones(k, n)


# Processors have a kernel for a single index tensor.
TAKEN = "ft_take_" if default_backend().target.processor else "ft_copy_"
# A call, the prefixes of its kernels' entries, and whether the launch has a plan.
ENTRIES: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "pointwise": (lambda: image() + 1, ["ft_add_"]),
    "of a transposed": (lambda: image().t() * image().reshape(4, 3), ["ft_mul_"]),
    "in place": (lambda: image().neg_(), ["ft_neg_"]),
    "out=": (lambda: ft.exp(image(), out=ft.empty(3, 4)), ["ft_exp_"]),
    "fill": (lambda: ft.full((3,), 2.5), ["ft_fill_"]),
    "copy": (lambda: image().clone(), ["ft_copy_"]),
    "converted": (lambda: image().double(), ["ft_copy_"]),
    "reduction": (lambda: image().sum(1), ["ft_sum_whole_"]),
    "with places": (lambda: image().max(1), ["ft_max_whole_"]),
    "direct product": (product(3, 4, 5), ["ft_fill_", "ft_fill_", "ft_gemm_direct_"]),
    "packed product": (product(70, 40, 66), ["ft_fill_", "ft_fill_", "ft_gemm_pack_", "ft_gemm_"]),
    "gather": (lambda: image().gather(1, ft.tensor([[0], [1], [3]])), [TAKEN]),
    "nonzero": (
        lambda: (image() > 5).nonzero(),
        ["ft_gt_", "ft_compact", "ft_compact", *["ft_coordinate"] * 2, *["ft_copy_"] * 2],
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("again", [False, True])
def test_every_call_reaches_the_executor(name: str, again: bool, seen: Seen) -> None:
    """A launch is observed with its kernels, whether newly prepared or cached."""
    call, kernels = ENTRIES[name]
    with family(direct_terms=1000):
        if again:
            call()
            seen.launches.clear()
            seen.passed.clear()
        call()
    entries = seen.kernels
    assert len(entries) == len(kernels), entries
    for entry, start in zip(entries, kernels):
        assert entry.startswith(start), (entries, kernels)
    for launch, tensors, numbers in seen.launches:
        assert len(tensors) == launch.operands
        assert launch.written >= set(range(len(launch.outputs)))
        for step in launch.steps:
            assert step.units >= 1
            assert step.n is not None or step.geometry
            assert len(launch.scalar_dtypes) <= len(numbers)


def test_arguments_a_launch_writes_other_than_outputs(seen: Seen) -> None:
    """It writes a flag for possibly invalid indices, and no other argument."""
    ft.arange(12).reshape(3, 4).gather(1, ft.tensor([[0], [1], [3]]))
    *_, (launch, tensors, _) = seen.launches
    assert launch.written == {0, len(tensors) - 1}


def test_launch_is_data_until_it_is_bound() -> None:
    a = ft.ones(4, 3)
    launch = prepare(ABS, (a,), (), None, False)
    (step,) = launch.steps
    assert launch.bound is None and launch.written == {0}
    launch.bind(bound_to(default_backend(), launch.steps))
    assert launch.steps == (step,)
    (result,) = launch.call((-a,), (), None) or ()
    assert result.tolist() == a.tolist()


def test_two_stages_are_one_launch() -> None:
    backend, seen = default_backend(), Seen()
    with backend.preparing_for(backend.target, 4, backend.host_shared), observed(backend, seen):
        total = ft.ones(300_000).sum()
    *_, (launch, tensors, _) = seen.launches
    if len(launch.steps) == 1:
        pytest.skip("the device folds this in one stage")
    first, second = launch.steps
    assert [s.key.reduction.stage for s in launch.steps] == ["first", "second"]
    between = range(launch.operands, launch.operands + len(launch.temporaries))
    assert first.pointers[0] in between and second.pointers[1] in between
    assert tensors[0] is total and total.item() == 300_000


def test_host_copies_reach_the_executor(seen: Seen) -> None:
    t = ft.tensor([1.0, 2.0, 3.0])
    assert seen.passed == ["upload 12"]
    t._storage.backend.download(t._storage, 4, values := np.empty(2, np.float32))
    assert seen.passed == ["upload 12", "download 8"] and values.tolist() == [2.0, 3.0]


def test_the_operands_are_those_of_the_call(seen: Seen) -> None:
    a, b = ft.tensor([1.0, 2.0]), ft.tensor([3.0, 4.0])
    result = ft.add(a, b, alpha=2)
    launch, tensors, numbers = seen.launches[-1]
    assert tensors[0] is result and tensors[1] is a and tensors[2] is b and numbers == [2.0]
    assert launch.outputs[0].shape == result.shape and launch.outputs[0].dtype is result.dtype


def test_executor_can_be_replaced() -> None:
    """The same data with other kernels is another launch."""

    class Nothing(Observer):
        def launch(self, launch: Launch, stream: Any, tensors: Any, numbers: Any) -> None:
            other = replace(launch)
            other.bind(tuple([of._replace(kernel=lambda *args: ran.append(args)) for of in launch.bound]))
            other.enqueue(stream, numbers, *tensors)

    ran: list[Any] = []
    t = ft.zeros(5)
    with observed(default_backend(), Nothing()):
        t.add_(7)
    assert t.tolist() == [0.0] * 5
    ((stream, units, *arguments),) = ran
    assert stream is default_backend().current_stream() and units == 1
    assert arguments[:2] == [t._storage.handle] * 2 and 7.0 in arguments
    t.add_(7)
    assert t.tolist() == [7.0] * 5


def test_observers_are_chained() -> None:
    outer, inner = Seen(), Seen()
    with observed(default_backend(), outer):
        with observed(default_backend(), inner):
            ft.ones(3)
        ft.ones(3)
    assert len(inner.launches) == 1 and len(outer.launches) == 2
    assert default_backend().executor is None


def test_reduction_writes_directly_to_its_output(seen: Seen) -> None:
    x, out = image(), ft.empty(4)
    assert ft.sum(x, 0, out=out) is out
    assert len(seen.launches) == 1 and seen.launches[0][1][0] is out
    np.testing.assert_array_equal(out.numpy(), THREE_BY_FOUR.sum(0))


@pytest.mark.parametrize("way", ["gaps", "dtype", "itself"])
def test_reduction_is_copied_if_it_cannot_be_written_directly(way: str, seen: Seen) -> None:
    x = image()
    out = {"gaps": lambda: ft.zeros(8)[::2], "dtype": lambda: ft.zeros(4, dtype=ft.float64), "itself": lambda: x[0]}[
        way
    ]()
    ft.amax(x, 0, out=out) if way != "dtype" else ft.sum(x, 0, dtype=None, out=out)
    expected = THREE_BY_FOUR.sum(0) if way == "dtype" else THREE_BY_FOUR.max(0)
    np.testing.assert_array_equal(out.numpy(), expected)


def test_resized_output_is_written() -> None:
    out = ft.empty(0)
    ft.sum(image(), 1, out=out)
    assert out.tolist() == THREE_BY_FOUR.sum(1).tolist()
    with pytest.warns(UserWarning, match="resized"):
        ft.sum(image(), 0, out=out)
    assert out.tolist() == THREE_BY_FOUR.sum(0).tolist()


# --- `out` tensors.


def expanded() -> ft.Tensor:
    return ft.zeros(1).expand(4)


def readonly() -> ft.Tensor:
    if not default_backend().host_shared:
        pytest.skip("a device with memory of its own has a copy, which can be written")
    array = np.zeros(4, np.float32)
    array.flags.writeable = False
    return ft.from_numpy(array)


VECTOR = ft.tensor([3.0, 1.0, 2.0, 0.0])
INDEX = ft.tensor([0, 1, 2, 3]) + 0
WRITERS: dict[str, Callable[[ft.Tensor], Any]] = {
    "pointwise": lambda out: ft.exp(VECTOR, out=out),
    "reduction": lambda out: ft.amax(VECTOR.reshape(2, 2, 1).expand(2, 2, 4), (0, 1), out=out),
    "product": lambda out: ft.mv(ft.ones(4, 4), VECTOR, out=out),
    "gather": lambda out: ft.gather(VECTOR, 0, INDEX, out=out),
    "nonzero": lambda out: ft.masked_select(VECTOR, INDEX >= 0, out=out),
}
REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no tensor": (lambda: [0.0] * 4, TypeError, "must be a Tensor"),
    "read-only": (readonly, RuntimeError, "read-only"),
    "overlapping itself": (expanded, RuntimeError, "(?i)more than one element|overlap|same memory"),
    "integers": (lambda: ft.zeros(4, dtype=ft.int32), RuntimeError, "(?i)dtype|cast"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("name", WRITERS)
def test_invalid_outputs_are_refused(name: str, case: str) -> None:
    make, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        WRITERS[name](make())


@pytest.mark.parametrize("name", WRITERS)
def test_outputs_of_another_shape_are_resized(name: str) -> None:
    expected = ft.empty(4)
    WRITERS[name](expected)
    empty, full = ft.empty(0), ft.zeros(2, 3)
    WRITERS[name](empty)
    with pytest.warns(UserWarning, match="resized"):
        WRITERS[name](full)
    assert empty.tolist() == full.tolist() == expected.tolist()


@pytest.mark.parametrize("name", WRITERS)
def test_outputs_with_gaps_keep_the_elements_between(name: str) -> None:
    expected, wide = ft.empty(4), ft.full((8,), -1.0)
    WRITERS[name](expected)
    WRITERS[name](wide[::2])
    assert wide[::2].tolist() == expected.tolist() and wide[1::2].tolist() == [-1.0] * 4


def test_launches_of_many_lengths_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes include the kernels' geometry buffers in device memory."""
    backend = default_backend()
    launches = LaunchTable(backend.synchronize, most=1 << 17)
    monkeypatch.setattr(backend, "launches", launches)

    def lengths(first: int, last: int) -> None:
        for n in range(first, last):
            row = ft.ones(n)
            result = (row.expand(3, n).t() + ft.tensor([0.0, 1.0, 2.0])).t()
            assert result.tolist() == [[1.0] * n, [2.0] * n, [3.0] * n]
            assert launches.newer_bytes <= 1 << 16

    lengths(1, 60)
    blocks = len(backend.pool.blocks)
    lengths(60, 200)
    assert len(backend.pool.blocks) - blocks < 60
    assert len(launches) + len(launches._older) < 120


def test_estimated_bytes_of_launches_match_the_memory_used(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = default_backend()
    launches = LaunchTable(backend.synchronize)
    monkeypatch.setattr(backend, "launches", launches)
    x = ft.ones(300, 3)
    (x[:7].t() + x[:7, 0]).sum(1).tolist()
    held = launches.newer_bytes
    tracemalloc.start()
    try:
        for n in range(8, 200):
            (x[:n].t() + x[:n, 0]).sum(1)
        backend.synchronize()
        gc.collect()
        traced = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # tracemalloc misses the runtime's own memory of a buffer, and geometry buffers are not part of
    # launches.
    assert (launches.newer_bytes - held) / 5 < traced < 2 * (launches.newer_bytes - held)


def test_trace_keeps_only_its_graph_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dropped graph is traced again."""
    backend = default_backend()
    launches = LaunchTable(backend.synchronize)
    monkeypatch.setattr(backend, "launches", launches)
    jitted, x = ft.jit(lambda x: ((x - 1) * x).sum(-1)), ft.ones(5, 7) * 2
    launches.clear()
    assert jitted(x).tolist() == [14.0] * 5
    assert [type(entry) for entry in launches.values()] == [Lowered]
    assert ft.jit(lambda x: (x - 1).sum(-1))(x).tolist() == [7.0] * 5
    assert ((x - 1) * x).sum(-1).tolist() == [14.0] * 5


def test_launches_share_equal_geometry_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = default_backend()
    if not backend.host_shared:
        pytest.skip("the queue writes a device's own memory")
    tables = Tables(backend)
    monkeypatch.setattr(backend, "tables", tables)
    first, other = tables.sharing(np.arange(5)), tables.sharing(np.arange(6))
    assert tables.sharing(np.arange(5)) is first and other is not first
    assert tables.holding(np.arange(5)).block is not first.table.block
    retired = len(tables.retired)
    block = first.table.block
    del first
    assert len(tables.retired) == retired + 1 and tables.retired[-1][1] is block
    assert tables.sharing(np.arange(5)).handle is not None


def test_freed_geometry_is_reused_after_pending_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default stream must have finished its commands before the memory is reused."""
    backend = default_backend()
    if not backend.host_shared:
        pytest.skip("the queue writes a device's own memory")
    tables, stream = Tables(backend), backend.default_stream
    monkeypatch.setattr(backend, "tables", tables)
    first = tables.holding(np.arange(5))
    block = first.block
    monkeypatch.setattr(stream, "launched", stream.launched + 1)
    del first
    second = tables.holding(np.arange(6))
    assert second.block is not block
    monkeypatch.setattr(stream, "finished", stream.launched)
    third = tables.holding(np.arange(7))
    assert third.block is block
    assert third.ptr is not None and host_bytes(third.ptr, 56).view(np.int64).tolist() == [*range(7)]
