"""Shape and stride arithmetic of views against torch: the same layouts, the same exception classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ftensor.ops.view import layout as basic_index
from ftensor.ops.view import layout as split_math
from ftensor.ops.view import layout as view_math

# No device is used; torch's meta tensors reveal slices beyond the storage.
pytestmark = [pytest.mark.filterwarnings("ignore:Truncating the start")]

Layout = tuple[tuple[int, ...], tuple[int, ...], int]
STORAGE = 512  # elements; more than any layout below reaches

sizes = st.integers(0, 4)
dims = st.integers(-5, 5)
counts = st.integers(-2, 6)


@st.composite
def layouts(draw: st.DrawFn, max_dims: int = 4) -> Layout:
    """Draws contiguous, permuted, stepped, expanded and arbitrary layouts."""
    shape = draw(st.lists(sizes, max_size=max_dims))
    strides, step = [], draw(st.integers(1, 3))
    for n in shape:
        strides.append(step)
        step *= max(n, 1)
    order = draw(st.permutations(range(len(shape)))) if draw(st.booleans()) else range(len(shape))
    order = list(order)[::-1]
    shape, strides = [shape[d] for d in order], [strides[d] for d in order]
    if shape and draw(st.booleans()):
        strides[draw(st.integers(0, len(shape) - 1))] = draw(st.integers(0, 7))
    if not draw(st.integers(0, 5)):
        strides = [draw(st.integers(0, 9)) for _ in shape]
    return tuple(shape), tuple(strides), draw(st.integers(0, 6))


def of_torch(layout: Layout, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(STORAGE * 2, dtype=dtype).as_strided(*layout)


def layout_of(tensor: Any) -> Layout:
    return tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset()


def outcome(call: Callable[[], Any]) -> Any:
    """Returns the layout or layouts of a call's results, or the class of its exception."""
    try:
        result = call()
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        assert str(error)
        return ValueError if isinstance(error, ValueError) else type(error)
    if isinstance(result, torch.Tensor):
        return layout_of(result)
    if isinstance(result, tuple) and (not result or isinstance(result[0], torch.Tensor)):
        return [layout_of(t) for t in result]
    return result


# name, our function, torch's op on a tensor, strategies of the arguments
CASES: list[tuple[str, Callable[..., Any], Callable[..., Any], list[Any]]] = [
    ("transpose", view_math.transpose, torch.transpose, [dims, dims]),
    ("permute", view_math.permute, torch.permute, [st.lists(dims, max_size=4).map(tuple)]),
    ("squeeze_dim", view_math.squeeze, torch.squeeze, [dims]),
    ("squeeze_dims", view_math.squeeze, torch.squeeze, [st.lists(dims, max_size=3).map(tuple)]),
    ("squeeze", lambda *a: view_math.squeeze(*a, None), torch.squeeze, []),
    ("unsqueeze", view_math.unsqueeze, torch.unsqueeze, [dims]),
    ("narrow", view_math.narrow, torch.narrow, [dims, dims, counts]),
    ("select", view_math.select, torch.select, [dims, dims]),
    ("diagonal", view_math.diagonal, torch.diagonal, [dims, dims, dims]),
    ("unfold", view_math.unfold, torch.Tensor.unfold, [dims, counts, counts]),
    ("atleast_1d", view_math.atleast_1d, torch.atleast_1d, []),
    ("atleast_2d", view_math.atleast_2d, torch.atleast_2d, []),
    ("atleast_3d", view_math.atleast_3d, torch.atleast_3d, []),
    (
        "movedim",
        view_math.movedim,
        torch.movedim,
        [st.lists(dims, max_size=3).map(tuple), st.lists(dims, max_size=3).map(tuple)],
    ),
]


@pytest.mark.parametrize("ours, theirs, arguments", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
@given(data=st.data())
def test_same_layout_as_torch(ours: Any, theirs: Any, arguments: Any, data: st.DataObject) -> None:
    layout = data.draw(layouts())
    args = [data.draw(a) for a in arguments]
    expected = outcome(lambda: theirs(of_torch(layout), *args))
    assert outcome(lambda: ours(*layout, *args)) == expected


@given(layout=layouts(), data=st.data())
def test_permute_all(layout: Layout, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(layout[0]))))
    signed = tuple(d - len(order) if data.draw(st.booleans()) else d for d in order)
    assert view_math.permute(*layout, signed) == layout_of(of_torch(layout).permute(signed))


@st.composite
def regrouped(draw: st.DrawFn, count: int) -> tuple[int, ...]:
    """Draws a shape of `count` elements, sometimes with a -1, sometimes invalid."""
    shape: list[int] = []
    rest = count
    while rest > 1 and draw(st.booleans()):
        divisor = draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0]))
        shape.append(divisor)
        rest //= divisor
    shape.append(rest)
    for _ in range(draw(st.integers(0, 2))):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    if draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = draw(st.sampled_from([-1, -1, 0, 3, -2]))
    return tuple(draw(st.permutations(shape))) if draw(st.booleans()) else tuple(shape)


@given(layout=layouts(), data=st.data())
def test_view_strides_are_torchs(layout: Layout, data: st.DataObject) -> None:
    tensor = of_torch(layout)
    size = data.draw(regrouped(tensor.numel()))
    assert outcome(lambda: view_math.view(*layout, size)) == outcome(lambda: tensor.view(size))


@given(layout=layouts(), old=st.sampled_from([1, 2, 4, 8, 16]), new=st.sampled_from([1, 2, 4, 8, 16]))
def test_reinterpret(layout: Layout, old: int, new: int) -> None:
    names = {1: "uint8", 2: "int16", 4: "float32", 8: "complex64", 16: "complex128"}
    tensor = of_torch(layout, getattr(torch, names[old]))
    expected = outcome(lambda: tensor.view(getattr(torch, names[new])))
    assert outcome(lambda: view_math.reinterpret(*layout, old, new)) == expected


@given(layout=layouts(), data=st.data())
def test_expanded_strides_are_torchs(layout: Layout, data: st.DataObject) -> None:
    size = [data.draw(st.sampled_from([n, n, -1, 0, 3]) if n != 1 else st.integers(-1, 4)) for n in layout[0]]
    size = data.draw(st.lists(st.integers(-1, 3), max_size=2)) + size
    if not data.draw(st.integers(0, 9)):
        size = size[1:]
    if not layout[0] and -1 in size:  # torch overflows, or makes a shape with a negative size
        assert outcome(lambda: view_math.expand(*layout, tuple(size))) is RuntimeError
        return
    expected = outcome(lambda: of_torch(layout).expand(size))
    assert outcome(lambda: view_math.expand(*layout, tuple(size))) == expected


@pytest.mark.parametrize("size", [(2, -2), (-2, 1), (2**62, 4)])
def test_expand_to_an_impossible_shape(size: tuple[int, ...]) -> None:
    layout = ((1, 1), (1, 1), 0)
    assert outcome(lambda: of_torch(layout).expand(size)) is RuntimeError
    assert outcome(lambda: view_math.expand(*layout, size)) is RuntimeError


@given(layout=layouts(), start=dims, end=dims)
def test_flatten_shape(layout: Layout, start: int, end: int) -> None:
    expected = outcome(lambda: tuple(of_torch(layout).flatten(start, end).shape))
    assert outcome(lambda: view_math.flatten_shape(layout[0], start, end)) == expected


@given(layout=layouts(), dim=dims, data=st.data())
def test_unflatten_shape(layout: Layout, dim: int, data: st.DataObject) -> None:
    shape = layout[0]
    count = shape[dim] if -len(shape) <= dim < len(shape) else 2
    sizes = data.draw(regrouped(count) | st.just(()))
    expected = outcome(lambda: tuple(of_torch(layout).unflatten(dim, sizes).shape))
    assert outcome(lambda: view_math.unflatten_shape(shape, dim, sizes)) == expected


@given(
    size=st.lists(st.integers(-1, 4), max_size=3).map(tuple),
    stride=st.lists(st.integers(-1, 9), max_size=3).map(tuple),
    offset=st.integers(-1, 24),
)
def test_as_strided(size: Any, stride: Any, offset: int) -> None:
    base = torch.empty(24)
    expected = outcome(lambda: base.as_strided(size, stride, offset))
    if 0 in size and -1 in size:  # torch accepts a negative size if another is 0
        expected = RuntimeError
    assert outcome(lambda: view_math.as_strided(size, stride, offset, 4, 96)) == expected


@given(layout=layouts())
def test_complex_and_pairs(layout: Layout) -> None:
    numbers = of_torch(layout, torch.complex64)
    assert view_math.as_real(*layout) == layout_of(torch.view_as_real(numbers))
    assert view_math.as_complex(*view_math.as_real(*layout)) == layout
    expected = outcome(lambda: torch.view_as_complex(of_torch(layout)))
    assert outcome(lambda: view_math.as_complex(*layout)) == expected


@given(shape=layouts().map(lambda layout: (*layout[0], 2)), data=st.data())
def test_as_complex_of_any_strides(shape: tuple[int, ...], data: st.DataObject) -> None:
    strides = (*[data.draw(st.integers(0, 5)) for _ in shape[1:]], data.draw(st.sampled_from([1, 1, 2])))
    layout = (shape, strides, data.draw(st.integers(0, 3)))
    expected = outcome(lambda: torch.view_as_complex(of_torch(layout)))
    assert outcome(lambda: view_math.as_complex(*layout)) == expected


def cut(layout: Layout, dim: int, cuts: Any) -> list[Layout]:
    return [view_math.slice_dim(*layout, dim, start, stop) for start, stop in cuts]


pieces = st.lists(st.integers(-1, 4), max_size=4).map(tuple)


@pytest.mark.parametrize(
    "ours, theirs, argument",
    [
        (split_math.equal_pieces, torch.split, counts),
        (split_math.sized_pieces, torch.split, pieces),
        (split_math.chunks, torch.chunk, counts),
        (split_math.sections, torch.tensor_split, counts),
        (split_math.pieces_between, torch.tensor_split, st.lists(st.integers(-6, 6), max_size=4).map(tuple)),
    ],
    ids=["split", "split_with_sizes", "chunk", "sections", "indices"],
)
@given(layout=layouts().filter(lambda layout: layout[0]), data=st.data())
def test_chunk_and_split(ours: Any, theirs: Any, argument: Any, layout: Layout, data: st.DataObject) -> None:
    dim = data.draw(st.integers(0, len(layout[0]) - 1))
    how = data.draw(argument)
    expected = outcome(lambda: theirs(of_torch(layout), how, dim))
    assert outcome(lambda: cut(layout, dim, ours(layout[0][dim], how))) == expected


@given(length=st.integers(0, 9), data=st.data())
def test_split_with_sizes(length: int, data: st.DataObject) -> None:
    marks = sorted(data.draw(st.lists(st.integers(0, length), max_size=4)))
    sizes = tuple(b - a for a, b in zip([0, *marks], [*marks, length], strict=True))
    tensor = torch.empty(length)
    assert cut(((length,), (1,), 0), 0, split_math.sized_pieces(length, sizes)) == [
        layout_of(t) for t in tensor.split(sizes)
    ]


bound = st.none() | st.integers(-6, 6) | st.sampled_from([2**70, -(2**70)])
step = st.none() | st.integers(1, 5) | st.integers(-1, 0)
slices = st.builds(slice, bound, bound, step)
items = st.lists(st.none() | st.just(...) | slices | st.just(slice(None)) | st.integers(-4, 4), max_size=5)


@given(layout=layouts(), index=items)
def test_basic_index(layout: Layout, index: list[Any]) -> None:
    if index.count(...) > 1:  # torch then reads sizes beyond the last dim; see the next test
        index = [item for i, item in enumerate(index) if item is not ... or ... not in index[:i]]
    expected = outcome(lambda: of_torch(layout)[tuple(index)])
    assert outcome(lambda: basic_index.basic_index(*layout, index)) == expected


@pytest.mark.parametrize(
    "index",
    [
        (..., ...),
        (..., 0, ...),
        (..., None, ..., slice(None)),
        (..., ..., None),
        (..., ..., 0),
        (2**63,),
        (-(2**63),),
        (0.5,),
        (1j,),
        ("a",),
        (b"a",),
        (object(),),
        (slice("a"),),
        (slice(None, None, 0.5),),
        (slice(None, None, -(2**70)),),
        (torch.tensor(1), slice(torch.tensor(1), torch.tensor(2))),
    ],
    ids=lambda items: repr(items).split(" at 0x")[0],
)
def test_basic_index_with_unusual_items(index: tuple[Any, ...]) -> None:
    layout = ((2, 3, 4), (12, 4, 1), 5)
    expected = outcome(lambda: of_torch(layout)[index])
    assert outcome(lambda: basic_index.basic_index(*layout, index)) == expected
