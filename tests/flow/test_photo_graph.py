"""The photograph pipeline: the graph's picture equals NumPy's and eager's, also on an image."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import ftensor as ft
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.vitis.source import copy_headers

from .. import forked
from ..ir.findings import findings

pytest.importorskip("PIL.Image")
pytest.importorskip("sklearn")
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program as a module."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import photo_graph

    return photo_graph


def drawn(rows: int) -> np.ndarray:
    """Returns a small picture: bytes from dark to light, rows of three beats."""
    draw = np.random.default_rng(1)
    values = draw.integers(0, 256, (rows, 48, 3)) * np.linspace(0.05, 1, rows)[:, None, None]
    return np.asarray(values.astype(np.uint8))


def test_the_graph_gives_eagers_bytes_and_numpys_picture(example: ModuleType) -> None:
    photo = drawn(10)
    graph = example.by_ftensor(example.developed, photo)
    eager = example.by_ftensor(lambda *arguments: example.develop(ft, *arguments), photo)
    for one, other, numpys in zip(graph, eager, example.by_numpy(photo), strict=True):
        assert one.tobytes() == other.tobytes()
        assert one.dtype == numpys.dtype and one.shape == numpys.shape
        if one.ndim == 2:
            assert np.abs(one.astype(int) - numpys).max() <= 1
        else:
            np.testing.assert_allclose(one, numpys, rtol=1e-5)
    assert graph[0].std() > 10 and graph[3].max() > 100


def test_pipeline_is_one_kernel_of_stages(example: ModuleType, tmp_path: Path) -> None:
    """It has five operands and five results, and v++ refuses nothing in its source."""
    planes, above, below = example.rows_of(drawn(10))
    arguments = [ft.from_numpy(p) for p in planes], ft.from_numpy(above), ft.from_numpy(below)
    files = example.developed.export(str(tmp_path / "developed"), *arguments)
    (group,) = expand(read(files.inventory))
    (key,) = group.members
    assert (len(key.ins), len(key.outs), key.lanes) == (5, 5, 16)  # type: ignore[attr-defined]
    assert {p.dtype.name for p in key.ins} == {"uint8"}  # type: ignore[attr-defined]
    copy_headers(tmp_path)
    assert not findings(files.source, "developed")


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_commands_of_the_page_make_and_run_the_image(tmp_path: Path) -> None:
    """The program is traced, built, run on the image alone, and compared by the model."""
    program = (str(EXAMPLES / "photo_graph.py"), "--once")
    kept = {k: v for k, v in os.environ.items() if k not in ("FTENSOR_DEVICE", "FTENSOR_IMAGE")}

    def run(*words: str, **settings: str) -> str:
        done = forked.run(*words, env=kept | {"PYTHONPATH": str(EXAMPLES.parent), **settings}, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    command = ("-m", "ftensor")
    run(*command, "kernels", "--write", "mine.toml", "--trace", *program)
    assert (tmp_path / "mine.toml").read_text().count("[[graph]]") == 1
    run(*command, "build", "--inventory", "mine.toml", "--target", "csim", "--out", "mine")
    image = {"FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": str(tmp_path / "mine" / "mine.xclbin")}
    assert "graph and NumPy: " in run(*program, FTENSOR_FALLBACK="error", **image)
    table = run(*command, "estimate", "--compare", "graph", *program)
    eager, graph = (float(line.split()[-1]) for line in table.splitlines()[-2:])
    assert graph < eager / 4
