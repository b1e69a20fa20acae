"""When an index out of range raises an error, and which indices need no check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.indexed import record_bounds

ROWS = 5


@pytest.fixture
def deferred() -> Iterator[None]:
    """Defers checks, and leaves none pending for the next test."""
    ft.synchronize()
    ft.set_index_check("deferred")
    yield
    ft.set_index_check("now")
    default_backend().current_stream().doubts.clear()


def unchecked(*indices: int) -> ft.Tensor:
    """Returns indices with unknown bounds."""
    return ft.tensor(indices) + 0


def values() -> ft.Tensor:
    return ft.arange(10.0).reshape(ROWS, 2)


CALLS: dict[str, Callable[[ft.Tensor], Any]] = {
    "__getitem__": lambda i: values()[i],
    "index_select": lambda i: values().index_select(0, i),
    "gather": lambda i: values().gather(0, i.reshape(-1, 1)),
    "take": lambda i: values().take(i * 2),
    "scatter": lambda i: values().scatter(0, i.reshape(-1, 1), 1.0),
    "index_add": lambda i: values().index_add(0, i, ft.ones(len(i), 2)),
    "__setitem__": lambda i: values().__setitem__(i, 1.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_eager_check_raises_in_the_call(name: str) -> None:
    with pytest.raises((IndexError, RuntimeError), match=r"\b(12|6)\b"):
        CALLS[name](unchecked(1, 6))


@pytest.mark.parametrize("name", CALLS)
def test_deferred_check_raises_at_the_next_wait(name: str, deferred: None) -> None:
    CALLS[name](unchecked(1, 6))
    with pytest.raises(IndexError) as caught:
        ft.synchronize()
    text = str(caught.value)
    assert "12" in text or "6" in text
    line = CALLS[name].__code__.co_firstlineno
    assert f"call of {name} at {__file__}:{line}: " in text and f'"{name}": lambda' in text
    ft.synchronize()  # raised once


@pytest.mark.parametrize(
    "wait",
    [
        lambda: ft.ones(1).item(),
        lambda: ft.ones(1).tolist(),
        lambda: ft.ones(1).numpy(),
        lambda: repr(ft.ones(1)),
        lambda: ft.fpga.current_stream().synchronize(),
        lambda: ft.synchronize(),
    ],
    ids=["item", "tolist", "numpy", "repr", "stream", "device"],
)
def test_every_wait_reads_the_flag(wait: Callable[[], Any], deferred: None) -> None:
    values()[unchecked(6)]
    with pytest.raises(IndexError, match="index 6 is out of bounds for dimension 0 with size 5"):
        wait()


def test_indices_out_of_range_are_neither_read_nor_written(deferred: None) -> None:
    x = values()
    x[unchecked(0, 6, 4)] = 1.0
    with pytest.raises(IndexError):
        ft.synchronize()
    want = np.arange(10, dtype=np.float32).reshape(ROWS, 2)
    want[[0, 4]] = 1
    assert x.tolist() == want.tolist()


def test_deferred_errors_are_raised_in_order(deferred: None) -> None:
    values().index_select(0, unchecked(7))
    values()[unchecked(1)]
    values()[unchecked(8)]
    for bad in (7, 8):
        with pytest.raises(IndexError, match=f"index {bad} "):
            ft.synchronize()
    ft.synchronize()


def test_loop_has_one_pending_check(deferred: None) -> None:
    index = unchecked(0, 4)
    for _ in range(50):
        values()[index]
    assert len(default_backend().current_stream().doubts) == 1
    ft.synchronize()
    assert not default_backend().current_stream().doubts


def test_each_stream_has_its_own_checks(deferred: None) -> None:
    side = ft.fpga.Stream()
    with ft.fpga.stream(side):
        values()[unchecked(9)]
    ft.fpga.default_stream().synchronize()
    with pytest.raises(IndexError, match="index 9"):
        side.synchronize()


def test_valid_call_passes(deferred: None) -> None:
    x = values()
    assert x[unchecked(4, -1, 0)].tolist() == [[8.0, 9.0], [8.0, 9.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "known",
    [
        lambda: ft.tensor([0, 4, -5]),
        lambda: ft.arange(ROWS),
        lambda: ft.arange(4, -1, -2),
        lambda: values().argmax(0),
        lambda: values().max(0).indices,
        lambda: (values()[:, 0] > 3).nonzero().reshape(-1),
        lambda: ft.tensor([0, 1, 2, 3])[1:],
    ],
    ids=["data", "arange", "backwards", "argmax", "max", "nonzero", "view"],
)
def test_indices_with_known_bounds_are_not_checked(known: Callable[[], ft.Tensor], deferred: None) -> None:
    index = known()
    values()[index]
    assert not default_backend().current_stream().doubts


@pytest.mark.parametrize(
    "unknown",
    [
        lambda i: i.mul_(0).add_(5),
        lambda i: i.fill_(5),
        lambda i: i.copy_(unchecked(5, 5, 5)),
        lambda i: i.__setitem__(ft.tensor([1]), 5),
        lambda i: ft.add(unchecked(4, 4, 4), 1, out=i),
        lambda i: ft.sum(unchecked(5, 0, 5).reshape(1, 3), 0, out=i),
        lambda i: i.numpy().fill(5),
        lambda i: i.scatter_(0, ft.tensor([0]), 5),
    ],
    ids=["inplace", "fill", "copy", "setitem", "out", "fold", "numpy", "scatter"],
)
def test_written_indices_are_checked(unknown: Callable[[ft.Tensor], Any]) -> None:
    index = ft.arange(3)
    unknown(index)
    if 5 not in index.tolist():  # NumPy's array is a copy on devices with their own memory
        pytest.skip("nothing was written")
    with pytest.raises(IndexError, match="index 5"):
        values()[index]


def test_wrapped_values_have_unknown_bounds() -> None:
    index = ft.zeros(3, dtype=ft.int8)
    assert record_bounds(index, 0, 127)._storage.bounds == (ft.int8, 0, 127)
    index = ft.zeros(3, dtype=ft.int8)
    assert record_bounds(index, 0, 128)._storage.bounds is None


def test_bounds_of_another_dtype_are_ignored() -> None:
    index = ft.tensor([1, 0, 1 << 20, 0], dtype=ft.int32).view(ft.int64)
    assert ft.ones(1 << 21)[index].tolist() == [1.0, 1.0]
    with pytest.raises(IndexError):
        ft.ones(3)[ft.tensor([0, 1], dtype=ft.int32).view(ft.int64)]


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'later'"):
        ft.set_index_check("later")
    assert ft.get_index_check() == "now"
