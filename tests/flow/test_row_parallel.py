"""Lanes and compute units of graphs for a board, chosen by the area model."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

import ftensor as ft
from ftensor.boards import Board, find
from ftensor.errors.commands import EstimateError
from ftensor.kernels.staged import StagedKey, lanes_of
from ftensor.toolchain.area.fit import area, board_shares, fit
from ftensor.toolchain.folding import SHARE
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.row_parallel import choose_row_builds, seconds


def curve(x: ft.Tensor) -> ft.Tensor:
    y = x.clamp(0, 1).pow(1 / 2.2)
    return (y / (1 + y).exp() - y.mean(-1, keepdim=True)).tanh()


def norm(x: ft.Tensor) -> ft.Tensor:
    y = x - x.mean(-1, keepdim=True)
    return y * (y.square().mean(-1, keepdim=True) + 1e-5).rsqrt()


def key_of(function: object, folder: Path, length: int = 640) -> StagedKey:
    files = ft.jit(function).export(str(folder / "graph"), ft.ones(5, length))  # type: ignore[arg-type]
    (group,) = expand(read(files.inventory))
    return cast("StagedKey", group.members[0])


def within(groups: list[KernelGroup], board: Board) -> bool:
    usage = fit(groups, board)
    return not usage.crowded and all(a <= b for a, b in zip(usage.shares.values(), SHARE))


@pytest.mark.parametrize("board", [find(name) for name in ("u55c", "u250", "kv260")], ids=lambda b: b.name)
@pytest.mark.parametrize("function", [curve, norm])
def test_no_other_choice_is_faster(function: object, board: Board, tmp_path: Path) -> None:
    none_faster(key_of(function, tmp_path), board)


@pytest.mark.parametrize("board", [find(name) for name in ("u200", "u250")], ids=lambda b: b.name)
def test_no_other_choice_for_the_photograph_is_faster(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum over a choice that does not fit can be lower than over one that fits."""
    pytest.importorskip("PIL.Image", reason="the example imports Pillow")
    pytest.importorskip("sklearn", reason="the example's photograph is one of scikit-learn's")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    import photo_graph

    *planes, above, below = (ft.zeros(5, 640, dtype=ft.uint8) for _ in range(5))
    files = photo_graph.developed.export(str(tmp_path / "photo"), planes, above, below)
    (group,) = expand(read(files.inventory))
    none_faster(cast("StagedKey", group.members[0]), board)


def none_faster(key: StagedKey, board: Board) -> None:
    """Checks that the chosen lanes and units fit, and that no choice that fits is faster."""
    build = choose_row_builds({"one": key}, board)
    (chosen,) = build.groups
    assert build.fits and within([chosen], board)
    assert build.shares == pytest.approx(tuple(fit([chosen], board).shares.values()))
    others = [
        KernelGroup("one", (replace(key, lanes=lanes),), units=units)
        for lanes in lanes_of(key)
        for units in {1, 2, 3, 4, 6, 8, 10, 12, 15, chosen.units, chosen.units + 1}
    ]
    fitting = [other for other in others if within([other], board)]
    assert chosen in fitting and len(fitting) > 2
    assert min(seconds(other, board) for other in fitting) > 0.999 * seconds(chosen, board)


def test_two_graphs_share_a_board(tmp_path: Path) -> None:
    """A graph with more rows gets more of it, and other kernels of the image leave less for
    both."""
    keys, board = {"a": key_of(curve, tmp_path), "b": key_of(norm, tmp_path)}, find("u55c")
    even, other_group = choose_row_builds(keys, board), KernelGroup("other", (key_of(norm, tmp_path, 4096),), units=8)
    assert even.fits and within(list(even.groups), board)
    alone = choose_row_builds({"a": keys["a"]}, board).groups[0]
    more = choose_row_builds(keys, board, rows=(1, 1000)).groups
    assert seconds(more[1], board) < seconds(even.groups[1], board)
    assert seconds(more[0], board) > seconds(alone, board)
    fewer = choose_row_builds(keys, board, [other_group])
    assert fewer.fits and within([*fewer.groups, other_group], board)
    assert seconds(fewer.groups[0], board) > seconds(even.groups[0], board)


def test_lanes_follow_from_given_units(tmp_path: Path) -> None:
    key, board = key_of(norm, tmp_path), find("kv260")
    lanes = {units: choose_row_builds({"one": key}, board, units=units).groups[0] for units in (1, 2)}
    assert [group.units for group in lanes.values()] == [1, 2]
    assert lanes[2].lanes < lanes[1].lanes
    assert not choose_row_builds({"one": key}, board, units=31).fits


def test_exported_choice_is_read_by_the_build(tmp_path: Path) -> None:
    files = ft.jit(curve).export(str(tmp_path / "curve"), ft.ones(5, 640), target="kv260")
    (group,) = expand(read(files.inventory))
    assert (group.members[0].entry, group.lanes, group.units) == (files.entry, 4, 1)
    assert board_shares(area(group).whole, find("kv260"))[0] < 0.70
    assert re.search(r"Kria KV260 at 300 MHz.*\n.*lanes.*\n +curve +4 +1 ", files.report)
    assert "4 lanes" in files.source.read_text()
    wide = ft.jit(norm).export(str(tmp_path / "norm"), ft.ones(5, 640), target="u55c")
    (group,) = expand(read(wide.inventory))
    assert group.units > 4 and f"units = {group.units}\n" in wide.inventory.read_text()
    assert "memory" in wide.report.splitlines()[2]


def test_graph_too_large_for_boards_is_refused(tmp_path: Path) -> None:
    def large(x: ft.Tensor) -> ft.Tensor:
        for _ in range(12):
            x = (x.pow(1.5) + x.sum(-1, keepdim=True)).tanh()
        return x

    with pytest.raises(ft.GraphError, match=r"large does not fit a Kria KV260, even with one lane: LUT \d\d\d%"):
        ft.jit(large).export(str(tmp_path / "large"), ft.ones(5, 640), target="kv260")
    assert not list(tmp_path.iterdir())
    with pytest.raises(EstimateError, match="u200"):
        ft.jit(norm).export(str(tmp_path / "norm"), ft.ones(5, 640), target="zynq")
