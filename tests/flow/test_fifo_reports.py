"""Reports of the FIFO check: of several launches and processes, and of `ftensor emulate`."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import pytest

from ftensor.cli import main
from ftensor.emulation import fifos

from .. import forked
from ..made_images import require_xrt


def launch_report(waits: bool = False, elements: int = 4) -> str:
    fifo = {"name": "s", "from": "p", "to": "q", "elements": elements, "depth": 2, "least": elements, "fast": 5}
    stuck = [["p", "s", True, "q"]] if waits else []
    return json.dumps({"accesses": 2 * elements, "polled": False, "waits": stuck, "best": 4, "fifos": [fifo]})


LONG = '{"accesses": 20000000, "polled": false, "long": true}'


@pytest.mark.parametrize(
    "texts", list(itertools.permutations([launch_report(waits=True), launch_report(elements=9), LONG]))
)
@pytest.mark.parametrize("devices", [1, 3])
def test_reports_of_several_launches_are_merged(tmp_path: Path, texts: tuple[str, ...], devices: int) -> None:
    """The order does not matter, nor the number of devices. A program may have several
    processes."""
    reports = [fifos.FifoReports(tmp_path / f"fifos-{k}.json") for k in range(devices)]
    for k, text in enumerate(texts):
        reports[k % devices].add("k", text)
    found = fifos.collected(tmp_path)["k"]
    assert fifos.locks_up(found)
    assert (found["launches"], found["long"], found["accesses"]) == (3, 1, 20000000)
    assert [(f["elements"], f["least"], f["fast"]) for f in found["fifos"]] == [(9, 9, 5)]
    text = fifos.describe("k", found)
    assert "1 of 3 launches could not be checked" in text and "p waits to write s" in text


def test_launch_that_is_too_long_to_check(tmp_path: Path) -> None:
    fifos.FifoReports(tmp_path / "fifos-1.json").add("k", LONG)
    text = fifos.describe("k", fifos.collected(tmp_path)["k"])
    assert "the launch could not be checked" in text and "20000000 accesses" in text and "do not lock up" not in text


def test_fifos_of_a_deadlocked_launch_are_kept(tmp_path: Path) -> None:
    """Another launch may use other FIFOs."""
    other = launch_report(elements=3).replace('"s"', '"other"')
    reports = fifos.FifoReports(tmp_path / "fifos-1.json")
    for text in (other, launch_report(waits=True), other.replace("3", "7")):
        reports.add("k", text)
    (found,) = fifos.collected(tmp_path)["k"]["fifos"]
    assert (found["name"], found["elements"]) == ("s", 4)


def test_emulation_reports_deadlocked_kernels(tmp_path: Path) -> None:
    """Its exit status is another one, since the program would hang on a board."""
    require_xrt()
    (tmp_path / "pipe.cpp").write_text(PIPE)
    pack = ["-m", "ftensor", "image", "pack", "pipe.cpp", "pipe.xclbin"]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = forked.run(*pack, cwd=tmp_path)
    assert not done.returncode, done.stderr
    done = forked.run(
        *("-m", "ftensor", "emulate", "--json", "found.json", "--image", "pipe.xclbin"),
        *("--", sys.executable, "program.py"),
        cwd=tmp_path,
    )
    assert "[-1.5, -0.5, 0.5, 1.5]" in done.stdout
    assert done.returncode == 70
    assert "kernel centre locks up" in done.stderr and "kernel twice:" not in done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["status"], found["failures"]) == (0, [])
    assert {kernel: one["locks_up"] for kernel, one in found["fifos"].items()} == {"twice": False, "centre": True}
    assert {"stream": "b", "writes": True}.items() <= found["fifos"]["centre"]["waits"][0].items()
    (warning,) = found["warnings"]
    assert "has read the result in argument 'out' of kernel 'twice'" in warning and warning in done.stderr


def test_unwritable_report_file_is_an_error_before_the_program_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = tmp_path / "ran"
    assert main(["emulate", "--json", str(tmp_path / "none/x.json"), "--", "touch", str(ran)]) == 2
    assert "No such file or directory" in capsys.readouterr().err and not ran.exists()


PROGRAM = """
import ftensor as ft
x, y = ft.arange(4, dtype=ft.float32), ft.zeros(4)
for name in ("twice", "centre"):
    ft.fpga.kernel("pipe.xclbin", name)(x, y, 4)
print(y.tolist())
unread = ft.zeros(4)
ft.fpga.kernel("pipe.xclbin", "twice")(x, unread, 4)
ft.fpga.synchronize()
"""
PIPE = """
#include <hls_stream.h>
static void split(const float *in, hls::stream<float> &a, hls::stream<float> &b, int n)
{ for (int i = 0; i < n; i++) { float x = in[i]; a.write(x); b.write(x); } }
static void sum(hls::stream<float> &a, hls::stream<float> &s, int n)
{ float t = 0; for (int i = 0; i < n; i++) t += a.read(); s.write(t); }
static void sub(hls::stream<float> &b, hls::stream<float> &s, float *out, int n)
{ float t = s.read(); for (int i = 0; i < n; i++) out[i] = b.read() - t / n; }
extern "C" {
void centre(const float *in, float *out, int n)
{
#pragma HLS DATAFLOW
    hls::stream<float> a("a"), b("b"), s("s");
    split(in, a, b, n); sum(a, s, n); sub(b, s, out, n);
}
void twice(const float *in, float *out, int n)
{
#pragma HLS DATAFLOW
    hls::stream<float> a("a");
    for (int i = 0; i < n; i++) a.write(in[i]);
    for (int i = 0; i < n; i++) out[i] = 2 * a.read();
}
}
"""
