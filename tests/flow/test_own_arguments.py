"""Arguments for user kernels: files of every suffix, names, flags, missing headers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ftensor as ft
from ftensor.cli import main
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain.user_kernels import language

pytestmark = pytest.mark.skipif(csim_compiler() is None, reason="needs a C++ compiler")

C = """
#include <stdbool.h>
static void helper(float *x) { *x *= N; }
void scale(float *restrict x, int n, bool on)
{
#pragma HLS INTERFACE m_axi port=x bundle=gmem0
    for (int i = 0; i < n; i++) if (on) helper(x + i);
}
"""


@pytest.fixture(autouse=True)
def csim() -> Iterator[None]:
    before = ft.get_device_mapping()
    ft.set_device_mapping("csim")
    yield
    ft.set_device_mapping(before)


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("given") / "scale.c"
    path.write_text(C)
    return path


def scaled(kernel: Any) -> list[float]:
    x = ft.ones(3)
    kernel(x, 2, True)
    return x.tolist()


def test_file_in_c(scale: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As v++ requires, nothing is declared extern "C", and a static function is no kernel."""
    for flags in ("-DN=3", ["-DN=3"], ("-D", "N=3")):
        kernel = ft.fpga.source(scale, flags=flags)
        assert repr(kernel) == "<kernel scale(float *x, int n, bool on) on fpga:0>"
    assert scaled(kernel) == [3.0, 3.0, 1.0]
    monkeypatch.chdir(scale.parent)
    for file in (str(scale), os.fsencode(scale), "scale.c", b"./scale.c"):
        assert scaled(ft.fpga.kernel(file, "scale", flags="-DN=3")) == [3.0, 3.0, 1.0]


def test_images_of_each_suffix(scale: Path, tmp_path: Path) -> None:
    """AWS uses the suffix .awsxclbin."""
    text = scale.with_name("four.c")
    text.write_text("#define N 4" + C)
    for name in ("four.xclbin", "four.awsxclbin", "FOUR.XCLBIN"):
        assert main(["image", "pack", str(text), str(tmp_path / name)]) == 0
        assert scaled(ft.fpga.kernel(tmp_path / name)) == [4.0, 4.0, 1.0]


def test_suffixes_of_languages() -> None:
    """As for compilers, .c is C and .C is C++."""
    of = {name: language(Path(f"k{name}")) for name in (".c", ".C", ".cpp", ".CPP", ".cc", ".cxx", ".c++", ".cl", ".h")}
    cxx = dict.fromkeys((".C", ".cpp", ".CPP", ".cc", ".cxx", ".c++"), "c++")
    assert of == {".c": "c", **cxx, ".cl": None, ".h": None}


def test_other_forms_of_arguments(scale: Path, tmp_path: Path) -> None:
    for call in (ft.fpga.kernel, ft.fpga.source):
        for file in (None, 3, ["scale.c"], bytearray(b"scale.c")):
            with pytest.raises(TypeError, match=r"file=.* is no path"):
                call(file)  # type: ignore[arg-type]
        for missing in (tmp_path / "none.cpp", "", "a\0b.cpp", tmp_path):
            with pytest.raises(FileNotFoundError, match="there is no file"):
                call(missing)
        with pytest.raises(FileNotFoundError, match=r"it seems to be source text: write that to a file \*\.cpp"):
            call(C.replace("/", "") * 9)  # longer than names of files
        for name in (0, b"scale", ["scale"]):
            with pytest.raises(TypeError, match=r"name=.* is no kernel's name"):
                call(scale, name)  # type: ignore[arg-type]
        for flags in (b"-DN=3", 3, [3], {"-DN": 3}):
            with pytest.raises(TypeError, match=r"flags=.* is no list of words"):
                call(scale, flags=flags)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"flags=.* can't be cut into words"):
            call(scale, flags="-DN='3")
        for suffix in (".txt", ".h", ".aocx", ".xo", ""):
            (tmp_path / f"k{suffix}").write_text(C)
            with pytest.raises(ValueError, match=r"no file of kernels by its name.*\.c is C"):
                call(tmp_path / f"k{suffix}")


NAMED = """
enum mode : unsigned char { ADD, MUL = 3 };
enum class place { FIRST, SECOND };
struct pair { int a, b; };
void set(int *x, float) { x[0] = -1; }
extern "C" void set(int *x, mode m, place at) { x[(int)at] = m; }
void set(float *x) { x[0] = -1; }
namespace mine {
extern "C" void inside(int *x) { x[0] = 7; }
}
extern "C" void pairs(pair p, int *x) { x[0] = p.a; }
"""


def test_kernels_by_their_names_in_c(tmp_path: Path) -> None:
    """An enum is passed as its integer. Overloads in C++ are other functions, and a namespace holds
    kernels. A kernel with a struct is refused by its parameter."""
    (tmp_path / "named.cpp").write_text(NAMED)
    x = ft.zeros(2, dtype=ft.int32)
    kernel = ft.fpga.source(tmp_path / "named.cpp", "set")
    kernel(x, 3, 1)
    assert x.tolist() == [0, 3] and "set(int *x, unsigned char m, " in repr(kernel)
    ft.fpga.source(tmp_path / "named.cpp", "inside")(x)
    assert x.tolist() == [7, 3]
    with pytest.raises(ValueError, match="pairs: parameter 'p' is 'pair', which no call can pass"):
        ft.fpga.source(tmp_path / "named.cpp", "pairs")
    with pytest.raises(ValueError, match=r"has no kernel 'other'; it has set, inside$"):
        ft.fpga.source(tmp_path / "named.cpp", "other")


HEADERS = (
    "hls_array_partition.h", "hls_directio.h", "hls_dsp_builtins.h", "ap_float.h", "hls_fft.h", "hls_fir.h",
    "hls_dds.h", "hls_dsp.h", "hls_linear_algebra.h",
    "hls_signal_handler.h", "hls_video.h", "utils/x_hls_utils.h", "etc/autopilot_ssdm_op.h", "ap_cint.h",
)  # fmt: skip


@pytest.mark.parametrize("header", [HEADERS[0], HEADERS[-3], "hls_of_tomorrow.h", "mine/kernel.h"])
def test_missing_header(header: str, tmp_path: Path) -> None:
    (tmp_path / "k.cpp").write_text(f'#include <{header}>\nextern "C" void one(int *x) {{ x[0] = 1; }}\n')
    with pytest.raises(RuntimeError) as failure:
        ft.fpga.source(tmp_path / "k.cpp")
    said = str(failure.value)
    assert header in said and "FTENSOR_VITIS_INCLUDE" in said
    if header not in HEADERS:
        assert f"{header} is in none of the folders" in said and "flags=['-I<folder>']" in said
        assert "`ftensor headers --install`" in said
