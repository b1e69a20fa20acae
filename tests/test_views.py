"""Every spelling of the view ops against torch: layout, dtype, values, aliasing, exceptions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import ftensor as ft


class Ours:
    """The names that a case may use, made of ftensor's tensors."""

    lib: Any = ft

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"lib": self.lib, "np": np}
        for name, array in ARRAYS.items():
            self.names[name] = self.make(array)

    def make(self, array: np.ndarray) -> Any:
        return ft.from_numpy(array).clone()  # at the start of a storage of its own


class Theirs(Ours):
    """The same names, made of torch's tensors."""

    lib = torch

    def make(self, array: np.ndarray) -> Any:
        return torch.from_numpy(array.copy())


ARRAYS = {
    "z": np.array(7, np.float32),
    "v": np.arange(6, dtype=np.float32),
    "m": np.arange(6, dtype=np.float32).reshape(2, 3),
    "t": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    "s": np.arange(6, dtype=np.float32).reshape(1, 2, 1, 3),
    "e": np.zeros((0, 3), np.float32),
    "c": (np.arange(6) + 1j * np.arange(6, 12)).astype(np.complex64).reshape(2, 3),
    "i": np.arange(2, dtype=np.int64),
    "two": np.array(2, np.int64),
    "i32": np.arange(2, dtype=np.int32),
}

CASES = """
t.view(-1, 6)
t.view((4, 6))
t.view([4, 6])
t.view(t.shape)
t.view(size=(24,))
t.view(np.int64(24))
t.view(lib.int32)
t.view(dtype=lib.int8)
t.view(lib.float64)
t.view(lib.complex64)
t.transpose(0, 1).view(lib.int16)
t.narrow(2, 2, 2).view(lib.float64)
t.transpose(1, 2).view(lib.int8)
z.view(lib.int8)
z.view(lib.int32)
c.view(lib.float32)
t.view()
t.view(None)
t.view('a')
t.view(2.0, 12)
t.view(True, 24)
t.view((2, 12), 1)
t.view(2, dtype=lib.int32)
t.view(range(24, 25))
t.view(2**70)
t.view(5, -1)
t.transpose(0, 1).view(24)
t.view_as(t.reshape(24))
t.view_as(3)
t.reshape(24)
t.reshape(-1, 2, 2)
t.transpose(0, 1).reshape(24)
t.transpose(0, 1).narrow(0, 1, 2).reshape(4, -1)
t.transpose(1, 2).narrow(1, 1, 3).reshape(2, 9)
lib.reshape(t, (6, 4))
z.reshape(())
t.reshape()
t.reshape(2.0)
e.reshape(-1, 0)
e.reshape(3, 0)
t.reshape_as(t.view(6, 4))
t.reshape_as([1])
t.flatten()
t.flatten(1)
t.flatten(1, 1)
t.transpose(0, 1).flatten()
t.transpose(0, 1).flatten(1)
z.flatten()
t.flatten(1, 0)
t.flatten(0.)
t.ravel()
t.transpose(0, 1).ravel()
v.view(3, 2).select(1, 0).ravel()
z.ravel()
t.unflatten(-1, (2, -1))
lib.unflatten(t, 2, (2, 2))
t.transpose(1, 2).unflatten(1, (2, 2))
t.unflatten(2, (3, 2))
t.unflatten(-1, 4)
t.unflatten(0, [1., 2])
t.unflatten(0, None)
z.unflatten(0, (1, 1))
lib.transpose(t, 0, -1)
t.transpose(dim0=0, dim1=1)
t.swapdims(0, 1)
t.swapaxes(axis0=0, axis1=1)
t.transpose(0., 1)
t.transpose(True, False)
t.transpose(two, np.int8(1))
t.transpose(0, 2**70)
lib.transpose([1, 2], 0, 1)
lib.flatten(3)
lib.unbind([1], 0)
lib.real(3)
lib.permute(None, (0,))
lib.squeeze(1)
lib.chunk(1, 2)
lib.tensor_split([1], 1)
lib.hsplit([1], 1)
lib.narrow(1, 0, 0, 1)
lib.reshape(1, (1,))
lib.as_strided(1, (1,), (1,))
lib.ravel(2)
lib.view_as_complex(1)
lib.detach(0)
t.permute(2, 0, 1)
lib.permute(t, (2, 0, 1))
t.permute(0, 1)
t.permute(0, 1, 1)
t.permute()
t.movedim(0, 2)
t.moveaxis((0, 1), (2, 0))
lib.movedim(t, source=0, destination=1)
t.movedim(0, (1,))
t.movedim(0, 'a')
t.movedim([0], ['a'])
m.t()
lib.t(v)
z.t()
t.t()
m.T
v.T
z.T
t.T
m.mT
t.mT
v.mT
z.mT
m.H
v.H
t.H
t.mH
v.mH
m.adjoint()
v.adjoint()
z.adjoint()
m.unsqueeze(1).expand(4, 2, -1, 3)
m.unsqueeze(0).expand((2, 2, 3))
z.expand(2, 3)
z.expand(2, 3, implicit=True)
t.expand(3, 3, 4)
t.expand(2, 3)
t.expand(-1, 2, 3, 4)
t.expand()
v.expand_as(t.reshape(4, 6))
t.expand_as(3)
lib.broadcast_to(v, (2, 6))
v.broadcast_to(2, 6)
lib.broadcast_tensors(v, z, m.reshape(6, 1))
lib.broadcast_tensors()
lib.broadcast_tensors(v, 2)
lib.broadcast_tensors(v, m)
lib.broadcast_shapes((2, 1), 3, [1])
lib.broadcast_shapes()
lib.broadcast_shapes((2,), (3,))
lib.broadcast_shapes((-1,), (3,))
lib.broadcast_shapes(1.5)
s.squeeze()
s.squeeze(0)
s.squeeze((0, 2))
s.squeeze(0, 2)
s.squeeze(dim=[0, 1])
lib.squeeze(s, 2)
s.squeeze(())
s.squeeze((0, 0))
s.squeeze(1.)
z.squeeze(0)
z.squeeze(1)
m.unsqueeze(-1)
lib.unsqueeze(m, dim=1)
m.unsqueeze(4)
t.narrow(1, -2, 2)
lib.narrow(t, dim=1, start=1, length=2)
t.narrow(1, two, 1)
t.narrow(1, i, 1)
t.narrow(1, z, 1)
t.narrow(1, 0., 1)
t.narrow(1, 2, 2)
t.narrow(0, 0, -1)
t.narrow(1, 4, 0)
z.narrow(0, 0, 1)
t.select(1, -1)
lib.select(t, dim=0, index=1)
t.select(0, 5)
t.select(0, True)
z.select(0, 0)
t.diagonal()
t.diagonal(-1, 1, 2)
lib.diagonal(t, offset=1, dim1=0, dim2=2)
t.diagonal(0, 1, 1)
t.diagonal(True)
v.diagonal()
t.unfold(2, 2, 1)
t.unfold(dimension=1, size=2, step=2)
z.unfold(0, 1, 1)
t.unfold(2, 5, 1)
t.unfold(2, 1, 0)
t.as_strided((2, 2), (1, 2))
t.select(0, 1).as_strided((2, 2), (2, 1))
lib.as_strided(t, (2, 2), (2, 1), 3)
t.as_strided((3, 3), (0, 1), 21)
t.as_strided((3, 3), (1, 1), 21)
t.as_strided((2, 2), (1,))
t.as_strided((2, 2), (1, -2))
t.as_strided((1,), (1,), -1)
t.as_strided(1, 1)
t.as_strided((1,), (1,), 1.0)
t.split(2, 2)
t.split([1, 2], dim=1)
t.split(split_size=1)
lib.split(tensor=t, split_size_or_sections=2, dim=1)
t.split(two)
t.split(0)
t.split([1, 2])
t.split(2.)
t.split('a')
t.split(True)
z.split(1)
t.split_with_sizes([1, 2], 1)
t.split_with_sizes([4, -1], 1)
t.unsafe_split(1)
t.unsafe_split_with_sizes([1, 1])
t.chunk(2, 1)
t.unsafe_chunk(5, 2)
t.chunk(0)
t.chunk(2.)
z.chunk(2)
e.chunk(3)
t.tensor_split(5, 1)
t.tensor_split((1, -1), 1)
t.tensor_split(sections=2)
t.tensor_split(indices=[1])
t.tensor_split(two)
t.tensor_split(i, 1)
t.tensor_split(i32, 1)
t.tensor_split(z)
t.tensor_split(m)
t.tensor_split(2.)
t.tensor_split(None)
t.tensor_split(0)
z.tensor_split(2)
t.hsplit(3)
v.hsplit(2)
t.hsplit(1, 2)
t.hsplit([1])
t.hsplit(sections=3)
t.hsplit(indices=[3])
t.hsplit(2)
t.hsplit(0)
t.hsplit((1, 2), 3)
lib.hsplit(t, 3.)
z.hsplit(1)
t.vsplit(2)
lib.vsplit(t, [1])
v.vsplit(2)
t.dsplit(2)
t.dsplit(1, 2)
m.dsplit(2)
t.unbind()
lib.unbind(t, dim=-1)
t.unbind(3)
z.unbind()
e.unbind()
lib.atleast_1d(z)
lib.atleast_2d(v)
lib.atleast_3d(m)
lib.atleast_3d(z, v, t)
lib.atleast_1d([z, t])
lib.atleast_1d()
lib.atleast_1d(3)
lib.atleast_1d(t, 3)
lib.view_as_real(c.t().narrow(0, 1, 2))
lib.view_as_real(t)
lib.view_as_complex(t.view(2, 6, 2))
lib.view_as_complex(t)
lib.view_as_complex(i)
lib.view_as_complex(c)
lib.view_as_complex(z)
lib.real(c)
c.real
c.t().narrow(0, 1, 2).imag
lib.imag(c.select(0, 1))
lib.real(t)
lib.imag(t)
t.imag
t.detach()
lib.detach(t)
t.transpose_(0, 1)
t.swapdims_(0, 1)
t.swapaxes_(0, 2)
t.transpose_(0, 3)
m.t_()
t.t_()
s.squeeze_()
s.squeeze_(0)
s.squeeze_((0, 2))
s.squeeze_(5)
m.unsqueeze_(1)
m.unsqueeze_(4)
t.as_strided_((2, 2), (1, 2), 3)
lib.as_strided_(t, (2,), (2,))
t.as_strided_((99,), (1,))
""".strip().splitlines()


def described(found: Any) -> Any:
    """What torch and we must agree on in a result."""
    if isinstance(found, (tuple, list)) and not isinstance(found, (ft.Size, torch.Size)):
        return [described(one) for one in found]
    if isinstance(found, (ft.Tensor, torch.Tensor)):
        dtype = str(found.dtype).partition(".")[2]
        layout = tuple(found.shape), tuple(found.stride()), found.storage_offset()
        return dtype, layout, repr(found.tolist())
    return tuple(found)


def outcome(side: Ours, case: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return described(eval(case, side.names))
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            assert str(error)
            return type(error)


@pytest.mark.parametrize("case", CASES)
def test_as_torch(case: str) -> None:
    assert outcome(Ours(), case) == outcome(Theirs(), case)


@pytest.mark.parametrize(
    "case",
    [
        "t.flatten(1, 1)",
        "v.flatten()",
        "lib.atleast_3d(t)",
        "lib.broadcast_tensors(t, v.narrow(0, 0, 4))[0]",
        "t.real",
        "t.transpose_(0, 1)",
        "t.unsqueeze_(0)",
        "t.detach()",
        "t.reshape(2, 3, 4)",
        "t.squeeze()",
        "t.permute(0, 1, 2)",
    ],
)
def test_same_object_where_torch_gives_the_same(case: str) -> None:
    for side in (ours := Ours()), (theirs := Theirs()):
        source = "v" if case.startswith("v") else "t"
        side.names["same"] = eval(case, side.names) is side.names[source]
    assert ours.names["same"] == theirs.names["same"]


ALIASING = """
t.view(24)
t.view(lib.int32)
t.reshape(6, 4)
t.transpose(0, 1)
t.transpose(0, 1).reshape(24)
t.transpose(0, 1).ravel()
t.flatten(1)
t.T
t.unfold(2, 2, 1)
t.diagonal()
t.split(1)[1]
t.chunk(2, 1)[0]
t.unbind(1)[2]
t.unsqueeze(0).expand(3, -1, -1, -1)
lib.view_as_complex(t.view(2, 6, 2))
lib.view_as_complex(t.view(2, 6, 2)).imag
t.detach()
t.real
""".strip().splitlines()


@pytest.mark.parametrize("case", ALIASING)
def test_writes_are_seen_exactly_where_torch_shares_memory(case: str) -> None:
    seen = []
    for side in Ours(), Theirs():
        found = eval(case, side.names)
        side.names["t"].add_(1)
        seen.append(described(found))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("case", ["c.H", "c.mH", "c.adjoint()", "z.H"])
def test_adjoint_values(case: str) -> None:
    # torch conjugates lazily over the same memory; ours is a copy, so that layouts may differ.
    found, expected = eval(case, Ours().names), eval(case, Theirs().names)
    assert tuple(found.shape) == tuple(expected.shape)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("case", ["t.T", "z.T", "z.mT", "z.H", "z.mH", "z.adjoint()"])
def test_what_torch_deprecates_warns(case: str) -> None:
    with pytest.warns(UserWarning, match="deprecated"):
        eval(case, Ours().names)


def test_alias_is_a_new_tensor_over_the_same_memory() -> None:
    from ftensor.ops.view import alias

    tensor = ft.from_numpy(ARRAYS["t"].copy())
    other = alias(tensor)
    assert other is not tensor
    assert other._storage is tensor._storage
    assert other.detach_() is other
