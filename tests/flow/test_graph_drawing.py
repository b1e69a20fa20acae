"""A graph's drawing is complete and reproducible."""

from __future__ import annotations

import pytest

import ftensor as ft
from ftensor.graph.report import draw_graph

from .test_pictures import checked_texts


def looked_over(x: ft.Tensor, w: ft.Tensor) -> tuple[ft.Tensor, ft.Tensor]:
    y = x @ w
    x.add_(1)
    return y.cumsum(0).exp() * 2, x.cumsum(0) + y


def test_drawing() -> None:
    pytest.importorskip("matplotlib")
    plan = ft.jit(looked_over).graph(ft.ones(8, 8), ft.ones(8, 8))
    text = checked_texts(draw_graph(plan._graph))
    assert text.endswith("looked_over")  # the title
    assert text.count("argument 0") == 2  # before and after it is written
    assert [text.count(word) for word in ("argument 1", "result", "scan\n")] == [1, 2, 2]
    drawing = plan.svg()
    assert drawing.rstrip().endswith("</svg>") and "argument 0" in drawing
    assert plan.svg() == drawing


def test_nothing_to_draw() -> None:
    pytest.importorskip("matplotlib")
    assert "</svg>" in ft.jit(lambda x: x).graph(ft.ones(3)).svg()
