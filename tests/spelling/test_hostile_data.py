"""Invalid data, dtypes and indices are accepted as in torch, or refused."""

from __future__ import annotations

import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ftensor as ft

from ..oracle import agree, outcome, torch


class Says:
    """A sequence by its methods: a length, and a function that returns each element."""

    def __init__(self, length: int, item: Callable[[int], Any]) -> None:
        self.length, self.item = length, item

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return self.item(index)


class Longer(list):  # type: ignore[type-arg]
    """A list with fewer items than its length."""

    def __len__(self) -> int:
        return 5


class Array:
    """An object that NumPy would accept as an array."""

    def __init__(self, held: Any = ()) -> None:
        self.held = held

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.held


class Index:
    """An int by __index__, or an error from it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class Frame:
    """A table like pandas' DataFrame, whose items are its columns."""

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
    """It is accepted as in torch, or refused with the same exception class."""
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
def test_infinite_sequences_are_refused(data: Any) -> None:
    """torch would read them forever."""
    with pytest.raises((ValueError, IndexError), match=r"says that it has 3|would hold"):
        ft.tensor(data)


@pytest.mark.parametrize("index", [ITSELF, LATER, Says(3, lambda i: i)])
def test_infinite_indices_are_refused(index: Any) -> None:
    with pytest.raises((ValueError, IndexError, TypeError)):
        ft.arange(3)[index]


def test_dataframe_error_suggests_a_conversion() -> None:
    with pytest.raises(ValueError, match=r"a Frame .*x\.to_numpy\(\)"):
        ft.tensor(Frame())
    assert ft.tensor(Frame().to_numpy()).tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("dtype", "written"),
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
def test_error_for_another_librarys_dtype_names_ours(dtype: Any, written: str) -> None:
    calls = [
        lambda: ft.zeros(2, dtype=dtype),
        lambda: ft.tensor([1], dtype=dtype),
        lambda: ft.zeros(2).sum(dtype=dtype),
        lambda: ft.iinfo(dtype),
    ]
    if "torch" not in str(dtype):  # NumPy's are accepted (docs/numpy.md)
        assert {str(call().dtype) for call in calls[:3]} == {written}
        del calls[:3]
    for call in calls:
        with pytest.raises(TypeError, match=f"write {written}$"):
            call()


def test_unknown_dtypes_are_refused() -> None:
    """ftensor has no float128, and strings may be anything."""
    for dtype in ("flaot32", np.longdouble, "float128", 3, [1]):
        with pytest.raises(TypeError, match=r"needs an ftensor\.dtype") as raised:
            ft.zeros(2, dtype=dtype)  # type: ignore[arg-type]
        assert "write" not in str(raised.value)


INSIDE = ["a", b"a", None, [1], (1,), object(), ..., 1, 1.5, True, 1j, np.float32(1), np.int8(9)]


@pytest.mark.parametrize("element", INSIDE)
@pytest.mark.parametrize("n", [0, 3])
def test_unusual_values_as_indices_and_sizes(element: Any, n: int) -> None:
    """Each is a number or a tensor. Anything else raises RuntimeError."""
    agree(lambda: element in ft.arange(n), lambda: element in torch.arange(n))


@pytest.mark.parametrize(
    "index",
    [np.float64(1), np.float32(1), 1.0, np.bool_(True), np.array(1), np.array([0.5]), np.int8(1),
     np.uint8(1), np.str_("a"), np.datetime64("2020"), np.complex64(1), Index(1), "a", b"a", {1},
     Index(ValueError("no")), object(), int, 1j, 2**70, -(2**70), slice(2**70), slice(1.0),
     slice("a"), slice(np.int64(1)), slice(np.float64(1)), [[0, 1]], [None], ["a"],
     range(2), ..., (..., ...), (), [], True, False, (0, 0), np.array(["a"]), np.array([None])],
)  # fmt: skip
def test_unusual_indices(index: Any) -> None:
    agree(lambda: ft.arange(3)[index].tolist(), lambda: torch.arange(3)[index].tolist())


def test_to_suggests_the_dtype() -> None:
    with pytest.raises(RuntimeError, match=r"write ftensor\.float32"):
        ft.ones(2).to("float32")
