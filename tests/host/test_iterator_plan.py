"""Pointwise plans visit every element once, in as few loops as possible, with torch's strides."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ftensor.iterator.plan import coalesce, plan_map, split
from ftensor.iterator.shape import broadcast_shapes, numel

from .. import geometry


def planned(operands, **options):
    return plan_map([s for s, _ in operands], [t for _, t in operands], **options)


def logical(shape, layouts):
    """Returns the visited elements of a loop nest as indices of the user's dims."""
    return geometry.visited(shape, [geometry.stretched(*o, shape) for o in layouts])


def check_loops(sizes, strides):
    """Asserts the minimum number of loops, and one step for each operand."""
    assert len(sizes) >= 1
    assert all(len(s) == len(sizes) for s in strides)
    if sizes not in ((0,), (1,)):
        assert all(n > 1 for n in sizes)
    for i in range(1, len(sizes)):
        assert any(s[i - 1] != sizes[i] * s[i] for s in strides), "neighbours left unmerged"
    if numel(sizes) < 2:
        assert all(s == (1,) for s in strides)


operands = st.integers(1, 3).flatmap(geometry.broadcastable)


@settings(max_examples=300)
@given(operands, st.booleans())
def test_new_output_is_written_contiguously(layouts, scalars):
    plan = planned(layouts, scalars=scalars)
    check_loops(plan.shape, plan.strides)
    assert plan.out_shape == broadcast_shapes(*[s for s, _ in layouts])
    steps = geometry.visited(plan.shape, plan.strides)
    if len(steps) > 1:
        out = (plan.out_shape, plan.out_strides)
        assert sorted(steps) == sorted(logical(plan.out_shape, [out, *layouts]))
    assert [step[0] for step in steps] == list(range(numel(plan.out_shape)))


@st.composite
def with_output(draw):
    """Draws operands, and an output that they broadcast to. The output may have gaps and further
    dims."""
    layouts = draw(st.integers(0, 2).flatmap(geometry.broadcastable))
    shape = broadcast_shapes(*[s for s, _ in layouts])
    shape = (*draw(geometry.shapes(2)), *shape)
    return layouts, (shape, draw(geometry.strides_of(shape, expand=False)))


@settings(max_examples=300)
@given(with_output(), st.booleans())
def test_given_output_is_visited_with_its_inputs(case, reorder):
    layouts, out = case
    plan = planned(layouts, out=out, reorder=reorder)
    check_loops(plan.shape, plan.strides)
    assert (plan.out_shape, plan.out_strides) == out
    steps = geometry.visited(plan.shape, plan.strides)
    expected = logical(out[0], [out, *layouts])
    assert len(steps) == len(expected)
    if len(steps) > 1:
        assert (sorted(steps) if reorder else steps) == (sorted(expected) if reorder else expected)
    if reorder:
        places = [step[0] for step in steps]
        assert places == sorted(places) or not sorted_by_stride(out)


def sorted_by_stride(out):
    """Returns whether loops by falling strides visit the output in memory order (no dims
    interleave)."""
    shape, strides = out
    dims = sorted(range(len(shape)), key=lambda d: strides[d], reverse=True)
    sizes, steps = coalesce(shape, [strides], dims)
    reach = 0
    for size, step in zip(reversed(sizes), reversed(steps[0]), strict=True):
        if step <= reach:
            return False
        reach += (size - 1) * step
    return True


@given(operands)
def test_without_reordering_elements_come_in_logical_order(layouts):
    plan = planned(layouts, reorder=False)
    check_loops(plan.shape, plan.strides)
    assert plan.out_strides == torch.empty(plan.out_shape).stride()
    steps = geometry.visited(plan.shape, plan.strides)
    out = (plan.out_shape, plan.out_strides)
    if len(steps) > 1:
        assert steps == logical(plan.out_shape, [out, *layouts])


@settings(max_examples=300)
@given(geometry.broadcastable(2))
@example([((0, 0, 1), (1, 1, 1))] * 2)
def test_output_strides_of_binary_ops_are_torch_s(layouts):
    a, b = (torch.empty_strided(*o) for o in layouts)
    assert planned(layouts).out_strides == torch.add(a, b).stride()
    assert planned(layouts[:1], scalars=bool(a.ndim)).out_strides == torch.mul(a, 2).stride()
    assert planned(layouts[:1]).out_strides == torch.exp(a).stride()


@given(geometry.shapes(), st.integers(1, 3), st.data())
def test_operands_of_one_dense_layout_make_one_loop(shape, count, data):
    strides = data.draw(geometry.strides_of(shape, expand=False, gaps=False))
    plan = planned([(shape, strides)] * count)
    assert plan.shape == (numel(shape),)
    assert plan.strides == ((1,),) * (count + 1)


@pytest.mark.parametrize("flips", [(-12, -4, -1), (12, -4, 1), (-12, 4, -1)])
def test_negative_steps(flips):
    shape = (2, 3, 4)
    plan = planned([(shape, flips)])
    steps = geometry.visited(plan.shape, plan.strides)
    assert steps == geometry.visited(shape, [(12, 4, 1), flips])
    assert len(plan.shape) <= 3


def test_flip_of_all_dims_is_one_loop():
    assert planned([((2, 3, 4), (-12, -4, -1))]).strides == ((1,), (-1,))


def test_output_too_small_names_both_shapes():
    with pytest.raises(RuntimeError, match=r"\(3,\).*\(2, 3\)"):
        planned([((2, 3), (3, 1))], out=((3,), (1,)))


def test_plans_are_hashable():
    layouts = [((2, 3), (3, 1)), ((3,), (1,))]
    assert hash(planned(layouts)) == hash(planned(layouts))
    assert planned(layouts) == planned(layouts)


@settings(max_examples=300)
@given(geometry.shapes(4), st.integers(0, 3), st.integers(1, 30), st.data())
def test_split_covers_each_element_once_within_the_limit(shape, count, limit, data):
    strides = [data.draw(geometry.strides_of(shape)) for _ in range(count)]
    seen = []
    for piece, offsets in split(shape, strides, limit):
        assert 0 < numel(piece) <= limit
        steps = geometry.visited(piece, strides)
        assert all(max(column) - min(column) <= limit for column in zip(*steps, strict=True))
        seen += [tuple(o + b for o, b in zip(step, offsets, strict=True)) for step in steps]
    assert sorted(seen) == sorted(geometry.visited(shape, strides))


@given(
    st.lists(st.integers(1, 2**20), min_size=1, max_size=3).map(tuple),
    st.lists(st.sampled_from([-(2**9), -1, 0, 1, 3, 2**5]), min_size=3, max_size=3),
)
def test_split_of_tensors_beyond_32_bits(shape, steps):
    size, limit = numel(shape), 2**31 - 1
    if size > 2**40:  # more pieces than a test can count
        shape, size = shape[:2], numel(shape[:2])
    strides = tuple(steps[: len(shape)])
    pieces = split(shape, [strides])
    assert sum(numel(piece) for piece, _ in pieces) == size
    for piece, _ in pieces:
        assert numel(piece) <= limit
        assert sum((n - 1) * abs(s) for n, s in zip(piece, strides, strict=True)) <= limit


@pytest.mark.parametrize("elements", [2**31, 3 * 2**30 + 17, 2**33 + 1])
def test_long_runs_are_split_into_few_aligned_pieces(elements):
    pieces = split((elements,), [(1,), (1,)])
    assert len(pieces) <= 2 ** math.ceil(math.log2(elements / (2**31 - 1)) + 1)
    assert all(offset % 64 == 0 for _, offsets in pieces for offset in offsets)
    assert split((100, 100), [(100, 1)]) == [((100, 100), (0,))]
