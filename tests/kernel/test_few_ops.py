"""uint16, uint32, uint64, float8 and complex32: conversions bit for bit, and the supported ops.

Reference: torch, which has these dtypes for storage and for a handful of ops.
"""

import pytest

import ftensor as ft

from ..oracle import torch
from ..targets import pairs

UNSIGNED = ["uint16", "uint32", "uint64"]
FLOAT8 = ["float8_e4m3fn", "float8_e5m2"]
BARE = [*UNSIGNED, *FLOAT8, "complex32"]


def torch_dtype(name):
    return getattr(torch, name)


def same_bits(mine, theirs):
    """Asserts equal dtype and bytes. NaNs may differ unless the result is float8."""
    actual = mine.to_torch()
    assert actual.dtype is theirs.dtype and actual.shape == theirs.shape
    if theirs.dtype.itemsize > 1 and (theirs.is_floating_point() or theirs.is_complex()):
        assert torch.equal(torch.isnan(actual), torch.isnan(theirs))
        keep = ~torch.isnan(theirs)
        actual, theirs = actual[keep], theirs[keep]
    actual, theirs = actual.reshape(-1), theirs.reshape(-1)
    assert torch.equal(actual.view(torch.uint8), theirs.view(torch.uint8))


def all_of(name):
    """Returns every number of a 16-bit dtype; for wider dtypes, as many random bit patterns."""
    if torch_dtype(name).itemsize == 2:
        bits = torch.arange(65536, dtype=torch.int32).to(torch.int16)
    else:
        drawn = torch.Generator().manual_seed(7)
        many = 65536 * torch_dtype(name).itemsize // 4
        bits = torch.randint(-(2**31), 2**31, (many,), generator=drawn).to(torch.int32)
    return bits.view(torch_dtype(name))


@pytest.mark.parametrize(("name", "source"), pairs(FLOAT8, ["float16", "bfloat16", "float32"]))
def test_numbers_round_to_float8_as_in_torch(name, source):
    x = all_of(source)
    same_bits(ft.from_torch(x).to(getattr(ft, name)), x.to(torch_dtype(name)))


@pytest.mark.parametrize(("name", "to"), pairs(FLOAT8, ["float32", "float16", "bool"]))
def test_every_float8_has_torchs_value(name, to):
    x = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(torch_dtype(name))
    same_bits(ft.from_torch(x).to(getattr(ft, to)), x.to(torch_dtype(to)))


def test_complex32_is_a_pair_of_float16():
    x = torch.view_as_complex(all_of("float32").reshape(-1, 2))
    mine = ft.from_torch(x).chalf()
    same_bits(ft.view_as_real(mine), torch.view_as_real(x.to(torch.complex32)))
    same_bits(ft.view_as_real(mine.cfloat()), torch.view_as_real(x.chalf().cfloat()))


@pytest.mark.parametrize("name", UNSIGNED)
def test_conversion_to_unsigned_is_torchs(name):
    limit = 2.0 ** (8 * torch_dtype(name).itemsize)
    x = torch.tensor([0, 1.5, -1, -2.9, 255.9, limit / 2 + 4096, limit * (1 - 2**-20), 65535.5])
    same_bits(ft.from_torch(x).to(getattr(ft, name)), x.to(torch_dtype(name)))
    whole = torch.tensor([0, -1, 2**16 + 3, 2**32 + 5, 2**63 - 1, -(2**63)])
    same_bits(ft.from_torch(whole).to(getattr(ft, name)), whole.to(torch_dtype(name)))
    back = whole.to(torch_dtype(name))
    for to in ("float32", "int8", "bool", "int64"):
        same_bits(ft.from_torch(back).to(getattr(ft, to)), back.to(torch_dtype(to)))


@pytest.mark.parametrize("name", BARE)
def test_copies_keep_all_bits(name):
    size = torch_dtype(name).itemsize
    x = torch.arange(240 * size, dtype=torch.int32).to(torch.uint8).view(torch_dtype(name)).reshape(15, 16)
    y = ft.from_torch(x)
    for result, expected in (
        (y.t().contiguous(), x.t().contiguous()),
        (y[1::2, ::3].clone(), x[1::2, ::3].clone()),
        (ft.cat([y, y]), torch.cat([x, x])),
        (y[ft.tensor([3, 0, 3])], x[torch.tensor([3, 0, 3])]),
        (y.roll(1, 0), x.roll(1, 0)),
    ):
        assert torch.equal(result.to_torch().view(torch.uint8), expected.view(torch.uint8))


@pytest.mark.parametrize("name", ["uint32", "uint64"])
def test_ops_of_unsigned_numbers(name):
    x = torch.tensor([0, 1, 2**15, 2**16 - 1, 2**31, 2**32 - 1, -1, 7]).to(torch_dtype(name))
    y = torch.tensor([3, 0, 2, 9, 2**31, -1, 5, 7]).to(torch_dtype(name))
    a, b = ft.from_torch(x), ft.from_torch(y)
    same_bits(a * b, x * y)
    same_bits(a & b, x & y)
    same_bits(a == b, x == y)
    same_bits(a / 2, x / 2)
    same_bits(ft.where(a == b, a, b), torch.where(x == y, x, y))
    same_bits(a.sum(), x.sum())
    same_bits(a.any(), x.any())
    for mine, theirs in zip(a.sort(), x.sort()):
        same_bits(mine, theirs)
    assert a.unique().tolist() == sorted(set(x.tolist()))


def test_ops_of_complex32():
    x = torch.tensor([1 + 2j, -0.5j, 3, 1000.25 - 7j]).to(torch.complex32)
    y = torch.tensor([2 - 1j, 4, 0.1j, 60 + 0.3j]).to(torch.complex32)
    a, b = ft.from_torch(x), ft.from_torch(y)
    for mine, theirs in (
        (a + b, x + y),
        (a - b, x - y),
        (-a, -x),
        (a.conj(), x.conj().resolve_conj()),
        (a.real, x.real),
        (a.masked_fill(a == b, 1), x.masked_fill(x == y, 1)),
    ):
        assert mine.tolist() == theirs.tolist() and mine.dtype.name == str(theirs.dtype)[6:]
    assert torch.allclose((a * b).to_torch().cfloat(), (x * y).cfloat(), rtol=2e-3)
    assert torch.allclose(a.abs().to_torch(), x.abs(), rtol=2e-3)


@pytest.mark.parametrize("shapes", [(3, 4, 5), (37, 200, 41), (0, 3, 2), (4, 0, 3)])
@pytest.mark.parametrize("first", ["int8", "uint8"])
def test_products_of_small_integers(shapes, first):
    n, k, m = shapes
    x = torch.randint(0, 256, (n, k)).to(torch_dtype(first))
    y = torch.randint(-128, 128, (m, k)).to(torch.int8).t()
    result = ft._int_mm(ft.from_torch(x), ft.from_torch(y))
    assert torch.equal(result.to_torch(), torch._int_mm(x, y))
