"""Strides: properties of the layout functions, and a comparison with torch for every layout."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ftensor.iterator import plan
from ftensor.iterator import shape as stride
from ftensor.iterator.shape import broadcast_shapes, numel

from .. import geometry


def tensor(shape, strides, dtype=torch.float32):
    return torch.empty_strided(shape, strides, dtype=dtype)


@given(geometry.shapes())
def test_contiguous_strides_as_torch(shape):
    strides = stride.contiguous_strides(shape)
    assert strides == torch.empty(shape).stride()
    assert [o for (o,) in geometry.visited(shape, [strides])] == list(range(numel(shape)))
    assert stride.is_contiguous(shape, strides)


@given(st.lists(geometry.sizes, min_size=4, max_size=5).map(tuple))
def test_channels_last_strides_as_torch(shape):
    format = torch.channels_last if len(shape) == 4 else torch.channels_last_3d
    assert stride.channels_last_strides(shape) == torch.empty(shape, memory_format=format).stride()


@given(geometry.geometries())
def test_layout_predicates_as_torch(layout):
    shape, strides = layout
    t = tensor(shape, strides)
    assert stride.is_contiguous(shape, strides) == t.is_contiguous()
    assert stride.is_dense(shape, strides) == torch.ops.aten.is_non_overlapping_and_dense(t)
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(t.ndim)
    expected = last is not None and t.is_contiguous(memory_format=last)
    assert stride.is_channels_last(shape, strides) == expected


@given(geometry.geometries(empty=False))
def test_dense_covers_each_offset_once(layout):
    places = sorted(o for (o,) in geometry.visited(layout[0], [layout[1]]))
    assert stride.is_dense(*layout) == (places == list(range(len(places))))


@given(geometry.geometries(), st.data())
def test_extent_is_the_range_of_offsets(layout, data):
    shape, strides = layout
    signs = data.draw(st.lists(st.sampled_from([1, -1]), min_size=len(shape), max_size=len(shape)))
    strides = tuple(s * sign for s, sign in zip(strides, signs, strict=True))
    places = [o for (o,) in geometry.visited(shape, [strides])]
    expected = (min(places), max(places)) if places else (0, -1)
    assert stride.extent(shape, strides) == expected


@given(geometry.broadcastable(2))
def test_broadcast_strides_read_what_expand_reads(operands):
    to = broadcast_shapes(*[s for s, _ in operands])
    for shape, strides in operands:
        actual = stride.broadcast_strides(shape, strides, to)
        expected = tensor(shape, strides).expand(to).stride()
        assert geometry.visited(to, [actual]) == geometry.visited(to, [expected])
        stretching = [d for d in range(-len(to), 0) if len(shape) + d < 0 or shape[d] != to[d]]
        assert all(actual[d] == 0 for d in stretching)
        assert all(actual[d] == strides[d] for d in range(-len(shape), 0) if d not in stretching)


@st.composite
def regrouped(draw):
    """Draws a geometry, and another shape with the same number of elements, often reachable by a
    view."""
    shape, strides = draw(geometry.geometries(4))
    rest = list(shape)
    result = []
    while rest:
        size = rest.pop(0)
        if rest and draw(st.booleans()):
            rest[0] *= size
            continue
        factors = [f for f in range(1, size + 1) if size % f == 0]
        factor = draw(st.sampled_from(factors)) if factors else 0
        result += [size] if factor in (0, size) else [factor, size // factor]
        if draw(st.integers(0, 3)) == 0:
            result.insert(draw(st.integers(0, len(result))), 1)
    return shape, strides, tuple(result)


@settings(max_examples=400)
@given(regrouped())
def test_view_strides_as_torch(case):
    shape, strides, new_shape = case
    actual = stride.view_strides(shape, strides, new_shape)
    try:
        expected = tensor(shape, strides).view(new_shape).stride()
    except RuntimeError:
        expected = None
    assert actual == expected
    if actual is not None and numel(shape):
        assert geometry.visited(new_shape, [actual]) == geometry.visited(shape, [strides])


@given(geometry.geometries())
def test_internal_overlap_as_in_place_ops_of_torch(layout):
    try:
        tensor(*layout).neg_()
        refused = False
    except RuntimeError:
        refused = True
    assert stride.has_internal_overlap(*layout) == refused


@st.composite
def neighbours(draw):
    """Draws two tensors of one shape in one storage: (offset in elements, strides) of each."""
    shape = draw(geometry.shapes(3))
    first = (draw(st.integers(0, 30)), draw(geometry.strides_of(shape, expand=False)))
    second = first
    if draw(st.integers(0, 3)):
        strides = first[1] if draw(st.booleans()) else draw(geometry.strides_of(shape))
        second = (draw(st.integers(0, 60)), strides)
    return shape, first, second


@settings(max_examples=400)
@given(neighbours())
def test_partial_overlap_as_out_arguments_of_torch(case):
    shape, (a, a_strides), (b, b_strides) = case
    memory = torch.zeros(6000)
    out = memory.as_strided(shape, a_strides, a)
    try:
        torch.neg(memory.as_strided(shape, b_strides, b), out=out)
        refused = False
    except RuntimeError:
        refused = True
    regions = (4 * a, shape, a_strides, 4), (4 * b, shape, b_strides, 4)
    assert stride.partial_overlap(*regions) == refused
    assert stride.partial_overlap(*reversed(regions)) == refused
    same = a == b and a_strides == b_strides and stride.is_dense(shape, a_strides)
    assert stride.full_overlap(*regions) == (same and numel(shape) > 0)


def test_partial_overlap_counts_bytes():
    eight = (0, (8,), (1,), 1)
    assert stride.partial_overlap(eight, (4, (1,), (1,), 8))
    assert not stride.partial_overlap(eight, (8, (1,), (1,), 8))
    assert stride.partial_overlap(eight, (0, (1,), (1,), 4))


@given(geometry.geometries())
def test_like_strides_as_empty_like(layout):
    actual = plan.like_strides(*layout)
    assert actual == torch.empty_like(tensor(*layout)).stride()
    assert stride.is_dense(layout[0], actual)


POINTWISE = {1: [torch.neg], 2: [torch.add, torch.lt], 3: [torch.addcmul, torch.where]}


@settings(max_examples=600)
@given(st.integers(1, 3).flatmap(geometry.broadcastable), st.data())
def test_output_strides_as_torch(operands, data):
    op = data.draw(st.sampled_from(POINTWISE[len(operands)]))
    tensors = [tensor(*o) for o in operands]
    if op is torch.where:
        tensors[0] = tensor(*operands[0], dtype=torch.bool)
    expected = op(*tensors)
    shape = broadcast_shapes(*[s for s, _ in operands])
    strides = [stride.broadcast_strides(*o, shape) for o in operands]
    same = all(s == shape for s, _ in operands)
    assert tuple(expected.shape) == shape
    assert plan.output_strides(shape, strides, same) == expected.stride()


@given(geometry.geometries())
def test_output_strides_with_a_python_scalar_as_torch(layout):
    shape, strides = layout
    expected = (tensor(shape, strides) * 2).stride()
    # A scalar counts as an operand of another shape, unless the tensor is 0-d.
    assert plan.output_strides(shape, [strides], same_shape=not shape) == expected


@pytest.mark.parametrize("format", [torch.channels_last, torch.contiguous_format])
def test_output_keeps_channels_last(format):
    x = torch.empty(2, 3, 4, 5).to(memory_format=format)
    strides = plan.output_strides(tuple(x.shape), [x.stride()])
    assert strides == x.stride()
