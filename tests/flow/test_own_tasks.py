"""hls::task, channels with several consumers, and streams between kernels, in C simulation and on
XRT."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.cli import main
from ftensor.errors.image import ImageError
from ftensor.image.info import load
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain.csim import SEQUENTIAL
from ftensor.toolchain.vitis.source import standins

from .emulation_host import emulate, output

pytestmark = pytest.mark.skipif(csim_compiler() is None, reason="needs a C++ compiler")

TASKS = """
#include <hls_np_channel.h>
#include <hls_task.h>
static void by_parity(hls::stream<int> &in, hls::stream<int> &odd, hls::stream<int> &even)
{
    int x = in.read();
    if (x & 1) odd.write(x); else even.write(x);
}
static void twice(hls::stream<int> &in, hls::stream<int> &out) { out.write(2 * in.read()); }
static void negate(hls::stream<int> &in, hls::stream<int> &out) { out.write(-in.read()); }
static void load(const int *in, hls::stream<int> &s, int n) { for (int i = 0; i < n; i++) s.write(in[i]); }
static void store(hls::stream<int> &odd, hls::stream<int> &even, int *out, int n)
{
    for (int i = 0; i < n / 2; i++) out[2 * i] = even.read(), out[2 * i + 1] = odd.read();
}
extern "C" void routed(const int *in, int *out, int n)
{
#pragma HLS DATAFLOW
    hls_thread_local hls::stream<int, 4> s("s"), odd("odd"), even("even"), odd2("odd2"), even2("even2");
    hls_thread_local hls::task route(by_parity, s, odd, even);
    hls_thread_local hls::task t1(twice, odd, odd2);
    hls_thread_local hls::task t2(negate, even, even2);
    load(in, s, n);
    store(odd2, even2, out, n);
}
// Of tasks alone, with a name of the C library.
extern "C" void pipe(hls::stream<int> &in, hls::stream<int> &out)
{
#pragma HLS INTERFACE ap_ctrl_none port = return
    hls_thread_local hls::stream<int> s;
    hls_thread_local hls::task t1(twice, in, s);
    hls_thread_local hls::task t2(negate, s, out);
}
extern "C" void in_turn(const int *in, int *out, int n)
{
#pragma HLS DATAFLOW
    hls_thread_local hls::split::round_robin<int, 2> to;
    hls_thread_local hls::merge::round_robin<int, 2> from;
    hls_thread_local hls::task w0(twice, to.out[0], from.in[0]);
    hls_thread_local hls::task w1(negate, to.out[1], from.in[1]);
    load(in, to.in, n);
    for (int i = 0; i < n; i++) out[i] = from.out.read();
}
extern "C" void balanced(const int *in, int *out, int n)
{
#pragma HLS DATAFLOW
    hls_thread_local hls::split::load_balance<int, 3> to;
    hls_thread_local hls::merge::load_balance<int, 3> from;
    hls_thread_local hls::task w0(twice, to.out[0], from.in[0]);
    hls_thread_local hls::task w1(twice, to.out[1], from.in[1]);
    hls_thread_local hls::task w2(twice, to.out[2], from.in[2]);
    load(in, to.in, n);
    for (int i = 0; i < n; i++) out[i] = from.out.read();
}
"""
# A file for each kernel, as v++ compiles them. `sums` reads all of its first stream before the
# second.
READS = """
#include <hls_stream.h>
static void both(const int *in, hls::stream<int> &a, hls::stream<int> &b, int n)
{
    for (int i = 0; i < n; i++) a.write(in[i]), b.write(in[i]);
}
extern "C" void reads(const int *in, hls::stream<int> &a, hls::stream<int> &b, int n)
{
#pragma HLS DATAFLOW
    both(in, a, b, n);
}
"""
ADDS = """
#include <hls_stream.h>
extern "C" void adds(hls::stream<int> &in, hls::stream<int> &out)
{
#pragma HLS INTERFACE ap_ctrl_none port = return
    out.write(in.read() + 1);
}
"""
SUMS = """
#include <hls_stream.h>
extern "C" void sums(hls::stream<int> &a, hls::stream<int> &b, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += a.read();
    for (int i = 0; i < n; i++) out[i] = sum - b.read();
}
"""
CONFIG = """
[connectivity]
stream_connect=reads_1.a:adds_1.in:4
stream_connect=adds_1.out:sums_1.a
stream_connect=reads_1.b:sums_1.b:8
"""
LAUNCHES = """
import ftensor as ft
x, y = ft.arange(16, dtype=ft.int32), ft.zeros(16, dtype=ft.int32)
reads, sums = ft.fpga.kernel("linked.xclbin", "reads"), ft.fpga.kernel("linked.xclbin", "sums")
for _ in range(3):
    reads(x, 16)
    sums(y, 16)
    assert y.tolist() == [136 - i for i in range(16)], y
print("right")
"""


def test_tasks(tmp_path: Path) -> None:
    (tmp_path / "tasks.cpp").write_text(TASKS)
    before = ft.get_device_mapping()
    ft.set_device_mapping("csim")
    try:
        n = 100
        x, y = ft.arange(n, dtype=ft.int32), ft.zeros(n, dtype=ft.int32)
        called = {name: ft.fpga.kernel(tmp_path / "tasks.cpp", name) for name in ("routed", "in_turn", "balanced")}
        for _ in range(3):
            called["routed"](x, y, n)
            assert y.tolist() == [2 * i if i & 1 else -i for i in range(n)]
            called["in_turn"](x, y, n)
            assert y.tolist() == [-i if i & 1 else 2 * i for i in range(n)]
            called["balanced"](x, y, n)
            assert sorted(y.tolist()) == [2 * i for i in range(n)]
            ft.fpga.kernel(tmp_path / "tasks.cpp", "pipe")(x, y)
            assert y.tolist() == [-2 * i for i in range(n)]
    finally:
        ft.set_device_mapping(before)


@pytest.mark.usefixtures("xrt_image", "nothing_left")
def test_tasks_on_xrt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are processes for the FIFO check."""
    monkeypatch.chdir(tmp_path)
    Path("tasks.cpp").write_text(TASKS)
    assert main(["image", "pack", "tasks.cpp"]) == 0
    code = """
import sys, ftensor as ft
x, y = ft.from_numpy(__import__("numpy").arange(100, dtype="int32")), ft.zeros(100, dtype=ft.int32)
ft.fpga.kernel("tasks.xclbin", sys.argv[1])(x, y, 100)
print(y[:4].tolist())
"""
    options = ("--image", "tasks.xclbin", "--json", "found.json")
    assert output(emulate("python", "-c", code, "routed", options=options))[-1] == "[0, 2, -2, 6]"
    rows = json.loads(Path("found.json").read_text())["fifos"]["routed"]["fifos"]
    ends = {row["name"]: (row["from"].split()[0], row["to"].split()[0], row["elements"]) for row in rows}
    assert ends["odd"] == ("by_parity", "twice", 50) and ends["even2"] == ("negate", "store", 50)


@pytest.mark.usefixtures("xrt_image", "nothing_left")
def test_streams_between_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The depths of streams of several kernels are checked together."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("reads", READS), ("adds", ADDS), ("sums", SUMS)):
        Path(f"{name}.cpp").write_text(text)
    Path("link.cfg").write_text(CONFIG)
    words = ["--config", "link.cfg", "reads.cpp", "adds.cpp", "sums.cpp", "linked.xclbin"]
    assert main(["image", "pack", *words]) == 0
    controls = {k.name: k.control for k in load("linked.xclbin").description.kernels}
    assert controls == {"reads": "AP_CTRL_HS", "adds": "AP_CTRL_NONE", "sums": "AP_CTRL_HS"}
    done = emulate("python", "-c", LAUNCHES, options=("--image", "linked.xclbin", "--json", "found.json"))
    assert "right" in done.stdout, done.stderr
    assert done.returncode == 70
    ((kernels, found),) = json.loads(Path("found.json").read_text())["fifos"].items()
    assert sorted(kernels.split(" + ")) == ["adds_1", "reads_1", "sums_1"]
    assert found["locks_up"]
    rows = {row["name"]: row for row in found["fifos"]}
    # `sums` reads b once it has all of a: 16 elements, less the one that waits to be written.
    assert rows["reads_1.b"]["depth"] == 8 and rows["reads_1.b"]["least"] == 15


def test_streams_between_kernels_in_c_simulation(tmp_path: Path) -> None:
    """A call would wait forever for a kernel that is called after it."""
    for name, text in (("adds", ADDS), ("sums", SUMS)):
        (tmp_path / f"{name}.cpp").write_text(text)
    (tmp_path / "link.cfg").write_text("[connectivity]\nstream_connect=adds_1.out:sums_1.a\n")
    image, words = str(tmp_path / "x.xclbin"), ["--config", str(tmp_path / "link.cfg")]
    assert main(["image", "pack", *words, str(tmp_path / "adds.cpp"), str(tmp_path / "sums.cpp"), image]) == 0
    before = ft.get_device_mapping()
    ft.set_device_mapping("csim")
    try:
        with pytest.raises(ImageError, match=r"sums of .* stream a with .*ftensor emulate --image .*x\.xclbin"):
            ft.fpga.kernel(image, "sums")
    finally:
        ft.set_device_mapping(before)


def test_invalid_stream_connections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "adds.cpp").write_text(ADDS)
    for line, message in (
        ("adds_1.out:none_1.in", "there is no such compute unit"),
        ("adds_1.out:adds_1.n", "the kernel has no such stream"),
        ("adds_1.out:adds_1.out", "it is an end of two streams"),
    ):
        (tmp_path / "link.cfg").write_text(f"[connectivity]\nstream_connect={line}\n")
        words = ["--config", str(tmp_path / "link.cfg"), str(tmp_path / "adds.cpp"), str(tmp_path / "x.xclbin")]
        assert main(["image", "pack", *words]) == 1
        assert message in capsys.readouterr().err


def test_kernels_of_the_catalogue_have_no_tasks() -> None:
    compiler = csim_compiler()
    assert compiler is not None
    command = [*compiler, SEQUENTIAL, "-std=gnu++14", "-fsyntax-only", "-I", str(standins()), "-x", "c++", "-"]
    text = "#include <hls_stream.h>\nvoid f(hls::stream<int> &s) { s.write(1); }\n"
    assert subprocess.run(command, input=text, text=True).returncode == 0
    done = subprocess.run(command, input=f"{text}#include <hls_task.h>\n", text=True, capture_output=True)
    assert "ftensor image pack" in done.stderr
