"""Generates one Python function from an FX graph, with calls reordered for fusion."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch.fx import GraphModule, Node

from . import memory as m
from .calls import VIEWS, direct_function
from .fused_runs import Run
from .internals import untyped_storage
from .registration import written
from .schema import qualified

Item: TypeAlias = Node | Sequence[Node]  # a node or a run of nodes
# Longer runs are split, because the time of a trace grows with the square of its nodes.
MAX_NODES = 512


def tensors_in(val: Any) -> bool:
    """True if `val` is a tensor or a (nested) tuple or list with a tensor."""
    return isinstance(val, torch.Tensor) or (isinstance(val, (tuple, list)) and any(tensors_in(v) for v in val))


def is_here(node: Node) -> bool:
    """True if a node can be called on ftensor tensors.

    All results and arguments must be on the device with an ftensor dtype, except zero-dim tensors
    of the host, and `direct_function` must find a function for the node.
    """
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return isinstance(node.args[0], Node) and is_here(node.args[0])
    value = node.meta.get("val")
    if not isinstance(node.target, torch._ops.OpOverload) or not tensors_in(value):
        return False
    results = _leaves(value)
    inputs = [v for n in node.all_input_nodes for v in _leaves(n.meta.get("val"))]
    if not all(m.is_here(v) for v in (*results, *[v for v in inputs if v.dim()])):
        return False
    if not all(v.dtype in m.TO_FT for v in (*results, *inputs)):
        return False
    return direct_function(node, node.target) is not None


def dispatched_here(node: Node) -> bool:
    """True if the dispatcher would select the device's kernel for a call.

    That is the case if a tensor argument is on the device, or if the call has no tensor arguments
    and its result is on the device.
    """
    inputs = [v for n in node.all_input_nodes for v in _leaves(n.meta.get("val"))]
    return any(m.is_here(v) for v in inputs or _leaves(node.meta.get("val")))


def _leaves(val: Any) -> list[torch.Tensor]:
    if isinstance(val, torch.Tensor):
        return [val]
    return [t for v in val for t in _leaves(v)] if isinstance(val, (tuple, list)) else []


def is_worth_a_run(nodes: Sequence[Node]) -> bool:
    """True if at least two of the nodes compute, i.e. are not views or getitem."""
    return sum(map(_computes, nodes)) > 1


def _computes(node: Node) -> bool:
    op = node.target
    return isinstance(op, torch._ops.OpOverload) and qualified(op._schema) not in VIEWS


def partition_runs(nodes: Sequence[Node]) -> list[Item]:
    """Returns the nodes in dependency order, grouped into runs that are as long as possible.

    `level` numbers the runs: a node on ftensor tensors has the number of its run, another node the
    number of the run that it precedes. A node that writes stays after all earlier nodes and before
    all later ones. Nodes with random numbers keep their order.
    """
    level: dict[Node, int] = {}
    on_device = {n: is_here(n) for n in nodes}

    def behind(node: Node, others: Sequence[Node]) -> int:
        return max((level[n] + (on_device[n] and not on_device[node]) for n in others), default=0)

    last_write: list[Node] = []  # the last node that writes
    last_draw: list[Node] = []  # the last node that draws random numbers
    for k, node in enumerate(nodes):
        needs = [n for n in node.all_input_nodes if n in level] + last_write
        if _has_side_effects(node):
            needs, last_write = list(nodes[:k]), [node]
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            needs, last_draw = needs + last_draw, [node]
        level[node] = behind(node, needs)
    items: list[Item] = []
    for number in range(max(level.values(), default=0) + 1):
        items += [n for n in nodes if level[n] == number and not on_device[n]]
        run = [n for n in nodes if level[n] == number and on_device[n]]
        for k in range(0, len(run), MAX_NODES):
            segment = run[k : k + MAX_NODES]
            items += [segment] if is_worth_a_run(segment) else segment
    return items


def _has_side_effects(node: Node) -> bool:
    """True if a node may have side effects."""
    op = node.target
    if isinstance(op, torch._ops.OpOverload):
        return bool(op._schema.is_mutable) or not op._schema.returns
    is_pure_module = getattr(op, "__module__", "") in ("_operator", "math", "torch", "torch.fx")
    return node.op == "call_function" and not is_pure_module


INDENT = "    "
Function: TypeAlias = Callable[..., Any]


def function_of(graph: GraphModule) -> Function:
    """Returns a function that computes `graph` and has its source in the attribute `text`.

    The function takes a list of arguments and empties that list.
    """
    nodes = list(graph.graph.nodes)
    (end,) = nodes[-1].args
    placeholders = [n for n in nodes if n.op == "placeholder"]
    assert isinstance(end, (tuple, list))
    text = _SourceWriter(_shared_storages(nodes), graph)
    for node in placeholders:
        text.forms[node] = {"t" if isinstance(node.meta.get("val"), torch.Tensor) else "p"}
    text.write(partition_runs(nodes[len(placeholders) : -1]), nodes[-1].all_input_nodes, placeholders)
    returned = "".join(f"{text.argument_text(a, 't')}, " for a in end)
    names = [f"{form}_{n.name}, " for n in placeholders for form in "tp" if form in text.inputs[n]]
    head = [f"{''.join(names)} = args" * bool(names), "args.clear()", "known = {}"]
    return text.function("args", [line for line in head if line], f"({returned})")


def to_torch_tensor(f: Any, storages: dict[int, Any]) -> torch.Tensor:
    """Returns the torch tensor of `f`, over the torch storage that `storages` has for its storage.

    `storages` maps id(ftensor storage) to this call's torch storages. Each torch storage keeps its
    ftensor storage alive, so no id is reused.
    """
    number = id(f._storage)
    storage = storages.get(number)
    if storage is None:
        if f._storage.nbytes == f.numel() * f._dtype.itemsize:
            wrapped = m.wrap(f)
            storages[number] = untyped_storage(wrapped)
            return wrapped
        storage = storages[number] = m.new_storage(f._storage)  # over all bytes
    return m.tensor_over(storage, m.FROM_FT[f._dtype], f._shape, f._strides, f._offset)


def to_ftensor_tensor(t: torch.Tensor, storages: dict[int, Any]) -> Any:
    """Returns the ftensor tensor of `t` and records its torch storage in `storages`."""
    f = m.lift(t)
    if m.is_here(t):
        storages.setdefault(id(f._storage), untyped_storage(t))
    return f


class _SourceWriter:
    """Builds the source of a function, and the namespace of the objects that it refers to."""

    def __init__(self, shared: set[int], graph: GraphModule | None = None) -> None:
        self.shared, self.graph = shared, graph
        self.scope: dict[str, Any] = {
            "lift": m.lift,
            "to_ftensor_tensor": to_ftensor_tensor,
            "to_torch_tensor": to_torch_tensor,
            "unwrap": m.unwrap,
            "wrap": m.wrap,
        }
        self.lines: list[str] = []
        self.call_nodes: dict[int, Node] = {}  # calls on ftensor tensors, by line number
        self.forms: dict[Node, set[str]] = {}  # "t" torch, "f" ftensor, "p" other objects
        self.inputs: dict[Node, set[str]] = {}  # `forms` at the start of the function

    def write(self, items: Sequence[Item], kept_nodes: Sequence[Node], inputs: Sequence[Node]) -> None:
        """Writes the lines of `items`; deletes a value after its last use unless it is
        `kept_nodes`."""
        self.inputs = {n: set(self.forms[n]) for n in inputs}
        last: dict[Node, int] = dict.fromkeys(inputs, -1)
        for k, item in enumerate(items):
            for node in (item,) if isinstance(item, Node) else item:
                last[node] = k
                last.update(dict.fromkeys(node.all_input_nodes, k))
        last_uses: dict[int, list[Node]] = {}
        for node, k in last.items():
            if node not in kept_nodes:
                last_uses.setdefault(k, []).append(node)
        self.drop(last_uses.get(-1, ()))
        for k, item in enumerate(items):
            if isinstance(item, Node):
                getattr(self, item.op)(item)
            else:
                later_inputs = {n for j in items[k + 1 :] for n in _inputs(j)}
                self.run(item, [n for n in item if n in later_inputs or n in kept_nodes])
            self.drop(last_uses.get(k, ()))

    def function(self, arguments: str, head: Sequence[str], returned: str) -> Function:
        """Compiles the lines to a function that returns the expression `returned`."""
        lines = [f"def call({arguments}):", *(INDENT + line for line in head)]
        self.call_nodes = {number + len(lines) + 1: node for number, node in self.call_nodes.items()}
        lines += [INDENT + line for line in [*self.lines, f"return {returned}"]]
        text = "\n".join(lines) + "\n"
        exec(compile(text, "<ftensor graph>", "exec"), self.scope)
        call: Function = self.scope["call"]
        call.text = text  # type: ignore[attr-defined]
        return call

    # --- values

    def drop(self, nodes: Sequence[Node]) -> None:
        """Writes a `del` of values that no later line uses."""
        names = [f"{form}_{n.name}" for n in nodes for form in sorted(self.forms.pop(n, ()))]
        if names:
            self.lines.append(f"del {', '.join(names)}")

    def value(self, node: Node, form: str) -> str:
        """Returns the variable of a value in `form` ("t" torch, "f" ftensor).

        Writes a conversion first if the value has only the other form.
        """
        name, forms = node.name, self.forms[node]
        if "p" in forms:
            return f"p_{name}"
        if form not in forms:
            self.lines.append(f"{form}_{name} = {self.converted(node, form)}")
            forms.add(form)
        return f"{form}_{name}"

    def converted(self, node: Node, form: str) -> str:
        """Returns the expression that converts a value to `form` from its other form."""
        val, source = node.meta.get("val"), f"{'f' if form == 't' else 't'}_{node.name}"
        if isinstance(val, (tuple, list)):
            call = "to_torch_tensor" if form == "t" else "to_ftensor_tensor"
            return f"[x if x is None else {call}(x, known) for x in {source}]"
        assert isinstance(val, torch.Tensor)
        if _memory(val) in self.shared:
            return f"to_torch_tensor({source}, known)" if form == "t" else f"to_ftensor_tensor({source}, known)"
        if form == "t":
            return f"wrap({source})"
        is_real = m.is_here(val) and not val.is_complex()
        return f"{'unwrap' if is_real else 'lift'}({source})"

    def argument_text(self, a: Any, form: str) -> str:
        """Returns the source text of an argument, with tensors in `form`."""
        if isinstance(a, Node):
            return self.value(a, form)
        if isinstance(a, (list, tuple)):
            items = "".join(f"{self.argument_text(x, form)}, " for x in a)
            return f"[{items}]" if isinstance(a, list) else f"({items})"
        if isinstance(a, dict):
            return "{" + ", ".join(f"{k!r}: {self.argument_text(v, form)}" for k, v in a.items()) + "}"
        if isinstance(a, slice):
            bounds = [self.argument_text(x, form) for x in (a.start, a.stop, a.step)]
            return f"slice({', '.join(bounds)})"
        if a is None or type(a) in (bool, int, str):
            return repr(a)
        return self.named(a, "c")

    def named(self, value: Any, prefix: str) -> str:
        """Adds an object without a literal to the namespace and returns its name."""
        name = f"{prefix}{len(self.scope)}"
        self.scope[name] = value
        return name

    def call(self, node: Node, function: Any, form: str) -> None:
        """Writes a line that calls `function` with tensors in `form`."""
        result = form if tensors_in(node.meta.get("val")) else "p"
        args = [self.argument_text(a, form) for a in node.args]
        args += [f"{k}={self.argument_text(a, form)}" for k, a in node.kwargs.items()]
        if form == "f":
            self.call_nodes[len(self.lines)] = node
        self.set(node, f"{self.named(function, 'k')}({', '.join(args)})", result)

    def set(self, node: Node, text: str, form: str) -> None:
        self.lines.append(f"{form}_{node.name} = {text}")
        self.forms[node] = {form}

    # --- runs

    def run(self, nodes: Sequence[Node], results: Sequence[Node]) -> None:
        """Writes a line that calls a run of nodes and assigns the `results` values."""
        inputs = list(dict.fromkeys(n for n in _inputs(nodes) if n not in nodes))
        args = [self.value(n, "f") for n in inputs]
        generated_run = _RunBuilder(nodes, inputs, results, ["p" if "p" in self.forms[n] else "f" for n in inputs])
        outputs = "".join(f"f_{n.name}, " for n in results)
        self.lines.append(f"{outputs}{'= ' * bool(outputs)}{self.named(generated_run.run(), 'r')}({', '.join(args)})")
        self.forms.update({n: {"f"} for n in results})

    # --- one method for each `Node.op`

    def get_attr(self, node: Node) -> None:
        """Writes a line for an attribute of the graph module."""
        assert isinstance(node.target, str)
        value = operator.attrgetter(node.target)(self.graph)
        self.set(node, self.named(value, "a"), "t" if tensors_in(value) else "p")

    def call_function(self, node: Node) -> None:
        """Writes a line for a call on ftensor tensors, on torch tensors, or on other values."""
        target = node.target
        if target is operator.getitem and isinstance(node.args[0], Node):
            source, index = node.args[0], node.args[1]
            form = "p" if "p" in self.forms[source] else "f" if "f" in self.forms[source] else "t"
            return self.set(node, f"{self.value(source, form)}[{self.argument_text(index, form)}]", form)
        if is_here(node):
            return self.call(node, direct_function(node, target), "f")
        if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
            return self.call(node, target, "t")
        kernel = written.get(qualified(target._schema)) if dispatched_here(node) else None
        return self.call(node, kernel or target, "t")


class _RunBuilder:
    """A run of nodes: its inputs with their forms, and the values that later lines use."""

    def __init__(
        self, nodes: Sequence[Node], inputs: Sequence[Node], results: Sequence[Node], forms: Sequence[str]
    ) -> None:
        self.nodes, self.inputs, self.results, self.forms = nodes, inputs, results, forms

    def run(self) -> Run:
        """Returns the callable of this run."""
        function, text = self._function(self.nodes)
        calls = {number: str(node.target) for number, node in text.call_nodes.items()}
        return Run(function, calls, lambda number: self._cut(text.call_nodes[number]))

    def _cut(self, node: Node) -> Function:
        """Returns a function that computes the run with `node` as a separate call."""
        k = self.nodes.index(node)
        items: list[Item] = []
        for segment in (self.nodes[:k], [node], self.nodes[k + 1 :]):
            items += [tuple(segment)] if is_worth_a_run(segment) and node not in segment else segment
        return self._function(items)[0]

    def _function(self, items: Sequence[Item]) -> tuple[Function, _SourceWriter]:
        text = _SourceWriter(set())
        text.forms = {n: {form} for n, form in zip(self.inputs, self.forms)}
        text.write(items, self.results, self.inputs)
        returned = "".join(f"f_{n.name}, " for n in self.results)
        names = [f"{form}_{n.name}" for n, form in zip(self.inputs, self.forms)]
        return text.function(", ".join(names), [], f"({returned})"), text


def _inputs(item: Item) -> list[Node]:
    nodes = [item] if isinstance(item, Node) else item
    return [n for node in nodes for n in node.all_input_nodes]


def _memory(val: torch.Tensor) -> int:
    return untyped_storage(val)._cdata


def _shared_storages(nodes: Sequence[Node]) -> set[int]:
    """Returns the storages (`_cdata` in torch's trace) that several inputs or results share."""
    count: dict[int, int] = {}
    placeholders = [n for n in nodes if n.op == "placeholder"]
    placeholders += [n for n in nodes[-1].all_input_nodes if n not in placeholders]
    for node in placeholders:
        if isinstance(val := node.meta.get("val"), torch.Tensor):
            count[_memory(val)] = count.get(_memory(val), 0) + 1
    return {memory for memory, times in count.items() if times > 1}
