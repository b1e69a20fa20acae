"""What images, their inventories and the performance model ask of a skeleton."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .key import Key
from .skeleton import K, Skeleton, named, skeletons
from .words import LAYOUTS, LINEAR, Argument, Asked, InWords, Layout, Option, Record, table_lines
from .work import Access, KernelLaunch, LocalMemory, Loop


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

    def keys(self, asked: Asked) -> Iterator[K]:
        """The kernels that an inventory means by `word`."""
        return iter(())

    def lines(self, key: K) -> tuple[str, ...]:
        """The table of an inventory that asks for a kernel."""
        return table_lines(self.word)

    def in_words(self, key: K) -> InWords:
        """The words for what a launch asks for."""
        r = self.record(key)
        signature = f"{', '.join(r.outs)}({', '.join(r.ins)})" if r.outs else ""
        layout = self.name if r.outs else ""
        dtypes = (*r.ins, *r.outs)
        return InWords(key.entry, self.op(r.op), dtypes, signature, layout, self.lines(key))

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

    def arguments(self, key: K) -> tuple[Argument, ...]:
        """The arguments of an image's kernel of this key, those of the compute unit left out."""
        beats, arguments = self.beats(key), []
        for what, c, name in self.parameters(key):
            of = c.removeprefix("const ").removesuffix(" *")
            wide = c.replace(of, f"hls::vector<{of}, {beats[name]}>") if name in beats else c
            arguments.append(Argument(name, what, wide.strip()))
        return tuple(arguments)

    def by_elements(self, key: K, name: str) -> Argument:
        """A second port to what moves in vectors, for what is no whole one."""
        c = next(c for _, c, own in self.parameters(key) if own == name)
        return Argument(f"{name}_elements", "*", c, name)

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
    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """The pipelined loops of one compute unit; those that never run may be among them.

        The counts are those of the kernels' own texts: a pipelined loop of the HLS C++ is a `Loop`
        here, with the same name and exactly as many trips. `widened`: where a port is no vector
        by its type, the compiler makes one access of neighbours.
        """

    @abstractmethod
    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """The operands of a launch, in the order of the kernel's pointers."""

    def divisions(self, launch: KernelLaunch, loops: Sequence[Loop]) -> int:
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
    skeleton = named(name)
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


def words() -> tuple[str, ...]:
    """The words by which an inventory asks for skeletons whose kernels belong to no row."""
    return tuple(dict.fromkeys(skeleton.word for skeleton in board_skeletons() if skeleton.word))


def keys_of(word: str, asked: Asked) -> Iterator[Any]:
    """The kernels that an inventory means by such a word."""
    for skeleton in board_skeletons():
        if skeleton.word == word:
            yield from skeleton.keys(asked)
