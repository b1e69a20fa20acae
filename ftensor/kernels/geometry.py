"""Geometry buffers: integer kernel arguments that are declared once, packed, and named in C.

A geometry is a frozen dataclass derived from `Geometry`:

    @dataclass(frozen=True)
    class PoolGeometry(Geometry):
        derived = ("items",)  # a property
        n: int
        step: Long
        x: Annotated[Ints, Each("sample channel")]
        offsets: Annotated[Ints, Many("taps")]
        phases: Annotated[tuple[Ints, ...], Many("phase_count", 3)]

The buffer holds the lengths of the lists, the numbers in declaration order, the derived numbers,
and then the lists. The kernel text has a macro for each: `G_N(g)`, `G_X_CHANNEL(g)` and `G_TAPS(g)`
are numbers. `G_X(g)` and `G_OFFSETS(g)` are pointers to several numbers; `G_AT_OFFSETS(g)` is the
index of the first offset. For a list of named tuples, `G_PHASES_FIRST(g, k)` is a field of the k-th
tuple. `G_HEAD` is the count of numbers before all lists, `G_SIZE(g)` the size of the buffer in
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args, get_type_hints

from .workload import Ints, cut


class Each(NamedTuple):
    """Annotation of a field with a fixed count of numbers; `names` are their names, by blanks."""

    names: str


@dataclass(frozen=True)
class Many:
    """Annotation of a list field. `count` is the list's length or the name of the length: a number
    field of the geometry, or else a length that the buffer holds for the list. With `packed` False,
    the buffer lacks the length, and later macros take it as a parameter. "" means the rest of the
    buffer. `width` is the count of numbers in an element, or the name of a length."""

    count: str | int
    width: str | int = 1
    packed: bool = True


class _Wide(NamedTuple):
    """A number of more than 31 bits."""


Long = Annotated[int, _Wide()]
G = TypeVar("G", bound="Geometry")


@dataclass(frozen=True)
class Geometry:
    """Base of the geometries: the content of a geometry buffer."""

    # Properties that the buffer holds besides the fields.
    derived: ClassVar[tuple[str, ...]] = ()
    # Prefix of the macros.
    prefix: ClassVar[str] = "G"

    def pack(self) -> Ints:
        """Returns the numbers of the geometry buffer."""
        layout = _layout(type(self))
        numbers = [len(getattr(self, name)) for name in layout.counts.values()]
        for name, _, names, _ in layout.numbers:
            if names:
                numbers += getattr(self, name)
            else:
                numbers.append(int(getattr(self, name)))
        numbers += [int(getattr(self, name)) for name in self.derived]
        for each in layout.lists:
            each.add(getattr(self, each.name), numbers)
        return tuple(numbers)

    @classmethod
    def unpack(cls: type[G], g: Ints, **lengths: int) -> G:
        """Returns the geometry of the buffer `g`. `lengths` are those that the buffer lacks; the
        size of the buffer implies one missing length."""
        return cls._unpack(g, 0, lengths)[0]

    @classmethod
    def _unpack(cls: type[G], g: Ints, at: int, known: Mapping[str, int]) -> tuple[G, int]:
        layout = _layout(cls)
        lengths = {**known, **dict(zip(layout.counts, g[at:]))}
        at += len(layout.counts)
        values: dict[str, Any] = {}
        for number in layout.numbers:
            values[number.name] = number.read(g[at : at + number.size])
            lengths[number.name] = g[at]
            at += number.size
        at += len(cls.derived)
        for name in layout.implied - lengths.keys():
            none, one = (layout.listed({**lengths, name: n}) for n in (0, 1))
            lengths[name] = (len(g) - at - none) // (one - none) if one > none else 0
        for each in layout.lists:
            values[each.name], at = each.read(g, at, lengths)
        return cls(**values), at

    @classmethod
    def words(cls) -> dict[str, str]:
        """Returns the macros of the kernel text, which take a pointer to the buffer."""
        return _layout(cls).words(cls.prefix, cls.derived)


class _NumberField(NamedTuple):
    """A number field, or a field of several named numbers that build a value of type `kind`."""

    name: str
    wide: bool = False
    names: tuple[str, ...] = ()
    kind: Any = int

    @property
    def size(self) -> int:
        return len(self.names) or 1

    def read(self, numbers: Ints) -> Any:
        if not self.names:
            return self.kind(*numbers)
        return numbers if self.kind is tuple else self.kind(*numbers)


@dataclass(frozen=True)
class _List:
    """A list of numbers (`kind` is int), of tuples of them, or of geometries."""

    name: str
    count: str | int
    width: str | int
    kind: Any
    packed: bool

    @property
    def nests(self) -> bool:
        """True if the elements are geometries."""
        return isinstance(self.kind, type) and issubclass(self.kind, Geometry)

    def add(self, value: Any, numbers: list[int]) -> None:
        """Appends the numbers of `value` to `numbers`."""
        if self.kind is int:
            numbers += value
            return
        if not self.nests:
            for part in value:
                numbers += part
        elif isinstance(value, Geometry):
            numbers += value.pack()
        else:
            for part in value:
                numbers += part.pack()

    def read(self, g: Ints, at: int, lengths: Mapping[str, int]) -> tuple[Any, int]:
        count, width = _length(self.count, lengths), _length(self.width, lengths)
        if self.nests:
            parts = []
            for _ in range(count):
                part, at = self.kind._unpack(g, at, {})
                parts.append(part)
            return parts[0] if self.count == 1 else tuple(parts), at
        numbers = g[at : at + count * width]
        if self.kind is int:
            return numbers, at + len(numbers)
        items = cut(numbers, width, count)
        elements = tuple(items if self.kind is tuple else (self.kind(*item) for item in items))
        return elements, at + count * width


class _Layout(NamedTuple):
    """Order of a geometry buffer; `counts` maps each length that the buffer holds to its list."""

    counts: Mapping[str, str]
    numbers: tuple[_NumberField, ...]
    lists: tuple[_List, ...]

    @property
    def implied(self) -> set[str]:
        """Lengths that the buffer lacks."""
        return {str(each.count) for each in self.lists if not each.packed}

    def listed(self, lengths: Mapping[str, int]) -> int:
        """Returns the count of numbers in all lists."""
        both = ((_length(x.count, lengths), _length(x.width, lengths)) for x in self.lists)
        return sum(count * width for count, width in both)

    def words(self, prefix: str, derived: Iterable[str]) -> dict[str, str]:
        """Returns the macros (see `Geometry.words`)."""
        defined: dict[str, str] = {}
        at, passed = 0, "g"

        def add(name: str, value: str) -> None:
            word = f"{prefix}_{name.upper()}({passed})"
            assert word not in defined, f"two words {word}"
            defined[word] = value

        for name in self.counts:
            add(name, f"((int)(g)[{at}])")
            at += 1
        for number in self.numbers:
            if number.names:
                add(number.name, f"((g) + {at})")
            for k, name in enumerate(number.names):
                add(f"{number.name}_{name}", f"((g)[{at + k}])")
            if not number.names:
                add(number.name, f"((g)[{at}])" if number.wide else f"((int)(g)[{at}])")
            at += number.size
        for name in derived:
            add(name, f"((int)(g)[{at}])")
            at += 1
        defined[f"{prefix}_HEAD"] = size = str(at)
        for each in self.lists:
            if each.nests:
                defined.update(each.kind.words())
            own = f"{prefix}_{each.name.upper()}"
            first = f"{prefix}_AT_{each.name.upper()}({passed})"
            add(f"at_{each.name}", f"({size})")
            add(each.name, f"((g) + {first})")
            for k, name in enumerate(getattr(each.kind, "_fields", ())):
                defined[f"{own}_{name.upper()}({passed}, k)"] = f"((g)[{first} + {each.width} * (k) + {k}])"
            if (each.nests and each.count != 1) or each.count == "":
                return defined
            size += " + " + self._size(each, prefix, passed)
            if not each.packed and str(each.count) not in passed.split(", "):
                passed += f", {each.count}"
        add("size", f"({size})")
        return defined

    def _size(self, each: _List, prefix: str, passed: str) -> str:
        """Returns the C expression of the count of numbers in a list."""
        if each.nests:
            return f"{each.kind.prefix}_SIZE({prefix}_{each.name.upper()}({passed}))"

        def word(length: str | int) -> str:
            if isinstance(length, int):
                return str(length)
            return f"({length})" if length in self.implied else f"{prefix}_{length.upper()}(g)"

        factors = [word(n) for n in (each.count, each.width) if n != 1]
        return " * ".join(factors) or "1"


def _length(of: str | int, lengths: Mapping[str, int]) -> int:
    return of if isinstance(of, int) else lengths[of]


def _sorted(cls: type[Geometry]) -> _Layout:
    """Returns the buffer layout of a geometry class, from its annotated fields."""
    hints = get_type_hints(cls, include_extras=True)
    numbers: list[_NumberField] = []
    lists: list[_List] = []
    for name in [field.name for field in fields(cls)]:
        of, *more = get_args(hints[name]) if hasattr(hints[name], "__metadata__") else [hints[name]]
        said = more[0] if more else None
        if isinstance(said, Many):
            kind = get_args(of)[0]
            if hasattr(kind, "_fields"):
                said = replace(said, width=len(kind._fields))
            elif kind is not int and not isinstance(kind, type):
                kind = tuple
            packed = said.packed and said.count != ""
            lists.append(_List(name, said.count, said.width, kind, packed))
        elif isinstance(said, Each):
            numbers.append(_NumberField(name, True, tuple(said.names.split()), tuple))
        elif hasattr(of, "_fields"):
            numbers.append(_NumberField(name, True, of._fields, of))
        elif issubclass(of, Geometry):
            lists.append(_List(name, 1, 1, of, True))
        else:
            numbers.append(_NumberField(name, said is not None, (), of))
    already = {number.name for number in numbers}
    counts: dict[str, str] = {}
    for each in lists:
        if each.packed and isinstance(each.count, str) and each.count not in already:
            counts.setdefault(each.count, each.name)
    return _Layout(counts, tuple(numbers), tuple(lists))


_layout: Callable[[Any], _Layout] = cache(_sorted)
