"""The text of HLS sources: readable, valid for v++, and complete."""

from __future__ import annotations

import ctypes
import posixpath
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

import ftensor as ft
from ftensor.kernels.inventory_terms import InventoryRequest
from ftensor.kernels.skeleton import board_skeletons, options
from ftensor.kernels.skeletons.conv import ConvKey
from ftensor.kernels.skeletons.fft import FftStreamKey
from ftensor.kernels.skeletons.gemm import GemmKey
from ftensor.kernels.skeletons.nll import NllKey
from ftensor.kernels.skeletons.scan import SCANS, CompactKey, ScanKey
from ftensor.kernels.skeletons.sort import SearchKey, SortKey
from ftensor.kernels.source import HELPERS, MEMORY, hls_root, width
from ftensor.runtime.csim.backend import FLAGS
from ftensor.runtime.targets import CSIM, csim_compiler
from ftensor.toolchain.csim import SEQUENTIAL
from ftensor.toolchain.group import KernelGroup, arguments
from ftensor.toolchain.vitis.interface import bundles
from ftensor.toolchain.vitis.source import headers, source, standins

from .hls_cases import ARITHMETIC, RUN, STRIDED, STRUCTURES, SUMS, arithmetic, key, port
from .hls_kernels import folder, library


def test_every_memory_type_has_a_width() -> None:
    """Ports have vectors of it."""
    sizes = {name: width(f"hls::vector<{c}, 4>") // 4 for name, c in MEMORY.items() if "complex" not in name}
    assert sizes == {name: getattr(ft, name).itemsize for name in sizes}


def test_names_and_words() -> None:
    """A file has ops by name and the settings, and no macro of the skeletons."""
    words = r"NAME|PARAMS|PORTS?|SETUP|READ|WRITE|COMPUTE|LANE|EACH_\w+|VEC|V|C|CONVERT"
    holes = re.compile(rf"FT_({words})\b")
    for structure in STRUCTURES:
        text = source(KernelGroup("arithmetic", ARITHMETIC, structure=structure, units=2))
        assert "static inline float add_float32(float a, float b) { return a + b; }" in text
        for member in ARITHMETIC:
            assert f"{member.name}_{member.compute.name}(" in text
            assert member.entry in text
        assert "structure " + structure in text and "2 compute units" in text
        assert not holes.search(text)
        assert ("#pragma HLS DATAFLOW" in text) == (structure == "dataflow")
        assert f"ft_map_{dict(zip(STRUCTURES, ('compute', 'block', 'loop')))[structure]}" in text


def test_members_with_different_layouts_share_a_function() -> None:
    """Both additions share one adder in each lane. An operand by value is selected before it."""
    text = source(arithmetic("dataflow"))
    assert "case 0: case 1: r_out0 = add_float32(float_a, float_b); break;" in text
    assert text.count("add_float32(") == 2, "its function and one call"
    assert "default: float_b = ft_bits<float>((int)value0);" in text


FIXED = (
    GemmKey("gemm", ft.float32, 16, 8, 2, 16),
    GemmKey("gemm_pack", ft.float16, 1, 8, 32),
    GemmKey("gemm_direct", ft.complex64, 8, 4, 1),
    ConvKey("conv", ft.float32, 16, 4, 16),
    ConvKey("conv", ft.float64, 8, 4, 16),
    ConvKey("conv_pack", ft.float16, 1, 4, 1),
    CompactKey(),
    *(ScanKey(op, ft.float32) for op in SCANS),
    ScanKey("cumprod", ft.complex64),
    NllKey("nll", ft.float32),
    NllKey("nll_input", ft.bfloat16, 16),
    SortKey(ft.bfloat16),
    SearchKey(ft.float16),
    FftStreamKey(ft.complex64, 64),
)


COLUMNS = tuple(replace(k, skeleton="reduce_outer", reduction=replace(k.reduction, vectors=8)) for k in SUMS)


def some_groups() -> list[KernelGroup]:
    """Returns a group of each skeleton."""
    groups = [arithmetic("dataflow"), KernelGroup("strided", STRIDED), *(KernelGroup("one", (m,)) for m in FIXED)]
    return [*groups, KernelGroup("sums", SUMS), KernelGroup("columns", COLUMNS)]


def test_every_argument_has_an_interface() -> None:
    """A pointer has its own bundle, or, for a geometry, that of a read-only operand. Each argument
    has a register."""
    for group in some_groups():
        text = source(group)
        ports = re.findall(r"INTERFACE m_axi port=(\w+) bundle=(\w+) .*latency=\d+ max_", text)
        own = arguments(group)
        assert [p for p, _ in ports] == [a.name for a in own if a.what == "*"]
        names = [bundle for _, bundle in ports]
        shared = [a for a, bundle in ports if names.count(bundle) > 1]
        assert shared == [] or shared in [[p, "geometry"] for p in ("in_a", "sorter", "target")]
        # Operands that share a port are read one after another: no function's processes have both.
        functions = re.findall(r"^[a-z][^\n]*\(.*?^}", text, re.M | re.S)
        assert not any(shared and "DATAFLOW" in f and "geometry" in f for f in functions)
        registers = re.findall(r"INTERFACE s_axilite port=(\w+)", text)
        assert registers == [*(a.name for a in own), "return"]
        head = text[text.index(f'extern "C" void {group.name}(') :]
        plain = re.sub(r"<.*?>", "", head[: head.index("\n{")])
        assert re.findall(r"(\w+)[,)]", plain) == [a.name for a in own]


def test_outstanding_bursts_of_a_port_fit_block_ram() -> None:
    """The bursts in flight times their length are block RAM: at most 32 KiB, 512 beats of 512
    bits."""
    wide = {}
    for group in [*some_groups(), *(arithmetic(s) for s in STRUCTURES)]:
        shared = [one.pointers[-1] for one in bundles(group) if len(one.pointers) > 1]
        for name, length, bursts in re.findall(
            r"m_axi port=(\w+) .*max_read_burst_length=(\d+) num_read_outstanding=(\d+)", source(group)
        ):
            (c,) = [a.c for a in arguments(group) if a.name == name]
            assert width(c) * int(length) <= 4096, "AXI's bursts end at every 4 KiB"
            assert width(c) * int(length) * int(bursts) <= 32768
            if name == "geometry" and name not in shared:
                assert width(c) * int(length) * int(bursts) <= 512, "it is a few numbers"
            elif group.kind.short_bursts("vector" in c, not c.startswith("const")):
                assert int(bursts) == 64 and int(length) <= 16, "nothing long bursts there"
            else:
                wide[width(c)] = int(bursts)
    assert wide[64] == 8 and wide[4] == 16


def test_pipelined_loops_have_names() -> None:
    """Tools report loops by their labels, which are unique within a function."""
    texts = {group.name: source(group) for group in some_groups()}
    texts |= {name: path.read_text() for name, path in headers().items() if name.startswith("ftensor/vitis/")}
    for name, text in texts.items():
        lines = text.splitlines()
        labels, functions = [], 0
        for k, line in enumerate(lines):
            if line == "{":
                functions += 1
            if match := re.fullmatch(r" *(\w+):", line):
                assert lines[k + 1].lstrip().startswith(("for (", "{")), lines[k + 1]
                labels.append((functions, match[1]))
            if "#pragma HLS PIPELINE" not in line:
                continue
            while not lines[k].lstrip().startswith("for ("):
                k -= 1
            assert re.fullmatch(r" *\w+:", lines[k - 1]), (name, lines[k])
        assert len(set(labels)) == len(labels), name


def test_loops_over_beats_have_an_interval() -> None:
    """A loop of maps or reductions starts an iteration every cycle, or is unrolled."""
    lines = [line for n in ("map", "fold") for line in headers()[f"ftensor/vitis/{n}.h"].read_text().splitlines()]
    loops = [k for k, line in enumerate(lines) if line.lstrip().startswith("for (")]
    assert len(loops) == 9
    for k in loops:
        assert lines[k + 1] in ("#pragma HLS PIPELINE II=1", "#pragma HLS UNROLL"), lines[k - 1]


def test_loops_inside_a_pipelined_one_are_unrolled() -> None:
    """They have no pragma. Only a loop of constant length can be unrolled, so a pipelined loop contains no other."""
    seen = 0
    for group in some_groups():
        lines = source(group).splitlines()
        for k in (k for k, line in enumerate(lines) if "#pragma HLS PIPELINE" in line):
            loop = k
            while not lines[loop].lstrip().startswith("for ("):
                loop -= 1
            indent = len(lines[loop]) - len(lines[loop].lstrip())
            end = next(i for i in range(k, len(lines)) if lines[i] == " " * indent + "}")
            for line in lines[k:end]:
                # Rows' loop over elements is pipelined in some kernels only.
                assert "HLS UNROLL" not in line or group.name == "strided", (group.name, lines[loop])
                if "for (" in line:
                    seen += 1
                    most = r"< ([A-Z_]+( [+-] \d)?|\d+|int\(\w+\)); |= [A-Z_]+ - 1; \w+ > 0; "
                    assert re.search(most, line), (group.name, line)
    assert seen > 10


def test_columns_are_interleaved_and_read_in_bursts() -> None:
    """A step of the sums depends on the eighth step before it. A row is eight beats."""
    text = source(KernelGroup("columns", COLUMNS))
    stages = text[text.index("static void fetch(") :]
    assert "in_a_to.write(in_a[in_a_first + v]);" in stages and "PIPELINE II=8" in stages
    assert stages.count("inter RAW distance=8 true") == 4
    assert "ft_gather_lanes" not in stages and "#pragma HLS DATAFLOW" in stages


def test_vectors_of_a_reduction_are_read_in_order() -> None:
    """Consecutive steps of a loop read consecutive beats."""
    text = source(KernelGroup("sums", SUMS))
    assert "const hls::vector<uint32_t, 16> *in_a" in text
    assert "long in_a_beat = (in_a_offset + at[1] + i) / LANES;" in text
    assert text.count("in_a[in_a_beat++]") == 3
    assert "ft_gather_lanes" not in text and "in_a += in_a_offset" not in text


def test_all_headers_are_copied() -> None:
    """Every header of ftensor that a source or a header includes is copied next to the sources."""
    texts = {name: path.read_text() for name, path in headers().items()}
    for group in some_groups():
        for name in re.findall(r'#include "(.+)"', source(group)):
            assert name in texts, (group.name, name)
    for name, text in texts.items():
        for inner in re.findall(r'#include "(.+)"', text):
            header = posixpath.normpath(posixpath.join(posixpath.dirname(name), inner))
            assert header in texts, (name, inner)


def test_helpers_of_a_type_undefine_their_macros() -> None:
    """Headers undefine their macros for one type before the next."""
    undone = set(re.findall(r"#undef (\w+)", (hls_root() / "vitis/end_compute.h").read_text()))
    for name in ("math.h", "complex.h", *HELPERS.values()):
        text = (hls_root() / name).read_text()
        own = set(re.findall(r"^#undef (\w+)", text, re.M))
        assert set(re.findall(r"^#define (\w+)", text, re.M)) <= undone | own, name


def test_body_undefines_its_macros() -> None:
    """This includes kernels with several bodies, their settings, and a text's own macros."""
    undone = set(re.findall(r"#undef (\w+)", (hls_root() / "vitis/end_compute.h").read_text()))
    undone |= set(re.findall(r"#undef (\w+)", (hls_root() / "vitis/end_member.h").read_text()))
    dtypes = (ft.int32, ft.float16, ft.bfloat16, ft.float64, ft.complex64)
    asked = InventoryRequest(dtypes, {n: o.default for n, o in options().items()}, CSIM)
    own = [s for s in board_skeletons() if not s.shares]
    used = {name for s in own for key in s.keys(asked) for name in s.helpers(key)}
    for name in sorted(used):
        text = (hls_root() / name).read_text()
        gone = set(re.findall(r"^#undef (\w+)", text, re.M))
        assert set(re.findall(r"^ *# *define (\w+)", text, re.M)) <= undone | gone, name


def weak_functions(object_file: Path) -> dict[str, bytes]:
    """Returns the code of weak functions, of which a linker keeps one, by name."""
    with object_file.open("rb") as file:
        elf: Any = ELFFile(file)
        symbols = elf.get_section_by_name(".symtab").iter_symbols()
        weak = [s for s in symbols if s["st_info"]["bind"] == "STB_WEAK" and s["st_info"]["type"] == "STT_FUNC"]
        sections = {s["st_shndx"]: elf.get_section(s["st_shndx"]).data() for s in weak}
        return {s.name: sections[s["st_shndx"]][s["st_value"] :][: s["st_size"]] for s in weak}


@pytest.mark.skipif(csim_compiler() is None, reason="the C simulation needs a C++ compiler")
def test_functions_of_one_name_are_equal_in_all_kernels(tmp_path: Path) -> None:
    """An image for emulation is one shared object, and its linker keeps one of them for all
    kernels."""
    convolution, product = ConvKey("conv", ft.float32, 16, 4, 16), GemmKey("gemm", ft.float32, 16, 8, 2, 16)
    groups = [arithmetic("dataflow"), KernelGroup("other_opcodes", ARITHMETIC[::-1], structure="dataflow")]
    groups += [KernelGroup(key.skeleton, (key,)) for key in (convolution, product)]
    command = [*(csim_compiler() or []), *(f for f in FLAGS if f != "-shared"), SEQUENTIAL, "-I", folder().name]
    command += ["-O0", "-w", "-c"]  # no function is inlined
    functions: dict[str, bytes] = {}
    for group in groups:
        file = tmp_path / f"{group.name}.o"
        words = [*command, "-isystem", str(standins()), "-x", "c++", "-", "-o", str(file)]
        subprocess.run(words, input=source(group), text=True, check=True)
        for name, code in weak_functions(file).items():
            assert functions.setdefault(name, code) == code, f"{group.name}: {name}"
    assert any("stream" in name for name in functions)


def test_invalid_groups_are_refused() -> None:
    """The error names the kernel."""
    wide = key("neg", "-a", port(ft.float64), port(ft.float64), lanes=16, compute=ft.float64)
    with pytest.raises(ValueError, match=r"kernel wide: 16 lanes of out0 are 1024 bits"):
        source(KernelGroup("wide", (wide,)))
    two = replace(ARITHMETIC[0], outs=(RUN, RUN), body=("a", "b"))
    with pytest.raises(ValueError, match="kernel two: add has 2 outputs"):
        source(KernelGroup("two", (two,)))
    begun = replace(SUMS[2], reduction=replace(SUMS[2].reduction, identity=""))
    with pytest.raises(ValueError, match="kernel sums: amax has no identity"):
        source(KernelGroup("sums", (SUMS[0], begun)))
    place = key("arange", "FT_POSITION", port(ft.float32), lanes=1, skeleton="rows")
    with pytest.raises(ValueError, match="kernel strided: opcode 4, arange, uses positions"):
        source(KernelGroup("strided", (*STRIDED, place)))
    other = replace(SUMS[0], reduction=replace(SUMS[0].reduction, vectors=2))
    with pytest.raises(ValueError, match="kernel sums: sum and sum differ in outputs, or in states"):
        source(KernelGroup("sums", (SUMS[0], other)))


STANDINS = r"""
#include <ap_int.h>
#include <hls_math.h>
#include <hls_stream.h>
#include <hls_vector.h>
static_assert(sizeof(hls::vector<float, 16>) == 64 && alignof(hls::vector<float, 16>) == 64, "");
static_assert(sizeof(hls::vector<float, 3>) == 12 && alignof(hls::vector<float, 3>) == 4, "");
static_assert(sizeof(hls::vector<float, 6>) == 24 && alignof(hls::vector<float, 6>) == 8, "");
static_assert(sizeof(hls::vector<unsigned char, 2>) == 2, "");
extern "C" long standins()
{
    hls::stream<hls::vector<int, 4>, 2> fifo("fifo");
    for (int k = 0; k < 1000; k++) fifo << hls::vector<int, 4>(k);
    long wrong = fifo.empty() + (fifo.size() != 1000);
    for (int k = 0; k < 1000; k++) {
        hls::vector<int, 4> v;
        if (k % 2) fifo >> v; else v = fifo.read();
        wrong += (size_t)&v % alignof(hls::vector<int, 4>) != 0;
        const hls::vector<int, 4> w = v + hls::vector<int, 4>{1, 2, 3, 4};
        wrong += v[3] != k || w[0] != k + 1 || w[3] != k + 4;
    }
    hls::vector<int, 4> none;
    wrong += !fifo.empty() + fifo.read_nb(none);
    ap_uint<3> u = 9;
    ap_int<4> i = 8;
    wrong += u != 1 || i != -8 || ap_uint<64>(-1) != ~0UL;
    wrong += ap_uint<4>(0x6)[0] || !ap_uint<4>(0x6)[2];
    return wrong + (hls::sqrt(4.0f) != 2.0f);
}
"""


@pytest.mark.skipif(csim_compiler() is None, reason="the C simulation needs a C++ compiler")
def test_standins() -> None:
    """Vectors are as wide as their elements, FIFOs keep the order, and integers wrap at their
    width."""
    function = library(STANDINS, "standins").standins
    function.restype = ctypes.c_long
    assert function() == 0


# Code that Vitis headers refuse, or for which they give another value than the stand-ins, and its
# correction.
REFUSED = [
    ("typedef unsigned short half;", "typedef unsigned short ft_half;"),
    ("static int AP_SAT(int x) { return x; }", "static int saturated(int x) { return x; }"),
    ("unsigned long either(bool c, ap_uint<3> x, ap_uint<4> y) { return c ? x : y; }",
     "unsigned long either_(bool c, ap_uint<3> x, ap_uint<3> y) { return c ? x : y; }"),
    ("long minus(ap_uint<3> x) { return -x; }", "long minus_(ap_uint<3> x) { return -(long)x; }"),
    ("long not_(ap_int<3> x) { return ~x; }", "long not__(ap_int<3> x) { return ~(long)x; }"),
    ("long up(ap_uint<3> x) { return x << 2; }", "long up_(ap_uint<3> x) { return (long)x << 2; }"),
    ("bool less(ap_uint<3> x) { return x - 5 < 0; }", "bool less_(ap_uint<3> x) { return x < 5; }"),
    ("float power(float x, double y) { return hls::pow(x, y); }",
     "float power_(float x, double y) { return hls::pow(x, (float)y); }"),
    ("static_assert(hls::vector<float, 4>::size() == 4, \"\");",
     "unsigned long many(hls::vector<float, 4> v) { return v.size(); }"),
    ("hls::vector<int, 4> whole(hls::vector<float, 4> v) { return v; }",
     "hls::vector<int, 4> whole_(hls::vector<float, 4> v) { return (int)v[0]; }"),
    ("int taken(hls::stream<int> &from) { hls::stream<int> own(from); return own.read(); }",
     "int taken_(hls::stream<int> &from) { hls::stream<int> &own = from; return own.read(); }"),
    ("int first(const hls::stream<int> &from) { return from.read(); }",
     "bool none(const hls::stream<int> &from) { return from.empty(); }"),
]  # fmt: skip


@pytest.mark.skipif(csim_compiler() is None, reason="the C simulation needs a C++ compiler")
def test_standins_refuse_code_that_vitis_headers_refuse() -> None:
    """Each line is an error, and its correction is none."""
    names = ("ap_int.h", "hls_math.h", "hls_stream.h", "hls_vector.h")
    head = [word for name in names for word in ("-include", name)]
    flags = [*FLAGS[:2], "-pedantic-errors", "-fsyntax-only", f"-I{standins()}", *head, "-x", "c++", "-"]

    def errors(lines: list[str]) -> set[int]:
        command = [*(csim_compiler() or []), *flags, "-x", "c++", "-"]
        done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
        return {int(n) for n in re.findall(r"^<stdin>:(\d+):.* (?:error: |required from here)", done.stderr, re.M)}

    assert errors([bad for bad, _ in REFUSED]) == set(range(1, len(REFUSED) + 1))
    assert not errors([good for _, good in REFUSED])
