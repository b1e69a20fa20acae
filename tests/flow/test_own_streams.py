"""Kernels whose ports are AXI streams: tensors feed and receive the streams, as with a DMA."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain.vitis import headers

from .emulation_host import emulate, output

pytestmark = pytest.mark.skipif(csim_compiler() is None, reason="needs a C++ compiler")

PLAIN = """
#include <hls_stream.h>
extern "C" void total(hls::stream<float> &in, float *out, int n)
{
#pragma HLS INTERFACE axis port = in
    float sum = 0;
    for (int i = 0; i < n; i++) sum += in.read();
    out[0] = sum;
}
// It runs by itself, once for each beat.
extern "C" void twice(hls::stream<short, 4> &in, hls::stream<short> &out)
{
#pragma HLS INTERFACE ap_ctrl_none port = return
    out.write(short(2 * in.read()));
}
static void pass(hls::stream<int> &in, hls::stream<int> &out, int n)
{
    for (int i = 0; i < n; i++) out.write(in.read());
}
extern "C" void through(hls::stream<int> &in, hls::stream<int> &out, int n)
{
#pragma HLS DATAFLOW
    hls::stream<int> between("between");
    pass(in, between, n);
    pass(between, out, n);
}
"""
AXIS = """
#include <ap_axi_sdata.h>
#include <hls_stream.h>
typedef ap_axiu<32, 0, 0, 0> pkt;
extern "C" void scale(hls::stream<pkt> &in, hls::stream<pkt> &out, int k)
{
#pragma HLS INTERFACE axis port = in
#pragma HLS INTERFACE axis port = out
    pkt p;
    do {
        p = in.read();
        p.data = p.data * k;
        out.write(p);
    } while (!p.last);
}
extern "C" void sides(hls::stream<pkt> &in, hls::stream<pkt> &out)
{
    pkt p = in.read();
    p.data = p.last * 1000 + p.keep * 10 + p.strb;
    out.write(p);
}
extern "C" void odd(hls::stream<ap_axiu<24, 0, 0, 0>> &in) { in.read(); }
"""


@pytest.fixture
def csim() -> Iterator[None]:
    before = ft.get_device_mapping()
    ft.set_device_mapping("csim")
    yield
    ft.set_device_mapping(before)


@pytest.mark.usefixtures("csim")
def test_streams_of_numbers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plain.cpp").write_text(PLAIN)
    total, twice, through = (ft.fpga.kernel(tmp_path / "plain.cpp", name) for name in ("total", "twice", "through"))
    assert "total(void *in, float *out, int n)" in str(total)
    out = ft.zeros(1)
    total(ft.arange(5, dtype=ft.float32), out, 5)
    assert out.item() == 10
    x = ft.arange(6, dtype=ft.int16)
    y = ft.full((8,), -1, dtype=ft.int16)
    twice(x, y)
    assert y.tolist() == [0, 2, 4, 6, 8, 10, -1, -1] and x.tolist() == list(range(6))
    x, y = ft.arange(100, dtype=ft.int32), ft.zeros(100, dtype=ft.int32)
    through(x, y, 100)
    assert ft.equal(x, y)
    assert capfd.readouterr().err.count("stream") == 0
    through(x, y[:40], 100)
    ft.fpga.synchronize()
    assert "stream 'out': the kernel has sent 100 beats, and the tensor holds 40" in capfd.readouterr().err
    with pytest.raises(TypeError, match="takes 3 arguments, not 2"):
        through(x, y)


@pytest.mark.usefixtures("csim")
@pytest.mark.skipif(
    not headers.include_folders()[0].joinpath("ap_int.h").exists(),
    reason="needs Xilinx's ap_int.h: ftensor headers --install",
)
def test_beats_with_side_channels(tmp_path: Path) -> None:
    (tmp_path / "axis.cpp").write_text(AXIS)
    scale, sides = (ft.fpga.kernel(tmp_path / "axis.cpp", name) for name in ("scale", "sides"))
    x, y = ft.arange(10, dtype=ft.int32), ft.zeros(10, dtype=ft.int32)
    scale(x, y, 3)  # ends with TLAST
    assert ft.equal(y, x * 3)
    y = ft.zeros(3, dtype=ft.int32)
    sides(ft.zeros(10, dtype=ft.uint8), y)  # the last beat has two bytes
    assert y.tolist() == [165, 165, 1033]
    with pytest.raises(ValueError, match=r"odd: parameter 'in' is .*ap_uint<24>.*which no call can pass"):
        ft.fpga.kernel(tmp_path / "axis.cpp", "odd")


@pytest.mark.usefixtures("xrt_image", "nothing_left")
def test_on_xrt(tmp_path: Path) -> None:
    """The FIFOs inside a region are checked, those at its ends are not."""
    (tmp_path / "plain.cpp").write_text(PLAIN)
    text = f"""
import ftensor as ft
through = ft.fpga.kernel({str(tmp_path / "plain.cpp")!r}, "through")
x, y = ft.arange(100, dtype=ft.int32), ft.zeros(100, dtype=ft.int32)
through(x, y, 100)
print(ft.equal(x, y))
"""
    done = emulate("python", "-c", text, options=("--fifos", "--no-build"), FTENSOR_DEVICE="xilinx")
    assert output(done) == ["True"]
    assert "between" in done.stderr and "kernel through: its FIFOs do not lock up" in done.stderr
    assert " in " not in done.stderr.split("its FIFOs")[1]
