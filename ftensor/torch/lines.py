"""A captured graph as the text of one Python function.

A value is a torch tensor, an ftensor tensor, or both, and is converted where a call first asks for
the other kind:

- an op of `table.txt`, or a view, is a call on ftensor tensors: neither torch's dispatcher nor a
  torch tensor for its result. Such calls are put next to each other, and become runs (`runs`);
- a kernel written by hand is called as it is, without the dispatcher;
- everything else stays in torch, which has its fallback.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch.fx import GraphModule, Node

from . import memory as m
from .calls import direct
from .order import Item, dispatched_here, is_here, ordered, tensors_in, worth_a_run
from .private import untyped_storage
from .registration import written
from .runs import Run
from .schema import qualified

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
