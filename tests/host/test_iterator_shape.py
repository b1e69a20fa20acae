"""Shapes: properties of the functions, and the cases that torch accepts or refuses."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ftensor.iterator.shape import broadcast_shapes, infer_shape, normalize_dim, normalize_dims, numel

from .. import geometry


@given(geometry.shapes())
def test_numel_counts_the_indices(shape):
    assert numel(shape) == len(list(geometry.indices(shape)))


@given(st.lists(geometry.shapes(3), max_size=3))
def test_broadcast_shapes_as_torch(shapes):
    try:
        expected = tuple(torch.broadcast_tensors(*[torch.empty(s) for s in shapes])[0].shape)
    except IndexError:
        expected = ()  # without tensors torch has nothing to broadcast
    except RuntimeError:
        with pytest.raises(RuntimeError, match="non-singleton dimension"):
            broadcast_shapes(*shapes)
        return
    assert broadcast_shapes(*shapes) == expected


@given(geometry.broadcastable(3))
def test_broadcast_shape_is_the_smallest_common_shape(operands):
    shapes = [s for s, _ in operands]
    result = broadcast_shapes(*shapes)
    assert len(result) == max(len(s) for s in shapes)
    for i, size in enumerate(reversed(result)):
        met = {s[-1 - i] for s in shapes if len(s) > i}
        assert met - {1} <= {size}
        assert size in met


def test_broadcast_error_names_dimension_and_shapes():
    with pytest.raises(RuntimeError, match=r"dimension -2.*\(2, 3, 4\), \(5, 4\)"):
        broadcast_shapes((2, 3, 4), (5, 4))


@given(st.integers(-7, 6), st.integers(0, 5))
def test_normalize_dim_as_torch(dim, ndim):
    try:
        expected = torch.empty((2,) * ndim).sum(dim, keepdim=True)
    except IndexError:
        with pytest.raises(IndexError, match=f"dim {dim} "):
            normalize_dim(dim, ndim)
        return
    normalized = normalize_dim(dim, ndim)
    assert 0 <= normalized < max(ndim, 1)
    assert (normalized - dim) % max(ndim, 1) == 0
    if ndim:
        assert expected.shape[normalized] == 1


@given(st.lists(st.integers(-4, 3), max_size=4), st.integers(0, 4))
def test_normalize_dims_refuses_what_torch_refuses(dims, ndim):
    try:
        torch.empty((2,) * ndim).amax(dims)
    except (IndexError, RuntimeError) as error:
        with pytest.raises(type(error)):
            normalize_dims(dims, ndim)
        return
    assert normalize_dims(dims, ndim) == tuple(normalize_dim(d, ndim) for d in dims)


def test_normalize_dims_of_none_and_int():
    assert normalize_dims(None, 3) == (0, 1, 2)
    assert normalize_dims(-1, 3) == (2,)
    assert normalize_dims((), 3) == ()
    assert normalize_dims(None, 0) == ()


@given(geometry.shapes(4), st.lists(st.integers(-2, 6), max_size=4))
def test_infer_shape_as_torch(shape, wanted):
    try:
        expected = torch.empty(shape).reshape(wanted)
    except RuntimeError:
        with pytest.raises(RuntimeError):
            infer_shape(wanted, numel(shape))
        return
    assert infer_shape(wanted, numel(shape)) == tuple(expected.shape)


@given(geometry.shapes(4, empty=False), st.data())
def test_infer_shape_finds_the_missing_size(shape, data):
    if shape:
        hole = data.draw(st.integers(0, len(shape) - 1))
        wanted = [*shape[:hole], -1, *shape[hole + 1 :]]
        assert infer_shape(wanted, numel(shape)) == shape


@pytest.mark.parametrize(
    ("shape", "count", "message"),
    [
        ((-1, -1), 4, "more than one -1"),
        ((-2, 2), 4, "size -2"),
        ((3, -1), 4, "does not fit"),
        ((3,), 4, r"shape \(3,\) does not fit a tensor of 4"),
        ((0, -1), 0, "could be any size"),
        ((0, -1), 4, "does not fit"),
    ],
)
def test_infer_shape_errors(shape, count, message):
    with pytest.raises(RuntimeError, match=message):
        infer_shape(shape, count)
