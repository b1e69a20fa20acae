"""Reduction plans: each result reduces exactly its elements, with torch's strides."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ftensor.iterator.plan import plan_reduce
from ftensor.iterator.shape import contiguous_strides, numel

from .. import geometry
from .test_iterator_plan import check_loops


@st.composite
def reductions(draw):
    """Draws a shape, the strides of one or two inputs, dims to reduce, and keepdim."""
    shape = draw(geometry.shapes())
    strides = [draw(geometry.strides_of(shape)) for _ in range(draw(st.integers(1, 2)))]
    dims = draw(st.lists(st.integers(0, len(shape) - 1), unique=True)) if shape else []
    dims = [d - len(shape) if draw(st.booleans()) else d for d in dims]
    return shape, strides, draw(st.sampled_from([dims, None])), draw(st.booleans())


def logical(shape, strides, dims, out_strides, keepdim):
    """Returns {output offset: [offsets in each input, in logical order]}, computed from the
    definition."""
    dims = set(range(len(shape))) if dims is None else {d % len(shape) for d in dims}
    results = {}
    for index in geometry.indices(shape):
        at = tuple(0 if d in dims else i for d, i in enumerate(index) if keepdim or d not in dims)
        places = tuple(geometry.offset(index, s) for s in strides)
        results.setdefault(geometry.offset(at, out_strides), []).append(places)
    return results


def run_plan(plan):
    """Returns the same, computed by the plan's loops."""
    results = {}
    for place, *bases in geometry.visited(plan.kept, plan.kept_strides):
        assert place not in results, "a result is written twice"
        inner = geometry.visited(plan.reduced, plan.reduced_strides)
        results[place] = [tuple(b + o for b, o in zip(bases, step, strict=True)) for step in inner]
    return results


def normalised(results):
    """Drops the offsets of loops of one iteration, which count as contiguous, and keeps the counts."""
    return {place: sorted(steps) for place, steps in results.items()}


@settings(max_examples=300)
@given(reductions(), st.booleans(), st.data())
def test_each_result_reduces_its_elements(case, given_out, data):
    shape, strides, dims, keepdim = case
    plan = plan_reduce(shape, strides, dims, keepdim)
    if given_out:
        layout = data.draw(geometry.strides_of(plan.out_shape, expand=False))
        plan = plan_reduce(shape, strides, dims, keepdim, out=(plan.out_shape, layout))
        assert plan.out_strides == layout
    check_loops(plan.kept, plan.kept_strides)
    check_loops(plan.reduced, plan.reduced_strides)
    if numel(shape):
        expected = logical(shape, strides, dims, plan.out_strides, keepdim)
        assert normalised(run_plan(plan)) == normalised(expected)
    assert numel(plan.kept) == numel(plan.out_shape)
    assert numel(plan.kept) * numel(plan.reduced) == numel(shape)


@settings(max_examples=300)
@given(reductions())
def test_without_reordering_each_result_reads_in_logical_order(case):
    shape, strides, dims, keepdim = case
    plan = plan_reduce(shape, strides, dims, keepdim, reorder=False)
    check_loops(plan.reduced, plan.reduced_strides)
    if numel(shape):
        assert run_plan(plan) == logical(shape, strides, dims, plan.out_strides, keepdim)


@given(reductions())
def test_new_results_are_written_contiguously(case):
    plan = plan_reduce(*case)
    places = [place for place, *_ in geometry.visited(plan.kept, plan.kept_strides)]
    assert places == list(range(numel(plan.out_shape)))


OPS = {
    "sum": torch.sum,
    "amax": torch.amax,
    "var": partial(torch.var, correction=0),
    "any": torch.any,
    "logsumexp": torch.logsumexp,
    "norm": torch.linalg.vector_norm,
}


@pytest.mark.parametrize("name", OPS)
@given(case=reductions())
def test_shapes_and_strides_of_results_are_torch_s(name, case):
    shape, strides, dims, keepdim = case
    dims = tuple(range(len(shape))) if dims is None else dims
    if not dims or 0 in shape:  # torch's ops disagree with each other about these
        return
    x = torch.zeros(40000).as_strided(shape, strides[0])
    expected = OPS[name](x, dim=dims, keepdim=keepdim)
    plan = plan_reduce(shape, strides, dims, keepdim)
    assert (plan.out_shape, plan.out_strides) == (tuple(expected.shape), expected.stride())


@given(geometry.shapes(), st.data())
def test_full_reduction_of_dense_input_is_one_loop(shape, data):
    strides = data.draw(geometry.strides_of(shape, expand=False, gaps=False))
    plan = plan_reduce(shape, [strides], None, False)
    assert (plan.kept, plan.reduced) == ((1,), (numel(shape),))
    assert plan.reduced_strides == ((1,),)


@pytest.mark.parametrize("keepdim", [False, True])
def test_zero_dim_inputs_accept_dim_0(keepdim):
    for dims in (None, 0, -1, (0,)):
        plan = plan_reduce((), [()], dims, keepdim)
        assert (plan.kept, plan.reduced, plan.out_shape) == ((1,), (1,), ())
    with pytest.raises(IndexError, match="0-d"):
        plan_reduce((), [()], 1, keepdim)


def test_empty_reduction_writes_the_identity():
    plan = plan_reduce((3, 0, 2), [contiguous_strides((3, 0, 2))], 1, False)
    assert (plan.kept, plan.reduced) == ((6,), (0,))
    plan = plan_reduce((3, 0, 2), [contiguous_strides((3, 0, 2))], 0, False)
    assert (plan.kept, plan.reduced) == ((0,), (3,))
