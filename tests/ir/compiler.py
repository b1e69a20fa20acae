"""Compiles a kernel's source to IR with clang: inlined and simplified as in v++'s first step."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ftensor.toolchain.vitis.source import standins

from .module import STANDINS

# Loops keep their shape: none is unrolled, vectorized, or replaced by memcpy. Lines are kept, so
# that a loop finds its pragmas and a finding its position.
# fmt: off
FLAGS = (
    "-std=gnu++14", "-O1", "-finline-hint-functions", "-fno-unroll-loops", "-fno-vectorize",
    "-fno-slp-vectorize", "-fno-builtin", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fno-exceptions",
    "-fno-rtti", "-g1", "-w", "-S", "-emit-llvm", "-D__SYNTHESIS__",
)
# fmt: on
HEADERS = ("ap_int.h", "hls_math.h", "hls_stream.h", "hls_vector.h")
# Appended to the source: for each parameter of the kernel the bytes of a beat if it is a vector
# port, 1 if it is a port of elements, otherwise -1.
BEATS = """
#include <hls_vector.h>
namespace ft_beats {
template <typename T> struct of { static constexpr long bytes = -1; };
template <typename T> struct of<T *> { static constexpr long bytes = 1; };
template <typename T, size_t N> struct of<hls::vector<T, N> *> {
    static constexpr long bytes = sizeof(T) * N;
};
template <typename T, size_t N> struct of<const hls::vector<T, N> *> : of<hls::vector<T, N> *> {};
template <int N> struct list { long bytes[N]; };
template <typename... A> constexpr list<sizeof...(A)> ports(void (*)(A...))
{
    return {{of<A>::bytes...}};
}
extern constexpr auto ft_port_beats __asm__("ft_port_beats") = ports(%s);
}
"""


def clang() -> str:
    """Returns the compiler. Skips without one, and fails under FTENSOR_REQUIRE_TARGETS=1."""
    path = shutil.which("clang++") or shutil.which("clang++-14")
    if path is None:
        lacking = "the check of the kernels' IR needs clang: apt-get install clang"
        if os.environ.get("FTENSOR_REQUIRE_TARGETS") == "1":
            pytest.fail(lacking)
        pytest.skip(lacking)
    return path


@cache
def headers_read() -> TemporaryDirectory[str]:
    """Returns the folder of clang's precompiled headers, which save half of a kernel's compile
    time."""
    folder = TemporaryDirectory(prefix="ftensor-ir-")
    header, precompiled = Path(folder.name) / "headers.h", Path(folder.name) / "headers.pch"
    header.write_text("".join(f"#include <{name}>\n" for name in HEADERS))
    flags = [word for word in FLAGS if word not in ("-S", "-emit-llvm")]
    places = (f"-I{STANDINS}", f"-I{standins()}")
    command = [clang(), *flags, *places, "-x", "c++-header", str(header), "-o", str(precompiled)]
    subprocess.run(command, check=True)
    return folder


def compiled(source: Path, kernel: str, flags: Sequence[str] = ()) -> str:
    """Returns the IR of the source file of `kernel`, whose folder has the headers too."""
    places = [f"-I{place}" for place in (STANDINS, source.parent, standins())]
    known = ("-include-pch", f"{headers_read().name}/headers.pch")
    text = f'#include "{source.name}"\n' + BEATS % kernel
    command = [clang(), *FLAGS, *flags, *places, *known, "-x", "c++", "-", "-o", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=source.parent)
    assert done.returncode == 0, f"{source}:\n{done.stderr}"
    return done.stdout
