"""Printing: torch's text for equal values, options and shapes."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ftensor import _printing as printing
from ftensor.dtypes import FULL, bfloat16, float32, get_default_dtype, int32, set_default_dtype

# The first call imports parts of torch, and its printing is slow; time is not tested.
untimed = settings(deadline=None)

PLAIN = [d for d in FULL if d is not bfloat16]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-5, 1e9, 12345.0, 99999.5, 0.99999, math.inf, -math.inf,
           math.nan, 1e-40, 65504.0]  # fmt: skip


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch says what the text has to be")


def torch_text(torch, array, dtype, options):
    """Returns torch's repr with ftensor's names. torch's printer has its own options."""
    tensor = torch.from_numpy(array.copy())
    if dtype is bfloat16:
        tensor = tensor.to(torch.bfloat16)
    with torch._tensor_str.printoptions(**options):
        return repr(tensor).replace("torch.", "ftensor.")


def our_text(array, dtype, options):
    with printing.printoptions(**options):
        return printing.tensor_str(array, dtype)


@st.composite
def columns(draw, d):
    """Draws the kind of an array's numbers. A mixture would nearly always print in scientific
    notation."""
    if d.kind == "b":
        return st.booleans()
    if d.kind in "ui":
        limits = np.iinfo(d.numpy)
        return st.integers(int(limits.min), int(limits.max)) | st.integers(0, 9)
    whole = st.integers(-2000, 2000).map(float)
    close = st.integers(-2000, 2000).map(lambda n: n / 16)
    near = st.floats(0.25, 64, width=16)
    special = st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan])
    anything = st.floats(width=32) | st.sampled_from(SPECIAL)
    real = draw(st.sampled_from([whole, close, near, whole | special, close | special, anything]))
    if d.is_complex:
        return st.builds(complex, real, draw(st.sampled_from([whole, near, real])))
    return real


@st.composite
def arrays(draw, shapes, d=None):
    d = d or draw(st.sampled_from(FULL))
    shape = draw(shapes)
    # Complex and 16-bit numbers are drawn in a wider type, and rounded when stored.
    wide = {"f": np.float64, "c": np.complex128}.get(d.kind, d.numpy)
    values = draw(hnp.arrays(wide, shape, elements=draw(columns(d)), fill=st.nothing()))
    with np.errstate(over="ignore"):
        array = values.astype(np.float32 if d is bfloat16 else d.numpy)
    if d is bfloat16:
        array = rounded_to_bfloat16(array)
    return array, d


def rounded_to_bfloat16(array):
    """Returns numbers that bfloat16 can represent. The direction of rounding does not matter
    here."""
    return (np.atleast_1d(array).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).reshape(array.shape)


small = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
options = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 8),
        "threshold": st.sampled_from([0, 3, 10, 1000, math.inf]),
        "edgeitems": st.integers(0, 4),
        "linewidth": st.sampled_from([0, 20, 40, 80, 120, 200]),
        "profile": st.sampled_from(["default", "short", "full"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)


@pytest.mark.parametrize("d", FULL, ids=str)
@untimed
@given(data=st.data())
def test_text_is_torchs_with_default_options(torch, d, data):
    array, _ = data.draw(arrays(small, d))
    assert our_text(array, d, {}) == torch_text(torch, array, d, {})


@untimed
@given(arrays(small), options)
def test_text_is_torchs_with_any_options(torch, drawn, opts):
    array, d = drawn
    assert our_text(array, d, opts) == torch_text(torch, array, d, opts)


@pytest.mark.parametrize(
    "shape", [(1001,), (2000, 2), (2, 2000), (40, 40), (7, 7, 7, 7), (6, 200), (1, 1, 1500), (0, 9)]
)
@pytest.mark.parametrize("d", PLAIN, ids=str)
def test_large_tensors_are_summarised_as_torch_does(torch, shape, d):
    with np.errstate(over="ignore"):
        array = (np.arange(math.prod(shape)) * 0.75).reshape(shape).astype(d.numpy)
    assert our_text(array, d, {}) == torch_text(torch, array, d, {})


@untimed
@given(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9), st.integers(0, 4))
def test_summary_blocks_hold_exactly_the_edges(shape, edge):
    with printing.printoptions(edgeitems=edge):
        summary_shape, blocks = printing.summary_blocks(shape)
    array = np.arange(math.prod(shape)).reshape(shape)
    filled = np.zeros(summary_shape, int)
    summary = np.full(summary_shape, -1)
    for source, target in blocks:
        filled[target] += 1
        summary[target] = array[source]
    assert (filled == 1).all()  # every position is written once
    shown = [[i for i in range(size) if size <= 2 * edge or i < edge or i >= size - edge] for size in shape]
    expected = [array[index] for index in itertools.product(*shown)]
    assert summary.ravel().tolist() == expected


@untimed
@given(arrays(hnp.array_shapes(max_dims=3, max_side=12)))
def test_summary_prints_like_the_whole_tensor(drawn):
    array, d = drawn
    with printing.printoptions(threshold=4, edgeitems=2):
        whole = printing.tensor_str(array, d)
        if not printing.needs_summary(array.size):
            return
        summary_shape, blocks = printing.summary_blocks(array.shape)
        summary = np.empty(summary_shape, array.dtype)
        for source, target in blocks:
            summary[target] = array[source]
        assert printing.tensor_str(summary, d, shape=array.shape) == whole


@pytest.mark.parametrize("default", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("d", PLAIN, ids=str)
@pytest.mark.parametrize("shape", [(2,), (0,), (0, 3)])
def test_dtype_is_shown_unless_it_is_the_default(torch, default, d, shape):
    before, torch_before = get_default_dtype(), torch.get_default_dtype()
    array = np.ones(shape, d.numpy)
    try:
        set_default_dtype(next(x for x in FULL if x.name == default))
        torch.set_default_dtype(getattr(torch, default))
        assert our_text(array, d, {}) == torch_text(torch, array, d, {})
    finally:
        set_default_dtype(before)
        torch.set_default_dtype(torch_before)


def test_suffixes_have_torchs_order_and_line_breaks():
    array = np.zeros((0, 2), np.int32)
    text = printing.tensor_str(array, int32, "fpga:0")
    assert text == "tensor([], device='fpga:0', size=(0, 2), dtype=ftensor.int32)"
    with printing.printoptions(linewidth=30):
        text = printing.tensor_str(array, int32, "fpga:0")
    assert text == ("tensor([], device='fpga:0',\n       size=(0, 2),\n       dtype=ftensor.int32)")


def test_a_subclass_is_named_and_indents_by_its_name():
    text = printing.tensor_str(np.ones((2, 2), np.float32), float32, name="Image")
    assert text == "Image([[1., 1.],\n       [1., 1.]])"


def test_options_are_returned_as_they_were_set():
    before = printing.get_printoptions()
    chosen = {"precision": 2, "threshold": 5, "edgeitems": 1, "linewidth": 60, "sci_mode": True}
    with printing.printoptions(**chosen):
        assert printing.get_printoptions() == chosen
        printing.set_printoptions(precision=3)
        # As in torch, sci_mode goes back to automatic unless it is given again.
        assert printing.get_printoptions() == {**chosen, "precision": 3, "sci_mode": None}
    assert printing.get_printoptions() == before


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"precision": -1}, "precision"),
        ({"precision": 2.5}, "precision"),
        ({"edgeitems": -2}, "edgeitems"),
        ({"profile": "long"}, "'long'"),
    ],
)
def test_wrong_options_raise_and_change_nothing(wrong, named):
    before = printing.get_printoptions()
    with pytest.raises(ValueError, match=named):
        printing.set_printoptions(linewidth=33, **wrong)
    assert printing.get_printoptions() == before
