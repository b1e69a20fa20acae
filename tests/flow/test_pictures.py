"""Figures: their size, their texts, and no overlapping texts."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

import ftensor as ft
from ftensor.boards import find
from ftensor.cli import main
from ftensor.errors.commands import PictureError
from ftensor.image.file import locate, read
from ftensor.picture import check, figure, save
from ftensor.toolchain import drawing
from ftensor.toolchain.inventory import read as inventory

from .. import forked
from ..docs_pages import environment

pytest.importorskip("matplotlib")
if TYPE_CHECKING:
    from matplotlib.figure import Figure

U55C = find("u55c")
PROGRAM = """
import ftensor as ft
x = ft.linspace(-1, 1, 100_000)
for _ in range(3):
    y = (x * x + 1).exp()
print((ft.ones(40, 30) @ ft.ones(30, 20)).sum().item(), y.amax().item())
"""


def checked_texts(chart: Figure) -> str:
    """Returns a figure's texts. Fails if one overlaps another or leaves the picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    seen: list[Text] = []
    inner = Text.draw

    def draw(text: Text, renderer: Any) -> None:
        seen.append(text)
        inner(text, renderer)

    canvas = FigureCanvasAgg(chart)
    canvas.draw()  # computes the layout
    with mock.patch.object(Text, "draw", draw):  # tick labels beyond the axes are not drawn
        canvas.draw()
    renderer = canvas.get_renderer()
    shown = {t: t.get_window_extent(renderer) for t in seen if t.get_visible() and t.get_text()}
    whole = chart.bbox.padded(1)
    for t, box in shown.items():
        assert whole.x0 <= box.x0 and box.x1 <= whole.x1, t.get_text()
        assert whole.y0 <= box.y0 and box.y1 <= whole.y1, t.get_text()
    for (a, first), (b, second) in itertools.combinations(shown.items(), 2):
        assert not first.padded(-1).overlaps(second.padded(-1)), (a.get_text(), b.get_text())
    return "\n".join(t.get_text() for t in shown)


def test_overlapping_text_is_detected() -> None:
    chart = figure(3, 3)
    chart.text(0.5, 0.5, "one")
    assert checked_texts(chart) == "one"
    chart.text(0.51, 0.51, "two")
    with pytest.raises(AssertionError, match=r"one.*two"):
        checked_texts(chart)
    chart = figure(3, 3)
    chart.text(0.9, 0.5, "too long for this")
    with pytest.raises(AssertionError, match="too long"):
        checked_texts(chart)


def test_labels_of_a_roofline_do_not_overlap() -> None:
    from ftensor.profiler.measurement import Limits
    from ftensor.profiler.report import Average
    from ftensor.profiler.report import drawn as roofline

    near = [
        Average(name, name, 1, 0.0, 1e-3, 0.0, 4 << 20, int(flops * (1 << 20)))
        for name, flops in (("add", 1), ("mul", 1), ("where", 1.1), ("lt", 1.2), ("matmul", 4e3))
    ]
    said = checked_texts(roofline(near, Limits(50e9, 300e9), "A processor"))
    assert all(one.name in said for one in near) and "300 GFLOP/s" in said and "50.0 GB/s" in said
    assert "50.0" not in checked_texts(roofline(near, Limits(float("nan"), 300e9), "Others"))
    assert "300 " not in checked_texts(roofline([], Limits(50e9, float("nan")), "Others"))


@pytest.fixture(scope="module")
def estimated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """Returns (report, trace) of a program, as `ftensor estimate` computes them."""
    code = (
        "import pickle, sys\n"
        "from pathlib import Path\n"
        "from ftensor.boards import find\n"
        "from ftensor.estimate.model import BoardConfig\n"
        "from ftensor.estimate.report import report\n"
        "from ftensor.python_program import PythonProgram\n"
        "from ftensor.toolchain.trace import run_program\n"
        "trace = run_program(PythonProgram(('program.py',)), 1, None, sys.stderr)\n"
        "made = report(trace, BoardConfig(find('u55c'), 300), 1, None)\n"
        "Path('made').write_bytes(pickle.dumps((made, trace)))\n"
    )
    import pickle

    folder = tmp_path_factory.mktemp("estimated")
    (folder / "program.py").write_text(PROGRAM)
    done = forked.run("-c", code, cwd=folder, env=environment())
    assert done.returncode == 0, done.stderr
    return pickle.loads((folder / "made").read_bytes())


def test_timeline_covers_the_whole_time(estimated: tuple[Any, Any]) -> None:
    from ftensor.estimate.report import COPIES, OTHERS, bin_spans, spans

    report, trace = estimated
    timeline = list(spans(report, trace.order))
    assert timeline[-1].end == pytest.approx(report.resident_seconds)
    assert all(a.end == b.begin for a, b in itertools.pairwise(timeline))
    by_bound: dict[str, float] = {}
    for span in timeline:
        by_bound[span.bound] = by_bound.get(span.bound, 0) + span.end - span.begin
    assert by_bound == pytest.approx(report.bounds())
    rows = bin_spans(timeline, 50, 4)
    assert len(rows) == 4 and OTHERS in rows and COPIES not in rows
    seconds = sum(sum(part.values()) for bins in rows.values() for part in bins)
    assert seconds == pytest.approx(report.resident_seconds)
    order = [span.row for span in timeline if span.row != COPIES and span.bound != "launch"]
    assert order[:4] == ["linspace", "mul", "add", "exp"]


def test_estimate_is_drawn(estimated: tuple[Any, Any]) -> None:
    from ftensor.estimate.compare import plot_estimate

    report, trace = estimated
    said = checked_texts(plot_estimate("program.py", report, trace.order))
    for word in ("Time line", "Bound by", "Area of", "exp", "linspace", "copies", "LUT", "launching"):
        assert word in said
    assert f"program.py, Alveo U55C: {report.resident_seconds * 1e3:.3g} ms, {report.count} launches" in said
    assert "A model's estimate, not measured on hardware." in said


def test_steps_and_boards_are_compared(estimated: tuple[Any, Any]) -> None:
    """A step is the inventory `steps`: its kernels' lanes, structures, units."""
    from ftensor.estimate.compare import STEP_BUILDS, columns, plot_columns

    report, trace = estimated
    candidates = list(columns(["steps", "u250"], trace, report))
    assert [c.title for c in candidates] == [s.title for s in STEP_BUILDS] + ["Alveo U55C", "Alveo U250"]
    groups = inventory.expand(inventory.read("steps"))
    for group, step, column in zip(groups, STEP_BUILDS, candidates):
        add = next(x.estimate.launch for x in column.report.lines if x.estimate.launch.key.name == "add")
        assert (add.key.lanes, add.structure, add.units) == (group.lanes, group.structure, group.units), step
        assert column.report.count == report.count
        other = [x for x in column.report.lines if x.estimate.launch.key.skeleton == "gemm_direct"]
        assert [x.estimate.launch.units for x in other] == [1]
    kernels = {c.title: c.report.kernels for c in candidates}
    assert kernels["vectors"] < kernels["dataflow"] and kernels["vectors"] == report.kernels
    said = checked_texts(plot_columns("program.py", candidates))
    assert f"{candidates[0].report.resident_seconds * 1e3:.3g} ms" in said and "Alveo U250" in said


EVERY_RUN = {("steps", "u55c"), ("first", "kv260")}


@pytest.mark.parametrize(
    ("name", "board"),
    [
        pytest.param(*pair, marks=[] if pair in EVERY_RUN else [pytest.mark.long])
        for pair in itertools.product(("first", "steps", "minimal", "cnn"), ("u55c", "kv260"))
    ],
)
def test_inventory_is_drawn(name: str, board: str) -> None:
    groups = inventory.expand(inventory.read(name))
    kernels = drawing.kernels_of_groups(groups, find(board))
    said = checked_texts(drawing.draw(name, kernels, find(board)))
    for group in groups:
        assert group.name in said
        assert f"{group.units} compute unit" in said
    assert ("HBM[0:31]" if board == "u55c" else "HP0") in said
    assert len(re.findall(r"LUT [\d.]+%", said)) == len(groups) + 1


def test_image_is_drawn_from_its_file(tmp_path: Path) -> None:
    """Ports and banks are the file's. Areas are those of its inventory."""
    out, picture = tmp_path / "image", tmp_path / "image.svg"
    assert main(["build", "--target", "csim", "--inventory", "steps", "--out", str(out)]) == 0
    image = read(locate(out))
    groups = drawing._groups(image)
    assert [g.name for g in groups] == [k.name for k in image.manifest.kernels]
    kernels = drawing.kernels_of_image(image, groups, U55C)
    units = kernels[-1]
    assert units.ports == {"M_AXI_GMEM0": "HBM[0]", "M_AXI_GMEM1": "HBM[1]", "M_AXI_GMEM2": "HBM[2]"}
    assert "4 compute units ■■■■" in checked_texts(drawing.draw("steps", kernels, U55C))
    unknown = [replace(k, shares={}) for k in kernels]
    assert "Area" not in checked_texts(drawing.draw("steps", unknown, None))
    assert main(["image", "draw", str(out), str(picture), "--board", "u55c"]) == 0
    text = picture.read_text()
    assert text.startswith("<?xml") and "vadd_burst" in text and len(text) < 200_000
    width, height = map(float, re.findall(r'(?:width|height)="([\d.]+)pt"', text)[:2])
    assert width == 12 * 72 and 200 < height < 1000


def test_ranges_of_banks_are_named() -> None:
    assert drawing.bank_range([f"HBM[{k}]" for k in range(32)]) == "HBM[0:31]"
    assert drawing.bank_range(["HBM[0]", "HBM[2]"]) == "HBM[0] HBM[2]"
    assert drawing.bank_range(["DDR[1]"]) == "DDR[1]"
    assert drawing.bank_range([]) == drawing.PLATFORM


def test_invalid_arguments_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PictureError, match=r"picture\.txt: the suffix .* svg"):
        check(tmp_path / "picture.txt")
    with pytest.raises(PictureError, match="no such folder"):
        save(figure(1, 1), tmp_path / "none" / "picture.svg")
    assert main(["image", "draw", "firts", str(tmp_path / "a.svg")]) == 1
    assert "did you mean 'first'" in capsys.readouterr().err
    assert main(["image", "draw", "first", str(tmp_path / "a.svg"), "--board", "u5"]) == 1
    assert "u55c" in capsys.readouterr().err


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PictureError, match=r'pip install "\.\[plot\]"'):
        figure(1, 1)


def test_the_commands(tmp_path: Path) -> None:
    """`--plot` writes the picture and prints its path, and `--compare` prints a table. An unknown
    suffix or board is refused before the program runs."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = ("-m", "ftensor", *words, "program.py")
        return forked.run(*command, cwd=tmp_path, env=environment())

    done = run("estimate", "--plot", "out.png", "--compare", "steps", "--compare", "kv260")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^burst( +[\d.]+){4}$", done.stdout, re.M)
    assert re.search(r"^Kria KV260( +[\d.]+){4}$", done.stdout, re.M)
    assert done.stdout.endswith("picture: out.png\n")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    for words, said in ((("--plot", "x.txt"), "suffix"), (("--compare", "u25"), "u250")):
        done = run("estimate", *words)
        assert (done.returncode, done.stdout) == (1, "") and said in done.stderr


def test_without_jit_runs_the_function_eagerly() -> None:
    from ftensor.estimate.compare import without_jit

    calls = []

    @ft.jit
    def f(x: ft.Tensor) -> ft.Tensor:
        calls.append(x)
        return x + 1

    x = ft.ones(3)
    f(x), f(x)
    traced = len(calls)
    with without_jit():
        f(x), f(x)
    assert len(calls) == traced + 2
    f(x)
    assert len(calls) == traced + 2


def test_graphs_are_compared_with_eager(tmp_path: Path) -> None:
    """The eager line is that of the same program without `ft.jit`. The graph's line is that of its
    run."""
    text = (
        "import ftensor as ft\n"
        "{0}\n"
        "def f(x):\n"
        "    return (x * x + 1).exp()\n"
        "print(f(ft.linspace(-1, 1, 100_000)).amax().item())\n"
    )
    lines = {}
    for name, with_graph in (("graph", "@ft.jit"), ("plain", "")):
        (tmp_path / "program.py").write_text(text.format(with_graph))
        command = ("-m", "ftensor", "estimate", "--compare", "graph", "program.py")
        done = forked.run(*command, cwd=tmp_path, env=environment())
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("7.38905") == 2  # it ran twice
        lines[name] = dict(re.findall(r"^(eager|graph) +(.*)$", done.stdout, re.M))
    assert lines["graph"]["eager"] == lines["plain"]["eager"] == lines["plain"]["graph"]
    kernels = [float(row.split()[0]) for row in lines["graph"].values()]
    assert 0 < kernels[1] <= kernels[0]


def test_top_counts_ops_and_their_time(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM + "import sys\nsys.exit(int(sys.argv[1]))")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return forked.run("-m", "ftensor", "top", *words, cwd=tmp_path, env=environment())

    done = run("program.py", "3")
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines()[0].split()[0] == "24000.0"
    assert re.search(r"^exp +3 +[\d.]+ +\d+% +[\d.]+ +[\d.]+$", done.stdout, re.M)
    shares = [int(n) for n in re.findall(r" (\d+)%  ", done.stdout)]
    assert shares == sorted(shares, reverse=True) and 95 < sum(shares) < 105
    assert "waited for each" in done.stdout
    done = run("--no-wait", "--rows", "2", "program.py", "0")
    assert "not waited for" in done.stdout and "more ops" in done.stdout
    missing = run("nothing.py")
    assert missing.returncode == 1 and "no such file" in missing.stderr
