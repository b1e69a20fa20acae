"""Geometry buffers: integer kernel arguments that are declared once, packed, and named in C.

A geometry is a frozen dataclass derived from `Geometry`:

    @dataclass(frozen=True)
    class PoolGeometry(Geometry):
        derived = ("items",)  # a property
        n: int
        step: Long
        x: Annotated[Ints, NamedFields("sample channel")]
        offsets: Annotated[Ints, ListField("taps")]
        phases: Annotated[tuple[Ints, ...], ListField("phase_count", 3)]

The buffer holds the lengths of the lists, the scalar fields in declaration order, the derived fields,
and then the lists. The kernel text has a macro for each: `G_N(g)`, `G_X_CHANNEL(g)` and `G_TAPS(g)`
are integers. `G_X(g)` and `G_OFFSETS(g)` are pointers to several integers; `G_AT_OFFSETS(g)` is the
index of the first offset. For a list of named tuples, `G_PHASES_FIRST(g, k)` is a field of the k-th
tuple. `G_HEAD` is the count of integers before all lists, `G_SIZE(g)` the size of the buffer in
integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args, get_type_hints

from .workload import Ints, split_values


class NamedFields(NamedTuple):
    """Annotation of a field with a fixed count of integers. `names` are their names, separated by
    blanks."""

    names: str


@dataclass(frozen=True)
class ListField:
    """Annotation of a list field. `count` is the name of the field with the list's length, or a
    name for a length that the buffer holds itself; "" means that the list extends to the end of the
    buffer. With `packed` False, the buffer lacks the length, and the macros of later fields take it
    as a parameter. `width` is the count of integers in an element, or the name of that count."""

    count: str | int
    width: str | int = 1
    packed: bool = True


class _WideNumber(NamedTuple):
    """A number of more than 31 bits."""


Long = Annotated[int, _WideNumber()]
G = TypeVar("G", bound="Geometry")


@dataclass(frozen=True)
class Geometry:
    """Base of the geometries: the content of a geometry buffer."""

    # Properties that the buffer holds besides the fields.
    derived: ClassVar[tuple[str, ...]] = ()
    # Prefix of the macros.
    prefix: ClassVar[str] = "G"

    def pack(self) -> Ints:
        """Returns the integers of the geometry buffer."""
        layout = _layout(type(self))
        values = [len(getattr(self, name)) for name in layout.counts.values()]
        for name, _, names, _ in layout.fields:
            if names:
                values += getattr(self, name)
            else:
                values.append(int(getattr(self, name)))
        values += [int(getattr(self, name)) for name in self.derived]
        for each in layout.lists:
            each.add(getattr(self, each.name), values)
        return tuple(values)

    @classmethod
    def unpack(cls: type[G], g: Ints, **lengths: int) -> G:
        """Returns the geometry of the buffer `g`. `lengths` are those that the buffer lacks; the
        size of the buffer implies one missing length."""
        return cls._unpack(g, 0, lengths)[0]

    @classmethod
    def _unpack(cls: type[G], g: Ints, position: int, known_lengths: Mapping[str, int]) -> tuple[G, int]:
        layout = _layout(cls)
        lengths = {**known_lengths, **dict(zip(layout.counts, g[position:]))}
        position += len(layout.counts)
        values: dict[str, Any] = {}
        for each in layout.fields:
            values[each.name] = each.read(g[position : position + each.size])
            lengths[each.name] = g[position]
            position += each.size
        position += len(cls.derived)
        for name in layout.implied - lengths.keys():
            empty, with_one = (layout.listed({**lengths, name: n}) for n in (0, 1))
            lengths[name] = (len(g) - position - empty) // (with_one - empty) if with_one > empty else 0
        for list_field in layout.lists:
            values[list_field.name], position = list_field.read(g, position, lengths)
        return cls(**values), position

    @classmethod
    def words(cls) -> dict[str, str]:
        """Returns the macros of the kernel text, which take a pointer to the buffer."""
        return _layout(cls).words(cls.prefix, cls.derived)


class _ScalarField(NamedTuple):
    """A field of one integer, or of several named integers that are the arguments of the type `kind`."""

    name: str
    wide: bool = False
    names: tuple[str, ...] = ()
    kind: Any = int

    @property
    def size(self) -> int:
        return len(self.names) or 1

    def read(self, values: Ints) -> Any:
        if not self.names:
            return self.kind(*values)
        return values if self.kind is tuple else self.kind(*values)


@dataclass(frozen=True)
class _ListLayout:
    """A list of integers (`kind` is int), of tuples of them, or of geometries."""

    name: str
    count: str | int
    width: str | int
    kind: Any
    packed: bool

    @property
    def nests(self) -> bool:
        """True if the elements are geometries."""
        return isinstance(self.kind, type) and issubclass(self.kind, Geometry)

    def add(self, value: Any, values: list[int]) -> None:
        """Appends the integers of `value` to `values`."""
        if self.kind is int:
            values += value
            return
        if not self.nests:
            for part in value:
                values += part
        elif isinstance(value, Geometry):
            values += value.pack()
        else:
            for part in value:
                values += part.pack()

    def read(self, g: Ints, at: int, lengths: Mapping[str, int]) -> tuple[Any, int]:
        count, width = _length(self.count, lengths), _length(self.width, lengths)
        if self.nests:
            parts = []
            for _ in range(count):
                part, at = self.kind._unpack(g, at, {})
                parts.append(part)
            return parts[0] if self.count == 1 else tuple(parts), at
        values = g[at : at + count * width]
        if self.kind is int:
            return values, at + len(values)
        items = split_values(values, width, count)
        elements = tuple(items if self.kind is tuple else (self.kind(*item) for item in items))
        return elements, at + count * width


class _BufferLayout(NamedTuple):
    """Order of a geometry buffer; `counts` maps each length that the buffer holds to its list."""

    counts: Mapping[str, str]
    fields: tuple[_ScalarField, ...]
    lists: tuple[_ListLayout, ...]

    @property
    def implied(self) -> set[str]:
        """The names of lengths that the buffer does not hold."""
        return {str(each.count) for each in self.lists if not each.packed}

    def listed(self, lengths: Mapping[str, int]) -> int:
        """Returns how many integers all lists have together."""
        sizes = ((_length(x.count, lengths), _length(x.width, lengths)) for x in self.lists)
        return sum(count * width for count, width in sizes)

    def words(self, prefix: str, derived: Iterable[str]) -> dict[str, str]:
        """Returns the macros (see `Geometry.words`)."""
        defined: dict[str, str] = {}
        offset, macro_arguments = 0, "g"

        def add(name: str, value: str) -> None:
            word = f"{prefix}_{name.upper()}({macro_arguments})"
            assert word not in defined, f"two words {word}"
            defined[word] = value

        for name in self.counts:
            add(name, f"((int)(g)[{offset}])")
            offset += 1
        for number in self.fields:
            if number.names:
                add(number.name, f"((g) + {offset})")
            for k, name in enumerate(number.names):
                add(f"{number.name}_{name}", f"((g)[{offset + k}])")
            if not number.names:
                add(number.name, f"((g)[{offset}])" if number.wide else f"((int)(g)[{offset}])")
            offset += number.size
        for name in derived:
            add(name, f"((int)(g)[{offset}])")
            offset += 1
        defined[f"{prefix}_HEAD"] = size = str(offset)
        for list_field in self.lists:
            if list_field.nests:
                defined.update(list_field.kind.words())
            list_prefix = f"{prefix}_{list_field.name.upper()}"
            first = f"{prefix}_AT_{list_field.name.upper()}({macro_arguments})"
            add(f"at_{list_field.name}", f"({size})")
            add(list_field.name, f"((g) + {first})")
            for k, name in enumerate(getattr(list_field.kind, "_fields", ())):
                defined[f"{list_prefix}_{name.upper()}({macro_arguments}, k)"] = (
                    f"((g)[{first} + {list_field.width} * (k) + {k}])"
                )
            if (list_field.nests and list_field.count != 1) or list_field.count == "":
                return defined
            size += " + " + self._size(list_field, prefix, macro_arguments)
            if not list_field.packed and str(list_field.count) not in macro_arguments.split(", "):
                macro_arguments += f", {list_field.count}"
        add("size", f"({size})")
        return defined

    def _size(self, list_field: _ListLayout, prefix: str, macro_arguments: str) -> str:
        """Returns the C expression of the count of integers in a list."""
        if list_field.nests:
            return f"{list_field.kind.prefix}_SIZE({prefix}_{list_field.name.upper()}({macro_arguments}))"

        def word(length: str | int) -> str:
            if isinstance(length, int):
                return str(length)
            return f"({length})" if length in self.implied else f"{prefix}_{length.upper()}(g)"

        factors = [word(n) for n in (list_field.count, list_field.width) if n != 1]
        return " * ".join(factors) or "1"


def _length(length: str | int, lengths: Mapping[str, int]) -> int:
    return length if isinstance(length, int) else lengths[length]


def _buffer_layout(cls: type[Geometry]) -> _BufferLayout:
    """Returns the buffer layout of a geometry class, from its annotated fields."""
    hints = get_type_hints(cls, include_extras=True)
    scalar_fields: list[_ScalarField] = []
    lists: list[_ListLayout] = []
    for name in [field.name for field in fields(cls)]:
        field_type, *annotations = get_args(hints[name]) if hasattr(hints[name], "__metadata__") else [hints[name]]
        list_annotation = annotations[0] if annotations else None
        if isinstance(list_annotation, ListField):
            kind = get_args(field_type)[0]
            if hasattr(kind, "_fields"):
                list_annotation = replace(list_annotation, width=len(kind._fields))
            elif kind is not int and not isinstance(kind, type):
                kind = tuple
            packed = list_annotation.packed and list_annotation.count != ""
            lists.append(_ListLayout(name, list_annotation.count, list_annotation.width, kind, packed))
        elif isinstance(list_annotation, NamedFields):
            scalar_fields.append(_ScalarField(name, True, tuple(list_annotation.names.split()), tuple))
        elif hasattr(field_type, "_fields"):
            scalar_fields.append(_ScalarField(name, True, field_type._fields, field_type))
        elif issubclass(field_type, Geometry):
            lists.append(_ListLayout(name, 1, 1, field_type, True))
        else:
            scalar_fields.append(_ScalarField(name, list_annotation is not None, (), field_type))
    already = {number.name for number in scalar_fields}
    counts: dict[str, str] = {}
    for each in lists:
        if each.packed and isinstance(each.count, str) and each.count not in already:
            counts.setdefault(each.count, each.name)
    return _BufferLayout(counts, tuple(scalar_fields), tuple(lists))


_layout: Callable[[Any], _BufferLayout] = cache(_buffer_layout)
