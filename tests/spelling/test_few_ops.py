"""uint16, uint32, uint64 and dtypes with few ops: torch's errors, creation, printing and
exchange."""

import copy
import io
import pickle

import numpy as np
import pytest

import ftensor as ft
from ftensor import dtypes

from ..oracle import torch

OTHERS = [d for d in dtypes.ALL if d.bare]
UNSIGNED = [ft.uint16, ft.uint32, ft.uint64]
BARE = [*UNSIGNED, *OTHERS]

# Calls on x, a tensor of ones. torch's exception or result is the reference.
CALLS = """
x + 1; x - x; x * x; x * 2; x / x; x // x; x % x; x ** 2; -x; abs(x); ~x; x & x; x << 1; x == x
x < x; x.clamp(0, 1); x.max(); x.argmax(); x.amax(0); x.sum(); x.prod(); x.mean(); x.any(); x.norm()
x.sum(dtype=m.float32); x.cumsum(0); x.cummax(0); x.logcumsumexp(0); x.exp(); x.sqrt(); x.isnan()
x.isfinite(); x.sign(); x.sgn(); x.square(); x.round(); x.sort(); x.topk(1); x.median(); x.unique()
m.searchsorted(x, x); m.isin(x, x); m.cat([x, x]); m.cat([x, m.ones(2)]); m.stack([x, x])
m.where(x == x, x, x); x.masked_fill(x == x, 1); x.masked_select(m.tensor([True, False]))
x[m.tensor([0])]; x[x == x]; x.index_select(0, m.tensor([0])); x.gather(0, m.tensor([0]))
x.scatter(0, m.tensor([0]), x); x.index_add(0, m.tensor([0]), x[:1]); x.take(m.tensor([0]))
x.index_fill(0, m.tensor([0]), 1); x.nonzero(); x.count_nonzero(); x.flip(0)
m.stack([x, x]).flip(0); m.stack([x, x]).flip(1); x.nansum(); m.linalg.qr(x[:, None] * x); x.roll(1)
x.repeat(2)
x @ x; m.outer(x, x); x.diff(); x.std()
x.to(m.float32); x.bool(); x.chalf(); x.view(m.uint8); x.fill_(3); x.zero_(); x.tolist()
x.add_(1); x.mul_(x); m.add(m.ones(2), 1, out=x); m.equal(x, x.clone()); m.isclose(x, x)
m.linspace(0, 1, 2, dtype=x.dtype)
m.arange(3, dtype=x.dtype); m.full((2,), -1, dtype=x.dtype); m.full((2,), 1e6, dtype=x.dtype)
m.tensor([1, 2], dtype=x.dtype); m.tensor([-1], dtype=x.dtype); m.tensor([70000], dtype=x.dtype)
m.tensor([2**63], dtype=x.dtype); m.tensor([2**64], dtype=x.dtype)
m.tensor([1.5], dtype=x.dtype)
m.tensor([1j], dtype=x.dtype); m.eye(2, dtype=x.dtype); m.randperm(3, dtype=x.dtype)
x.log_softmax(0)
m.fft.fft(x); m.linalg.inv(x[:, None] * x); m.nn.functional.relu(x)
m.addcmul(x, x, x); m.lerp(x, x, 0.5); m.hypot(x, x); m.maximum(x, x)
""".replace("\n", ";").split(";")
CALLS = [call.strip() for call in CALLS if call.strip()]


def outcome(m, call, d):
    """Returns a call's values with their dtype, or the class of its error."""
    x = m.ones(2).to(getattr(m, d.name))
    try:
        result = eval(call, {"m": m, "x": x})
    except (RuntimeError, TypeError, ValueError, OverflowError, IndexError) as error:
        return type(error)
    parts = result if isinstance(result, tuple) else (result,)
    return [(str(p.dtype).rpartition(".")[2], tuple(p.shape), p.tolist()) if hasattr(p, "dtype") else p for p in parts]


# torch lacks these for uint64, or refuses everything but whole rows.
COMPUTED = set(
    """
x + 1; x - x; x // x; x % x; x ** 2; -x; abs(x); ~x; x << 1; x < x; x.clamp(0, 1); x.max(); x.argmax()
x.amax(0); x.cummax(0); x.sign(); x.sgn(); x.square(); x.topk(1); x.median(); m.searchsorted(x, x)
m.isin(x, x); x.masked_fill(x == x, 1); x.masked_select(m.tensor([True, False]))
x.index_select(0, m.tensor([0])); x.gather(0, m.tensor([0])); x.scatter(0, m.tensor([0]), x)
x.index_add(0, m.tensor([0]), x[:1]); x.take(m.tensor([0])); x.index_fill(0, m.tensor([0]), 1)
x.nonzero(); x.count_nonzero(); x.flip(0); m.stack([x, x]).flip(1); x @ x; x.diff(); x.add_(1)
m.linspace(0, 1, 2, dtype=x.dtype); m.arange(3, dtype=x.dtype); m.eye(2, dtype=x.dtype)
m.randperm(3, dtype=x.dtype); m.nn.functional.relu(x); m.addcmul(x, x, x); m.maximum(x, x)
""".strip()
    .replace("\n", "; ")
    .split("; ")
)


@pytest.mark.parametrize("d", [ft.uint64, ft.float8_e5m2, ft.complex32], ids=str)
def test_ops_agree_with_torch(d):
    differ = {}
    for call in CALLS:
        mine, theirs = outcome(ft, call, d), outcome(torch, call, d)
        if isinstance(mine, list) and isinstance(theirs, list):
            same = repr(mine) == repr(theirs) or mine == pytest.approx(theirs)
        elif isinstance(mine, type) and isinstance(theirs, type):
            same = issubclass(mine, theirs) or issubclass(theirs, mine)
        else:
            same = False
        if not same:
            differ[call] = (mine, theirs)
    if d is ft.uint64:  # computes where torch refuses
        assert all(isinstance(mine, list) and theirs is NotImplementedError for mine, theirs in differ.values())
        assert differ.keys() == COMPUTED
    else:
        assert not differ


@pytest.mark.parametrize("d", [ft.float8_e4m3fn, ft.float8_e5m2], ids=str)
def test_refusals_name_the_op_and_the_dtype(d):
    x = ft.ones(1, dtype=d)
    with pytest.raises(NotImplementedError, match=f'"maximum".*{d.name}'):
        ft.maximum(x, x)


@pytest.mark.parametrize("d", BARE, ids=str)
def test_repr_is_torchs(d):
    for values in ([], [1, 2, 3], list(range(1200))):
        x = torch.tensor(values, dtype=torch.float32).to(getattr(torch, d.name))
        mine = repr(ft.from_torch(x)).replace("ftensor.", "torch.")
        assert " ".join(mine.split()) == " ".join(repr(x).split())


@pytest.mark.parametrize("d", UNSIGNED, ids=str)
def test_numpy_and_dlpack_share_unsigned_memory(d):
    array = np.array([1, 2, 2 ** (8 * d.itemsize) - 1], d.numpy)
    t = ft.from_numpy(array)
    assert t.dtype is d and t.tolist() == array.tolist()
    assert t.numpy().dtype == array.dtype and (np.asarray(t) == array).all()
    assert ft.from_dlpack(array).dtype is d
    assert (np.from_dlpack(t) == array).all()
    assert ft.tensor(array).dtype is d


@pytest.mark.parametrize("d", OTHERS, ids=str)
def test_numpy_has_no_such_dtype(d):
    t = ft.ones(2, dtype=d)
    for way in (t.numpy, lambda: np.asarray(t)):
        with pytest.raises(TypeError, match=d.name):
            way()


@pytest.mark.parametrize("d", BARE, ids=str)
def test_exchange_with_torch(d):
    x = torch.arange(6).reshape(2, 3).to(getattr(torch, d.name)).t()
    t = ft.from_torch(x)
    assert t.dtype is d and t.stride() == x.stride() and t.tolist() == x.tolist()
    assert t.to_torch().dtype is x.dtype and t.to_torch().tolist() == x.tolist()
    for back in (torch.from_dlpack(t), ft.from_dlpack(x).to_torch()):
        assert back.dtype is x.dtype and back.tolist() == x.tolist()


@pytest.mark.parametrize("d", BARE, ids=str)
def test_copies_and_files_keep_them(d):
    t = ft.arange(5).to(d)
    file = io.BytesIO()
    ft.save({"t": t}, file)
    file.seek(0)
    for copied in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t), ft.load(file)["t"]):
        assert copied.dtype is d and copied.tolist() == t.tolist()
    theirs = torch.load(_saved(d), weights_only=True)
    file = _saved(d)
    assert ft.load(file).dtype is d and ft.load(_saved(d)).tolist() == theirs.tolist()


def _saved(d):
    file = io.BytesIO()
    torch.save(torch.arange(3).to(getattr(torch, d.name)), file)
    file.seek(0)
    return file


def test_int_mm_refuses_other_dtypes_and_shapes():
    def ones(*shape, of=ft.int8):
        return ft.ones(*shape, dtype=of)

    for a, b in (
        (ones(3, 4), ones(3, 5)),
        (ones(3, 4, of=ft.int32), ones(4, 5)),
        (ones(4), ones(4, 5)),
        (ones(3, 4), ones(4, 5, of=ft.uint8)),
    ):
        with pytest.raises(RuntimeError, match="_int_mm"):
            ft._int_mm(a, b)
    for out in (ft.empty(3, 5), ft.empty(0, dtype=ft.int32)):
        with pytest.raises(RuntimeError, match="out must be"):
            ft._int_mm(ones(3, 4), ones(4, 5), out=out)
    out = ft.empty(3, 5, dtype=ft.int32)
    assert ft._int_mm(ones(3, 4), ones(4, 5), out=out) is out and out.tolist() == [[4] * 5] * 3
