"""Skeletons whose kernels are filled with ops: the key is a KernelKey, the text has holes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..dtypes import dtype
from ..iterator.shape import Ints, numel
from . import holes, source
from .holes import hole_definitions
from .inventory_terms import ANY, InventoryTerms, Record, table_lines
from .key import BY_VALUE, LOCATED, KernelKey, Port, lanes_for
from .skeleton import BoardSkeleton, Parameter, skeleton_of
from .source import NAMES, parameters
from .workload import PORT_BYTES, arithmetic


class OpSkeleton(BoardSkeleton[KernelKey]):
    """A skeleton with holes for an op. An image's kernel holds many, told apart by an opcode;
    their operands share its ports."""

    shares = True
    # Whether its keys hold a reduction.
    folds = False
    # Whether operands are walked by a geometry; else each is one run, or one element, of size n.
    walks = True

    def parameters(self, key: KernelKey) -> tuple[Parameter, ...]:
        """Those of the holes, and then the geometry or the size."""
        tail = ("*", "const int *", "geometry") if self.walks else ("int", "int ", "n")
        return (*parameters(key), tail)

    def compute(self, key: KernelKey) -> dtype:
        """What the expressions are computed in."""
        return key.compute

    def program(self, key: KernelKey, dialect: str, *, float64: bool, grid: str) -> str:
        """The settings, the dialect's words, the helpers, the holes and the text."""
        files = source.helper_files(key)
        assert not (self.walks and "position.h" in files), key
        helpers = [f"#define FT_DROPPED_BITS {bits}" for bits in source.dropped_bits(key)]
        helpers += map(source.kernel_file, files)
        return "\n".join(
            [
                *source.settings(key.compute, key.lanes, float64, grid),
                *source.port_settings(key),
                *self.geometry_words(),
                source.kernel_file(f"dialect/{dialect}.h"),
                source.kernel_file("math.h"),
                "\n".join(helpers),
                holes.state_words(key) if key.reduction is not None else "",
                *(
                    f"#define {name} " + " \\\n    ".join(body)
                    for name, body in hole_definitions(key, self.walks).items()
                ),
                self.text(),
            ]
        )

    # Layouts

    def kinds(self, word: str, outs: int, ins: int) -> str | None:
        """The kind of each operand in memory, outputs first, in a layout; None for a word that is
        none of its own."""
        return None

    def layout(self, kinds: str, outs: int) -> str:
        """The word for operands of these kinds, or the layout in full where there is none."""
        memory = kinds.replace(BY_VALUE, "")
        for layout in self.layouts:
            if self.kinds(layout.word, outs, len(memory) - outs) == memory:
                return layout.word
        return f"{self.name} {memory}"

    def serves(self, kinds: str, outs: int) -> str:
        """The word to ask for, for a kernel that serves a launch of these kinds in full lanes."""
        word = self.layout(kinds, outs)
        return word if " " not in word else ANY.word

    def lanes(self, word: str, kinds: str, full: int) -> int:
        """The lanes of a kernel in a layout, where a vector has `full`."""
        return full

    def vectors(self, word: str, asked: tuple[int, ...]) -> tuple[int, ...]:
        """How many states side by side a reduction's kernels have in a layout; () asks for the
        usual ones."""
        return asked or (1,)

    # Images

    def record(self, key: KernelKey) -> Record:
        """The op and its operands."""
        ports = key.outs + key.ins
        outs, ins = (tuple(p.dtype.name for p in side) for side in (key.outs, key.ins))
        kinds = "".join(p.kind for p in ports)
        return Record(key.name, outs, ins, kinds, key.compute.name, key.params)

    def in_words(self, key: KernelKey) -> InventoryTerms:
        """The words for what a launch asks for; numbers are called so."""
        dtypes = tuple(p.dtype.name for p in key.ins + key.outs)
        layout = f"{self.name} {memory_kinds(key)}"
        op = self.op(key.name)
        return InventoryTerms(key.entry, op, dtypes, signature(key), layout, self.lines(key))

    def lines(self, key: KernelKey) -> tuple[str, ...]:
        """Its dtypes and the layout that serves it."""
        tensors = [p.dtype for p in key.ins if p.kind != BY_VALUE]
        text = signature(key)
        if key.compute is not (tensors or [key.outs[0].dtype])[0]:
            text += f" in {key.compute.name}"
        full = lanes_for([*(p.dtype for p in key.outs), *tensors], key.compute, PORT_BYTES)
        layout = ANY.word
        if key.lanes == full:
            layout = self.serves(memory_kinds(key), len(key.outs))
        more = self.asked_further(key, layout)
        return table_lines(self.op(key.name), f'dtypes = ["{text}"]', *more)

    def asked_further(self, key: KernelKey, layout: str) -> list[str]:
        """The lines of a table after its dtypes."""
        return [f'layouts = ["{layout}"]']

    def copies(self, key: KernelKey) -> Mapping[str, int]:
        """How often each of the op's functions stands in a kernel: "body" of an element's, and
        "lift", "combine", "finish" of a reduction's."""
        return {"body": key.lanes}

    def operators(self, key: KernelKey) -> Mapping[tuple[str, str], int]:
        """Where each operand's element lies, in kernels that walk."""
        if not self.walks:
            return {("add", "int32"): 4}
        operands = len(key.outs) + len(key.ins)
        step = {("mul", "int32"): operands} if key.lanes == 1 else {}
        return {**step, ("add", "int64"): 3 * operands, ("add", "int32"): 12, ("compare", "int32"): 8}

    def in_beats(self, name: str, ports: Sequence[Port]) -> bool:
        """Whether a pointer's port, which these operands share, is a vector as wide as the lanes.

        A launch of more than one lane has its vectors there on 64 bytes.
        """
        return True

    def family(self, key: KernelKey) -> tuple[object, ...]:
        """What all members of one kernel have in common besides lanes and the widths of ports."""
        return ()

    def short(self, key: KernelKey) -> str:
        """What the name of a kernel of many members begins with."""
        return self.name

    def suffix(self, key: KernelKey) -> str:
        """Its op, dtypes, and layout where unusual."""
        outs = "_".join(p.dtype.name for p in key.outs)
        tail = self.mark(key) + ("k" if any(p.kind == BY_VALUE for p in key.ins) else "")
        name = self.stem(key) + "".join(f"_{p}" for p in key.params[:1])
        return f"{name}_{outs}" + (f"_{tail}" if tail else "")

    def stem(self, key: KernelKey) -> str:
        """What that begins with."""
        return key.name

    def mark(self, key: KernelKey) -> str:
        """What it ends in; "" where the layout is the usual one."""
        return ""

    # Profiles

    def located(self, key: KernelKey) -> tuple[int, ...]:
        """What index tensors lead to."""
        ports = memory_operands(key)
        return tuple([k for k, (_, port, _) in enumerate(ports) if port.kind == LOCATED])

    def flops(self, key: KernelKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """What the op's text has, for each element."""
        if key.compute.kind not in "fc":
            return 0
        texts = (*key.body, *(text for _, text in key.lets))
        if key.reduction is not None:
            texts = (key.reduction.lift, key.reduction.combine)
        return max(map(numel, shapes)) * sum(map(arithmetic, texts))

    # The performance model

    def operands(self, key: KernelKey) -> str:
        """The operands' dtypes, outputs first, and their kinds."""
        r = self.record(key)
        return f"{' '.join(r.outs + r.ins)} {r.kinds}"


def op_skeleton(key: KernelKey) -> OpSkeleton:
    """The skeleton of a key that holds an op."""
    skeleton = skeleton_of(key)
    assert isinstance(skeleton, OpSkeleton), key
    return skeleton


def signature(key: KernelKey) -> str:
    """The dtypes as inventories spell them."""
    ins = ["number" if p.kind == BY_VALUE else p.dtype.name for p in key.ins]
    return f"{', '.join(p.dtype.name for p in key.outs)}({', '.join(ins)})"


def memory_kinds(key: KernelKey) -> str:
    """The kind of each operand in memory, outputs first."""
    return "".join(p.kind for p in key.outs + key.ins if p.kind != BY_VALUE)


def memory_operands(key: KernelKey) -> list[tuple[str, Port, bool]]:
    """(name, port, whether it is written) of each operand in memory, outputs first."""
    outs = [(f"out{k}", p, True) for k, p in enumerate(key.outs)]
    return outs + [(f"in_{NAMES[k]}", p, False) for k, p in enumerate(key.ins) if p.kind != BY_VALUE]
