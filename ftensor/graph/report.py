"""Graphs as text and as drawings."""

from __future__ import annotations

from collections import Counter
from math import prod
from textwrap import fill
from typing import TYPE_CHECKING

from .. import picture
from ..kernels.skeleton import skeleton_of
from ..terminal import counted, size, table
from .ir import Graph, GraphTensor, Node
from .loop_body import loop_body_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def report(graph: Graph) -> str:
    """Returns a table with a line per kernel, after a line with the counts of launches, kernels and
    bytes."""
    ops = sum(len(node.fused_origins) or 1 for node in graph.nodes)
    steps = sum(len(node.launch.steps) for node in graph.nodes)
    moved = sum(moved_bytes(r) for node in graph.nodes for r in node.operands)
    head = f"{graph.name}: {counted(ops, 'launch')} as {counted(steps, 'kernel')}, {size(moved)}"
    rows = [("kernel", "computes", "reads", "writes", "")]
    for node in graph.nodes:
        for step in node.launch.steps:
            ops_text = " ".join(origin.op for origin in node.fused_origins or (node.origin,))
            read, written = (sum(map(moved_bytes, side)) for side in (node.reads, node.writes))
            kernel = skeleton_of(step.key).name
            rows.append((kernel, ops_text, size(read), size(written), _unfused_reason(node)))
    return f"{head}\n{table(rows)}" if graph.nodes else head


def moved_bytes(r: GraphTensor) -> int:
    """Returns the bytes that a kernel moves for a tensor: each element once."""
    return prod(n for n, s in zip(r.shape, r.strides, strict=True) if s) * r.dtype.itemsize


def _unfused_reason(node: Node) -> str:
    """Returns the reason why a node is a separate kernel, or why no dataflow stage computes it; ""
    if there is none."""
    if node.fused_origins or node.stage_refusal:
        return node.stage_refusal
    body = loop_body_of(node)
    if body is None:
        return "neither elementwise nor a fold"
    if body.step_count > 1:
        return "its rows are cut, and others read what it folds"
    return "no neighbour has its loops"


_WIDTH, _HEIGHT = 2.4, 0.9  # inches per item
_LETTERS = 30  # letters per line

Item = tuple[str, int, int]
"""A kernel by its number, or a memory by its number and how often it was written."""


def svg(graph: Graph) -> str:
    """Returns the drawing as SVG text. Raises PictureError if matplotlib is not installed."""
    return picture.as_svg(draw_graph(graph))


def draw_graph(graph: Graph) -> Figure:
    """Returns the drawing as a matplotlib figure."""
    labels, arrows, layers = _items(graph)
    rows = Counter(layers.values())
    columns = max(rows.values(), default=1)
    figure = picture.figure(columns * _WIDTH, max(1, len(rows)) * _HEIGHT)
    with picture.styled():
        axes = figure.subplots()
        axes.set(xlim=(0, columns), ylim=(0.5 - max(1, len(rows)), 0.5), title=graph.name)
        axes.set_axis_off()
        column: Counter[int] = Counter()
        positions: dict[Item, tuple[float, float]] = {}
        for item, layer in layers.items():
            column[layer] += 1
            positions[item] = (column[layer] - 0.5) * columns / rows[layer], -layer
        _draw(axes, labels, arrows, positions)
    return figure


def _items(graph: Graph) -> tuple[dict[Item, str], list[tuple[Item, Item]], dict[Item, int]]:
    """Returns (the label of each item, the arrows between items, the layer of each item)."""
    labels: dict[Item, str] = {}
    arrows: list[tuple[Item, Item]] = []
    layers: dict[Item, int] = {}
    writes: Counter[int] = Counter()
    returned = {f.region.memory: f.region for f in graph.result_tensors}

    def memory(r: GraphTensor, layer: int) -> Item:
        item = ("memory", r.memory, writes[r.memory])
        layers.setdefault(item, layer)
        labels.setdefault(item, f"{_memory_role(graph, r.memory)}\n{_label(returned.get(r.memory, r))}")
        return item

    for k, node in enumerate(graph.nodes):
        kernel = ("kernel", k, 0)
        sources = [memory(r, 0) for r in node.operands if _read(graph, node, r, writes)]
        labels[kernel] = _computes(node)
        layers[kernel] = 1 + max((layers[item] for item in sources), default=0)
        arrows += [(item, kernel) for item in dict.fromkeys(sources)]
        writes.update(node.written)
        targets = [memory(r, layers[kernel] + 1) for r in node.writes]
        arrows += [(kernel, item) for item in dict.fromkeys(targets)]
    return labels, arrows, layers


def _read(graph: Graph, node: Node, r: GraphTensor, times: Counter[int]) -> bool:
    """True if a node reads a memory. A partial write reads a memory that has contents."""
    fresh = graph.memories[r.memory].is_internal and not times[r.memory]
    return not (fresh and r.memory in node.written)


def _memory_role(graph: Graph, memory: int) -> str:
    buffer = graph.memories[memory]
    if buffer.argument is not None:
        return f"argument {buffer.argument}"
    if buffer.captured is not None:
        return "found outside"
    return "result" if any(f.region.memory == memory for f in graph.result_tensors) else "between"


def _label(r: GraphTensor) -> str:
    shape = " x ".join(map(str, r.shape)) or "one"
    return f"{r.dtype.name} {shape}"


def _computes(node: Node) -> str:
    ops = " ".join(origin.op for origin in node.fused_origins or (node.origin,))
    skeletons = dict.fromkeys(skeleton_of(step.key).name for step in node.launch.steps)
    moved = sum(map(moved_bytes, node.operands))
    return f"{fill(ops, _LETTERS)}\n{', '.join(skeletons)}, {size(moved)}"


def _draw(
    axes: Axes, labels: dict[Item, str], arrows: list[tuple[Item, Item]], positions: dict[Item, tuple[float, float]]
) -> None:
    for begin, end in arrows:
        axes.annotate(
            "",
            positions[end],
            positions[begin],
            arrowprops={"arrowstyle": "->", "color": "0.4", "shrinkA": 12, "shrinkB": 14},
        )
    for item, text in labels.items():
        kernel = item[0] == "kernel"
        box = {
            "boxstyle": "square" if kernel else "round",
            "edgecolor": picture.PLAIN,
            "facecolor": "#DCEBF5" if kernel else "white",
            "linewidth": 1.2 if kernel else 0.5,
        }
        x, y = positions[item]
        axes.text(x, y, text, ha="center", va="center", bbox=box)
