"""Skeletons of ops: the key is a KernelKey, and the text has holes for the op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..dtypes import dtype
from ..iterator.shape import Ints, numel
from . import holes, source
from .holes import hole_definitions
from .inventory_terms import ANY, InventoryTerms, ManifestTerms, table_lines
from .key import BY_VALUE, LOCATED, KernelKey, Port, lanes_for
from .skeleton import BoardSkeleton, Parameter, skeleton_of
from .source import OPERAND_NAMES, parameters
from .workload import PORT_BYTES, arithmetic


class OpSkeleton(BoardSkeleton[KernelKey]):
    """A skeleton with holes for an op. A kernel of an image holds many ops, selected by an opcode;
    the ops share its ports."""

    shares = True
    # True if the keys hold a reduction.
    folds = False
    # True if a geometry buffer drives the loop nest; otherwise each operand is a run of n elements
    # or a single element.
    walks = True

    def parameters(self, key: KernelKey) -> tuple[Parameter, ...]:
        tail = ("*", "const int *", "geometry") if self.walks else ("int", "int ", "n")
        return (*parameters(key), tail)

    def compute(self, key: KernelKey) -> dtype:
        return key.compute

    def program(self, key: KernelKey, dialect: str, *, float64: bool, grid: str) -> str:
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
                holes.state_lines(key) if key.reduction is not None else "",
                *(
                    f"#define {name} " + " \\\n    ".join(body)
                    for name, body in hole_definitions(key, self.walks).items()
                ),
                self.text(),
            ]
        )

    # Layouts

    def kinds(self, word: str, outs: int, ins: int) -> str | None:
        """Returns the access kinds of the layout `word`, outputs first; None if the skeleton lacks
        the layout."""
        return None

    def layout(self, kinds: str, outs: int) -> str:
        """Returns the layout name for these access kinds; without a name, "skeleton kinds"."""
        memory = kinds.replace(BY_VALUE, "")
        for layout in self.layouts:
            if self.kinds(layout.word, outs, len(memory) - outs) == memory:
                return layout.word
        return f"{self.name} {memory}"

    def serves(self, kinds: str, outs: int) -> str:
        """Returns the layout that an inventory requests for launches with these access kinds and
        full vectors."""
        word = self.layout(kinds, outs)
        return word if " " not in word else ANY.word

    def lanes(self, word: str, kinds: str, full: int) -> int:
        """Returns the lanes of a kernel in a layout; a whole vector has `full` lanes."""
        return full

    def vectors(self, word: str, requested: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the counts of parallel states of a reduction's kernels in a layout; () requests
        the default."""
        return requested or (1,)

    # Images

    def record(self, key: KernelKey) -> ManifestTerms:
        """Returns the manifest record: the op and its operands."""
        ports = key.outs + key.ins
        outs, ins = (tuple(p.dtype.name for p in side) for side in (key.outs, key.ins))
        kinds = "".join(p.kind for p in ports)
        return ManifestTerms(key.name, outs, ins, kinds, key.compute.name, key.params)

    def in_words(self, key: KernelKey) -> InventoryTerms:
        """Returns the inventory terms; the signature names scalar inputs "number"."""
        dtypes = tuple(p.dtype.name for p in key.ins + key.outs)
        layout = f"{self.name} {memory_kinds(key)}"
        op = self.op(key.name)
        return InventoryTerms(key.entry, op, dtypes, signature(key), layout, self.lines(key))

    def lines(self, key: KernelKey) -> tuple[str, ...]:
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
        """Returns the lines of the inventory table that follow the dtypes."""
        return [f'layouts = ["{layout}"]']

    def copies(self, key: KernelKey) -> Mapping[str, int]:
        """Returns how many instances of each function of the op a kernel has: "body" for pointwise
        ops; "lift", "combine" and "finish" for reductions."""
        return {"body": key.lanes}

    def operators(self, key: KernelKey) -> Mapping[tuple[str, str], int]:
        if not self.walks:
            return {("add", "int32"): 4}
        operands = len(key.outs) + len(key.ins)
        step = {("mul", "int32"): operands} if key.lanes == 1 else {}
        return {**step, ("add", "int64"): 3 * operands, ("add", "int32"): 12, ("compare", "int32"): 8}

    def in_beats(self, name: str, ports: Sequence[Port]) -> bool:
        """True if the port that these operands share has a vector type as wide as the lanes.

        Launches of more than one lane align the vectors of such ports to 64 bytes.
        """
        return True

    def family(self, key: KernelKey) -> tuple[object, ...]:
        """Returns a value that is equal for keys that may share one kernel, as far as it does not
        depend on lanes and port widths."""
        return ()

    def short(self, key: KernelKey) -> str:
        """Returns the prefix of the name of a kernel with many members."""
        return self.name

    def suffix(self, key: KernelKey) -> str:
        """Returns the part of a kernel's name that distinguishes members of one table: op, dtypes,
        and a mark for an unusual layout, such as "add_float32"."""
        outs = "_".join(p.dtype.name for p in key.outs)
        tail = self.mark(key) + ("k" if any(p.kind == BY_VALUE for p in key.ins) else "")
        name = self.stem(key) + "".join(f"_{p}" for p in key.params[:1])
        return f"{name}_{outs}" + (f"_{tail}" if tail else "")

    def stem(self, key: KernelKey) -> str:
        """Returns the op's name as `suffix` begins with it."""
        return key.name

    def mark(self, key: KernelKey) -> str:
        """Returns the mark with which `suffix` ends; "" for the usual layout."""
        return ""

    # Profiles

    def located(self, key: KernelKey) -> tuple[int, ...]:
        ports = memory_operands(key)
        return tuple([k for k, (_, port, _) in enumerate(ports) if port.kind == LOCATED])

    def flops(self, key: KernelKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        if key.compute.kind not in "fc":
            return 0
        texts = (*key.body, *(text for _, text in key.lets))
        if key.reduction is not None:
            texts = (key.reduction.lift, key.reduction.combine)
        return max(map(numel, shapes)) * sum(map(arithmetic, texts))

    # The performance model

    def operands(self, key: KernelKey) -> str:
        r = self.record(key)
        return f"{' '.join(r.outs + r.ins)} {r.kinds}"


def op_skeleton(key: KernelKey) -> OpSkeleton:
    """Returns the skeleton of a key that holds an op."""
    skeleton = skeleton_of(key)
    assert isinstance(skeleton, OpSkeleton), key
    return skeleton


def signature(key: KernelKey) -> str:
    """Returns the dtypes in inventory notation, "outs(ins)"."""
    ins = ["number" if p.kind == BY_VALUE else p.dtype.name for p in key.ins]
    return f"{', '.join(p.dtype.name for p in key.outs)}({', '.join(ins)})"


def memory_kinds(key: KernelKey) -> str:
    """Returns the access kinds of the operands in memory, outputs first."""
    return "".join(p.kind for p in key.outs + key.ins if p.kind != BY_VALUE)


def reads_of_a_width(key: KernelKey) -> int:
    """Returns the most inputs in memory that have elements of one width: those that share a port in
    compact kernels."""
    return max(Counter(p.dtype.itemsize for p in key.ins if p.kind != BY_VALUE).values(), default=1)


def memory_operands(key: KernelKey) -> list[tuple[str, Port, bool]]:
    """Returns (name, port, is_output) of each operand in memory, outputs first."""
    outs = [(f"out{k}", p, True) for k, p in enumerate(key.outs)]
    return outs + [(f"in_{OPERAND_NAMES[k]}", p, False) for k, p in enumerate(key.ins) if p.kind != BY_VALUE]
