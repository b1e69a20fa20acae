"""Skeletons: one way through memory each, and the facts that launches, images and the model need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..dtypes import dtype
from . import source
from .geometry import Geometry
from .inventory_terms import (
    LAYOUTS,
    LINEAR,
    InventoryRequest,
    InventoryTerms,
    KernelArgument,
    Layout,
    Option,
    Record,
    table_lines,
)
from .key import Key
from .workload import Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop

# (what, C type, name): what is "*", or the C name of a scalar; the C type ends where the name may
# follow.
Parameter = tuple[str, str, str]


K = TypeVar("K", bound=Key)


class Skeleton(ABC, Generic[K]):
    """A skeleton with keys of type K, which may have any fields besides those of `Key`: all that a
    launch needs. `BoardSkeleton` (skeleton.py) is for those that images may have."""

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


def skeleton_named(name: str) -> Skeleton[Any] | None:
    """The skeleton of this name, or None: an image may hold one that nobody has registered."""
    return _by_name.get(name)


def skeleton_of(key: Key) -> Skeleton[Any]:
    """The skeleton that a key belongs to."""
    return _by_name[key.skeleton]


def exact_units(name: str) -> bool:
    """Whether a kernel of this skeleton must run with exactly the units that the launch says."""
    skeleton = skeleton_named(name)
    return skeleton is not None and skeleton.exact_units


class BoardSkeleton(Skeleton[K]):
    """A skeleton that images may have.

    As it is written here, one kernel of an image computes one key, with the parameters of a
    launch; `OpSkeleton` (op_skeleton.py) is for those whose kernels hold many ops.
    """

    # Whether the kernels of many keys become one kernel of an image, told apart by an opcode.
    shares = False
    # Whether an image's kernel works in stages that run at the same time.
    staged = False
    # Whether its stages wait for each other, and g++'s stand-ins say where all of them do.
    waits = False
    # Skeletons of one word become one kernel of an image where operands of one name have one width,
    # whatever else they are passed; "": only keys that are passed the same.
    together = ""
    # What an inventory's `ops` calls it where it isn't asked for by the rows of ops; "" otherwise.
    word = ""
    options: tuple[Option, ...] = ()
    layouts: tuple[Layout, ...] = ()
    # The file of hls/vitis/ that is its HLS C++, with places to fill; "" where that is its own
    # text with the dialect's words replaced.
    template = ""

    def record(self, key: K) -> Record:
        """What a manifest says of it: of a kernel with one dtype, that."""
        of = key.dtype.name  # type: ignore[attr-defined]
        return Record(self.name, (of,), (of,), "", of)

    def op(self, recorded: str) -> str:
        """An inventory's word for a manifest's op."""
        return self.word or recorded

    def keys(self, asked: InventoryRequest) -> Iterator[K]:
        """The kernels that an inventory means by `word`."""
        return iter(())

    def lines(self, key: K) -> tuple[str, ...]:
        """The table of an inventory that asks for a kernel."""
        return table_lines(self.word)

    def in_words(self, key: K) -> InventoryTerms:
        """The words for what a launch asks for."""
        r = self.record(key)
        signature = f"{', '.join(r.outs)}({', '.join(r.ins)})" if r.outs else ""
        layout = self.name if r.outs else ""
        dtypes = (*r.ins, *r.outs)
        return InventoryTerms(key.entry, self.op(r.op), dtypes, signature, layout, self.lines(key))

    def layout(self, kinds: str, outs: int) -> str:
        """The word for a layout by its operands' kinds, outputs first."""
        return LINEAR.word

    def structure(self, lanes: int, asked: str) -> str:
        """How an image's kernel moves its data, where the inventory asks for one way."""
        return "loop"

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Whether a port, of vectors or of elements, is used for one or few of them at a time."""
        return False

    def beats(self, key: K) -> Mapping[str, int]:
        """Of each pointer that an image's kernel reads or writes in vectors, their elements."""
        return {}

    def arguments(self, key: K) -> tuple[KernelArgument, ...]:
        """The arguments of an image's kernel of this key, those of the compute unit left out."""
        beats, arguments = self.beats(key), []
        for what, c, name in self.parameters(key):
            of = c.removeprefix("const ").removesuffix(" *")
            wide = c.replace(of, f"hls::vector<{of}, {beats[name]}>") if name in beats else c
            arguments.append(KernelArgument(name, what, wide.strip()))
        return tuple(arguments)

    def by_elements(self, key: K, name: str) -> KernelArgument:
        """A second port to what moves in vectors, for what is no whole one."""
        c = next(c for _, c, own in self.parameters(key) if own == name)
        return KernelArgument(f"{name}_elements", "*", c, name)

    def started(self, key: K) -> bool:
        """Whether the host starts an image's kernel of this key; else it runs by itself."""
        return True

    def hardware(self, key: K) -> K:
        """The key whose HLS C++ an image's kernel of this key is: keys of equal hardware give the
        same."""
        return key

    def suffix(self, key: K) -> str:
        """The name of an image's kernel of this key within its table."""
        return f"{self.name}_{self.record(key).compute}"

    def vitis(self, lanes: int) -> str:
        """The module of toolchain/vitis/ whose `source` writes the HLS C++ of a group."""
        return "single"

    def intel(self) -> str:
        """The module of toolchain/intel/ whose `text` writes the OpenCL C of a group."""
        return "single"

    def places(self, key: K) -> dict[str, str]:
        """What the places of `template` hold."""
        return {}

    # The performance model

    @abstractmethod
    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """The pipelined loops of one compute unit; those that never run may be among them.

        The counts are those of the kernels' own texts: a pipelined loop of the HLS C++ is a `PipelinedLoop`
        here, with the same name and exactly as many trips. `widened`: where a port is no vector
        by its type, the compiler makes one access of neighbours.
        """

    @abstractmethod
    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """The operands of a launch, in the order of the kernel's pointers."""

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """Divisions of indices, one after another, before the loops of a unit run."""
        return 0

    def extent(self, launch: KernelLaunch) -> str:
        """The sizes of a launch in words."""
        return str(launch.n)

    # The area model

    def operators(self, key: K) -> Mapping[tuple[str, str], int]:
        """The operators of its own text that stand side by side, such as ("mul", "float")."""
        return {}

    def memories(self, key: K, structure: str) -> list[LocalMemory]:
        """The local memories of a kernel that moves data in this way."""
        return []

    # In words

    def title(self, key: K) -> str:
        """The op as a report calls it."""
        return self.op(self.record(key).op)

    def operands(self, key: K) -> str:
        """The operands of a kernel in words."""
        return self.record(key).compute


def board_skeletons() -> Iterable[BoardSkeleton[Any]]:
    """All that images may have, in the order in which they were registered."""
    return tuple(s for s in skeletons() if isinstance(s, BoardSkeleton))


def board_named(name: str) -> BoardSkeleton[Any] | None:
    """The one of this name, or None: an image may hold one that nobody has registered."""
    skeleton = skeleton_named(name)
    return skeleton if isinstance(skeleton, BoardSkeleton) else None


def board_skeleton_of(key: Key) -> BoardSkeleton[Any]:
    """The one that a key belongs to: of kernels that launches on boards, or in their stead, ask
    for."""
    skeleton = board_named(key.skeleton)
    assert skeleton is not None, f"no image has kernels of {key.skeleton}"
    return skeleton


def layouts() -> tuple[Layout, ...]:
    """The words for layouts of all skeletons."""
    served = {layout for skeleton in board_skeletons() for layout in skeleton.layouts}
    more = [layout for s in board_skeletons() for layout in s.layouts if layout not in LAYOUTS]
    return (*(layout for layout in LAYOUTS if layout in served), *dict.fromkeys(more))


def options() -> dict[str, Option]:
    """The settings of inventories that skeletons read, by name."""
    return {option.name: option for skeleton in board_skeletons() for option in skeleton.options}


def inventory_words() -> tuple[str, ...]:
    """The words by which an inventory asks for skeletons whose kernels belong to no row."""
    return tuple(dict.fromkeys(skeleton.word for skeleton in board_skeletons() if skeleton.word))


def keys_of(word: str, asked: InventoryRequest) -> Iterator[Any]:
    """The kernels that an inventory means by such a word."""
    for skeleton in board_skeletons():
        if skeleton.word == word:
            yield from skeleton.keys(asked)
