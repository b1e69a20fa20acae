"""A skeleton: one way through memory, and what a launch needs to know of it.

Its text is a file of hls/skeleton/. What launches ask of it is asked of an object here, which its
module registers; what images, their inventories and the performance model ask, of one that is a
`BoardSkeleton`. The built-in ones are in `skeletons/`; docs/add-a-skeleton.md shows one more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..dtypes import dtype
from . import source
from .geometry import Geometry
from .key import Key
from .work import Ints

# (what, C type, name): what is "*", or the C name of a scalar; the C type ends where the name may
# follow.
Parameter = tuple[str, str, str]


K = TypeVar("K", bound=Key)


class Skeleton(ABC, Generic[K]):
    """A skeleton with keys of type K, which may have any fields besides those of `Key`: all that a
    launch needs. `BoardSkeleton` (board_skeleton.py) is for those that images may have."""

    name: str
    # Whether a launch must run on exactly the units it says, since it writes a value for each.
    exact_units = False
    # What a launch tells its kernels in a buffer, where it does.
    geometry: type[Geometry] | None = None
    # The folder of its text and of its template for Vitis, where these aren't in hls/.
    folder: Path | None = None

    @abstractmethod
    def parameters(self, key: K) -> tuple[Parameter, ...]:
        """What a launch passes, in order: pointers, offsets, numbers, and at last n or a geometry
        (a buffer of numbers). The compute unit's two follow by themselves."""

    def compute(self, key: K) -> dtype:
        """The dtype that FT_T stands for."""
        of: dtype = key.dtype.compute  # type: ignore[attr-defined]
        return of

    def defines(self, key: K) -> dict[str, object]:
        """Words of the text that the key gives a value."""
        return {}

    def helpers(self, key: K) -> list[str]:
        """The files of hls/ that the text calls, besides the dialect."""
        return []

    def text(self) -> str:
        """The file of hls/skeleton/ with its name, or the one in its folder."""
        if self.folder is not None:
            return (self.folder / f"{self.name}.h").read_text()
        return source.kernel_file(f"skeleton/{self.name}.h")

    def settings(self, key: K, *, float64: bool, grid: str) -> list[str]:
        """What the dialect, the helpers and the text are told about a kernel."""
        lines = source.settings(self.compute(key), key.lanes, float64, grid)
        defines = {"FT_NAME": key.entry, **self.defines(key)}
        lines += [f"#define {name} {value}" for name, value in defines.items()]
        return lines + self.geometry_words()

    def geometry_words(self) -> list[str]:
        """The words for what a launch tells a kernel in a buffer."""
        words = self.geometry.words() if self.geometry is not None else {}
        return [f"#define {name} {value}" for name, value in words.items()]

    # Profiles

    def title(self, key: K) -> str:
        """The op as a report calls it."""
        return self.name

    def located(self, key: K) -> tuple[int, ...]:
        """Which of its pointers lead to operands of which only parts are visited, where others say
        so."""
        return ()

    def unread(self, geometry: Ints) -> tuple[int, ...]:
        """Which of its pointers stand where a launch has no operand."""
        return ()

    def flops(self, key: K, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Operations on floating point numbers in a launch on operands of these shapes, the outputs
        first; 0 where there are few for the bytes that are moved."""
        return 0

    def program(self, key: K, dialect: str, *, float64: bool, grid: str) -> str:
        """The self-contained text of a kernel in a dialect."""
        files = [f"dialect/{dialect}.h", *self.helpers(key)]
        return "\n".join(
            [*self.settings(key, float64=float64, grid=grid), *map(source.kernel_file, files), self.text()]
        )


_by_name: dict[str, Skeleton[Any]] = {}


def register(skeleton: Skeleton[Any]) -> None:
    """Make a skeleton known by its name; one of that name before it is forgotten."""
    _by_name[skeleton.name] = skeleton


def skeletons() -> Iterable[Skeleton[Any]]:
    """All skeletons, in the order in which they were registered."""
    return tuple(_by_name.values())


def named(name: str) -> Skeleton[Any] | None:
    """The skeleton of this name, or None: an image may hold one that nobody has registered."""
    return _by_name.get(name)


def skeleton_of(key: Key) -> Skeleton[Any]:
    """The skeleton that a key belongs to."""
    return _by_name[key.skeleton]


def exact_units(name: str) -> bool:
    """Whether a kernel of this skeleton must run with exactly the units that the launch says."""
    skeleton = named(name)
    return skeleton is not None and skeleton.exact_units
