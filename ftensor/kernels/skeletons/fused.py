"""fused_*, row_passes_*: map, rows and folds filled with programs of several element functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...dtypes import dtype
from .. import element_function, fused, row_pass_macros, source
from ..element_function import ElementFunction, unit_text
from ..fused import FusedKey
from ..skeleton import Parameter, Skeleton, register
from .reduce import FoldGeometry
from .rows import RowsGeometry


class Fused(Skeleton[FusedKey]):
    """What all have in common. The text is that of the skeleton `of`."""

    of: str
    walks = False

    def parameters(self, key: FusedKey) -> tuple[Parameter, ...]:
        """Those of the key, and then the geometry or the size."""
        tail = ("*", "const int *", "geometry") if self.walks else ("int", "int ", "n")
        return (*fused.parameters(key), tail)

    def compute(self, key: FusedKey) -> dtype:
        """That of the first section; outside of its section no unit needs its own."""
        return _units(key)[0].compute if key.calls else key.outs[0].dtype.compute

    def text(self) -> str:
        """That of the skeleton of single ops."""
        return source.kernel_file(f"skeleton/{self.of}.h")

    def program(self, key: FusedKey, dialect: str, *, float64: bool, grid: str) -> str:
        """The dialect's words, the units in sections of what they compute in, and the text."""
        fused.check(key)
        unsigned = any(of.name in ("uint32", "uint64") for of in key.dtypes)
        return "\n".join(
            [
                *source.settings(self.compute(key), key.lanes, float64, grid),
                *(["#define FT_WIDE_UNSIGNED 1"] if unsigned else []),
                *self.geometry_words(),
                '#pragma push_macro("pow")',  # a dialect may have another one for doubles alone
                source.kernel_file(f"dialect/{dialect}.h"),
                source.kernel_file("fused.h"),
                *_sections(key, dialect, self.unit_text),
                *self.words_after(key, dialect),
                *defined(self.holes(key, dialect)),
                self.filled(key, dialect),
            ]
        )

    def filled(self, key: FusedKey, dialect: str) -> str:
        """The text, where words cannot say all."""
        return self.text()

    def unit_text(self, unit: ElementFunction, name: str) -> str:
        """The functions of a unit."""
        return unit_text(unit, name)

    def words_after(self, key: FusedKey, dialect: str) -> list[str]:
        """What the text needs of the sections."""
        return []

    def holes(self, key: FusedKey, dialect: str) -> dict[str, list[str]]:
        """What the words of the text stand for."""
        return fused.map_holes(key, self.walks, functions(key, dialect))


def defined(holes: Mapping[str, list[str]]) -> list[str]:
    """Lines that say what words stand for."""
    return [f"#define {name} " + " \\\n    ".join(body) for name, body in holes.items()]


def _units(key: FusedKey) -> tuple[ElementFunction, ...]:
    """The units, those in doubles first: the dialect's words for these are others' no more."""
    return tuple(sorted(key.units, key=lambda u: not element_function.is_double(u.compute)))


def _sections(key: FusedKey, dialect: str, text: Callable[[ElementFunction, str], str]) -> Iterable[str]:
    """The units' functions, in sections of what they compute in."""
    units = _units(key)
    keys = [u.key(key.lanes) for u in units]
    wanted = {name for k in keys for name in source.helper_files(k)}
    yield from (source.kernel_file(name) for name in element_function.OF_ALL_TYPES if name in wanted)
    texts = [text(u, fused.unit_name(key, u)) for u in units]
    if dialect == "vitis":
        yield source.inlined(element_function.END_OF_SPACE)
        yield from map(source.inlined, element_function.namespaces(keys, lambda k, _: texts[k]))
    else:
        doubles = sum(element_function.is_double(u.compute) for u in units)
        yield from element_function.sections(keys[:doubles], lambda k, _: texts[k], dialect)
        yield '#pragma pop_macro("pow")'
        yield from element_function.sections(keys[doubles:], lambda k, _: texts[doubles + k], dialect)


def functions(key: FusedKey, dialect: str) -> list[str]:
    """What each call's unit is called where the kernel is."""
    names = []
    for call in key.calls:
        name, space = fused.unit_name(key, call.unit), element_function.helper_space(call.unit.key())
        names.append(f"compute_{space}::{name}" if dialect == "vitis" else name)
    return names


class FusedMap(Fused):
    """Runs of memory, in vectors."""

    name, of = "fused_map", "map"


class FusedRows(Fused):
    """Operands with strides, row by row."""

    name, of = "fused_rows", "rows"
    walks = True
    geometry = RowsGeometry


class FusedFold(Fused):
    """A fold of what calls compute, and calls on its result: lanes, splits and order are the fold's
    own."""

    walks = True
    geometry = FoldGeometry
    result: str  # of which element a result is, and how many follow it

    def holes(self, key: FusedKey, dialect: str) -> dict[str, list[str]]:
        """What the words of the text stand for."""
        return fused.fold_holes(key, functions(key, dialect), self.result)

    def words_after(self, key: FusedKey, dialect: str) -> list[str]:
        """The types that are folded."""
        (unit,) = [u for u in key.units if u.reduction]
        if dialect == "vitis":
            space = element_function.helper_space(unit.key())
            return [f"using compute_{space}::{word};" for word in element_function.STATE[:4]]
        real = source.scalar(unit.compute)
        return [f"#define FT_T {real}", f"#define FT_MT {source.MASK[real]}"]


class FusedReduceInner(FusedFold):
    """Lanes along rows."""

    name, of, result = "fused_reduce_inner", "reduce_inner", "0, 1"


class FusedReduceOuter(FusedFold):
    """Lanes across rows."""

    name, of, result = "fused_reduce_outer", "reduce_outer", "i, m"


register(FusedMap())
register(FusedRows())
register(FusedReduceInner())
register(FusedReduceOuter())


class RowPasses(Fused):
    """Units take rows one after another, and go over each as often as folds need others' results.

    The text has a place for the passes, each of which is a text with words of its own.
    """

    walks = True
    geometry = FoldGeometry

    def text(self) -> str:
        """Its own."""
        return source.kernel_file(f"skeleton/{self.name}.h")

    def unit_text(self, unit: ElementFunction, name: str) -> str:
        """The functions of a unit; several folds have a state each."""
        return row_pass_macros.unit_text(unit, name)

    def holes(self, key: FusedKey, dialect: str) -> dict[str, list[str]]:
        """The words of the kernel."""
        return _words(key, dialect).kernel()

    def words_after(self, key: FusedKey, dialect: str) -> list[str]:
        """What each pass folds."""
        words = _words(key, dialect)
        return [line for n in range(len(words.passes.in_order)) for line in words.states(n)]

    def filled(self, key: FusedKey, dialect: str) -> str:
        """The text with its passes."""
        words, one = _words(key, dialect), self.text_of_a_pass()
        passes = []
        for n in range(len(words.passes.in_order)):
            lines = defined(words.of_pass(n))
            passes += [*lines, one, element_function.dropped_words("\n".join(lines))]
        return self.text().replace("        FT_PASSES\n", "\n".join(passes) + "\n")

    def text_of_a_pass(self) -> str:
        """One pass."""
        return source.kernel_file(f"skeleton/{self.name.replace('passes', 'pass')}.h")


class RowPassesInner(RowPasses):
    """Lanes along rows."""

    name = of = "row_passes_inner"


class RowPassesOuter(RowPasses):
    """Lanes across rows; or a row a lane, where these are short."""

    name = of = "row_passes_outer"


def _words(key: FusedKey, dialect: str) -> row_pass_macros.PassWords:
    return row_pass_macros.PassWords(key, functions(key, dialect))


register(RowPassesInner())
register(RowPassesOuter())
