"""Every form of the view ops against torch: layout, dtype, values, aliasing, exceptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import ftensor as ft

from ..oracle import cases, outcome
from .view_cases import LINES


class Ours:
    """The names in a case, as ftensor's tensors."""

    lib: Any = ft

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"lib": self.lib, "np": np}
        for name, array in ARRAYS.items():
            self.names[name] = self.make(array)

    def make(self, array: np.ndarray) -> Any:
        return ft.from_numpy(array).clone()  # at the start of its own storage


class Theirs(Ours):
    """The same names, as torch's tensors."""

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


def described(result: Any) -> Any:
    """Returns the properties of a result that both libraries must agree on."""
    if isinstance(result, (tuple, list)) and not isinstance(result, (ft.Size, torch.Size)):
        return [described(one) for one in result]
    if isinstance(result, (ft.Tensor, torch.Tensor)):
        dtype = str(result.dtype).partition(".")[2]
        layout = tuple(result.shape), tuple(result.stride()), result.storage_offset()
        return dtype, layout, repr(result.tolist())
    return tuple(result)


@pytest.mark.parametrize(("case", "computed"), cases(LINES))
def test_views_agree_with_torch(case: str, computed: bool) -> None:
    """A view has torch's offset, printed values and strides."""
    actual, expected = (outcome(lambda s=s: described(eval(case, s.names))) for s in (Ours(), Theirs()))
    assert isinstance(expected, Exception) != computed
    if computed:
        assert actual == expected
    else:
        assert isinstance(actual, type(expected)) and str(actual)


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
def test_same_object_where_torch_returns_the_same(case: str) -> None:
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
t.mT
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
        view = eval(case, side.names)
        side.names["t"].add_(1)
        seen.append(described(view))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("case", ["c.H", "c.mH", "c.adjoint()", "m.H"])
def test_adjoint_values(case: str) -> None:
    # torch conjugates lazily over the same memory. Ours is a copy, so layouts may differ.
    actual, expected = eval(case, Ours().names), eval(case, Theirs().names)
    assert tuple(actual.shape) == tuple(expected.shape)
    assert actual.tolist() == expected.tolist()


@pytest.mark.parametrize("case", ["t.T", "z.T", "z.mT", "z.H", "z.mH", "z.adjoint()"])
def test_deprecated_views_warn_as_in_torch(case: str) -> None:
    with pytest.warns(UserWarning, match="deprecated"):
        eval(case, Ours().names)


def test_alias_is_a_new_tensor_over_the_same_memory() -> None:
    from ftensor.ops.view.shape import alias

    tensor = ft.from_numpy(ARRAYS["t"].copy())
    other = alias(tensor)
    assert other is not tensor
    assert other._storage is tensor._storage
    assert other.detach_() is other


BACKWARDS = ["[::-1]", "[:, ::-2]", "[..., ::-1]", "[1, ::-1]", "[5:0:-2, None]", "[-1:-9:-1, 1:]",
             "[0:0:-1]", "[::-1, ::-1]", "[[0, 2], ::-1]", "[:9:-1]"]  # fmt: skip


@pytest.mark.parametrize("index", BACKWARDS)
def test_negative_steps_as_in_numpy(index: str) -> None:
    a = np.arange(12).reshape(3, 4)
    x = ft.tensor(a)
    assert eval(f"x{index}").tolist() == eval(f"a{index}").tolist()
    for t in (a, x):
        exec(f"t{index} = -1 - t{index}[..., ::-1]", {"t": t})
    assert x.tolist() == a.tolist()


def test_only_complex_tensors_have_imag() -> None:
    assert not hasattr(ft.ones(2), "imag") and hasattr(ft.ones(2, dtype=ft.complex64), "imag")
