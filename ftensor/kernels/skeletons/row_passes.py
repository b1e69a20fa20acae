"""row_passes_inner, row_passes_outer: folds and maps over the same rows, one after another."""

from __future__ import annotations

from .. import pass_words, source, spaces
from ..fused import FusedKey
from ..skeleton import register
from ..unit import Unit
from .fused import Fused, defined, functions
from .reduce_geometry import FoldGeometry


class RowPasses(Fused):
    """Units take rows one after another, and go over each as often as folds need others' results.

    The text has a place for the passes, each of which is a text with words of its own.
    """

    walks = True
    geometry = FoldGeometry

    def text(self) -> str:
        """Its own."""
        return source.kernel_file(f"skeleton/{self.name}.h")

    def unit_text(self, unit: Unit, name: str) -> str:
        """The functions of a unit; several folds have a state each."""
        return pass_words.unit_text(unit, name)

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
            passes += [*lines, one, spaces.dropped_words("\n".join(lines))]
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


def _words(key: FusedKey, dialect: str) -> pass_words.PassWords:
    return pass_words.PassWords(key, functions(key, dialect))


register(RowPassesInner())
register(RowPassesOuter())
