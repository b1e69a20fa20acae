"""Skeletons: kernel templates, one for each memory access pattern, with the facts about them that
launches, images and the performance model need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..dtypes import dtype
from . import source
from .channels import RowSlabs
from .geometry import Geometry
from .inventory_terms import (
    LAYOUTS,
    LINEAR,
    InventoryRequest,
    InventoryTerms,
    KernelArgument,
    Layout,
    ManifestTerms,
    Option,
    table_lines,
)
from .key import Key
from .workload import COMPACT, Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop

# (kind, C type, name): kind is "*" for a pointer, else the C name of a scalar type. The name may
# directly follow the C type.
Parameter = tuple[str, str, str]


def c_parameters(declarations: str, offsets: str = "", last: str = "const long *geometry") -> tuple[Parameter, ...]:
    """Returns the parameters in a list of C declarations, then a long `X_offset` for each name in
    `offsets`, then the parameters in `last`."""
    texts = [*declarations.split(", "), *[f"long {name}_offset" for name in offsets.split()], *last.split(", ")]
    parameters: list[Parameter] = []
    for text in texts:
        c_type, sign, name = text.rpartition("*" if "*" in text else " ")
        parameters.append(("*" if sign == "*" else c_type, c_type + sign, name))
    return tuple(parameters)


K = TypeVar("K", bound=Key)


class Skeleton(ABC, Generic[K]):
    """A skeleton with keys of type K, which may have fields besides those of `Key`. This class has
    all that a launch needs; skeletons that images may contain derive from `BoardSkeleton`."""

    name: str
    # The op as reports call it, if it has another name; "" otherwise.
    report_name = ""
    # True if a launch must run on exactly its compute units: each unit writes one value.
    exact_units = False
    # Type of the geometry buffer; None if launches pass none.
    geometry: type[Geometry] | None = None
    # Folder of the kernel text and the Vitis template; None if they are in hls/.
    folder: Path | None = None

    @abstractmethod
    def parameters(self, key: K) -> tuple[Parameter, ...]:
        """Returns the kernel parameters in order: pointers, offsets, scalars, then n or the
        geometry buffer. Codegen appends the two parameters of the compute unit."""

    def compute(self, key: K) -> dtype:
        """Returns the compute dtype, FT_T in the kernel text."""
        return key.dtype.compute  # type: ignore[attr-defined]

    def defines(self, key: K) -> dict[str, object]:
        """Returns the macros of the kernel text that depend on the key, by name."""
        return {}

    def helpers(self, key: K) -> list[str]:
        """Returns the files of hls/ that the kernel text needs besides the dialect."""
        return []

    def text(self) -> str:
        """Returns the kernel text: `{name}.h` in `folder`, else in hls/skeleton/."""
        if self.folder is not None:
            return (self.folder / f"{self.name}.h").read_text()
        return source.kernel_file(f"skeleton/{self.name}.h")

    def settings(self, key: K, *, float64: bool, grid: str) -> list[str]:
        """Returns the preprocessor lines that configure dialect, helpers and kernel text for a
        key."""
        lines = source.settings(self.compute(key), key.lanes, float64, grid)
        defines = {"FT_NAME": key.entry, **self.defines(key)}
        lines += [f"#define {name} {value}" for name, value in defines.items()]
        return lines + self.geometry_words()

    def geometry_words(self) -> list[str]:
        """Returns the `#define` lines of the fields of the geometry buffer."""
        words = self.geometry.words() if self.geometry is not None else {}
        return [f"#define {name} {value}" for name, value in words.items()]

    # Profiles

    def title(self, key: K) -> str:
        """The op as a report calls it."""
        return self.report_name or self.name

    def located(self, key: K) -> tuple[int, ...]:
        """Returns the indices of the pointers to operands of which a launch accesses only the
        elements that other operands select."""
        return ()

    def unread(self, geometry: Ints) -> tuple[int, ...]:
        """Returns the indices of the pointers for which a launch has no operand."""
        return ()

    def flops(self, key: K, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns the floating-point operations of a launch; `shapes` has the outputs first.
        Returns 0 if they are few relative to the bytes moved."""
        return 0

    def program(self, key: K, dialect: str, *, float64: bool, grid: str) -> str:
        """Returns the self-contained program text of a kernel in `dialect`."""
        files = [f"dialect/{dialect}.h", *self.helpers(key)]
        return "\n".join(
            [*self.settings(key, float64=float64, grid=grid), *map(source.kernel_file, files), self.text()]
        )


_by_name: dict[str, Skeleton[Any]] = {}


def register(skeleton: Skeleton[Any]) -> None:
    """Registers `skeleton` by its name, replacing a skeleton of the same name."""
    _by_name[skeleton.name] = skeleton


def skeletons() -> Iterable[Skeleton[Any]]:
    """Returns all skeletons in registration order."""
    return tuple(_by_name.values())


def skeleton_named(name: str) -> Skeleton[Any] | None:
    """Returns the skeleton named `name`; None if it is not registered, as for unknown kernels of an
    image."""
    return _by_name.get(name)


def skeleton_of(key: Key) -> Skeleton[Any]:
    """Returns the skeleton of `key`."""
    return _by_name[key.skeleton]


def exact_units(name: str) -> bool:
    """True if kernels of this skeleton must run on exactly the compute units of the launch."""
    skeleton = skeleton_named(name)
    return skeleton is not None and skeleton.exact_units


class BoardSkeleton(Skeleton[K]):
    """A skeleton that images may contain.

    By default, one kernel of an image computes one key and takes the parameters of a launch.
    Skeletons whose kernels hold many ops derive from `OpSkeleton` (op_skeleton.py).
    """

    # True if many keys share one kernel of an image, selected by an opcode.
    shares = False
    # True if a kernel of an image consists of concurrent dataflow stages.
    staged = False
    # True if each request of an input with a vector port is for one or a few beats.
    reads_few_beats = False
    # True if its stages wait for each other; g++'s stand-ins then detect deadlocks.
    waits = False
    # True if a kernel of an image may keep values from a launch for the next.
    keeps = False
    # Skeletons with the same word become one kernel of an image if operands of the same name have
    # the same width, whatever their other arguments; "": only keys with equal arguments do.
    together = ""
    # The name in an inventory's `ops` if the kernel belongs to no op row; "" otherwise.
    word = ""
    # The dtypes of results and operands in manifests; None is the dtype of the key.
    result_dtypes: tuple[str | None, ...] = (None,)
    operand_dtypes: tuple[str | None, ...] = (None,)
    options: tuple[Option, ...] = ()
    layouts: tuple[Layout, ...] = ()
    # The file of hls/vitis/ with the HLS C++ and its placeholders; "" if that is the kernel text
    # with the dialect's macros replaced.
    template = ""

    def record(self, key: K) -> ManifestTerms:
        """Returns the manifest record of a kernel; the default is for keys with a dtype."""
        own = key.dtype.name  # type: ignore[attr-defined]
        outs, ins = (tuple(name or own for name in names) for names in (self.result_dtypes, self.operand_dtypes))
        return ManifestTerms(self.name, outs, ins, "", own)

    def op(self, recorded: str) -> str:
        """Returns the name in inventories of an op that a manifest records."""
        return self.word or recorded

    def keys(self, request: InventoryRequest) -> Iterator[K]:
        """Yields the keys of the kernels that an inventory requests from this skeleton. `word` is
        the skeleton's name in inventories."""
        return iter(())

    def lines(self, key: K) -> tuple[str, ...]:
        """Returns the lines of the inventory table that requests the kernel of `key`; the default is
        for keys with a dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')  # type: ignore[attr-defined]

    def in_words(self, key: K) -> InventoryTerms:
        """Returns the inventory terms of the kernel that a launch requests."""
        r = self.record(key)
        signature = f"{', '.join(r.outs)}({', '.join(r.ins)})" if r.outs else ""
        layout = self.name if r.outs else ""
        dtypes = (*r.ins, *r.outs)
        return InventoryTerms(key.entry, self.op(r.op), dtypes, signature, layout, self.lines(key))

    def layout(self, kinds: str, outs: int) -> str:
        """Returns the layout's name for the operands' access kinds, outputs first."""
        return LINEAR.word

    def structure(self, lanes: int, requested: str) -> str:
        """Returns how a kernel of an image moves data if the inventory requests `requested`."""
        return requested if requested == COMPACT and lanes == 1 and self.shares and not self.staged else "loop"

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """True if a port, of vectors or of elements, requests only one or a few beats at a time."""
        return self.reads_few_beats and vector and not written

    def beats(self, key: K) -> Mapping[str, int]:
        """Returns the elements per vector of each pointer that a kernel of an image accesses in
        vectors, by name."""
        return {}

    def arguments(self, key: K) -> tuple[KernelArgument, ...]:
        """Returns the kernel arguments in an image, without those of the compute unit."""
        beats, arguments = self.beats(key), []
        for what, c, name in self.parameters(key):
            element_type = c.removeprefix("const ").removesuffix(" *")
            wide = c.replace(element_type, f"hls::vector<{element_type}, {beats[name]}>") if name in beats else c
            arguments.append(KernelArgument(name, what, wide.strip()))
        return tuple(arguments)

    def by_elements(self, key: K, name: str) -> KernelArgument:
        """Returns a second port to the operand `name`, for elements that do not fill a vector."""
        c = next(c for _, c, argument_name in self.parameters(key) if argument_name == name)
        return KernelArgument(f"{name}_elements", "*", c, name)

    def started(self, key: K) -> bool:
        """True if the host starts the kernel of an image; False if the kernel is free-running."""
        return True

    def row_slabs(self, key: K) -> RowSlabs | None:
        """Returns how compute units divide operands by rows; None if they do not."""
        return None

    def hardware(self, key: K) -> K:
        """Returns the key from which the HLS C++ is generated; keys that differ only on CPUs have
        one kernel."""
        return key

    def circuit(self, key: K, keys: Sequence[K]) -> K:
        """Returns the key whose HLS C++ computes `key` in a kernel for all of `keys`: its own
        hardware, or that of a more general member."""
        return self.hardware(key)

    def suffix(self, key: K) -> str:
        """The part of a kernel's name that distinguishes the kernels of one inventory table."""
        return f"{self.name}_{self.record(key).compute}"

    def vitis_module(self, lanes: int) -> str:
        """The module of toolchain/vitis/ whose `source` writes the HLS C++ of a group."""
        return "single"

    def intel_module(self) -> str:
        """The module of toolchain/intel/ whose `text` writes the OpenCL C of a group."""
        return "single"

    def places(self, key: K) -> Mapping[str, str | list[str]]:
        """Returns the text, or the lines, for each placeholder of `template`."""
        return {}

    # The performance model

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop] | None:
        """Returns the pipelined loops of one compute unit, possibly with loops that never run; None
        lets the model count them (toolchain/counting.py).

        Each pipelined loop of the HLS C++ is a `PipelinedLoop` of the same name and exactly the
        same trip count. `widened` means that the compiler merges accesses to neighbouring elements
        on ports without a vector type.
        """
        return None

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access] | None:
        """Returns the operand accesses of a launch in the order of the kernel's pointers; None lets
        the model count them."""
        return None

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """Returns the number of sequential index divisions before the loops of a compute unit."""
        return 0

    def extent(self, launch: KernelLaunch) -> str:
        """Returns the sizes of a launch as text."""
        return str(launch.n)

    # The area model

    def operators(self, key: K) -> Mapping[tuple[str, str], int]:
        """Returns the parallel operators of the skeleton's own text, by e.g. ("mul", "float")."""
        return {}

    def memories(self, key: K, structure: str) -> list[LocalMemory]:
        """Returns the local memories of a kernel with this data movement `structure`."""
        return []

    # In words

    def title(self, key: K) -> str:
        """The op as a report calls it."""
        return self.report_name or self.op(self.record(key).op)

    def operands(self, key: K) -> str:
        """Returns the operands of a kernel as text."""
        return self.record(key).compute


def board_skeletons() -> Iterable[BoardSkeleton[Any]]:
    """Returns all skeletons that images may contain, in registration order."""
    return tuple(s for s in skeletons() if isinstance(s, BoardSkeleton))


def board_named(name: str) -> BoardSkeleton[Any] | None:
    """Returns the board skeleton named `name`; None if no board skeleton has the name."""
    skeleton = skeleton_named(name)
    return skeleton if isinstance(skeleton, BoardSkeleton) else None


def board_skeleton_of(key: Key) -> BoardSkeleton[Any]:
    """Returns the board skeleton of `key`; asserts that there is one."""
    skeleton = board_named(key.skeleton)
    assert skeleton is not None, f"no image has kernels of {key.skeleton}"
    return skeleton


def layouts() -> tuple[Layout, ...]:
    """Returns the distinct layouts of all board skeletons."""
    used_layouts = {layout for skeleton in board_skeletons() for layout in skeleton.layouts}
    more = [layout for s in board_skeletons() for layout in s.layouts if layout not in LAYOUTS]
    return (*(layout for layout in LAYOUTS if layout in used_layouts), *dict.fromkeys(more))


def options() -> dict[str, Option]:
    """Returns the inventory options that skeletons read, by name."""
    return {option.name: option for skeleton in board_skeletons() for option in skeleton.options}


def inventory_words() -> tuple[str, ...]:
    """Returns the names by which an inventory requests skeletons that belong to no op row."""
    return tuple(dict.fromkeys(skeleton.word for skeleton in board_skeletons() if skeleton.word))


def requested_keys(word: str, request: InventoryRequest) -> Iterator[Any]:
    """Yields the keys of all board skeletons that an inventory requests by `word`."""
    for skeleton in board_skeletons():
        if skeleton.word == word:
            yield from skeleton.keys(request)
