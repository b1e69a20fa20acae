"""Images of several sources, with the units and banks of v++'s configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest

import ftensor as ft
from ftensor.cli import main
from ftensor.errors.image import ImageError
from ftensor.image.info import load
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain import connectivity

pytestmark = pytest.mark.skipif(csim_compiler() is None, reason="needs a C++ compiler")

# Both files have functions, variables, a template and a class of one name, as files for v++ may.
ADD = """
int by = 1;
int change(int x) { return x + by; }
template <typename T> struct entries { static T values[2]; };
template <typename T> T entries<T>::values[2] = {5, 6};
struct value { virtual int shown(int x) { return x + entries<int>::values[x % 2]; } };
template <typename T> __attribute__((noinline)) int shown(T &value, int x) { return value.shown(x); }
extern "C" void add(const int *in, int *out, int n)
{
#pragma HLS INTERFACE m_axi port = in bundle = gmem0
#pragma HLS INTERFACE m_axi port = out bundle = gmem1
    value one;
    for (int i = 0; i < n; i++) out[i] = shown(one, change(in[i]));
}
"""
SCALE = """
int by = 10;
inline __attribute__((noinline)) int change(int x) { return x * by; }
template <typename T> struct entries { static T values[2]; };
template <typename T> T entries<T>::values[2] = {1, 2};
struct value { virtual int shown(int x) { return x - entries<int>::values[x % 2]; } };
template <typename T> __attribute__((noinline)) int shown(T &value, int x) { return 2 * value.shown(x); }
extern "C" void scale(const int *in, int *out, int n)
{
    value one;
    for (int i = 0; i < n; i++) out[i] = shown(one, change(in[i]));
}
"""
CONFIG = """
platform=xilinx_u200
[connectivity]  # of both kernels
nk=add:2:left.right
sp=left.in:DDR[1]
sp=right.in:DDR[2]
sp=left.m_axi_gmem1:PLRAM[0:1]
sp=scale_1.out_r:HOST[0]
[clock]
freqHz=150000000:left
"""


@pytest.fixture
def sources(tmp_path: Path) -> list[str]:
    (tmp_path / "add.cpp").write_text(ADD)
    (tmp_path / "scale.cpp").write_text(SCALE)
    (tmp_path / "link.cfg").write_text(CONFIG)
    return [str(tmp_path / "add.cpp"), str(tmp_path / "scale.cpp")]


def test_two_sources_with_functions_of_one_name(
    sources: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = tmp_path / "both.xclbin"
    assert main(["image", "pack", "--config", str(tmp_path / "link.cfg"), *sources, str(image)]) == 0
    assert "2 kernels, 3 compute units" in capsys.readouterr().out
    description = load(image).description
    assert [[u.name for u in k.units] for k in description.kernels] == [["left", "right"], ["scale_1"]]
    reached = {f"{k.name}.{a.name}": a.banks for k in description.kernels for a in k.arguments if a.is_pointer}
    assert reached["add.in"] == ("DDR[1]", "DDR[2]")
    assert reached["add.out"] == ("PLRAM[0]", "PLRAM[1]")
    assert reached["scale.in"] == ("DDR[0]",) and reached["scale.out"] == ("HOST[0]",)
    before = ft.get_device_mapping()
    ft.set_device_mapping("csim")
    try:
        x, y = ft.arange(4, dtype=ft.int32), ft.zeros(4, dtype=ft.int32)
        for name, expected in (("add", [7, 7, 9, 9]), ("scale", [-2, 18, 38, 58])):
            ft.fpga.kernel(image, name)(x, y, 4)
            assert y.tolist() == expected
    finally:
        ft.set_device_mapping(before)


def test_kernels_of_two_libraries_share_no_variables(sources: list[str]) -> None:
    before = ft.get_device_mapping()
    ft.set_device_mapping("csim")
    try:
        x, y = ft.arange(4, dtype=ft.int32), ft.zeros(4, dtype=ft.int32)
        for source, expected in zip(sources, ([7, 7, 9, 9], [-2, 18, 38, 58])):
            ft.fpga.source(source)(x, y, 4)
            assert y.tolist() == expected
    finally:
        ft.set_device_mapping(before)


def test_incompatible_sources_are_refused(
    sources: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "again.cpp").write_text(ADD)
    assert main(["image", "pack", sources[0], str(tmp_path / "again.cpp"), str(tmp_path / "x.xclbin")]) == 1
    assert "two of the sources define 'add'" in capsys.readouterr().err
    assert main(["image", "pack", *sources]) == 1
    assert "scale.cpp is a source; name the xclbin file" in capsys.readouterr().err
    (tmp_path / "link.cfg").write_text("[connectivity]\nnk=sub:2\n")
    assert main(["image", "pack", "--config", str(tmp_path / "link.cfg"), sources[0], str(tmp_path / "x.xclbin")]) == 1
    assert "nk=sub: there is no such kernel" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nk=add:none", "is not KERNEL:COUNT"),
        ("nk=add:1000000", "with a count of 1 to 128"),
        ("nk=add:2:one", "does not name 2 units"),
        ("sp=add.in", "is not UNIT.ARGUMENT:MEMORY"),
        ("sp=add_1.in:HBM[0:9999999]", "range from 0 to 9999999"),
        ("stream_connect=a.b", "is not UNIT.PORT:UNIT.PORT"),
    ],
)
def test_invalid_configuration_lines(tmp_path: Path, line: str, message: str) -> None:
    """The message names the file and the line."""
    (tmp_path / "link.cfg").write_text(f"[connectivity]\n{line}\n")
    with pytest.raises(ImageError) as failure:
        connectivity.read([tmp_path / "link.cfg"])
    assert message in str(failure.value) and "link.cfg:2" in str(failure.value)
