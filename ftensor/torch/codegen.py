"""A captured graph as the text of one Python function, its calls ordered for fusion."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch.fx import GraphModule, Node

from . import memory as m
from .calls import VIEWS, direct
from .fused_runs import Run
from .internals import untyped_storage
from .registration import written
from .schema import qualified

Item: TypeAlias = Node | Sequence[Node]  # a node, or a run of them
# More are several runs: what a trace costs grows with the square of its nodes.
MOST_NODES = 512


def tensors_in(val: Any) -> bool:
    """Whether a value is a tensor, or holds some."""
    return isinstance(val, torch.Tensor) or (isinstance(val, (tuple, list)) and any(tensors_in(v) for v in val))


def is_here(node: Node) -> bool:
    """Whether a node is a call on ftensor's tensors: all that it takes and gives lies on the
    device, but for numbers of the host that it takes."""
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return isinstance(node.args[0], Node) and is_here(node.args[0])
    value = node.meta.get("val")
    if not isinstance(node.target, torch._ops.OpOverload) or not tensors_in(value):
        return False
    results = _leaves(value)
    taken = [v for n in node.all_input_nodes for v in _leaves(n.meta.get("val"))]
    if not all(m.is_here(v) for v in (*results, *[v for v in taken if v.dim()])):
        return False
    if not all(v.dtype in m.TO_FT for v in (*results, *taken)):
        return False
    return direct(node, node.target) is not None


def dispatched_here(node: Node) -> bool:
    """Whether torch would ask the device's kernel for a call: if a tensor that it takes lies there,
    or, where it takes none, if its result does."""
    taken = [v for n in node.all_input_nodes for v in _leaves(n.meta.get("val"))]
    return any(m.is_here(v) for v in taken or _leaves(node.meta.get("val")))


def _leaves(val: Any) -> list[torch.Tensor]:
    if isinstance(val, torch.Tensor):
        return [val]
    return [t for v in val for t in _leaves(v)] if isinstance(val, (tuple, list)) else []


def worth_a_run(nodes: Sequence[Node]) -> bool:
    """Whether several of the nodes compute."""
    return sum(map(_computes, nodes)) > 1


def _computes(node: Node) -> bool:
    op = node.target
    return isinstance(op, torch._ops.OpOverload) and qualified(op._schema) not in VIEWS


def ordered(nodes: Sequence[Node]) -> list[Item]:
    """Nodes behind what they need: runs as long as they get, and all others.

    The host's nodes have the number of the run before which they come, those of a run its number.
    Whoever writes stays behind all before it and before all behind it, random numbers keep their
    order.
    """
    level: dict[Node, int] = {}
    here = {n: is_here(n) for n in nodes}

    def behind(node: Node, others: Sequence[Node]) -> int:
        return max((level[n] + (here[n] and not here[node]) for n in others), default=0)

    wrote: list[Node] = []  # the last one that did
    drew: list[Node] = []
    for k, node in enumerate(nodes):
        needs = [n for n in node.all_input_nodes if n in level] + wrote
        if _writes(node):
            needs, wrote = list(nodes[:k]), [node]
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            needs, drew = needs + drew, [node]
        level[node] = behind(node, needs)
    items: list[Item] = []
    for number in range(max(level.values(), default=0) + 1):
        items += [n for n in nodes if level[n] == number and not here[n]]
        run = [n for n in nodes if level[n] == number and here[n]]
        for k in range(0, len(run), MOST_NODES):
            part = run[k : k + MOST_NODES]
            items += [part] if worth_a_run(part) else part
    return items


def _writes(node: Node) -> bool:
    """Whether a node may do more than give its result."""
    op = node.target
    if isinstance(op, torch._ops.OpOverload):
        return bool(op._schema.is_mutable) or not op._schema.returns
    plain = getattr(op, "__module__", "") in ("_operator", "math", "torch", "torch.fx")
    return node.op == "call_function" and not plain


INDENT = "    "
Function: TypeAlias = Callable[..., Any]


def function_of(graph: GraphModule) -> Function:
    """What computes a graph: a function of a list, which it empties. Its text is its `text`."""
    nodes = list(graph.graph.nodes)
    (end,) = nodes[-1].args
    ends = [n for n in nodes if n.op == "placeholder"]
    assert isinstance(end, (tuple, list))
    text = _Text(_shared(nodes), graph)
    for node in ends:
        text.forms[node] = {"t" if isinstance(node.meta.get("val"), torch.Tensor) else "p"}
    text.write(ordered(nodes[len(ends) : -1]), nodes[-1].all_input_nodes, ends)
    returned = "".join(f"{text.said(a, 't')}, " for a in end)
    names = [f"{form}_{n.name}, " for n in ends for form in "tp" if form in text.inputs[n]]
    head = [f"{''.join(names)} = args" * bool(names), "args.clear()", "known = {}"]
    return text.function("args", [line for line in head if line], f"({returned})")


def tensor(f: Any, known: dict[int, Any]) -> torch.Tensor:
    """The torch tensor of an ftensor one, over the torch storage that its memory has.

    `known` are the torch storages of this call by the number of ftensor's; each holds its own, so
    that no number is given twice.
    """
    number = id(f._storage)
    storage = known.get(number)
    if storage is None:
        if f._storage.nbytes == f.numel() * f._dtype.itemsize:
            whole = m.wrap(f)
            known[number] = untyped_storage(whole)
            return whole
        storage = known[number] = m.new_storage(f._storage)  # of all, as other parts may follow
    return m.over(storage, m.FROM_FT[f._dtype], f._shape, f._strides, f._offset)


def lifted(t: torch.Tensor, known: dict[int, Any]) -> Any:
    """The ftensor tensor of a torch one, whose torch storage is noted."""
    f = m.lift(t)
    if m.is_here(t):
        known.setdefault(id(f._storage), untyped_storage(t))
    return f


class _Text:
    """The text of a function, and the objects that it names."""

    def __init__(self, shared: set[int], graph: GraphModule | None = None) -> None:
        self.shared, self.graph = shared, graph
        self.scope: dict[str, Any] = {
            "lift": m.lift,
            "lifted": lifted,
            "tensor": tensor,
            "unwrap": m.unwrap,
            "wrap": m.wrap,
        }
        self.lines: list[str] = []
        self.at: dict[int, Node] = {}  # the calls on ftensor's tensors, by the line's number
        self.forms: dict[Node, set[str]] = {}  # how a value is there: "t", "f", "p" for no tensor
        self.inputs: dict[Node, set[str]] = {}  # as `forms`, when the function begins

    def write(self, items: Sequence[Item], wanted: Sequence[Node], inputs: Sequence[Node]) -> None:
        """The lines of nodes and runs of such; what is neither `wanted` nor used is let go of."""
        self.inputs = {n: set(self.forms[n]) for n in inputs}
        last: dict[Node, int] = dict.fromkeys(inputs, -1)
        for k, item in enumerate(items):
            for node in (item,) if isinstance(item, Node) else item:
                last[node] = k
                last.update(dict.fromkeys(node.all_input_nodes, k))
        over: dict[int, list[Node]] = {}
        for node, k in last.items():
            if node not in wanted:
                over.setdefault(k, []).append(node)
        self.drop(over.get(-1, ()))
        for k, item in enumerate(items):
            if isinstance(item, Node):
                getattr(self, item.op)(item)
            else:
                used = {n for j in items[k + 1 :] for n in _inputs(j)}
                self.run(item, [n for n in item if n in used or n in wanted])
            self.drop(over.get(k, ()))

    def function(self, arguments: str, head: Sequence[str], returned: str) -> Function:
        """The function of what was written; `returned` is what it returns."""
        lines = [f"def call({arguments}):", *(INDENT + line for line in head)]
        self.at = {number + len(lines) + 1: node for number, node in self.at.items()}
        lines += [INDENT + line for line in [*self.lines, f"return {returned}"]]
        text = "\n".join(lines) + "\n"
        exec(compile(text, "<ftensor graph>", "exec"), self.scope)
        call: Function = self.scope["call"]
        call.text = text  # type: ignore[attr-defined]
        return call

    # --- values

    def drop(self, nodes: Sequence[Node]) -> None:
        """Let go of values that nothing needs any more."""
        gone = [f"{form}_{n.name}" for n in nodes for form in sorted(self.forms.pop(n, ()))]
        if gone:
            self.lines.append(f"del {', '.join(gone)}")

    def value(self, node: Node, form: str) -> str:
        """A value's name in a form, made where it is not there: "t" is torch's, "f" ftensor's."""
        name, forms = node.name, self.forms[node]
        if "p" in forms:
            return f"p_{name}"
        if form not in forms:
            self.lines.append(f"{form}_{name} = {self.converted(node, form)}")
            forms.add(form)
        return f"{form}_{name}"

    def converted(self, node: Node, form: str) -> str:
        """The expression for a value's other form."""
        val, other = node.meta.get("val"), f"{'f' if form == 't' else 't'}_{node.name}"
        if isinstance(val, (tuple, list)):
            call = "tensor" if form == "t" else "lifted"
            return f"[x if x is None else {call}(x, known) for x in {other}]"
        assert isinstance(val, torch.Tensor)
        if _memory(val) in self.shared:
            return f"tensor({other}, known)" if form == "t" else f"lifted({other}, known)"
        if form == "t":
            return f"wrap({other})"
        plain = m.is_here(val) and not val.is_complex()
        return f"{'unwrap' if plain else 'lift'}({other})"

    def said(self, a: Any, form: str) -> str:
        """An argument's text."""
        if isinstance(a, Node):
            return self.value(a, form)
        if isinstance(a, (list, tuple)):
            inside = "".join(f"{self.said(x, form)}, " for x in a)
            return f"[{inside}]" if isinstance(a, list) else f"({inside})"
        if isinstance(a, dict):
            return "{" + ", ".join(f"{k!r}: {self.said(v, form)}" for k, v in a.items()) + "}"
        if isinstance(a, slice):
            parts = [self.said(x, form) for x in (a.start, a.stop, a.step)]
            return f"slice({', '.join(parts)})"
        if a is None or type(a) in (bool, int, str):
            return repr(a)
        return self.named(a, "c")

    def named(self, thing: Any, letter: str) -> str:
        """A name for an object that the text cannot spell."""
        name = f"{letter}{len(self.scope)}"
        self.scope[name] = thing
        return name

    def call(self, node: Node, function: Any, form: str) -> None:
        """A line that calls a function on values of a form, which gives some or a number."""
        result = form if tensors_in(node.meta.get("val")) else "p"
        args = [self.said(a, form) for a in node.args]
        args += [f"{k}={self.said(a, form)}" for k, a in node.kwargs.items()]
        if form == "f":
            self.at[len(self.lines)] = node
        self.set(node, f"{self.named(function, 'k')}({', '.join(args)})", result)

    def set(self, node: Node, text: str, form: str) -> None:
        self.lines.append(f"{form}_{node.name} = {text}")
        self.forms[node] = {form}

    # --- runs

    def run(self, nodes: Sequence[Node], wanted: Sequence[Node]) -> None:
        """A line that does a run."""
        inputs = list(dict.fromkeys(n for n in _inputs(nodes) if n not in nodes))
        args = [self.value(n, "f") for n in inputs]
        of = _Run(nodes, inputs, wanted, ["p" if "p" in self.forms[n] else "f" for n in inputs])
        outputs = "".join(f"f_{n.name}, " for n in wanted)
        self.lines.append(f"{outputs}{'= ' * bool(outputs)}{self.named(of.run(), 'r')}({', '.join(args)})")
        self.forms.update({n: {"f"} for n in wanted})

    # --- a graph's kinds of nodes

    def get_attr(self, node: Node) -> None:
        """A tensor that the graph holds."""
        assert isinstance(node.target, str)
        value = operator.attrgetter(node.target)(self.graph)
        self.set(node, self.named(value, "a"), "t" if tensors_in(value) else "p")

    def call_function(self, node: Node) -> None:
        """A call."""
        target = node.target
        if target is operator.getitem and isinstance(node.args[0], Node):
            of, index = node.args[0], node.args[1]
            form = "p" if "p" in self.forms[of] else "f" if "f" in self.forms[of] else "t"
            return self.set(node, f"{self.value(of, form)}[{self.said(index, form)}]", form)
        if is_here(node):
            return self.call(node, direct(node, target), "f")
        if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
            return self.call(node, target, "t")
        kernel = written.get(qualified(target._schema)) if dispatched_here(node) else None
        return self.call(node, kernel or target, "t")


class _Run:
    """A run of nodes: what it is given in which forms, and what is wanted of it."""

    def __init__(
        self, nodes: Sequence[Node], inputs: Sequence[Node], wanted: Sequence[Node], forms: Sequence[str]
    ) -> None:
        self.nodes, self.inputs, self.wanted, self.forms = nodes, inputs, wanted, forms

    def run(self) -> Run:
        """What does it."""
        function, text = self._function(self.nodes)
        calls = {number: str(node.target) for number, node in text.at.items()}
        return Run(function, calls, lambda number: self._cut(text.at[number]))

    def _cut(self, node: Node) -> Function:
        """What does it with a node by itself."""
        k = self.nodes.index(node)
        items: list[Item] = []
        for part in (self.nodes[:k], [node], self.nodes[k + 1 :]):
            items += [tuple(part)] if worth_a_run(part) and node not in part else part
        return self._function(items)[0]

    def _function(self, items: Sequence[Item]) -> tuple[Function, _Text]:
        text = _Text(set())
        text.forms = {n: {form} for n, form in zip(self.inputs, self.forms)}
        text.write(items, self.wanted, self.inputs)
        returned = "".join(f"f_{n.name}, " for n in self.wanted)
        names = [f"{form}_{n.name}" for n, form in zip(self.inputs, self.forms)]
        return text.function(", ".join(names), [], f"({returned})"), text


def _inputs(item: Item) -> list[Node]:
    nodes = [item] if isinstance(item, Node) else item
    return [n for node in nodes for n in node.all_input_nodes]


def _memory(val: torch.Tensor) -> int:
    number: int = untyped_storage(val)._cdata
    return number


def _shared(nodes: Sequence[Node]) -> set[int]:
    """The memory that an argument and a result have in common, or two results: by the number of
    the storages in torch's trace."""
    count: dict[int, int] = {}
    ends = [n for n in nodes if n.op == "placeholder"]
    ends += [n for n in nodes[-1].all_input_nodes if n not in ends]
    for node in ends:
        if isinstance(val := node.meta.get("val"), torch.Tensor):
            count[_memory(val)] = count.get(_memory(val), 0) + 1
    return {memory for memory, times in count.items() if times > 1}
