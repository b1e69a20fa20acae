"""The headers for user kernels: Xilinx's, fetched, and the stand-ins, compared by known values.

FTENSOR_REQUIRE_TARGETS=1 requires the fetched ones. Otherwise their tests are skipped if they are
missing.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftensor.runtime.csim.backend import FLAGS
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.vitis import headers
from ftensor.toolchain.vitis.source import copy_headers, source, standins

from .. import forked
from .hls_cases import ARITHMETIC
from .test_own_arguments import HEADERS

pytestmark = pytest.mark.skipif(csim_compiler() is None, reason="needs a C++ compiler")
FETCH = "ftensor headers --install"


@pytest.fixture(scope="module")
def fetched() -> list[str]:
    """Returns g++'s options with Xilinx's headers."""
    folder = headers.default_folder()
    if headers.damaged(folder):
        lacking = f"Xilinx's headers are not in {folder}: {FETCH}"
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", lacking
        pytest.skip(lacking)
    return ["-isystem", str(folder), "-isystem", str(standins())]


def compiled(text: Path | str, options: list[str], *more: str) -> subprocess.CompletedProcess[str]:
    place, stdin = ("-", text) if isinstance(text, str) else (str(text), None)
    command = [*(csim_compiler() or []), "-std=gnu++14", "-O1", "-fPIC", *options, *more]
    return subprocess.run([*command, "-x", "c++", place], input=stdin, capture_output=True, text=True)


@pytest.fixture(scope="module")
def kernels(fetched: list[str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("kernels") / "own.so"
    text = Path(__file__).with_name("own_kernels.cpp")
    # Xilinx's constructors clear the unused bits of uninitialized memory.
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-uninitialized", "-Wno-maybe-uninitialized")
    done = compiled(text, fetched, *warnings, "-shared", "-o", str(path))
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(path))


def signed(x: int, bits: int) -> int:
    """Returns the two's complement number of the last bits of `x`."""
    return (x & ((1 << bits) - 1)) - ((x >> (bits - 1) & 1) << bits)


WORDS = st.one_of(st.integers(0, 2**256 - 1), st.sampled_from([0, 1, 2**255 - 1, 2**255, 2**256 - 1]))


@settings(max_examples=60, deadline=None)
@given(a=WORDS, b=WORDS, places=st.tuples(st.integers(0, 255), st.integers(0, 255)))
def test_integers_of_any_width_wrap(kernels: Any, a: int, b: int, places: tuple[int, int]) -> None:
    high, low = max(places), min(places)
    s, t, all_bits = signed(a, 256), signed(b, 256), 2**256 - 1
    field = ((1 << (high - low + 1)) - 1) << low
    flipped = a ^ (1 << high)
    flipped = flipped & ~(1 << low) | (b >> high & 1) << low
    small = a & 127
    seventh = signed(small, 7)
    expected = [
        a << 256 | b, (a >> high & 1) << 256 | b, (a & field) >> low,
        a & ~field | (b << low) & field, flipped, a + b, a - b, s * t, a * t, ~a & all_bits, -s,
        s >> low, a << low & all_bits, a.bit_count() & 1, (s < t) | (a < b) << 1,
        signed(a, 32), signed(a, 64), 3 - small, abs(seventh) // 3 * (-1 if seventh < 0 else 1),
    ]  # fmt: skip
    operands = np.frombuffer((a | b << 256).to_bytes(64, "little"), np.uint64)
    out = np.zeros(16 * len(expected), np.uint64)
    kernels.integers(operands.ctypes, high, low, out.ctypes)
    numbers = [int.from_bytes(row.tobytes(), "little") for row in out.reshape(-1, 16)]
    assert numbers == [x & (1 << 1024) - 1 for x in expected]


def rounded(mode: str, x: Fraction) -> int:
    """Returns the integer near x that a quantization mode selects."""
    half = Fraction(1, 2)
    away = floor(abs(x) + half) * (-1 if x < 0 else 1)
    zero = ceil(abs(x) - half) * (-1 if x < 0 else 1)
    return {
        "AP_RND": floor(x + half),
        "AP_RND_ZERO": zero,
        "AP_RND_MIN_INF": ceil(x - half),
        "AP_RND_INF": away,
        "AP_RND_CONV": round(x),
        "AP_TRN": floor(x),
        "AP_TRN_ZERO": int(x),
    }[mode]


def limited(mode: str, x: int, least: int, most: int) -> int:
    """Returns x in a type's range, by an overflow mode."""
    if mode == "AP_WRAP":
        return (x - least) % (most - least + 1) + least
    if mode == "AP_SAT_SYM":
        least = -most if least else 0
    if least <= x <= most:
        return x
    return 0 if mode == "AP_SAT_ZERO" else least if x < least else most


def test_fixed_point_in_all_modes(kernels: Any) -> None:
    """Every number of 14 bits with 7 fraction bits, converted to 8 bits with 4."""
    quantized = ("AP_RND", "AP_RND_ZERO", "AP_RND_MIN_INF", "AP_RND_INF", "AP_RND_CONV", "AP_TRN", "AP_TRN_ZERO")
    out = np.zeros((7, 4, 16384, 2), np.int16)
    kernels.each_mode(out.ctypes)
    for q, quantization in enumerate(quantized):
        near = [rounded(quantization, Fraction(raw, 8)) for raw in range(-8192, 8192)]
        for o, overflow in enumerate(("AP_SAT", "AP_SAT_ZERO", "AP_SAT_SYM", "AP_WRAP")):
            expected = [(limited(overflow, x, -128, 127), limited(overflow, x, 0, 255)) for x in near]
            assert np.array_equal(out[q, o], expected), (quantization, overflow)


def test_ports_streams_and_blocks(kernels: Any) -> None:
    memory = (ctypes.c_int * 6)(1, 2, 3, 4)
    assert kernels.parts(memory) == 0
    assert list(memory) == [1, 2, 3, 4, 20, 30]
    assert kernels.vectors() == 0


def test_unaligned_bursts_of_other_types_than_the_port(kernels: Any) -> None:
    draw = np.random.default_rng(3)
    pixels, out = draw.integers(0, 256, 72, np.uint8), np.zeros(80, np.uint8)
    kernels.pixels(pixels.ctypes, out.ctypes, 23)
    assert np.array_equal(out[3:72], pixels[:69]) and not out[:3].any() and not out[72:].any()


# half needs none of Xilinx's headers.
HALF = r"""
#include <hls_math.h>
#include <cstdint>
static half bits(uint16_t x) { half h; h.set_bits(x); return h; }
extern "C" void halves(
    int n, const uint16_t *x, const uint16_t *y, const double *d, uint16_t *out, float *wide)
{
    for (int k = 0; k < n; k++) {
        const half a = bits(x[k]), b = bits(y[k]);
        const half made[] = {a + b, a - b, a * b, a / b, -a, hls::sqrt(a),
                             hls::half_fabs(a), half(d[k]),
                             (float)d[k]};
        for (half h : made) *out++ = h.get_bits();
        *wide++ = a;
    }
}
extern "C" void angles(const double *x, double *out, float *narrow)
{
    for (int k = 0; k < 9; k++) {
        *out++ = hls::sinpi(x[k]), *out++ = hls::cospi(x[k]), *out++ = hls::tanpi(x[k]);
        *narrow++ = hls::sinpif((float)x[k]), *narrow++ = hls::cospi((float)x[k]);
    }
    *out++ = hls::asinpi(0.5), *out++ = hls::acospi(0.5), *out++ = hls::atanpi(1.0), *out++ = hls::atan2pi(1.0, -1.0);
    int quotient;
    const double rest = hls::remquo(7.0, 2.0, &quotient);
    *out++ = hls::maxmag(-3.0, 2.0), *out++ = hls::minmag(-3.0, 2.0), *out++ = hls::maxmagf(-2, 2), *out++ = rest;
    *out++ = quotient, *out++ = hls::lrint(2.5), *out++ = hls::llround(-2.5f), *out++ = hls::isless(1.0, 2.0f);
    *out++ = hls::isnormal(1e-40f) + 2 * (hls::fpclassify(0.0) == FP_ZERO);
}
extern "C" void math(const float *x, float *out)
{
    const float made[] = {
        hls::sqrtf(x[0]), hls::expf(x[0]), hls::powf(x[0], x[1]), hls::fmaxf(x[0], x[1]),
        hls::rsqrt(x[0]),
        hls::recip(x[0]), hls::fabsf(-x[0]),
        hls::atan2f(x[0], x[1]), hls::fmodf(x[0], x[1]), hls::exp10(x[1])};
    for (float y : made) *out++ = y;
}
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("half") / "half.so"
    done = compiled(HALF, ["-isystem", str(standins())], "-Wall", "-shared", "-o", str(path))
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(path))


def test_half_has_the_bits_of_float16(functions: Any) -> None:
    """NumPy's float16 is the reference: all numbers, many pairs, and doubles next to ties."""
    draw = np.random.default_rng(5)
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    y = draw.permutation(x)
    with np.errstate(all="ignore"):
        between = (x.astype(np.float64) + np.nextafter(x, np.float16(np.inf))) / 2
        d = np.where(draw.random(x.size) < 0.3, between, np.nextafter(between, draw.normal(size=x.size)))
        expected = np.stack(
            [x + y, x - y, x * y, x / y, -x, np.sqrt(x), abs(x), d.astype(np.float16),
             d.astype(np.float32).astype(np.float16)], 1,
        )  # fmt: skip
    out, wide = np.zeros(expected.shape, np.float16), np.zeros(x.shape, np.float32)
    functions.halves(x.size, x.ctypes, y.ctypes, d.ctypes, out.ctypes, wide.ctypes)
    same = (out.view(np.uint16) == expected.view(np.uint16)) | (np.isnan(out) & np.isnan(expected))
    assert same.all(0).tolist() == [True] * 9
    assert np.array_equal(wide, x.astype(np.float32), equal_nan=True)


def test_functions_of_float(functions: Any) -> None:
    x, y = 2.5, 0.75
    out = np.zeros(10, np.float32)
    functions.math(np.array([x, y], np.float32).ctypes, out.ctypes)
    expected = [x**0.5, np.exp(x), x**y, x, x**-0.5, 1 / x, x, np.arctan2(x, y), x % y, 10**y]
    np.testing.assert_allclose(out, expected, rtol=2e-7)


def test_functions_of_multiples_of_pi(functions: Any) -> None:
    """Exact at multiples of a half; lrint and llround differ at ties."""
    x = np.array([0, 0.25, 0.5, 1, 1.5, 2, -0.5, -2.25, 2.0**60 + 512])
    out, narrow = np.zeros(27 + 13), np.zeros((9, 2), np.float32)
    functions.angles(x.ctypes, out.ctypes, narrow.ctypes)
    r = 0.5**0.5
    sine, cosine = np.array([0, r, 1, 0, -1, 0, -1, -r, 0]), np.array([1, r, 0, -1, 0, 1, 0, r, 1])
    with np.errstate(divide="ignore"):
        tangent = sine / cosine
    got = out[:27].reshape(9, 3)
    np.testing.assert_allclose(got, np.stack([sine, cosine, tangent], 1), rtol=1e-15)
    np.testing.assert_allclose(narrow, got[:, :2], rtol=1e-7)
    np.testing.assert_allclose(out[27:], [1 / 6, 1 / 3, 0.25, 0.75, -3, 2, 2, -1, 4, 2, -3, 1, 2], rtol=1e-15)


A, B = "ap_uint<8> a, ap_uint<8> b", "ap_int<4> s"
# Code whose value in Xilinx's types differs from C++'s, or which the stand-ins lack.
REFUSED = [
    f"ap_uint<16> f0({A}) {{ return (a, b); }}",
    f"ap_uint<16> f1({A}) {{ return a[0], b; }}",
    f"int f2({A}) {{ return a.range(7, 4); }}",
    f"int f3({A}) {{ return a(7, 4); }}",
    f"void f4({A}) {{ a[3] = 1; }}",
    f"void f5({A}) {{ a[3] = b[3]; }}",
    f"int f6({A}) {{ return a++; }}",
    f"long f7({A}, {B}) {{ return a * s; }}",
    "ap_uint<65> f8;",
    "ap_uint<8> f9(double x) { return x; }",
    f"bool f10({A}) {{ return 5 - a < 0; }}",
    f"void f11({A}) {{ a += b; }}",
    f"int f12({A}) {{ return ~a; }}",
    f"int f13({A}) {{ return a << 2; }}",
    "half f14(half a) { return a * 2; }",
    f"bool f15({A}, {B}) {{ return a < s; }}",
    "#include <ap_fixed.h>",
    "#include <ap_shift_reg.h>",
    *[f"#include <{name}>" for name in HEADERS],
    "void wait() { ap_wait_until(1); }",
    "struct fixed { operator float() const; } f19; float g19 = hls::exp(f19);",
    "hls::axis<float> f20; void g20() { f20.user = 1; }",
    "hls::axis_user<8> f22; void g22() { f22.data = 1.0f; }",
    "hls::axis_data<float> f23; void g23() { f23.last = true; }",
    "hls::axis_data<float, AXIS_ENABLE_USER> f24;",
]
SERVED = [
    "#include <hls_task.h>",
    "#include <hls_fence.h>",
    "#include <hls_np_channel.h>",
    f"int g0({A}, {B}) {{ return s < 5 && a[2] && ~b[1] && a == b ? a.to_int() : (int)s; }}",
    'ap_uint<8> bytes[4]; static_assert(sizeof bytes == 4 && sizeof(ap_int<33>) == 8, "");',
    "void wait_here() { ap_wait(); ap_wait_n(2); }",
    "uint32_t g1; int64_t g2;",
    'static_assert(ap_int<4>(-1) < 0 && !(ap_uint<8>(255) == -1), "");',
]


def test_code_that_stand_ins_lack_is_an_error() -> None:
    """Each line alone gives an error that names the solution, and its correction compiles."""
    names = ("ap_int.h", "ap_axi_sdata.h", "hls_math.h", "hls_vector.h", "ap_utils.h")
    head = "".join(f"#include <{name}>\n" for name in names)
    include = ["-isystem", str(standins())]
    done = compiled(head + "\n".join([*REFUSED, *SERVED]), include, "-fsyntax-only")
    lines = {
        int(n) - len(names) - 1 for n in re.findall(r"<stdin>:(\d+):(?:.*error:|.*required from here)", done.stderr)
    }
    # The line of an include is reported as the origin of the header.
    lines |= {int(n) - len(names) - 1 for n in re.findall(r"from <stdin>:(\d+)", done.stderr)}
    assert {n for n in lines if n >= 0} == set(range(len(REFUSED)))
    assert done.stderr.count(f"`{FETCH}`") > 14
    assert compiled(head + "\n".join(SERVED), include, "-fsyntax-only").returncode == 0


@pytest.mark.parametrize("header", ["hls_stream", "hls_vector", "hls_streamofblocks", "hls_burst_maxi", "ap_axi_sdata"])
def test_each_header_has_the_integers_of_a_width(header: str) -> None:
    text = f"#include <{header}.h>\nuint32_t f; int8_t g; uint64_t h;"
    assert compiled(text, ["-isystem", str(standins())], "-fsyntax-only").returncode == 0


def test_ftensors_kernels_compile_with_xilinx_headers(fetched: list[str], tmp_path: Path) -> None:
    copy_headers(tmp_path)
    text = source(KernelGroup("arithmetic", ARITHMETIC, structure="dataflow"))
    done = compiled(text, [*fetched, f"-I{tmp_path}"], *FLAGS[:2], "-fsyntax-only")
    assert done.returncode == 0, done.stderr


def ftensor(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return forked.run("-m", "ftensor", *words, env=os.environ | env)


def test_missing_headers_error_names_the_fetch_command(tmp_path: Path) -> None:
    done = ftensor("headers", FTENSOR_AP_TYPES=str(tmp_path / "none"), FTENSOR_VITIS_INCLUDE="")
    assert done.stdout == f"-isystem {standins()}\n" and done.returncode == 0
    assert FETCH in done.stderr


def test_failed_or_changed_download(tmp_path: Path) -> None:
    """No file remains, and the message names the solution."""
    place = str(tmp_path / "none")
    # A wheel with the right name only.
    wheel = tmp_path / "links" / "hls4ml-1.3.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"PK")
    for links in (tmp_path, wheel.parent):
        done = ftensor("headers", "--install", FTENSOR_AP_TYPES=place, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(links))
        assert done.returncode == 2 and "could not be fetched" in done.stderr
        assert "FTENSOR_VITIS_INCLUDE" in done.stderr
    assert "HASHES" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["links"]


def test_changed_header_is_detected(fetched: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "ap_types"
    shutil.copytree(headers.default_folder(), folder)
    (folder / "ap_int.h").write_text("")
    done = ftensor("headers", FTENSOR_AP_TYPES=str(folder), FTENSOR_VITIS_INCLUDE="")
    assert "ap_int.h" in done.stderr and str(folder) not in done.stdout
    done = ftensor("headers", "--install", FTENSOR_AP_TYPES=str(folder))
    assert done.returncode == 2 and "holds something else" in done.stderr
