"""Calls at their limits: hostile data, odd indices, many dims, huge and empty shapes."""

from __future__ import annotations

import decimal
import fractions
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor.execute import indexed

from ..oracle import agree, outcome, torch


class Says:
    """A sequence by its methods: a length, and how it answers for an element."""

    def __init__(self, length: int, item: Callable[[int], Any]) -> None:
        self.length, self.item = length, item

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return self.item(index)


class Longer(list):  # type: ignore[type-arg]
    """A list that has less than it says."""

    def __len__(self) -> int:
        return 5


class Array:
    """What NumPy would take for an array."""

    def __init__(self, held: Any = ()) -> None:
        self.held = held

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.held


class Index:
    """An int by __index__, or an error from there."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class Frame:
    """A table as pandas has it: a sequence by its columns' names."""

    columns = ("a", "b")

    def __len__(self) -> int:
        return 2

    def __getitem__(self, name: Any) -> list[int]:
        return {"a": [0, 1], "b": [1, 2]}[name]

    def to_numpy(self) -> np.ndarray[Any, Any]:
        return np.array([[0, 1], [1, 2]])


def refused(item: int) -> Any:
    raise IndexError(item)


def nested(depth: int, data: Any) -> Any:
    for _ in range(depth):
        data = [data]
    return data


ITSELF: list[Any] = []
ITSELF.append(ITSELF)
LATER: list[Any] = [1]
LATER.append(LATER)

DATA: dict[str, Callable[[], Any]] = {
    "a list that holds itself": lambda: ITSELF,
    "a list that holds itself later": lambda: LATER,
    "3000 levels": lambda: nested(3000, []),
    "129 levels": lambda: nested(129, []),
    "128 levels": lambda: nested(128, []),
    "65 dims": lambda: nested(65, [1.0, 2.0]),
    "a generator": lambda: (x for x in [1]),
    "a set": lambda: {1, 2},
    "a dict": lambda: {0: 1},
    "a dict's values": lambda: {0: 1}.values(),
    "an empty dict": dict,
    "text": lambda: "abc",
    "no text": lambda: "",
    "texts": lambda: ["ab", "cd"],
    "text beside a number": lambda: [1, "a"],
    "bytes": lambda: b"abc",
    "a bytearray": lambda: bytearray(b"abc"),
    "None": lambda: None,
    "None in a list": lambda: [1.0, None],
    "a number beside a list": lambda: [1, [2]],
    "a list beside a number": lambda: [[1], 2],
    "ragged": lambda: [[1, 2], [3]],
    "ragged, empty": lambda: [[], [1]],
    "ragged, empty later": lambda: [[1], []],
    "ragged arrays": lambda: [np.arange(2), np.arange(3)],
    "arrays": lambda: [np.arange(2), np.arange(2)],
    "NumPy's numbers": lambda: [np.float32(1), np.int8(2)],
    "NumPy's text": lambda: np.str_("a"),
    "an array of objects": lambda: np.array([None]),
    "a date": lambda: np.datetime64("2020"),
    "a module": lambda: np,
    "a function": lambda: refused,
    "a type": lambda: int,
    "an object": object,
    "objects": lambda: [object()],
    "an Ellipsis": lambda: ...,
    "a Decimal": lambda: decimal.Decimal(1),
    "a Fraction": lambda: [fractions.Fraction(1, 2)],
    "an __index__": lambda: Index(3),
    "an array by its method": lambda: Array(np.arange(3.0)),
    "no array by its method": lambda: Array("abc"),
    "arrays by their method": lambda: [Array(np.arange(3.0))],
    "a range": lambda: [range(2), range(2)],
    "a length without elements": lambda: Says(3, refused),
    "a negative length": lambda: Says(-1, lambda i: i),
    "a list that has less than it says": lambda: Longer([1, 2]),
    "an int beyond 64 bits": lambda: [2**63],
    "an int beyond floats": lambda: [1.0, 10**400],
    "columns by their names": Frame,
}


@pytest.mark.parametrize("make", ["tensor", "as_tensor", "asarray"])
@pytest.mark.parametrize("name", DATA)
def test_hostile_data(name: str, make: str) -> None:
    """Taken as torch takes it, or refused by the same class of exception."""
    mine, theirs = (outcome(lambda m=m: getattr(m, make)(DATA[name]())) for m in (ft, torch))
    if isinstance(theirs, Exception):
        assert type(mine) is type(theirs), f"torch raises {theirs!r}, ftensor: {mine!r}"
        assert str(mine)
    else:
        assert mine.tolist() == theirs.tolist()
        assert tuple(mine.shape) == tuple(theirs.shape)


@pytest.mark.parametrize(
    "data",
    [
        Says(3, lambda i: i),
        [Says(3, lambda i: i)],
        Says(2**62, lambda i: 1),
        Says(2, lambda i: Says(2**40, lambda i: 1)),
    ],
)
def test_sequences_without_an_end_are_refused(data: Any) -> None:
    """torch reads on for ever."""
    with pytest.raises((ValueError, IndexError), match=r"says that it has 3|would hold"):
        ft.tensor(data)


@pytest.mark.parametrize("index", [ITSELF, LATER, Says(3, lambda i: i)])
def test_indices_without_an_end_are_refused(index: Any) -> None:
    with pytest.raises((ValueError, IndexError, TypeError)):
        ft.arange(3)[index]


def test_a_frame_is_told_how_to_come_in() -> None:
    with pytest.raises(ValueError, match=r"a Frame .*x\.to_numpy\(\)"):
        ft.tensor(Frame())
    assert ft.tensor(Frame().to_numpy()).tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("float32", "ftensor.float32"),
        ("torch.int8", "ftensor.int8"),
        ("f8", "ftensor.float64"),
        (np.float32, "ftensor.float32"),
        (np.dtype("int64"), "ftensor.int64"),
        (torch.bfloat16, "ftensor.bfloat16"),
        (np.bool_, "ftensor.bool"),
    ],
)
def test_another_librarys_dtype_is_answered_with_ours(given: Any, written: str) -> None:
    calls = (
        lambda: ft.zeros(2, dtype=given),
        lambda: ft.tensor([1], dtype=given),
        lambda: ft.zeros(2).sum(dtype=given),
        lambda: ft.iinfo(given),
    )
    for call in calls:
        with pytest.raises(TypeError, match=f"write {written}$"):
            call()


def test_no_dtype_is_made_up() -> None:
    """float128 is none of ours, and text may be anything."""
    for given in ("flaot32", np.longdouble, "float128", 3, [1]):
        with pytest.raises(TypeError, match=r"needs an ftensor\.dtype") as raised:
            ft.zeros(2, dtype=given)  # type: ignore[arg-type]
        assert "write" not in str(raised.value)


INSIDE = ["a", b"a", None, [1], (1,), object(), ..., 1, 1.5, True, 1j, np.float32(1), np.int8(9)]


@pytest.mark.parametrize("element", INSIDE)
@pytest.mark.parametrize("n", [0, 3])
def test_in(element: Any, n: int) -> None:
    """A number or a tensor; RuntimeError for anything else."""
    agree(lambda: element in ft.arange(n), lambda: element in torch.arange(n))


@pytest.mark.parametrize(
    "index",
    [np.float64(1), np.float32(1), 1.0, np.bool_(True), np.array(1), np.array([0.5]), np.int8(1),
     np.uint8(1), np.str_("a"), np.datetime64("2020"), np.complex64(1), Index(1), "a", b"a", {1},
     Index(ValueError("no")), object(), int, 1j, 2**70, -(2**70), slice(2**70), slice(1.0),
     slice("a"), slice(np.int64(1)), slice(np.float64(1)), [[0, 1]], [None], ["a"],
     range(2), ..., (..., ...), (), [], True, False, (0, 0), np.array(["a"]), np.array([None])],
)  # fmt: skip
def test_odd_indices(index: Any) -> None:
    agree(lambda: ft.arange(3)[index].tolist(), lambda: torch.arange(3)[index].tolist())


MANY = [1] * 64 + [2, 3]


@pytest.mark.parametrize(
    "call",
    [
        "x.sum()", "x.mean()", "x.max()", "x.argmax()", "x.prod()", "x.norm()", "x.sum(0)",
        "x.sum((0, 65))", "x.amax(3)", "x.tolist()", "x.nonzero().shape", "x[x > 2]", "x + x",
        "x.transpose(0, 65)", "x.to(m.int32)", "m.tensor(x.tolist())", "repr(x)", "str(x[0])",
        "repr(x.reshape([1] * 70 + [6]).expand([1] * 69 + [400, 6]))", "x.numpy()",
        "repr(x.permute(*range(65, -1, -1)))", "x.count_nonzero()",
    ],
)  # fmt: skip
def test_more_dims_than_numpy_has(call: str) -> None:
    """Printed, listed and summed in full; a dim of so many can't be named."""

    def found(m: Any) -> Any:
        x = m.arange(6.0).reshape(MANY)
        made = eval(call, {"m": m, "x": x})
        return made.tolist() if hasattr(made, "tolist") else made

    agree(lambda: found(ft), lambda: found(torch))


@pytest.mark.parametrize("shape", [(0, 2**40), (0, 2**62), (2**62, 0), (3, 0, 2**60), (0,)])
def test_of_huge_shape_and_no_elements(shape: tuple[int, ...]) -> None:
    assert repr(ft.empty(shape)) == repr(torch.empty(shape))
    assert ft.empty(shape).sum().item() == 0
    if not shape[0]:
        assert ft.empty(shape).tolist() == []


@pytest.mark.parametrize("shape", [(7,), (3, 5), (1, 4, 3), (1, 1, 13), (2, 1, 7)])
def test_masks_beyond_what_one_search_counts(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """2^31 elements, of which the limit here stands in for: all halves find their place."""
    monkeypatch.setattr(indexed, "MOST_AT_ONCE", 2)
    torch.manual_seed(0)
    theirs = torch.randint(0, 2, shape).bool()
    mine = ft.from_torch(theirs)
    for a, b in (
        (mine, theirs),
        (mine.transpose(0, -1), theirs.transpose(0, -1)),
        (~mine, ~theirs),
    ):
        assert a.nonzero().tolist() == b.nonzero().tolist()
        values = torch.arange(b.numel()).reshape(b.shape)
        assert ft.from_torch(values)[a].tolist() == values[b].tolist()
    some, all_ = ft.tensor([True]), torch.tensor([True])
    assert some.expand(9).nonzero().tolist() == all_.expand(9).nonzero().tolist()


@pytest.mark.parametrize("given", ["float32", np.float32, np.dtype("float32")], ids=repr)
def test_to_says_how_a_dtype_is_written(given: Any) -> None:
    with pytest.raises((RuntimeError, TypeError), match=r"write ftensor\.float32"):
        ft.ones(2).to(given)


IMPOSSIBLE = [
    "ft.ones(1).expand(2**45) + 1",
    "ft.ones(1).expand(2**45).sin()",
    "ft.ones(1).expand(2**45).sort()",
    "ft.ones(1, 1, 1).expand(2**20, 2**25, 1).amax(-1)",
    "ft.ones(1, 1).expand(2**45, 1).cummax(-1)",
    "ft.ones(1).expand(2**34).cumsum(0)",
    "ft.fft.fft(ft.ones(1, 1).expand(2**40, 8))",
    "ft.combinations(ft.ones(100_000), 3)",
    "ft.ones(1).expand(2**45).unbind()",
    "ft.ones(1).expand(2**45).split(2)",
    "ft.ones(0).chunk(2**45)",
    "ft.ones(4).tensor_split(2**45)",
    "ft.ones(1).expand(2**45).tolist()",
    "ft.ones(1).expand(2**45).nonzero()",
    "ft.repeat_interleave(ft.ones(4), ft.tensor([2**45, 0, 0, 0]))",
    "ft.nn.functional.one_hot(ft.zeros(1, dtype=ft.int64).expand(2**40))",
    "ft.bincount(ft.zeros(1, dtype=ft.int64).expand(2**40))",
    "ft.histc(ft.ones(1).expand(2**40))",
    "ft.multinomial(ft.ones(1).expand(2**40), 4)",
    "ft.cov(ft.ones(1).expand(2**20, 2**20))",
    "ft.float_power(ft.ones(1).expand(2**20, 1), ft.ones(1).expand(2**40))",
    "ft.nn.functional.layer_norm(ft.ones(1).expand(2**40), (2**40,))",
    "ft.nn.functional.normalize(ft.ones(1).expand(2**40), dim=0)",
    "ft.pca_lowrank(ft.ones(1).expand(2**40, 4))",
    "ft.stft(ft.ones(1).expand(2**40), 16, return_complex=True)",
    "ft.signal.periodogram(ft.ones(1).expand(2**40))",
    "ft.linalg.svd(ft.ones(1).expand(2**20, 2**20))",
    "ft.mvlgamma(ft.ones(1), 10**12)",
    *[f"{F}.interpolate(ft.ones(1, 1, 2, 2), (2**30, 2**30), mode='{mode}')"
      for F in ("ft.nn.functional",)
      for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")],
    "ft.nn.functional.adaptive_avg_pool2d(ft.ones(1, 1, 2, 2), 2**31)",
    "ft.nn.functional.adaptive_max_pool2d(ft.ones(1, 1, 2, 2), 2**31)",
    "ft.nn.functional.affine_grid(ft.ones(1, 2, 3), (1, 1, 2**31, 2**31), False)",
]  # fmt: skip


@pytest.mark.parametrize("call", IMPOSSIBLE)
def test_impossible_sizes_are_refused_before_any_work(call: str) -> None:
    """No table is made on the host, and no kernel for the elements."""
    tracemalloc.start()
    try:
        with pytest.raises(ft.OutOfMemoryError, match="bytes"):
            eval(call)
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()


def test_a_high_order_of_polygamma_takes_no_longer() -> None:
    want = torch.polygamma(2**31 - 1, torch.tensor([1.5, 300.0]))
    made = ft.polygamma(2**31 - 1, ft.tensor([1.5, 300.0])).to_torch()
    torch.testing.assert_close(made, want, equal_nan=True)
