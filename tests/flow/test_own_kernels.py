"""User kernels: files of every kind, refused calls, images from other tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor.cli import main
from ftensor.image.debug_information import functions
from ftensor.kernels.user_kernels import argument
from ftensor.runtime.targets import csim_compiler

from .. import forked
from .emulation_host import ROOT, emulate, environment, output

pytestmark = pytest.mark.skipif(csim_compiler() is None, reason="needs a C++ compiler")

SOURCE = """
#include "twice.h"
#include <complex>
#include <hls_stream.h>
#include <hls_vector.h>
struct pair { int a; float b; };
extern "C" void vadd(const float *a, const float *b, float *out, int n)
{
    for (int i = 0; i < n; i++) out[i] = TWICE * (a[i] + b[i]);
}
extern "C" void bytes(const pair *in, hls::vector<short, 8> *out, bool on, std::complex<double> *z)
{
    out[0] = short(in[0].a + on), z[0] = {in[0].b, 1};
}
extern "C" void streamed(hls::stream<int> &in, int *out) { out[0] = in.read(); }
extern "C" int answer() { return 42; }
void hidden(int *out) { out[0] = 1; }
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    (folder / "twice.h").write_text("#define TWICE 2\n")
    (folder / "own.cpp").write_text(SOURCE)
    return folder / "own.cpp"


@pytest.fixture
def csim() -> Iterator[None]:
    before = ft.get_device_mapping()
    ft.set_device_mapping("csim")
    yield
    ft.set_device_mapping(before)


@pytest.fixture(scope="module")
def image(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two units of vadd, with each pointer in its own bank."""
    folder = tmp_path_factory.mktemp("image")
    banks = "".join(f'[[banks]]\nname = "HBM[{k}]"\nsize = "256 MiB"\n' for k in range(3))
    rows = [f'{{name = "{n}", type = "float*", bank = "HBM[{k}]"}}' for k, n in enumerate("abo")]
    rows.append('{name = "n", type = "int"}')
    kernel = f'name = "vadd"\nunits = 2\narguments = [{", ".join(rows)}]\n'
    (folder / "own.toml").write_text(f"{banks}[[kernels]]\n{kernel}")
    words = ["--description", str(folder / "own.toml"), str(source), str(folder / "own.xclbin")]
    assert main(["image", "pack", *words]) == 0
    return folder / "own.xclbin"


def refusal(kind: type[Exception], call: Any, *args: Any, **named: Any) -> str:
    with pytest.raises(kind) as failure:
        call(*args, **named)
    return str(failure.value)


@pytest.mark.usefixtures("csim")
def test_invalid_calls_are_refused(source: Path) -> None:
    """The error comes before the launch, with the argument, its value and the expected one."""
    k = ft.fpga.source(source, "vadd")
    assert repr(k) == ("<kernel vadd(const float *a, const float *b, float *out, int n) on fpga:0>")
    a, out = ft.ones(4), ft.zeros(4)
    shown = "vadd(const float *a, const float *b, float *out, int n)"
    assert refusal(TypeError, k, a, a, out) == f"vadd takes 4 arguments, not 3: {shown}"
    said = refusal(TypeError, k, a, a, out.double(), 4)
    assert "argument 'out' (float *) takes a tensor of float32, not of float64" in said
    said = refusal(TypeError, k, a, np.ones(4, np.float32), out, 4)
    assert "argument 'b' (const float *) takes a tensor, not ndarray: ft.from_numpy" in said
    said = refusal(ValueError, k, ft.ones(4, 2)[:, 0], a, out, 4)
    assert "argument 'a' must be contiguous, and has shape (4,) with strides (2,)" in said
    said = refusal(RuntimeError, k, a, a.cpu(), out, 4)
    assert said == "vadd is on fpga:0, and argument 'b' on cpu: pass b.to('fpga:0')"
    frozen = ft.from_numpy(np.broadcast_to(np.float32(1), (1,)).copy())
    frozen._storage.readonly = True
    assert "argument 'out' (float *), whose memory is read-only" in refusal(RuntimeError, k, frozen, frozen, frozen, 1)
    k(frozen, frozen, out, 1)  # const pointers accept it
    assert out.tolist() == [4.0, 0.0, 0.0, 0.0]
    for n, kind, words in (
        (4.0, TypeError, "argument 'n' (int) takes an integer, not 4.0 (float)"),
        ("4", TypeError, "not '4' (str)"),
        (ft.tensor(4), TypeError, "pass its .item()"),
        (2**31, ValueError, "its range is -2147483648 to 2147483647"),
    ):
        assert words in refusal(kind, k, a, a, out, n)
    assert out.tolist() == [4.0, 0.0, 0.0, 0.0]


@pytest.mark.usefixtures("csim")
def test_pointers_to_vectors_complex_numbers_and_structs(source: Path) -> None:
    """A vector pointer takes a multiple of its elements, complex pointers complex tensors, and a
    struct any bytes."""
    k = ft.fpga.kernel(source, "bytes")
    pairs = ft.from_numpy(np.array([7, np.float32(0.5).view(np.int32)], np.int32))
    out, z = ft.zeros(8, dtype=ft.int16), ft.zeros(1, dtype=ft.complex128)
    k(pairs, out, True, z)
    assert out.tolist() == [8] * 8
    assert z.tolist() == [0.5 + 1j]
    assert "whole elements of 16 bytes, and the tensor has 6 bytes" in refusal(
        ValueError, k, pairs, out[:3].clone(), True, z
    )
    assert "and the tensor has 24 bytes" in refusal(ValueError, k, pairs, ft.zeros(12, dtype=ft.int16), True, z)
    assert "begins 2 bytes into its memory" in refusal(ValueError, k, pairs, ft.zeros(9, dtype=ft.int16)[1:], True, z)
    assert "takes a tensor of complex128" in refusal(TypeError, k, pairs, out, True, z.real)
    assert "takes True or False, not 2.5" in refusal(TypeError, k, pairs, out, 2.5, z)
    assert "its range is 0 to 1" in refusal(ValueError, k, pairs, out, 2, z)


@pytest.mark.usefixtures("csim")
def test_invalid_files_are_refused(source: Path, tmp_path: Path) -> None:
    kernel = ft.fpga.kernel
    assert "no file" in refusal(FileNotFoundError, kernel, tmp_path / "none.cpp")
    assert "pass its path" in refusal(FileNotFoundError, kernel, 'extern "C" void none(int n) {}')
    (tmp_path / "kernels.txt").write_text("")
    assert ".xclbin and .awsxclbin are images" in refusal(ValueError, kernel, tmp_path / "kernels.txt")
    assert "has 3 kernels, so name one of them: vadd, bytes, streamed" in refusal(ValueError, kernel, source)
    for name in ("hidden", "answer"):
        assert f"has no kernel '{name}'; it has vadd, bytes, streamed" in refusal(ValueError, kernel, source, name)
    (tmp_path / "wrong.cpp").write_text('extern "C" void f(int *out) { out[0] = nowhere; }')
    assert "nowhere" in refusal(RuntimeError, kernel, tmp_path / "wrong.cpp")
    (tmp_path / "streamed.cpp").write_text('#include <hls_stream.h>\nextern "C" void f(hls::stream<int> *in) {}')
    assert "f: parameter 'in'" in refusal(ValueError, kernel, tmp_path / "streamed.cpp")
    (tmp_path / "none.cpp").write_text("static void f() {}")
    assert 'declared extern "C"' in refusal(ValueError, kernel, tmp_path / "none.cpp")
    assert "takes HLS C++" in refusal(RuntimeError, ft.fpga.opencl_kernel, "__kernel void f() {}")


@pytest.mark.usefixtures("csim")
def test_cache_key_includes_the_headers(source: Path) -> None:
    """The disk cache's key includes everything the compiler read, not only the file."""
    a, out = ft.ones(2), ft.zeros(2)
    header = source.with_name("twice.h")
    ft.fpga.source(source, "vadd")(a, a, out, 2)
    try:
        header.write_text("#define TWICE 3\n")
        ft.fpga.source(source, "vadd")(a, a, out, 1)
        ft.fpga.source(source, "vadd", flags=["-UTWICE"])(a, a, out, 1)
    finally:
        header.write_text("#define TWICE 2\n")
    assert out.tolist() == [6.0, 4.0]


@pytest.mark.usefixtures("csim")
def test_image_from_another_tool(image: Path) -> None:
    """Its kernels are found by name, and ops find no kernels in it."""
    k, a, out = ft.fpga.kernel(image), ft.ones(4), ft.zeros(4)
    k(a, a, out, 4)
    assert out.tolist() == [4.0] * 4
    code = f"""
import ftensor as ft
ft.load_image({str(image)!r})
ft.set_fallback("error")
a, out = ft.from_numpy(__import__("numpy").ones(4, "float32")), ft.empty(4)
ft.fpga.kernel({str(image)!r}, "vadd")(a, a, out, 4)
print(out.tolist(), len(ft.fpga.image_report().images))
try:
    a + a
except ft.KernelNotBuilt as error:
    print("no kernel for add" in str(error))
"""
    done = forked.run("-c", code, cwd=ROOT, env=environment(FTENSOR_DEVICE="csim"))
    assert output(done) == ["[4.0, 4.0, 4.0, 4.0] 1", "True"]


@pytest.mark.usefixtures("xrt_image", "nothing_left")
def test_user_kernels_and_ops_alternate_on_xrt(image: Path, source: Path) -> None:
    """Kernels of the ops between the launches are built, and banks are the image's. A board's image
    fits no other."""
    code = f"""
import ftensor as ft
k = ft.fpga.kernel({str(image)!r})
other = ft.fpga.source({str(source)!r}, "vadd")
a, out = ft.ones(4), ft.zeros(4)
k(a + 1, a, out, 4)
k(a, out, a, 4)  # a and out have to change places
other(a, out, out, 3)
print((out - 1).tolist(), a.tolist())
report = ft.fpga.image_report()
print(len(report.images), report.bank_copies > 0)
with ft.fpga.stream(ft.fpga.Stream()):
    k(a, a, out, 4)
ft.synchronize()
print(out.tolist())
try:
    k(a, a, out[1:], 3)
except ValueError as error:
    print("begins 4 bytes into its memory" in str(error))
"""
    lines = output(emulate("python", "-c", code))
    assert lines == ["[39.0, 39.0, 39.0, 5.0] [14.0, 14.0, 14.0, 14.0]", "3 True", "[56.0, 56.0, 56.0, 56.0]", "True"]


def test_pack_refuses_missing_arguments(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed, description = tmp_path / "own.xclbin", tmp_path / "own.toml"
    rows = ['{name = "a", type = "float*"}', '{name = "n", type = "int"}']
    description.write_text(f'[[kernels]]\nname = "vadd"\narguments = [{", ".join(rows)}]\n')
    assert main(["image", "pack", "--description", str(description), str(source), str(packed)]) == 1
    assert "takes (const float * a, const float * b," in capsys.readouterr().err
    assert not packed.exists()
    description.write_text('[[kernels]]\nname = "vadd"\nunits = 3\n')
    assert main(["image", "pack", "--description", str(description), str(source), str(packed)]) == 0
    assert "1 kernel, 3 compute units" in capsys.readouterr().out
    assert main(["image", "pack", str(packed)]) == 1  # no source
    assert main(["image", "pack", str(source)]) == 0
    assert "3 kernels" in capsys.readouterr().out
    source.with_suffix(".xclbin").unlink()


def test_without_debug_information() -> None:
    assert functions(b"\x7fELF" + bytes(100)) is None


@pytest.mark.parametrize(
    ("c", "kind", "of", "nbytes", "const"),
    [
        ("unsigned int const *", "*", "uint32", 4, True),
        ("float4*", "*", "float32", 16, False),
        ("const hls::vector<float, 16> *", "*", "float32", 64, True),
        ("void *", "*", None, 0, False),
        ("ap_uint<512> *", "*", None, 64, False),
        ("ap_int<12>*", "*", None, 2, False),
        ("std::complex<float>*", "*", "complex64", 8, False),
        ("half *", "*", "float16", 2, False),
        ("hls::stream<ap_uint<8> > &", "stream", None, 0, False),
        ("bool", "bool", None, 0, False),
        ("unsigned long long", "ulong", None, 0, False),
        ("long int", "long", None, 0, False),
        ("std::uint16_t", "ushort", None, 0, False),
        ("signed char", "char", None, 0, False),
    ],
)
def test_types_of_c(c: str, kind: str, of: str | None, nbytes: int, const: bool) -> None:
    parsed = argument("x", c, 0)
    assert parsed is not None
    name = None if parsed.dtype is None else parsed.dtype.name
    assert (parsed.kind, name, parsed.nbytes, parsed.const) == (kind, of, nbytes, const)


@pytest.mark.parametrize("c", ["ap_uint<40>", "half", "float **", "struct pair", "int &"])
def test_types_that_no_call_can_pass(c: str) -> None:
    assert argument("x", c, 0) is None


@pytest.mark.parametrize("emulated", [False, pytest.param(True, marks=pytest.mark.long)], ids=["csim", "xrt"])
def test_the_example(emulated: bool, request: pytest.FixtureRequest) -> None:
    words = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "examples/hls_project"]
    if emulated:
        request.getfixturevalue("xrt_image")
        done = emulate(*words)
    else:
        done = forked.run(*words[1:], cwd=ROOT, env=environment(FTENSOR_DEVICE="csim"))
    assert "5 passed" in "".join(output(done))
