"""The graph IR: nodes, the memory regions they read and write, the arguments and results of a call;
elimination of dead and repeated nodes."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from .._device import backend_of
from .._tensor import Tensor, geometry_key
from ..dtypes import dtype
from ..execute.capture import random_scalars, thread_capture
from ..iterator.shape import Ints, extent
from ..runtime.pool import size_class

if TYPE_CHECKING:
    from ..execute.launch import Launch
    from ..runtime.pool import Storage
    from .guards import CapturedValues, OffsetGuard
    from .written_arguments import ArgumentCopy

# A graph must not keep objects alive that a traced function returns besides tensors. An argument is
# that of each call. For an object from outside the graph holds a weak reference; without the
# object, the function is traced again. Values (strings, dtypes, whatever compares by value) and
# objects that the function creates are kept with the graph.

# The largest number of objects that are searched for a reference to the graph's owners.
_MAX_OBJECTS = 1 << 12
_CONSTANTS = (type(None), type(Ellipsis), bool, int, float, complex, str, bytes)


class ReturnedObject:
    """An object, other than a tensor, in the result of a traced function. After the trace, `resolve_reference`
    decides how the graph refers to the object."""

    __slots__ = ("value", "is_single_use", "argument_index", "reference")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.argument_index: int | None = None  # in the signature, of an argument
        self.reference: ref[Any] | None = None  # if others own the object
        self.is_single_use = False  # a graph can return it in one call only

    def resolve_reference(
        self, signature: Sequence[Any], owners: Collection[Any], on_death: Callable[[Any], object]
    ) -> None:
        """Decides how the graph refers to the object: by its index in the signature if it is an
        argument, by a weak reference if others own it, else by the object itself.

        An object that would keep the graph's owners alive is kept for the first call only; later
        calls are traced anew.
        """
        for k, x in enumerate(signature):
            if x is self.value or (type(x) is ref and x() is self.value):
                self.argument_index, self.value = k, None
                return
        kind: Any = type(self.value)
        if kind.__eq__ is not object.__eq__ and kind.__hash__ is not None:
            return  # a value
        if kind.__weakrefoffset__ and sys.getrefcount(self.value) > _SOLE_REFERENCES:
            self.reference, self.value = ref(self.value, on_death), None
        else:
            self.is_single_use = _reaches(self.value, {id(owner) for owner in owners})

    def current(self) -> Any:
        """Returns the object if it is not an argument; None if it has been freed."""
        return self.value if self.reference is None else self.reference()

    @property
    def can_expire(self) -> bool:
        """True if the object may be gone at a later call."""
        return self.is_single_use or self.reference is not None

    def get(self, signature: Sequence[Any]) -> Any:
        """Returns the object for a call with this signature."""
        if self.argument_index is None:
            return self.current()
        x = signature[self.argument_index]
        return x() if type(x) is ref else x


class ReturnedMethod:
    """A bound method in the result of a traced function; each call binds the function anew to its
    object."""

    __slots__ = ("function", "owner")

    def __init__(self, function: Any, owner: ReturnedObject) -> None:
        self.function, self.owner = function, owner

    def get(self, signature: Sequence[Any]) -> Any:
        """Returns the method for a call with this signature."""
        return MethodType(self.function, self.owner.get(signature))


_SOLE_REFERENCES = sys.getrefcount(ReturnedObject(object()).value)  # references to an object that nothing else holds


def placeholder_for(x: Any, placeholders: dict[int, ReturnedObject]) -> Any:
    """Returns `x` if it is a plain value, else its ReturnedObject. `placeholders` holds one for
    each object of a result, by id."""
    kind = type(x)
    if kind in _CONSTANTS:
        return x
    if kind is MethodType:
        owner = placeholder_for(x.__self__, placeholders)
        return ReturnedMethod(x.__func__, owner) if type(owner) is ReturnedObject else x
    return placeholders.setdefault(id(x), ReturnedObject(x))


def resolve_placeholder(x: Any, signature: Sequence[Any]) -> Any:
    """Returns the object of a placeholder; other values unchanged."""
    return x.get(signature) if type(x) is ReturnedObject or type(x) is ReturnedMethod else x


def _reaches(x: Any, targets: Collection[int]) -> bool:
    """True if an object refers, directly or indirectly, to an object with an id in `targets`, or to
    more objects than the search visits. Does not look into modules and classes."""
    seen: set[int] = set()
    pending = [x]
    while pending and len(seen) < _MAX_OBJECTS:
        current = pending.pop()
        if id(current) in targets:
            return True
        if id(current) in seen or isinstance(current, (type, ModuleType)):
            continue
        seen.add(id(current))
        if type(current) is FunctionType:  # but not into its globals
            pending += [current.__closure__, current.__defaults__, current.__kwdefaults__, current.__dict__]
        else:
            pending += gc.get_referents(current)
    return bool(pending)


class GraphTensor(NamedTuple):
    """A tensor of a graph: the number of its memory, and its geometry. `offset` counts elements."""

    memory: int
    dtype: dtype
    shape: Ints
    strides: Ints
    offset: int

    @property
    def span(self) -> tuple[int, int]:
        """Returns the bytes that the tensor spans, as (first, end)."""
        low, high = extent(self.shape, self.strides)
        size = self.dtype.itemsize
        return (self.offset + low) * size, (self.offset + high + 1) * size

    def conflicts_with(self, other: GraphTensor) -> bool:
        """True if both tensors may access the same byte."""
        (first, end), (begin, stop) = self.span, other.span
        overlap = self.memory == other.memory and first < stop and begin < end
        return overlap and not self._has_other_columns(other)

    def _has_other_columns(self, other: GraphTensor) -> bool:
        """True if the tensors are disjoint column ranges of the same rows."""
        row = self._row
        if not row or row != other._row:
            return False
        (first, end), (begin, stop) = self._columns(row), other._columns(row)
        return (begin - first) % row >= end - first and (first - begin) % row >= stop - begin

    @property
    def _row(self) -> int:
        steps = [abs(s) for n, s in zip(self.shape, self.strides) if n > 1]
        return max(steps, default=0) * self.dtype.itemsize

    def _columns(self, row: int) -> tuple[int, int]:
        """Returns the bytes that the tensor spans in its first row, as (first, end)."""
        inner = [0 if abs(s) * self.dtype.itemsize == row else s for s in self.strides]
        return self._replace(strides=tuple(inner)).span


class TracedRandom(int):
    """A random number that each run draws anew: element `part` of the graph's generator call
    `draw`."""

    draw: int
    part: int


@dataclass(frozen=True)
class DynamicScalar:
    """A number that each call passes, at index `index` of its signature."""

    index: int
    value: Any  # of the traced call


class Draw(NamedTuple):
    """A generator's call, and the function that computes random numbers from its result."""

    generator: Any
    words: Callable[[int, int], tuple[Any, ...]]

    def run(self) -> tuple[Any, ...]:
        """Calls the generator. Returns the numbers."""
        return random_scalars(backend_of(self.generator._device), self.generator, self.words)


class Seeding(NamedTuple):
    """A change of generators other than a draw."""

    apply: Callable[[], object]

    def run(self) -> tuple[Any, ...]:
        """Changes the generators."""
        if (capture := thread_capture()) is not None:
            capture.refuse_seed()
        self.apply()
        return ()


class Origin(NamedTuple):
    """The source of a node: the op, and the line of the user's program."""

    op: str
    line: str


@dataclass(frozen=True, eq=False)
class Node:
    """A launch on tensors of the graph. `scalars` are the Python numbers as the user passed them."""

    launch: Launch
    operands: tuple[GraphTensor, ...]
    scalars: tuple[Any, ...]
    origin: Origin
    fused_origins: tuple[Origin, ...] = ()  # origins of the fused nodes, if several
    stage_refusal: str = ""  # why no dataflow stage runs this node, if known
    inner: tuple[Node, ...] = ()  # for a node of a whole op, the nodes that it replaces
    reflected: int = 0  # for a copy of a signal that is reflected at both ends: elements at each
    reads: tuple[GraphTensor, ...] = field(init=False)
    writes: tuple[GraphTensor, ...] = field(init=False)  # a kernel may also read these
    written: frozenset[int] = field(init=False)  # the memories of `writes`, and of all operands
    touched: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        written = self.launch.written
        reads = tuple([r for k, r in enumerate(self.operands) if k not in written])
        writes = tuple([r for k, r in enumerate(self.operands) if k in written])
        object.__setattr__(self, "reads", reads)
        object.__setattr__(self, "writes", writes)
        object.__setattr__(self, "written", frozenset([r.memory for r in writes]))
        object.__setattr__(self, "touched", frozenset([r.memory for r in self.operands]))

    def conflicts_with(self, other: Node) -> bool:
        """True if the nodes must keep their order."""
        if not (self.written & other.touched or other.written & self.touched):
            return False
        pairs = [(w, r) for w in self.writes for r in other.operands]
        pairs += [(w, r) for w in other.writes for r in self.operands]
        return any(w.conflicts_with(r) for w, r in pairs)


# Replaces numbers that each call passes in the arguments of a LayerCall.
CALL_NUMBER = object()


class LayerCall(NamedTuple):
    """A call of an op that a network's kernel may contain as a whole (kernels/network.py): its
    tensors, its other arguments, and the indices of its nodes."""

    kind: str
    inputs: tuple[GraphTensor, ...]
    result: GraphTensor
    settings: Mapping[str, Any]
    nodes: range
    origin: Origin


class GraphBuffer(NamedTuple):
    """A memory of a graph: an argument's, a captured tensor's (`captured`), or the graph's own.
    `owned`: a captured storage that the graph owns for all its calls."""

    nbytes: int
    device: Any
    argument: int | None = None  # index of the call's tensor that has it
    offset: int = 0  # byte offset of that tensor
    captured: Storage | None = None
    owned: bool = False

    @property
    def is_internal(self) -> bool:
        """True if the graph allocates the memory at each call."""
        return self.argument is None and self.captured is None


class CheckedIndices(NamedTuple):
    """The bounds check of a launch: its flag, the dims by name and the error. `indices` has, for
    each index tensor that may be out of range, (the tensor, the dim's size, True if negative
    indices are errors). `origin` is None if errors need not name a line."""

    flag: Any
    dims: Ints
    refusal: Any
    indices: tuple[tuple[GraphTensor, int, bool], ...]
    origin: Origin | None = None


@dataclass(frozen=True)
class ResultTensor:
    """A tensor in a graph's result: a part of a memory, or an argument of the call."""

    region: GraphTensor
    argument: int | None = None
    key: int = field(init=False)

    def __post_init__(self) -> None:
        key = geometry_key(self.region.shape, self.region.strides, self.region.dtype)
        object.__setattr__(self, "key", key)

    def on_storage(self, storage: Storage, offset: int) -> Tensor:
        """Returns the tensor over `storage`, from element `offset` on."""
        tensor = object.__new__(Tensor)
        tensor._storage, tensor._dtype, tensor._offset = storage, self.region.dtype, offset
        tensor._shape, tensor._strides, tensor._key = self.region.shape, self.region.strides, self.key
        return tensor


@dataclass(frozen=True)
class Graph:
    """A traced function: nodes in execution order, memories, and the structure of the result."""

    name: str
    nodes: tuple[Node, ...]
    memories: tuple[GraphBuffer, ...]
    result: Any  # the function's result with placeholders for tensors and objects
    draws: tuple[Draw | Seeding, ...] = ()  # in the order of the function
    checks: tuple[CheckedIndices, ...] = ()
    offset_guards: tuple[OffsetGuard, ...] = ()  # of arguments whose offsets were read
    returned_objects: tuple[ReturnedObject, ...] = ()  # in the result
    layers: tuple[LayerCall, ...] = ()  # layers among the nodes as traced
    filters: tuple[LayerCall, ...] = ()  # filters and reflected signals among the nodes as traced
    captured_values: CapturedValues | None = None  # values that a kernel or the graph has copied
    argument_copies: tuple[ArgumentCopy, ...] = ()  # for a board's graph that writes arguments

    @property
    def result_tensors(self) -> list[ResultTensor]:
        """Returns the tensors of the result, with repetitions."""
        return leaves(self.result)

    def writes(self, memory: int) -> bool:
        """True if a node writes the memory."""
        return any(r.memory == memory for n in self.nodes for r in n.writes)


def leaves(result: Any) -> list[ResultTensor]:
    """Returns the tensors in a result, with repetitions."""
    if isinstance(result, ResultTensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [f for item in result for f in leaves(item)]
    if isinstance(result, dict):
        return [f for item in result.values() for f in leaves(item)]
    return []


def unflatten(result: Any, tensors: Sequence[Tensor], signature: Sequence[Any]) -> Any:
    """Returns a result with its ResultTensors replaced by `tensors`, in the order of `leaves`, and
    its placeholders by the objects of a call with this signature."""
    remaining = iter(tensors)

    def rebuild(x: Any) -> Any:
        if isinstance(x, ResultTensor):
            return next(remaining)
        if isinstance(x, tuple):
            items = [rebuild(item) for item in x]
            return x._make(items) if hasattr(x, "_make") else type(x)(items)
        if isinstance(x, list):
            return type(x)(rebuild(item) for item in x)
        if isinstance(x, dict):
            return type(x)((resolve_placeholder(key, signature), rebuild(item)) for key, item in x.items())
        return resolve_placeholder(x, signature)

    return rebuild(result)


def assign_slots(requests: Sequence[tuple[int, int, int]]) -> tuple[list[int], list[int]]:
    """Assigns memory slots to requests (bytes, first step, last step). Returns (bytes of each slot,
    the slot of each request).

    Requests share a slot if their steps do not overlap and none is smaller than half of it.
    Requests are assigned in the order of first steps, each to the smallest free slot that fits.
    """
    sizes: list[int] = []
    last_uses: list[int] = []  # the last step of each slot's latest request
    slots = [0] * len(requests)
    for k in sorted(range(len(requests)), key=lambda k: requests[k][1]):
        nbytes, first, last = requests[k]
        size = size_class(nbytes)
        free = [s for s in range(len(sizes)) if last_uses[s] < first and size <= sizes[s] <= 2 * size]
        if free:
            slot = min(free, key=lambda s: sizes[s])
            last_uses[slot] = last
        else:
            slot = len(sizes)
            sizes.append(size)
            last_uses.append(last)
        slots[k] = slot
    return sizes, slots


def eliminate_dead_nodes(graph: Graph) -> Graph:
    """Returns the graph without repeated nodes, without copies of a tensor to itself, and without
    nodes whose results are neither returned nor used."""
    graph = eliminate_common_nodes(replace(graph, nodes=tuple([n for n in graph.nodes if not _is_self_copy(n)])))
    live = live_nodes(graph)
    return replace(graph, nodes=tuple(node for k, node in enumerate(graph.nodes) if k in live), layers=(), filters=())


def _is_self_copy(node: Node) -> bool:
    """True for the assignment that Python adds to `x[1:] += y`, of the written part to itself."""
    target, *sources = node.operands
    return sources == [target] and getattr(node.launch.steps[0].key, "name", "") == "copy"


def live_nodes(graph: Graph) -> set[int]:
    """Returns the indices of the nodes whose results are returned, used, or part of a memory of
    others."""
    needed = {k for k, m in enumerate(graph.memories) if not m.is_internal}
    needed |= {f.region.memory for f in graph.result_tensors}
    live: set[int] = set()
    for k in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[k]
        # A node that writes a part of a memory keeps the rest, so it may read the memory.
        if node.written & needed:
            needed |= node.touched
            live.add(k)
    return live


def eliminate_common_nodes(graph: Graph) -> Graph:
    """Returns the graph without nodes that repeat an earlier node while its inputs are unchanged.
    Consumers of a removed node read the earlier node's results. Nodes that write returned memories,
    or memories written more than once, stay."""
    write_counts = Counter(m for node in graph.nodes for m in node.written)
    returned = {f.region.memory for f in graph.result_tensors}
    version: Counter[int] = Counter()
    replacement: dict[int, int] = {}
    seen: dict[Hashable, Node] = {}
    kept: list[Node] = []
    for node in graph.nodes:
        node = _renamed(node, replacement)
        if all(graph.memories[m].is_internal and write_counts[m] == 1 for m in node.written):
            first = seen.setdefault(_value_number(node, graph, version), node)
            if first is not node and not node.written & returned:
                written = zip(node.writes, first.writes, strict=True)
                replacement |= {r.memory: s.memory for r, s in written}
                continue
        version.update(node.written)
        kept.append(node)
    return replace(graph, nodes=tuple(kept))


def _renamed(node: Node, replacement: Mapping[int, int]) -> Node:
    """Returns the node with its memories renumbered."""
    if node.inner:
        node = replace(node, inner=tuple([_renamed(n, replacement) for n in node.inner]))
    if replacement.keys() & node.touched:
        operands = [r._replace(memory=replacement.get(r.memory, r.memory)) for r in node.operands]
        node = replace(node, operands=tuple(operands))
    return node


def _value_number(node: Node, graph: Graph, version: Counter[int]) -> Hashable:
    """Returns a key of a node's computation. Nodes with equal keys write the same bits, to memories
    of equal sizes."""
    launch = node.launch
    if any(isinstance(x, TracedRandom) for x in node.scalars):
        return node
    written = sorted(node.written)
    operands = [
        (r._replace(memory=-1 - written.index(r.memory)), graph.memories[r.memory].nbytes)
        if r.memory in node.written
        else (r, version[r.memory])
        for r in node.operands
    ]
    # repr distinguishes -0.0 from 0.0, and makes NaNs equal.
    scalars = tuple([(type(x), repr(x)) for x in (*node.scalars, *(launch.fixed_scalars or ()))])
    return launch.steps, launch.scalar_dtypes, launch.temporaries, scalars, tuple(operands)
