"""Indexing against torch: reads, writes and errors, for any index."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import ftensor as ft
from ftensor._device import default_backend

from .. import oracle
from ..targets import draws
from .index_cases import Case, cases

PLACES = 700  # larger than any layout
examples = draws(250)


def ours(array: Any) -> ft.Tensor:
    """Returns an array as an ftensor tensor."""
    return ft.from_torch(torch.tensor(np.asarray(array)))


def theirs(array: Any) -> torch.Tensor:
    """Returns an array as a torch tensor with the array's memory order."""
    return torch.from_numpy(array) if np.ndim(array) else torch.tensor(array)


def outcome(call: Callable[[], Any]) -> Any:
    """Returns a call's result, or the class of its exception."""
    result = oracle.outcome(call)
    return type(result) if isinstance(result, Exception) else result


def both(case: Case, dtype: torch.dtype = torch.float32) -> tuple[Any, ...]:
    """Returns (torch's storage, torch's tensor, ftensor's storage, ftensor's tensor) of a case."""
    base = torch.arange(PLACES).to(dtype)
    mine = ft.from_torch(base.clone())
    layout = case.shape, case.strides, case.offset
    return base, base.as_strided(*layout), mine, mine.as_strided(*layout)


same = partial(oracle.same, exact=True)


def only_torch_refuses(expected: Any, case: Case) -> bool:
    """Returns whether torch may refuse an empty mask, which here selects nothing, as in NumPy."""
    masks = [i.value for i in case.items if i.kind in ("tensor", "array") and i.value.dtype == bool]
    return expected is IndexError and any(not mask.size for mask in masks)


@examples
@given(cases(expand=True))
def test_reading_by_indices(case: Case) -> None:
    base, t, mine, a = both(case)
    expected = outcome(lambda: t[case.index(theirs)])
    if only_torch_refuses(expected, case):
        return
    result = outcome(lambda: a[case.index(lambda x: ft.from_torch(theirs(x)))])
    if isinstance(expected, type):
        assert result is expected, result
        return
    assert isinstance(result, ft.Tensor), (result, expected)
    same(result, expected)
    if expected.numel():
        shared = expected.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
        assert (result._storage is mine._storage) == shared
        if shared:
            assert result.storage_offset() == expected.storage_offset()


def written(case: Case, selected: torch.Tensor, draw: Any) -> tuple[Any, Any]:
    """Returns a value to write to a selection, for torch and for ftensor: a number, or a tensor
    that fits."""
    kind = draw.draw(st.sampled_from(["number", "tensor", "tensor", "wrong"]))
    if kind == "number":
        return 7, 7
    shape = tuple(selected.shape)
    shape = shape[draw.draw(st.integers(0, len(shape))) :]
    shape = tuple([1 if draw.draw(st.integers(0, 3)) == 0 else n for n in shape])
    if draw.draw(st.integers(0, 4)) == 0:
        shape = (1, *shape)
    if kind == "wrong":
        shape = (*shape, draw.draw(st.sampled_from([2, 5])))
    values = torch.randperm(int(np.prod(shape))).reshape(shape).float() + 1000
    return values, ft.from_torch(values)


@examples
@given(cases(), st.data())
def test_writing_by_indices(case: Case, draw: Any) -> None:
    base, t, mine, a = both(case)
    places = torch.arange(t.numel()).reshape(t.shape)
    selected = outcome(lambda: places[case.index(theirs)])
    if isinstance(selected, type):
        selected = torch.zeros(2)
    value, our_value = written(case, selected, draw)
    if isinstance(value, torch.Tensor) and value.numel() > 1:
        assume(selected.unique().numel() == selected.numel())  # otherwise it is undefined which write remains
    before = mine.to_torch().clone()
    expected = outcome(lambda: t.__setitem__(case.index(theirs), value))
    if only_torch_refuses(expected, case):
        return
    index = case.index(lambda x: ft.from_torch(theirs(x)))
    result = outcome(lambda: a.__setitem__(index, our_value))
    assert result is expected
    after = mine.to_torch()
    if expected is None:
        assert torch.equal(after, base)
    else:  # writes before the error are inside the tensor
        inside = torch.zeros(PLACES, dtype=torch.bool)
        inside.as_strided(case.shape, case.strides, case.offset).fill_(True)
        assert torch.equal(after[~inside], before[~inside])


@examples
@given(cases(), st.booleans(), st.data())
def test_index_put_sums(case: Case, in_place: bool, draw: Any) -> None:
    """With accumulate, every value is added, also at repeated indices."""
    base, t, mine, a = both(case, torch.int64)
    items = [i for i in case.items if i.kind == "tensor" and i.value.shape]
    index = tuple([theirs(i.value) for i in items]) or (torch.tensor([0, 0]),)
    selected = outcome(lambda: t[index])
    value = torch.tensor(3)
    if isinstance(selected, torch.Tensor) and draw.draw(st.booleans()):
        value = torch.arange(selected.numel()).reshape(selected.shape)
    name = "index_put_" if in_place else "index_put"
    expected = outcome(lambda: getattr(t, name)(index, value, accumulate=True))
    if only_torch_refuses(expected, case):
        return
    ours_ = tuple([ft.from_torch(i) for i in index])
    result = outcome(lambda: getattr(a, name)(ours_, ft.from_torch(value), accumulate=True))
    if isinstance(expected, type):
        assert result is expected
        return
    same(result, expected)
    assert torch.equal(mine.to_torch(), base)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int16", "float16", "bfloat16", "float64", "complex64", "complex128"]
)
def test_every_dtype(dtype: str) -> None:
    t = torch.arange(24).reshape(2, 3, 4).to(getattr(torch, dtype))
    a = ft.from_torch(t.clone())
    rows, columns, mask = torch.tensor([1, 0]), torch.tensor([[2], [-1]]), torch.arange(3) != 1
    ours_ = [ft.from_torch(x) for x in (rows, columns, mask)]
    same(a[ours_[0], :, ours_[1]], t[rows, :, columns])
    same(a[:, ours_[2]], t[:, mask])
    a[:, ours_[2]] = a[:, ours_[2]][:, :1]
    t[:, mask] = t[:, mask][:, :1].clone()
    a[ours_[0], 1] = 1
    t[rows, 1] = 1
    same(a, t)


def test_call_after_an_index_error_is_unaffected() -> None:
    """The call with the bad index raises the error."""
    a = ft.from_torch(torch.arange(12.0).reshape(3, 4))
    bad, good = ours([0, 3]), ours([0, 2])
    with pytest.raises(IndexError, match=r"index 3 .* dimension 0 .* size 3"):
        a[bad]
    same(a[good], torch.arange(12.0).reshape(3, 4)[[0, 2]])
    with pytest.raises(IndexError, match="index -4"):
        a[ours([-4])] = 1.0
    same(a, torch.arange(12.0).reshape(3, 4))


def test_many_index_tensors() -> None:
    """There are more index tensors than a kernel has inputs."""
    t = torch.arange(2**10).reshape((2,) * 10)
    a = ft.from_torch(t)
    index = [torch.randint(-2, 2, (5,)) for _ in range(9)]
    same(a[tuple(map(ft.from_torch, index))], t[tuple(index)])
    with pytest.raises(IndexError, match="dimension 8"):
        a[tuple(map(ft.from_torch, [*index[:8], torch.full((5,), 2)]))]


def test_assignment_from_the_same_tensor() -> None:
    t = torch.arange(12.0).reshape(3, 4)
    a = ft.from_torch(t.clone())
    a[ours([2, 1, 0])] = a
    same(a, t.flip(0))
    a[1:] = a[:2].clone()
    a[a > 8] = -1
    expected = t.flip(0).clone()
    expected[1:] = expected[:2].clone()
    expected[expected > 8] = -1
    same(a, expected)


@pytest.mark.skipif(not default_backend().host_shared, reason="the device has memory of its own, so it has a copy")
def test_read_only_tensor_is_not_written() -> None:
    array = np.arange(6.0)
    array.flags.writeable = False
    a = ft.from_numpy(array)
    if a._storage.ptr is None:
        pytest.skip("the device has memory of its own: its copy may be written")
    with pytest.raises(RuntimeError):
        a[ours([0])] = 1.0
    with pytest.raises(RuntimeError):
        a.index_add_(0, ours([0]), ours([1.0]))


@pytest.mark.parametrize("item", [1.5, {}, "x", ["a"], object()])
def test_invalid_index_is_refused(item: Any) -> None:
    t = torch.arange(6.0)
    expected = outcome(lambda: t[item])
    assert isinstance(expected, type)
    assert outcome(lambda: ft.from_torch(t)[item]) is expected


@pytest.mark.parametrize("value", ["x", None, [1.0], 1j])
@pytest.mark.parametrize("index", [0, [0], slice(2)])
def test_invalid_assignment_is_refused(index: Any, value: Any) -> None:
    t = torch.arange(6.0)
    a = ft.from_torch(t)
    expected = outcome(lambda: t.__setitem__(index, value))
    assert isinstance(expected, type)
    assert outcome(lambda: a.__setitem__(index, value)) is expected


@pytest.mark.parametrize("at", [slice(3, 4), 6])
def test_single_value_is_read_before_the_write(at: Any) -> None:
    """torch fills with its old value, though it may be among the written elements."""
    ours, theirs = ft.arange(7), torch.arange(7)
    for t in (ours, theirs):
        t[1:] = t[at]
    assert ours.tolist() == theirs.tolist()
    with pytest.raises(RuntimeError):
        ours[:2] = ours[1:3]


def test_layout_of_results_of_mixed_integer_indices() -> None:
    """torch converts an int32 index after broadcasting, which gives the index a memory order."""
    one = torch.zeros(1, dtype=torch.int32)
    columns = torch.zeros(2, 3, 1, dtype=torch.int64).permute(1, 2, 0)
    t = torch.arange(4.0).reshape(2, 2)
    for index in ((one, columns), (columns, one), (one, None, columns)):
        mine = ft.from_torch(t)[tuple(ft.from_torch(i) if isinstance(i, torch.Tensor) else i for i in index)]
        same(mine, t[index])
