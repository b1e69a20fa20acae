"""Skeletons of fused kernels (fused_*, row_passes_*): several element functions in the loops of a
map, rows or a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...dtypes import dtype
from .. import element_function, fused, row_pass_macros, source
from ..element_function import ElementFunction, c_functions
from ..fused import FusedKey
from ..skeleton import Parameter, Skeleton, register
from .elementwise import RowsGeometry
from .reduce import FoldGeometry


class Fused(Skeleton[FusedKey]):
    """Base of the fused skeletons. The kernel text is that of the skeleton named `of`."""

    of: str
    walks = False

    def parameters(self, key: FusedKey) -> tuple[Parameter, ...]:
        tail = ("*", "const int *", "geometry") if self.walks else ("int", "int ", "n")
        return (*fused.parameters(key), tail)

    def compute(self, key: FusedKey) -> dtype:
        """Returns the compute dtype of the first section; each section sets its own."""
        return _functions(key)[0].compute if key.calls else key.outs[0].dtype.compute

    def text(self) -> str:
        return source.kernel_file(f"skeleton/{self.of}.h")

    def program(self, key: FusedKey, dialect: str, *, float64: bool, grid: str) -> str:
        fused.check(key)
        unsigned = any(d.name in ("uint32", "uint64") for d in key.dtypes)
        return "\n".join(
            [
                *source.settings(self.compute(key), key.lanes, float64, grid),
                *(["#define FT_WIDE_UNSIGNED 1"] if unsigned else []),
                *self.geometry_words(),
                '#pragma push_macro("pow")',  # a dialect may define `pow` for double only
                source.kernel_file(f"dialect/{dialect}.h"),
                source.kernel_file("fused.h"),
                *_sections(key, dialect, self.c_functions),
                *self.words_after(key, dialect),
                *define_lines(self.holes(key, dialect)),
                self.filled(key, dialect),
            ]
        )

    def filled(self, key: FusedKey, dialect: str) -> str:
        """Returns the kernel text; overridden by skeletons with further placeholders."""
        return self.text()

    def c_functions(self, function: ElementFunction, name: str) -> str:
        """Returns the C functions of an element function."""
        return c_functions(function, name)

    def words_after(self, key: FusedKey, dialect: str) -> list[str]:
        """Returns the lines between the sections and the macros of the kernel text."""
        return []

    def holes(self, key: FusedKey, dialect: str) -> dict[str, list[str]]:
        """Returns the macros of the kernel text, by name."""
        return fused.map_holes(key, self.walks, functions(key, dialect))


def define_lines(holes: Mapping[str, list[str]]) -> list[str]:
    """Returns the `#define` lines of macros."""
    return [f"#define {name} " + " \\\n    ".join(body) for name, body in holes.items()]


def _functions(key: FusedKey) -> tuple[ElementFunction, ...]:
    """Returns the element functions, those in double first: the text of later sections undefines
    the dialect's macros for double."""
    return tuple(sorted(key.functions, key=lambda u: not element_function.computes_in_double(u.compute)))


def _sections(key: FusedKey, dialect: str, text: Callable[[ElementFunction, str], str]) -> Iterable[str]:
    """Yields the element functions' text, in sections by compute dtype."""
    functions = _functions(key)
    keys = [u.key(key.lanes) for u in functions]
    helper_names = {name for k in keys for name in source.helper_files(k)}
    yield from (source.kernel_file(name) for name in element_function.SHARED_HELPERS if name in helper_names)
    texts = [text(u, fused.function_name(key, u)) for u in functions]
    if dialect == "vitis":
        yield source.inline_includes(element_function.END_OF_SPACE)
        yield from map(source.inline_includes, element_function.namespaces(keys, lambda k, _: texts[k]))
    else:
        doubles = sum(element_function.computes_in_double(u.compute) for u in functions)
        yield from element_function.sections(keys[:doubles], lambda k, _: texts[k], dialect)
        yield '#pragma pop_macro("pow")'
        yield from element_function.sections(keys[doubles:], lambda k, _: texts[doubles + k], dialect)


def functions(key: FusedKey, dialect: str) -> list[str]:
    """Returns the name of each call's function, as the kernel spells the name."""
    return [spelled(call.function, fused.function_name(key, call.function), dialect) for call in key.calls]


def spelled(function: ElementFunction, name: str, dialect: str) -> str:
    """Returns the name of an element function as the kernel spells it."""
    space = element_function.helper_space(function.key())
    return f"compute_{space}::{name}" if dialect == "vitis" else name


class FusedMap(Fused):
    """Contiguous operands, in vectors."""

    name, of = "fused_map", "map"


class FusedRows(Fused):
    """Strided operands, row by row."""

    name, of = "fused_rows", "rows"
    walks = True
    geometry = RowsGeometry


class FusedFold(Fused):
    """Calls, a fold of their results, and an epilogue of calls on the folded result. Lanes, splits
    and order are those of the fold's own kernel."""

    walks = True
    geometry = FoldGeometry
    result: str  # macro arguments of the epilogue: first element and count

    def holes(self, key: FusedKey, dialect: str) -> dict[str, list[str]]:
        return fused.fold_holes(key, functions(key, dialect), self.result)

    def words_after(self, key: FusedKey, dialect: str) -> list[str]:
        (function,) = [u for u in key.functions if u.reduction]
        if dialect == "vitis":
            space = element_function.helper_space(function.key())
            return [f"using compute_{space}::{word};" for word in element_function.STATE_NAMES[:4]]
        real = source.scalar(function.compute)
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
    """Compute units process row after row, with one pass over a row for each fold that needs the
    result of another fold.

    The kernel text has a placeholder for the passes; each pass is a text with its own macros.
    """

    walks = True
    geometry = FoldGeometry

    def text(self) -> str:
        return source.kernel_file(f"skeleton/{self.name}.h")

    def c_functions(self, function: ElementFunction, name: str) -> str:
        return row_pass_macros.c_functions_with_own_state(function, name)

    def holes(self, key: FusedKey, dialect: str) -> dict[str, list[str]]:
        return _macros_of_passes(key, dialect).kernel()

    def words_after(self, key: FusedKey, dialect: str) -> list[str]:
        """Returns the fold states of each pass."""
        words = _macros_of_passes(key, dialect)
        return [line for n in range(len(words.passes.passes)) for line in words.states(n)]

    def filled(self, key: FusedKey, dialect: str) -> str:
        words, one = _macros_of_passes(key, dialect), self.text_of_a_pass()
        passes = []
        for n in range(len(words.passes.passes)):
            lines = define_lines(words.of_pass(n))
            passes += [*lines, one, element_function.undefine_lines("\n".join(lines))]
        return self.text().replace("        FT_PASSES\n", "\n".join(passes) + "\n")

    def text_of_a_pass(self) -> str:
        """Returns the text of one pass."""
        return source.kernel_file(f"skeleton/{self.name.replace('passes', 'pass')}.h")


class RowPassesInner(RowPasses):
    """Lanes along rows."""

    name = of = "row_passes_inner"


class RowPassesOuter(RowPasses):
    """Passes over rows, where each lane computes another row: the folded dim is not contiguous, or
    rows are shorter than a vector."""

    name = of = "row_passes_outer"


def _macros_of_passes(key: FusedKey, dialect: str) -> row_pass_macros.RowPassMacros:
    return row_pass_macros.RowPassMacros(key, functions(key, dialect))


register(RowPassesInner())
register(RowPassesOuter())
