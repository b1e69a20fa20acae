"""Dtypes: properties, promotion, limits and the default are torch's."""

import copy
import importlib
import itertools
import pickle
from dataclasses import FrozenInstanceError
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftensor.dtypes import (
    ALL,
    FULL,
    bfloat16,
    can_cast,
    complex32,
    complex64,
    complex128,
    dtype,
    float32,
    float64,
    from_numpy_dtype,
    get_default_dtype,
    int32,
    int64,
    promote_types,
    result_dtype,
    result_type,
    scalar_dtype,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ftensor.dtypes import bool as bool_
from ftensor.dtypes.limits import finfo, iinfo

BY_NAME = {d.name: d for d in ALL}
FLOATS = [d for d in FULL if d.is_floating_point]
SCALARS = [True, 3, 2.5, 1j]
ALIASES = ["half", "float", "double", "short", "int", "long", "cfloat", "cdouble", "chalf"]

dtypes = st.sampled_from([*FULL, complex32])
operands = st.tuples(dtypes, st.integers(0, 1)) | st.sampled_from(SCALARS).map(lambda scalar: (scalar_dtype(scalar), 2))


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch says what the results have to be")


@pytest.fixture
def choose_default(torch):
    """Sets the default dtype here and in torch, and restores both."""
    before, torch_before = get_default_dtype(), torch.get_default_dtype()

    def choose(d):
        set_default_dtype(d)
        torch.set_default_dtype(getattr(torch, d.name))

    yield choose
    set_default_dtype(before)
    torch.set_default_dtype(torch_before)


class Operand(NamedTuple):
    """The properties of a tensor that result_type reads."""

    dtype: dtype
    ndim: int


def theirs(torch, d):
    return getattr(torch, d.name)


def ours(torch_dtype):
    """Returns ftensor's dtype for torch's."""
    return BY_NAME[str(torch_dtype).removeprefix("torch.")]


def agreed(mine, expected):
    """Asserts equal results or the same class of error, except if torch refuses to promote unsigned
    integers."""
    try:
        wanted = ours(expected())
    except RuntimeError as error:
        if "uint16, uint32, uint64" in str(error):
            return
        with pytest.raises(RuntimeError) as raised:
            mine()
        assert type(raised.value) is type(error)
    else:
        assert mine() is wanted


@pytest.mark.parametrize("d", ALL, ids=str)
def test_properties_agree_with_torch(torch, d):
    t = theirs(torch, d)
    assert repr(d) == str(d) == str(t).replace("torch.", "ftensor.")
    assert d.itemsize == t.itemsize == d.numpy.itemsize
    for asked in ("is_floating_point", "is_complex", "is_signed"):
        assert getattr(d, asked) is getattr(t, asked)
    assert d.to_real() is ours(t.to_real())
    if d is bfloat16:  # torch refuses
        assert d.to_complex() is complex64
    else:
        agreed(d.to_complex, t.to_complex)


@pytest.mark.parametrize("name", [*ALIASES, *BY_NAME])
def test_names_are_torchs(torch, name):
    assert getattr(importlib.import_module("ftensor.dtypes"), name) is ours(getattr(torch, name))


@pytest.mark.parametrize("d", ALL, ids=str)
def test_kernels_compute_in_a_type_that_holds_every_value(d):
    narrow = d.kind == "f" and d.itemsize < 4
    assert d.compute is (float32 if narrow else complex64 if d is complex32 else d)
    assert can_cast(d, d.compute)
    if d.bare != "8":
        assert promote_types(d, d.compute) is d.compute


@pytest.mark.parametrize("d", ALL, ids=str)
def test_one_object_per_dtype(d):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(d, protocol)) is d
    assert copy.copy(d) is d and copy.deepcopy([d])[0] is d
    assert [x for x in ALL if x == d] == [d] and len({*ALL, d}) == len(ALL)


def test_dtypes_are_immutable():
    with pytest.raises(FrozenInstanceError):
        float32.itemsize = 8


@pytest.mark.parametrize(("a", "b"), list(itertools.product(ALL, ALL)), ids=str)
def test_pairs_promote_and_cast_as_in_torch(torch, a, b):
    pair = theirs(torch, a), theirs(torch, b)
    agreed(lambda: promote_types(a, b), lambda: torch.promote_types(*pair))
    assert can_cast(a, b) is torch.can_cast(theirs(torch, a), theirs(torch, b))


@pytest.mark.parametrize(("a", "b"), list(itertools.product(ALL, [uint16, uint32, uint64])), ids=str)
def test_unsigned_integers_promote_as_in_numpy(a, b):
    if a.kind not in "bui":
        assert a.bare == "8" or promote_types(a, b) is a
        return
    promoted = np.promote_types(a.numpy, b.numpy)
    if promoted.kind == "f":
        with pytest.raises(RuntimeError, match=r"uint64"):
            promote_types(a, b)
    else:
        assert promote_types(a, b).numpy == promote_types(b, a).numpy == promoted


@given(dtypes, dtypes, dtypes)
def test_promotion_is_a_join(a, b, c):
    assert promote_types(a, b) is promote_types(b, a)
    assert promote_types(a, a) is a
    joined = promote_types(a, b)
    assert promote_types(a, joined) is joined
    assert can_cast(a, joined) and can_cast(b, joined)
    assert promote_types(joined, c) is promote_types(a, promote_types(b, c))


@pytest.mark.parametrize("default", FLOATS, ids=str)
@pytest.mark.parametrize("left", [*ALL, *SCALARS], ids=str)
def test_result_type_is_torchs_for_every_kind_of_pair(torch, choose_default, default, left):
    choose_default(default)

    def forms(one):
        """Returns (ftensor's operand, torch's operand) for a scalar, or for a dtype with 0 and 2
        dims."""
        if not isinstance(one, dtype):
            return [(one, one)]
        return [(Operand(one, ndim), torch.ones((1,) * ndim, dtype=theirs(torch, one))) for ndim in (0, 2)]

    for right in (*ALL, *SCALARS):
        for (a, torch_a), (b, torch_b) in itertools.product(forms(left), forms(right)):
            if default is bfloat16 and (isinstance(a, complex) or isinstance(b, complex)):
                continue  # torch has no complex type for this default, and raises
            pair = partial(result_type, a, b), partial(torch.result_type, torch_a, torch_b)
            agreed(*pair)


@given(st.lists(operands, min_size=1, max_size=5), st.randoms())
def test_result_dtype_ignores_order_and_repetition(drawn, random):
    result = result_dtype(drawn)
    shuffled = [*drawn, *drawn]
    random.shuffle(shuffled)
    assert result_dtype(shuffled) is result
    # No operand has a higher category than the result.
    assert all(can_cast(d, result) for d, _ in drawn)


@given(st.lists(operands, min_size=1, max_size=5))
def test_tensors_with_dims_decide_the_width_within_their_category(drawn):
    with_dims = [d for d, priority in drawn if priority == 0]
    if with_dims:
        decided = result_dtype([(d, 0) for d in with_dims])
        result = result_dtype(drawn)
        same_category = can_cast(result, decided) and can_cast(decided, result)
        assert result is decided or not same_category


def test_several_operands_and_invalid_ones():
    assert result_type(Operand(uint8, 1), Operand(int64, 0), 2.0) is float32
    with pytest.raises(TypeError, match="'a'"):
        result_type("a", 1)
    with pytest.raises(TypeError, match="None"):
        result_type(Operand(uint8, 1), None)


@pytest.mark.parametrize("default", FLOATS, ids=str)
@pytest.mark.parametrize("scalar", [*SCALARS, np.int8(1), np.float64(1), np.float32(1)], ids=repr)
def test_scalars_convert_as_in_torch(torch, choose_default, default, scalar):
    choose_default(default)
    if default is bfloat16 and np.iscomplexobj(scalar):
        assert scalar_dtype(scalar) is complex64  # torch raises
        return
    lowest = torch.ones((), dtype=torch.bool)
    assert scalar_dtype(scalar) is ours(torch.result_type(lowest, scalar))


def test_numpy_scalars_keep_their_kind():
    # torch reads the first as a float and drops the second's imaginary part.
    assert scalar_dtype(np.bool_(True)) is bool_
    assert scalar_dtype(np.complex64(1j)) is complex64


@pytest.mark.parametrize(
    "wrong", [int32, bool_, complex64, complex32, BY_NAME["float8_e5m2"], "float32", 3, None], ids=str
)
def test_default_dtype_is_floating_point(wrong):
    before = get_default_dtype()
    with pytest.raises(TypeError, match="floating point"):
        set_default_dtype(wrong)
    assert get_default_dtype() is before


@pytest.mark.parametrize("d", ALL, ids=str)
def test_limits_are_torchs(torch, d):
    mine, limits = (finfo, torch.finfo) if d.kind in "fc" else (iinfo, torch.iinfo)
    if d is bool_:
        with pytest.raises(TypeError, match="bool"):
            iinfo(d)
        return
    expected = limits(theirs(torch, d))
    assert repr(mine(d)) == repr(expected)
    fields = ["bits", "min", "max", "dtype"]
    if mine is finfo:
        fields += ["eps", "tiny", "smallest_normal", "resolution"]
    assert [getattr(mine(d), f) for f in fields] == [getattr(expected, f) for f in fields]


def test_limits_of_the_default_and_of_invalid_types(choose_default):
    choose_default(float64)
    assert finfo() == finfo(float64) == finfo(complex128) != finfo(float32)
    assert iinfo(int32) == iinfo(int32) != iinfo(int64)
    for limits, wrong in ((finfo, int32), (finfo, 3), (iinfo, float32), (iinfo, "int8")):
        with pytest.raises(TypeError, match=str(getattr(wrong, "name", wrong))):
            limits(wrong)
    with pytest.raises(TypeError):
        hash(finfo(float32))


@pytest.mark.parametrize("name", ["?", *"bBhHiIlLqQefdgFDGSUVOmM", ">f4", "<i2", ">i8", "=f8", ">b"])
def test_numpy_dtypes_are_accepted_as_by_torch(torch, name):
    array = np.zeros(2, name)
    if name == "Q":  # C's unsigned long long, which torch cannot name
        assert from_numpy_dtype(array.dtype).name == "uint64"
        return
    try:
        expected = str(torch.from_numpy(array).dtype)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            from_numpy_dtype(array.dtype)
        return
    assert str(from_numpy_dtype(array.dtype)) == expected.replace("torch.", "ftensor.")


@pytest.mark.parametrize("function", [promote_types, can_cast])
def test_error_names_an_invalid_dtype(function):
    for args in ((1, float32), (float32, 1), ("float32", float32)):
        with pytest.raises(TypeError, match=r"1|'float32'"):
            function(*args)


def test_pickles_refer_to_the_package() -> None:
    """Files do not depend on the module that defines dtypes."""
    kept = b"\x80\x04\x95\x1e\x00\x00\x00\x00\x00\x00\x00\x8c\x0eftensor.dtypes\x94\x8c\x07float32\x94\x93\x94."
    assert pickle.loads(kept) is float32
    assert pickle.dumps(float32, protocol=4) == kept
