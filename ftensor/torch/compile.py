"""`torch.compile(model, backend="ftensor")`: each graph as one Python function over ftensor's ops.

torch captures a graph, makes the backward one of it and leaves no writes in either (AOTAutograd,
functionalization). `function_of` then writes straight-line code. A value is a torch tensor, an
ftensor tensor, or both, and is converted where a call first asks for the other kind:

- an op of `table.txt`, or a view, is a call on ftensor tensors: neither torch's dispatcher nor a
  torch tensor for its result;
- a kernel written by hand is called as it is, without the dispatcher;
- everything else stays in torch, which has its fallback.

Kernels are those of single ops. Where fused ones come, they take the place of runs of calls here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch._dynamo import trace_rules
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import default_partition
from torch.fx import GraphModule, Node
from torch.utils.checkpoint import CheckpointPolicy

from . import memory as m
from .calls import DIRECT, WHOLE, direct
from .decompositions import ALLOWED
from .kernels import bound
from .private import Key, untyped_storage
from .registration import written
from .schema import qualified

INDENT = "    "

# The device's kernels are Python, and run where a graph breaks: nothing to capture.
trace_rules.add("ftensor")


def backend(graph: GraphModule, inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """The backend of `torch.compile`: what computes a captured graph, its gradients included."""
    made = aot_autograd(
        fw_compiler=compile_graph, bw_compiler=compile_graph, decompositions=_decompositions(),
        partition_fn=_partition, keep_inference_input_mutations=True,
    )  # fmt: skip
    with _without_wrong_parts():
        compiled: Callable[..., Any] = made(graph, inputs)
    return compiled


@contextmanager
def _without_wrong_parts() -> Iterator[None]:
    """While a graph is traced, ops that torch takes apart wrongly whatever it is told stay whole:
    `multilabel_margin_loss_forward` counts targets after the first -1."""
    op = torch.ops.aten.multilabel_margin_loss_forward.default
    parts = op.py_kernels.pop(Key.Autograd, None)
    op._dispatch_cache.clear()
    try:
        yield
    finally:
        if parts is not None:
            op.py_kernels[Key.Autograd] = parts
        op._dispatch_cache.clear()


@cache
def _decompositions() -> dict[Any, Any]:
    """torch's ways to make core ops of others, for those that would else go to the host."""
    known = torch._decomp.core_aten_decompositions()
    return {
        op: made_of for op, made_of in known.items()
        if isinstance(op, torch._ops.OpOverload) and not _served(op)
    }  # fmt: skip


def _served(op: Any) -> bool:
    name = qualified(op._schema)
    if name in ALLOWED:
        return False
    random = torch.Tag.nondeterministic_seeded in op.tags
    return name in bound or name in written or name in DIRECT or name in WHOLE or random


def _partition(joint: GraphModule, inputs: Any, **options: Any) -> tuple[GraphModule, GraphModule]:
    """The forward and the backward graph. Names for the same tensor are one; the backward makes
    views anew, which costs less than to hand them over."""
    aten = torch.ops.aten
    for node in joint.graph.nodes:
        if node.target in (aten.alias.default, aten.detach.default):
            node.replace_all_uses_with(node.args[0])
            joint.graph.erase_node(node)
        elif isinstance(node.target, torch._ops.OpOverload) and node.target.is_view:
            node.meta["recompute"] = CheckpointPolicy.MUST_RECOMPUTE
    joint.recompile()
    return default_partition(joint, inputs, **options)


def compile_graph(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """A graph of aten's ops as a function of a list, which it empties."""
    function = function_of(graph)
    function._boxed_call = True  # type: ignore[attr-defined]  # torch's word for such a function
    return function


def function_of(graph: GraphModule) -> Callable[..., Any]:
    """The function; its text is its `text`."""
    writer = _Writer(graph)
    scope = writer.scope
    exec(compile(writer.text, "<ftensor graph>", "exec"), scope)
    made: Callable[..., Any] = scope["call"]
    made.text = writer.text  # type: ignore[attr-defined]
    return made


def tensor(f: Any, known: dict[int, Any]) -> torch.Tensor:
    """The torch tensor of an ftensor one, over the torch storage that its memory has.

    `known` are the torch storages of this call by the number of ftensor's; each holds its own, so
    that no number is given twice.
    """
    number = id(f._storage)
    storage = known.get(number)
    if storage is not None:
        return m.over(storage, m.FROM_FT[f._dtype], f._shape, f._strides, f._offset)
    made = m.wrap(f)
    known[number] = untyped_storage(made)
    return made


def lifted(t: torch.Tensor, known: dict[int, Any]) -> Any:
    """The ftensor tensor of a torch one, whose torch storage is noted."""
    f = m.lift(t)
    if m.is_here(t):
        known.setdefault(id(f._storage), untyped_storage(t))
    return f


class _Writer:
    """The text of one graph's function, and the objects that it names."""

    def __init__(self, graph: GraphModule) -> None:
        self.graph = graph
        self.scope: dict[str, Any] = {
            "lift": m.lift, "lifted": lifted, "tensor": tensor, "unwrap": m.unwrap, "wrap": m.wrap,
        }  # fmt: skip
        self.shared = _shared(graph)
        self.lines: list[str] = []
        self.forms: dict[Node, set[str]] = {}  # how a value is there: "t", "f"
        last = {n: user for user in graph.graph.nodes for n in user.all_input_nodes}
        ends: dict[Node, list[Node]] = {}
        for n, user in last.items():
            ends.setdefault(user, []).append(n)
        for node in graph.graph.nodes:
            getattr(self, node.op)(node)
            if node.op != "output":
                over = [*ends.get(node, ()), *([] if node in last else [node])]
                self.drop(over)
        names = [f"t_{n.name}" for n in graph.graph.nodes if n.op == "placeholder"]
        head = ["def call(args):", INDENT + "known = {}"]
        if names:
            head.append(INDENT + f"{', '.join(names)}, = args")
        head.append(INDENT + "args.clear()")
        self.text = "\n".join([*head, *(INDENT + line for line in self.lines)]) + "\n"

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
        result = form if _tensors(node.meta.get("val")) else "p"
        args = [self.said(a, form) for a in node.args]
        args += [f"{k}={self.said(a, form)}" for k, a in node.kwargs.items()]
        self.set(node, f"{self.named(function, 'k')}({', '.join(args)})", result)

    def set(self, node: Node, text: str, form: str) -> None:
        self.lines.append(f"{form}_{node.name} = {text}")
        self.forms[node] = {form}

    # --- a graph's kinds of nodes

    def placeholder(self, node: Node) -> None:
        val = node.meta.get("val")
        if not isinstance(val, torch.Tensor):
            self.lines.append(f"p_{node.name} = t_{node.name}")
            self.lines.append(f"del t_{node.name}")
        self.forms[node] = {"t" if isinstance(val, torch.Tensor) else "p"}

    def get_attr(self, node: Node) -> None:
        found = operator.attrgetter(node.target)(self.graph)
        self.set(node, self.named(found, "a"), "t")

    def call_function(self, node: Node) -> None:
        target = node.target
        if target is operator.getitem and isinstance(node.args[0], Node):
            of, index = node.args[0], node.args[1]
            form = "p" if "p" in self.forms[of] else "f" if "f" in self.forms[of] else "t"
            return self.set(node, f"{self.value(of, form)}[{self.said(index, form)}]", form)
        if not isinstance(target, torch._ops.OpOverload) or not _here(node):
            return self.call(node, target, "t")
        if (function := direct(node, target)) is not None:
            return self.call(node, function, "f")
        if target.namespace != "aten":
            return self.call(node, target, "t")
        return self.call(node, written.get(qualified(target._schema)) or target, "t")

    def output(self, node: Node) -> None:
        (found,) = node.args
        assert isinstance(found, (tuple, list))
        texts = [self.said(a, "t") for a in found]
        self.lines.append(f"return ({''.join(t + ', ' for t in texts)})")


def _memory(val: torch.Tensor) -> int:
    found: int = untyped_storage(val)._cdata
    return found


def _shared(graph: GraphModule) -> set[int]:
    """The memory that an argument and a result have in common, or two results: by the number of
    the storages in torch's trace."""
    count: dict[int, int] = {}
    ends = [n for n in graph.graph.nodes if n.op == "placeholder"]
    ends += [n for n in next(reversed(graph.graph.nodes)).all_input_nodes if n not in ends]
    for node in ends:
        if isinstance(val := node.meta.get("val"), torch.Tensor):
            count[_memory(val)] = count.get(_memory(val), 0) + 1
    return {memory for memory, times in count.items() if times > 1}


def _tensors(val: Any) -> bool:
    """Whether a value is a tensor, or holds some."""
    return isinstance(val, torch.Tensor) or (
        isinstance(val, (tuple, list)) and any(_tensors(v) for v in val)
    )


def _here(node: Node) -> bool:
    """Whether all tensors of a call lie on the device, but for numbers of the host."""
    vals = [node.meta.get("val"), *(n.meta.get("val") for n in node.all_input_nodes)]
    return all(m.is_here(v) for v in vals if isinstance(v, torch.Tensor) and v.dim())
