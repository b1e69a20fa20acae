"""The tables of an inventory, with checks; each error names file and line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...dtypes import FULL, dtype
from ...errors import build as errors
from ...kernels.inventory_terms import Option
from ...kernels.skeleton import inventory_words as skeleton_words
from ...kernels.skeleton import options
from ...kernels.workload import COMPACT
from ...rows.catalogue import OWN, is_module_name
from ..group import BANKS, MAX_NAME_LENGTH, STRUCTURES
from .keys import (
    DTYPES_BY_NAME,
    LANES_BY_COST,
    NUMBER,
    KernelShape,
    categories,
    exact_layout,
    layout_words,
    row_named,
    rows,
)


@dataclass(frozen=True)
class TomlTable:
    """A TOML table and its line in the file."""

    path: Path
    lines: tuple[str, ...]
    line: int
    raw: Mapping[str, Any]

    @classmethod
    def top(cls, path: Path, text: str, raw: Mapping[str, Any]) -> TomlTable:
        """Returns the table of the whole file."""
        return cls(path, tuple(text.splitlines()), -1, raw)

    def tables(self, name: str) -> Iterator[TomlTable]:
        """Yields the tables of an array of tables."""
        entries = self.raw.get(name, [])
        if not isinstance(entries, list) or not all(isinstance(t, dict) for t in entries):
            raise errors.wrong_value(str(self.path), name, entries, f"tables, each under [[{name}]]")
        heads = [k for k, text in enumerate(self.lines) if text.strip().startswith(f"[[{name}]]")]
        heads += [0] * (len(entries) - len(heads))
        for line, raw in zip(heads, entries):
            yield TomlTable(self.path, self.lines, line, raw)

    def where(self, key: str = "") -> str:
        """Returns the file and line of a setting, or of the table."""
        for k in range(self.line + 1, len(self.lines) if key else 0):
            if self.lines[k].lstrip().startswith("[["):
                break
            if re.match(rf"\s*{key}\s*=", self.lines[k]):
                return f"{self.path}:{k + 1}"
        return f"{self.path}:{max(self.line, 0) + 1}"

    def check_names(self, allowed: tuple[str, ...]) -> None:
        """Raises InventoryError for an unknown setting."""
        for name in self.raw:
            if name not in allowed:
                raise errors.unknown_setting(self.where(name), name, allowed)

    def get(self, key: str, default: Any, fits: Callable[[Any], bool], expected: str) -> Any:
        """Returns a setting's value. Raises InventoryError if `fits` rejects it."""
        value = self.raw.get(key, default)
        if key in self.raw and not fits(value):
            raise errors.wrong_value(self.where(key), key, value, expected)
        return value

    def kernel_name(self, default: str) -> str:
        """Returns the setting `name`. Raises InventoryError for a text that names no kernel."""
        name: str = self.get("name", default, lambda v: isinstance(v, str), "a text")
        if not _NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
            raise errors.bad_name(self.where("name"), name, MAX_NAME_LENGTH)
        return name

    def words(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Returns a setting that is a list of strings."""
        value = self.raw.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise errors.wrong_value(self.where(key), key, value, 'a list such as ["add", "mul"]')
        return tuple(value)

    def integers(self, key: str, default: tuple[int, ...], low: int, high: int) -> tuple[int, ...]:
        """Returns a setting that is a list of integers from `low` to `high`."""
        value = self.raw.get(key, list(default))
        if not isinstance(value, list) or not all(is_int(v, low, high) for v in value):
            raise errors.wrong_value(self.where(key), key, value, f"a list of integers from {low} to {high}")
        return tuple(value)


def is_int(value: Any, low: int, high: int) -> bool:
    """True if a value is an integer from `low` to `high`; a bool is not."""
    return type(value) is int and low <= value <= high


IMAGE = (
    "description",
    "platform",
    "clock_mhz",
    "imports",
    "structure",
    "units",
    "banks",
    "lanes",
    "repeat",
    "kernel",
    "graph",
    "host",
)
KERNEL = (
    "name", "ops", "but", "dtypes", "to", "layouts", "lanes", "vectors", "split", "index",
    "indices", "structure", "units", "banks", "grouping",
)  # fmt: skip
GROUPINGS = ("shared", "single")
KINDS = {"@all": "buifc", "@bool": "b", "@int": "ui", "@float": "f", "@complex": "c", "@real": "uif"}
SAME = "@same"
BY_COST_WORD = "by cost"
_STRUCTURES = (*STRUCTURES, COMPACT)
MEMORIES = 'a memory such as "DDR[0]" or "HP0", a range such as "HBM[0:31]", or "HBM[*]"'
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)


def _are_vectors(value: Any) -> bool:
    return isinstance(value, list) and all(type(v) is int and v in (1, 2, 4, 8) for v in value)


@dataclass(frozen=True)
class Image:
    """An inventory's settings for the whole image, and the defaults of its kernels."""

    description: str
    platform: str
    clock_mhz: float
    imports: tuple[str, ...]
    structure: str
    units: int
    banks: str
    lanes: int
    repeat: bool


@dataclass(frozen=True)
class BuildForm:
    """How the kernels of a [[kernel]] table are built: structure, compute units and memory banks.
    `grouping` is "single" or "shared": whether ops share a kernel."""

    structure: str
    units: int
    banks: str
    grouping: str


@dataclass(frozen=True)
class KernelSpec:
    """A [[kernel]] table.

    `ops` are names of rows, or words of skeletons such as "matmul". `named_ops` are the ops that the
    table names individually, so that each must have a kernel. `dtypes` are single dtypes,
    `signatures` are full spellings. `to` are the dtypes of results, None for the operands' dtype.
    `options` are the skeletons' settings by name.
    """

    table: TomlTable
    name: str
    named: bool
    ops: tuple[str, ...]
    named_ops: frozenset[str]
    dtypes: tuple[dtype, ...]
    signatures: tuple[str, ...]
    to: tuple[dtype | None, ...]
    layouts: tuple[str, ...]
    shape: KernelShape
    options: Mapping[str, tuple[Any, ...]]
    form: BuildForm

    @property
    def where(self) -> str:
        """The file and line of the table."""
        return self.table.where()


def parse_image(table: TomlTable) -> Image:
    """Returns the settings before the first [[kernel]]."""
    table.check_names(IMAGE)
    text = lambda value: isinstance(value, str)  # noqa: E731
    return Image(
        table.get("description", "", text, "a text"),
        table.get("platform", "", is_platform, PLATFORMS),
        table.get("clock_mhz", 0, lambda v: type(v) in (int, float) and 0 < v < 2000, "a frequency in MHz"),
        _imports(table),
        *_form(table, "dataflow", 1, ""),
        _lanes(table, 0),
        table.get("repeat", False, lambda v: type(v) is bool, "true or false"),
    )


def _imports(table: TomlTable) -> tuple[str, ...]:
    """Returns the modules to import. They are names of modules, never paths or code in the file."""
    names = table.words("imports")
    for name in names:
        if not is_module_name(name):
            raise errors.wrong_value(table.where("imports"), "imports", name, 'names of modules, such as "my_ops"')
    return names


def _form(table: TomlTable, structure: str, units: int, banks: str) -> tuple[str, int, str]:
    return (
        table.get("structure", structure, _STRUCTURES.__contains__, f"one of {_STRUCTURES}"),
        table.get("units", units, lambda v: is_int(v, 1, 31), "a number of compute units, 1 to 31"),
        table.get("banks", banks, is_memory, MEMORIES),
    )


def _lanes(table: TomlTable, default: int) -> int:
    """Returns the lanes in the encoding of `KernelShape.lanes`."""
    if "lanes" not in table.raw:
        return default
    fits = lambda v: v == BY_COST_WORD or (type(v) is int and v in (1, 2, 4, 8, 16))  # noqa: E731
    value = table.get("lanes", 0, fits, f'1, 2, 4, 8 or 16, or "{BY_COST_WORD}"')
    return LANES_BY_COST if value == BY_COST_WORD else int(value)


# A longer argument makes the system refuse the compiler's call.
_LONGEST_PATH = 4096
PLATFORMS = f"a platform's name or its .xpfm file, at most {_LONGEST_PATH} letters"


def is_platform(value: Any) -> bool:
    """True if `platform` may have this value: a compiler argument that is neither an option nor a
    file of options."""
    text = isinstance(value, str) and value.isprintable() and len(value) <= _LONGEST_PATH
    return text and value[:1] not in ("-", "@")


def is_memory(value: Any) -> bool:
    """True if `banks` may have this value."""
    if not isinstance(value, str) or not BANKS.fullmatch(value):
        return False
    ends = re.search(r"(\d+):(\d+)", value)
    return ends is None or int(ends[1]) <= int(ends[2])


def parse_kernels(table: TomlTable, image: Image) -> KernelSpec:
    """Returns the specification of a [[kernel]] table."""
    skeleton_options = options()
    table.check_names((*KERNEL[:11], *skeleton_options, *KERNEL[11:]))
    if "ops" not in table.raw:
        raise errors.missing(table.where(), "ops", 'ops = ["add", "@unary"]')
    ops, chosen = _ops(table, "ops")
    but, _ = _ops(table, "but")
    ops = tuple(op for op in ops if op not in but)
    name = table.kernel_name("ft")
    single, spelled = _dtypes(table, "dtypes", ("float32",))
    to = _results(table)
    layouts = table.words("layouts", ("linear",))
    for layout in layouts:
        if layout not in layout_words() and exact_layout(layout) is None:
            raise errors.unknown_layout(table.where("layouts"), layout, layout_words())
    structure, units, banks = _form(table, image.structure, image.units, image.banks)
    split = table.get("split", units > 1, lambda v: type(v) is bool, "true or false")
    shape = KernelShape(
        _lanes(table, image.lanes),
        tuple(table.get("vectors", [], _are_vectors, "a list of 1, 2, 4 or 8")),
        ("whole", "first", "second") if split else ("whole",),
        table.integers("indices", (1,), 1, 6),
        _dtypes(table, "index", ("int64",))[0],
    )
    grouping = table.get("grouping", "shared", GROUPINGS.__contains__, f"one of {GROUPINGS}")
    return KernelSpec(
        table,
        name,
        "name" in table.raw,
        ops,
        chosen,
        single,
        spelled,
        to,
        layouts,
        shape,
        {name: _option(table, option) for name, option in skeleton_options.items()},
        BuildForm(structure, units, banks, grouping),
    )


def _option(table: TomlTable, option: Option) -> tuple[Any, ...]:
    """Returns the value of a skeleton's setting."""
    if not option.words:
        return table.integers(option.name, option.default, option.low, option.high)
    words = table.words(option.name, option.default)
    for word in words:
        if word not in option.words:
            raise errors.wrong_value(table.where(option.name), option.name, word, f"some of {option.words}")
    return words


def _ops(table: TomlTable, key: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Returns the rows that a list of names and categories contains, and the names that it lists
    individually."""
    names: dict[str, bool] = {}
    for word in table.words(key):
        if word == "*":
            own = categories().get(OWN, ())  # rows of users' own kernels, which other processes lack
            names = {name: False for name, named in rows().items() if not set(named) <= set(own)} | names
        elif word.startswith("@"):
            category = categories().get(word[1:])
            if category is None:
                raise errors.unknown_category(table.where(key), word[1:], list(categories()))
            names = {row.name: False for row in category} | names
        elif row_named(word) or word in skeleton_words():
            names[word] = True
        else:
            raise errors.unknown_op(table.where(key), word, [*rows(), *skeleton_words()])
    return tuple(names), frozenset(name for name, alone in names.items() if alone)


def _results(table: TomlTable) -> tuple[dtype | None, ...]:
    """Returns the requested dtypes of results; None for "@same", the dtype of the operands."""
    words = table.words("to")
    for word in words:
        if word != SAME and word not in KINDS and word not in DTYPES_BY_NAME:
            raise errors.unknown_dtype(table.where("to"), word, [*DTYPES_BY_NAME, SAME])
    results: list[dtype | None] = [None] if SAME in words else []
    results += [d for w in words if w != SAME for d in _named(w)]
    return tuple(dict.fromkeys(results))


def _named(word: str) -> list[dtype]:
    return [d for d in FULL if d.kind in KINDS[word]] if word in KINDS else [DTYPES_BY_NAME[word]]


def _dtypes(table: TomlTable, key: str, default: tuple[str, ...]) -> tuple[tuple[dtype, ...], tuple[str, ...]]:
    """Returns the dtypes of a list, and its signatures as text."""
    dtypes: list[dtype] = []
    signatures = []
    for word in table.words(key, default):
        if word in KINDS or word in DTYPES_BY_NAME:
            dtypes += _named(word)
        elif "(" in word:
            for part in re.findall(r"\w+", word):
                if part not in DTYPES_BY_NAME and part not in (NUMBER, "in"):
                    raise errors.unknown_dtype(table.where(key), part, list(DTYPES_BY_NAME))
            signatures.append(word)
        else:
            raise errors.unknown_dtype(table.where(key), word, list(DTYPES_BY_NAME))
    return tuple(dict.fromkeys(dtypes)), tuple(signatures)
