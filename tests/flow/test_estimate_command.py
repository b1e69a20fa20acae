"""`ftensor estimate`: its output as text and as JSON, and its error messages."""

import json
import os
import re

import pytest

from ftensor.cli import main

from .. import forked


def run(*arguments, **environment):
    return forked.run("-m", "ftensor", "estimate", *arguments, env=os.environ | environment)


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import sys\n"
        "import numpy as np\n"
        "import ftensor as ft\n"
        "a = ft.from_numpy(np.ones((64, 1000), np.float32))\n"
        "for _ in range(3):\n"
        "    b = a + a\n"
        "print('sum', b.sum().item(), *sys.argv[1:])\n"
    )
    return path


def test_command_prints_both_totals_and_their_meaning(program):
    done = run(program, "x")
    assert done.returncode == 0, done.stderr
    assert "sum 128000.0 x" in done.stdout
    assert "A model's estimate, not measured on hardware." in done.stdout
    line = re.search(r"^add +map .* 64000 +1 +3 .*", done.stdout, re.M)
    assert line
    assert (line[0].split()[-3], line[0].split()[-1]) == ("launch", "PCIe")
    for word in ("resident", "fetched", "Alveo U55C", "Mostly bound by", "Residency:", "off by"):
        assert word in done.stdout


def test_command_json(program):
    done = run("--json", "--board", "u200", "--units", 4, "--clock", 250, program)
    assert done.returncode == 0, done.stderr
    assert "sum 128000.0" in done.stderr
    got = json.loads(done.stdout)
    assert got["note"].startswith("A model's estimate")
    assert got["assumptions"]["clock_mhz"] == 250
    assert all(f["source"] for f in got["board"]["figures"].values())
    add = next(x for x in got["launches"] if x["op"] == "add")
    assert (add["count"], add["units"], add["size"]) == (3, 3, "64000")  # 16384 elements for each unit
    assert add["bytes"] == 3 * 256000
    assert (add["bytes_to_board"], add["bytes_to_host"]) == (512000, 256000)
    total = got["total"]
    assert total["launches"] == sum(x["count"] for x in got["launches"])
    kernels = sum(x["count"] * x["kernel_s"] for x in got["launches"])
    assert total["kernels_s"] == pytest.approx(kernels)
    crossing = sum(x["count"] * x["crossing_s"] for x in got["launches"])
    fixed = total["kernels_s"] + total["launches_s"] + total["geometries_s"]
    assert total["fetched_s"] == pytest.approx(fixed + crossing)
    assert total["resident_s"] == pytest.approx(fixed + got["copies"]["s"])
    assert got["copies"]["to_board"] == 256000 and got["copies"]["to_host"] == 4


CROSSING = """
import numpy as np
import ftensor as ft
def make(*shape):
    return ft.from_numpy(np.ones(shape, np.float32))
make(100, 1000) + make(1000)
make(64, 1000).sum(1)
make(64, 1000).mean()
make(150, 130) @ make(130, 170)
make(500, 300)[ft.tensor([1, 2, 70])]
make(20, 30).t().contiguous()
"""


def test_bytes_that_would_cross_are_the_operands(tmp_path):
    path = tmp_path / "crossing.py"
    path.write_text(CROSSING)
    done = run("--json", "--units", 2, path)
    assert done.returncode == 0, done.stderr
    crossing = {}
    for x in json.loads(done.stdout)["launches"]:
        both = crossing.setdefault(x["op"], [0, 0])
        both[0] += x["bytes_to_board"] * x["count"]
        both[1] += x["bytes_to_host"] * x["count"]
    assert crossing["add"] == [4 * (100 * 1000 + 1000), 4 * 100 * 1000]
    assert crossing["sum"] == [4 * 64 * 1000, 4 * 64]
    assert crossing["mean"] == [4 * 64 * 1000, 4]  # the partial sums of its splits stay on the device
    assert crossing["matmul"] == [4 * (150 * 130 + 130 * 170), 4 * 150 * 170]  # and so do panels
    # The rows that are found with their indices, and the transposed matrix.
    assert crossing["copy"] == [4 * 900 + 8 * 3 + 4 * 600, 4 * 900 + 4 * 600]


@pytest.mark.parametrize("other", ["intel-cpu", pytest.param("pocl", marks=pytest.mark.long)])
def test_any_device_gives_the_same_estimate(tmp_path, other):
    from ftensor.runtime.discovery import find

    if not any(device.target.name == other for device in find()):
        pytest.skip(f"{other} is not here, to be compared with the C simulation")
    path = tmp_path / "crossing.py"
    path.write_text(CROSSING)
    both = [run("--json", "--units", 4, path, FTENSOR_DEVICE=name) for name in ("csim", other)]
    assert both[0].returncode == both[1].returncode == 0, both[0].stderr + both[1].stderr
    assert json.loads(both[0].stdout) == json.loads(both[1].stdout)


def test_widened_accesses_are_faster(tmp_path):
    path = tmp_path / "sum.py"
    path.write_text("import ftensor as ft\nft.ones(64, 64) @ ft.ones(64, 64)\n")
    times = []
    for option in ([], ["--widened"]):
        done = run("--json", *option, path)
        assert done.returncode == 0, done.stderr
        launches = json.loads(done.stdout)["launches"]
        times.append(next(x["kernel_s"] for x in launches if x["op"] == "matmul"))
    assert times[0] > 1.05 * times[1]


def test_command_with_an_inventory_names_missing_kernels(program):
    program.write_text(program.read_text() + "a.acosh()\n")
    done = run("--json", "--inventory", "minimal", program)
    assert done.returncode == 0, done.stderr
    assert "acosh" in json.loads(done.stdout)["not_in_inventory"]


@pytest.mark.parametrize(
    "arguments, text, message",
    [
        (["--board", "u99"], "", "no board 'u99'"),
        (["--units", "0"], "", "--units must be more than 0"),
        (["--inventory", "no-such"], "", "no-such"),
        (["--banks", "DDR[0]"], "", "'HBM[0]' for one bank"),
        ([], None, "no such file"),
        ([], "print(1)", "launched no kernel"),
        ([], "raise KeyError('mine')", "KeyError: 'mine'"),
    ],
)
def test_invalid_arguments_give_one_message(tmp_path, arguments, text, message):
    path = tmp_path / "program.py"
    if text is not None:
        path.write_text(text)
    done = run(*arguments, path)
    assert done.returncode == 1
    assert message in done.stderr
    if "KeyError" not in message:
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("end, status", [("3", 3), ("'no data'", 1), ("True", 1), ("256 + 7", 7)])
def test_failing_program_gives_its_exit_status(tmp_path, end, status):
    path = tmp_path / "program.py"
    path.write_text(f"import sys, ftensor as ft\nft.ones(9) + 1\nsys.exit({end})")
    for done in (run(path), forked.run("-m", "ftensor", "kernels", "--trace", path, env=dict(os.environ))):
        assert done.returncode == status and "failed" in done.stderr and "Traceback" not in done.stderr


def test_option_after_the_program_is_passed_on_with_a_note(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import sys, ftensor as ft\nft.ones(9) + 1\nassert sys.argv[1:] == ['--board']")
    done = run(path, "--board")
    assert done.returncode == 0 and "--board stands behind" in done.stderr


def test_rows_of_a_graph_may_be_shorter_than_a_beat(tmp_path):
    program = tmp_path / "short.py"
    program.write_text(
        "import ftensor as ft\nprint(ft.jit(lambda x: x.mean(2) * 2 + 1)(ft.ones(8, 6, 3)).sum().item())"
    )
    done = run(program)
    assert (done.returncode, done.stdout.split()[0]) == (0, "144.0"), done.stderr


def test_graph_with_a_result_of_one_element(program):
    program.write_text(
        "import ftensor as ft\nprint(ft.jit(lambda x, s: (x * 2 * s, s + 1))(ft.ones(1024), ft.ones(1))[1].item())"
    )
    done = run(program, FTENSOR_DEVICE="csim")
    assert (done.returncode, done.stdout.split()[0]) == (0, "2.0"), done.stderr
    assert "1x1024" in done.stdout, "one row"


def test_published_designs_need_no_program():
    done = run("--published")
    assert done.returncode == 0, done.stderr
    designs, reasons, band = done.stdout.split("\n\n")
    head, *rows = designs.splitlines()
    assert head.split() == ["published", "model", "factor", "at", "200", "MHz", "role", "source"] and len(rows) == 27
    assert "take 0.54 to 1.80 times the model's time" in band
    assert "sort of 131,072 int32: the published one merges" in reasons
    assert re.search(r"sort of 131,072 int32 +1.13 ms +1.89 +1.68 ", done.stdout)
    done = run("--board", "u55c")
    assert done.returncode == 1 and "name the program: ftensor estimate" in done.stderr


OTHERS = ["program.py", "--json", "--plot=x.svg", "--compare=steps", "--board=u50", "--units=2", "--clock=100"]


@pytest.mark.parametrize("other", [*OTHERS, "--inventory=minimal", "--banks=HBM[0]", "--in-flight=2", "--widened"])
def test_published_designs_are_printed_alone(other, capsys):
    assert main(["estimate", "--published", other]) == 1
    written = capsys.readouterr()
    assert not written.out
    assert f"--published prints only its table, without {other.partition('=')[0]}" in written.err
