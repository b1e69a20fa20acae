"""FIFO depths in DATAFLOW kernels, found by the check that runs after each launch of a user
kernel."""

from __future__ import annotations

import ctypes
import json
import random
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from ftensor.emulation import fifos
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain import dataflow_marks, user_kernels

from .dataflow_kernels import Random, made, with_deadlock, with_enough

pytestmark = pytest.mark.skipif(csim_compiler() is None, reason="needs a C++ compiler")


class Compiled:
    """The kernels of a source without arguments, and the reports of their launches."""

    def __init__(self, folder: Path, source: str, name: str = "kernels.cpp") -> None:
        path = folder / name
        path.write_text("#include <hls_stream.h>\n" + source)
        (folder / "kernels.so").write_bytes(user_kernels.library(path, ("-O1",)))
        self.library = ctypes.CDLL(str(folder / "kernels.so"))
        self.library.ft_fifos_report.restype = ctypes.c_char_p

    def report(self, kernel: str) -> dict[str, Any]:
        self.library.ft_fifos_record()
        self.library[kernel]()
        result: dict[str, Any] = json.loads(self.library.ft_fifos_report())
        return result


def without(depths: list[int], s: int) -> list[int]:
    return [*depths[:s], depths[s] - 1, *depths[s + 1 :]]


def check(one: Random, report: dict[str, Any]) -> None:
    """Compares a report with the simulation."""
    found = {int(f["name"][1:]): f for f in report["fifos"]}
    assert sorted(found) == list(range(len(one.depths)))
    assert [found[s]["depth"] for s in range(len(found))] == one.depths
    took = one.cycles(one.depths)
    assert fifos.locks_up(report) == (took is None)
    assert report.get("cycles") == took
    least = [found[s]["least"] for s in range(len(found))]
    fast = [found[s]["fast"] for s in range(len(found))]
    best = one.cycles(one.peak())
    assert report["best"] == best
    assert one.cycles(least) is not None and one.cycles(fast) == best
    for s in range(len(found)):  # each depth is minimal: with one less, the kernel deadlocks or is slower
        assert least[s] == 1 or one.cycles(without(least, s)) is None
        assert fast[s] == 1 or one.cycles(without(fast, s)) != best


@pytest.mark.parametrize("well, stuck", [(15, 5), pytest.param(200, 40, marks=pytest.mark.long)])
def test_random_kernels_against_a_simulation(tmp_path: Path, well: int, stuck: int) -> None:
    """Each planted deadlock is found, and none in a kernel without one."""
    rng = random.Random(7)
    kernels = {f"well{k}": with_enough(made(rng), rng) for k in range(well)}
    while len(kernels) < well + stuck:
        if (one := with_deadlock(made(rng), rng)) is not None:
            kernels[f"stuck{len(kernels) - well}"] = one
    compiled = Compiled(tmp_path, "".join(one.source(name, rng) for name, one in kernels.items()))
    verdicts = {}
    for name, one in kernels.items():
        report = compiled.report(name)
        check(one, report)
        verdicts[name] = fifos.locks_up(report)
    assert [name for name, locked in verdicts.items() if locked] == [f"stuck{k}" for k in range(stuck)]


REGIONS = """
#define DEEP (1 << LOG)
#define LOG 3
static void fill(hls::stream<int> &a, int n) { for (int i = 0; i < n; i++) a.write(i); }
static void pass(hls::stream<int> &a, hls::stream<int> &b, int n) { for (int i = 0; i < n; i++) b.write(a.read()); }
static void drain(hls::stream<int> &a, int n) { for (int i = 0; i < n; i++) a.read(); }
static void inner(hls::stream<int> &a, hls::stream<int> &b, int n)
{
#pragma HLS DATAFLOW
    hls::stream<int> between;
    pass(a, between, n);
    pass(between, b, n);
}
extern "C" {
void nested()
{
#pragma HLS DATAFLOW
    hls::stream<int> a, b;
    fill(a, 40);
    inner(a, b, 40);
    drain(b, 40);
}
void unrolled()
{
    hls::stream<int> s[5];
#pragma HLS STREAM variable=s depth=DEEP
#pragma HLS dataflow
    fill(s[0], 40);
    for (int k = 0; k < 4; k++) {
#pragma HLS UNROLL
        pass(s[k], s[k + 1], 40);
    }
    drain(s[4], 40);
}
void repeated()
{
    for (int k = 0; k < 3; k++) {
#pragma HLS DATAFLOW
        hls::stream<int> a("a; }");
        fill(a, 40);
        if (k < 9) {
            drain(a, 40);
        } else
            fill(a, 1);
    }
}
void alone()
{
#pragma HLS DATAFLOW
    hls::stream<int> a;
    for (int i = 0; i < 3; i++) a.write(i);
    for (int i = 0; i < 3; i++) {
        if (!a.empty()) a.read();
    }
}
void in_one_process()
{
    hls::stream<int> a;
    for (int i = 0; i < 3; i++) a.write(i);
    for (int i = 0; i < 3; i++) a.read();
}
void split()
{
#pragma HLS DATAFLOW
    hls::stream<int, 4> a, b;
    fill(a, 6);
    fill(b, 6);
    [&] { for (int i = 0; i < 6; i++) b.read(); for (int i = 0; i < 6; i++) a.read(); }();
}
void both()
{
#pragma HLS DATAFLOW
    hls::stream<int, 4> a, b;
    for (int i = 0; i < 6; i++) { a.write(i); b.write(i); }
    [&] { for (int i = 0; i < 6; i++) b.read(); for (int i = 0; i < 6; i++) a.read(); }();
}
}
"""


# Regions whose streams a (4 elements), b and c deadlock or not, depending on what is a separate
# process.
FORMS = """
static const int four = 4;
static void fill(hls::stream<int> &a) { for (int i = 0; i < 4; i++) a.write(i); }
static void drain(hls::stream<int> &a) { for (int i = 0; i < 4; i++) a.read(); }
static void pass(hls::stream<int> &a, hls::stream<int> &b) { for (int i = 0; i < 4; i++) b.write(a.read()); }
static void late(hls::stream<int> &a, hls::stream<int> &b) { drain(b); drain(a); }
static void both(hls::stream<int> &a, hls::stream<int> &b)
{
#pragma HLS INLINE
    fill(a);
    fill(b);
}
template <int N> static void nested(hls::stream<int> &a, hls::stream<int> &b)
{
#pragma HLS inline recursive
    if (N) both(a, b);
}
static void both_called(hls::stream<int> &a, hls::stream<int> &b)
{
#pragma HLS INLINE off
    both(a, b);
}
"""
# A body, and the name of the process that waits to write ("" if none does). `late` reads b first.
BODIES = {
    "an unrolled loop in a loop": (
        "for (int g = 0; g < 2; g++) { for (int i = 0; i < 4; i++) { [UNROLL] if (g) b.write(i); else a.write(i); } }"
        "late(a, b);",
        "a loop",
    ),
    "a partly unrolled loop": (
        "for (int g = 0; g < 2; g++) { [UNROLL factor=1] fill(g ? b : a); } late(a, b);",
        "a loop",
    ),
    "unrolled by the number of turns": (
        "for (int g = 0; g < 2; g++) { [UNROLL factor=2] fill(g ? b : a); } late(a, b);",
        "",
    ),
    "not unrolled": ("for (int g = 0; g < 2; g++) { [UNROLL off] fill(g ? b : a); } late(a, b);", "a loop"),
    "two statements in a turn": ("for (int g = 0; g < 1; g++) { [UNROLL] fill(a); fill(b); } late(a, b);", ""),
    "an unrolled loop without braces": ("for (int g = 0; g < 2; g++) [UNROLL] fill(g ? b : a); late(a, b);", ""),
    "unrolled loops in each other": (
        "fill(s[0]); for (int g = 0; g < 2; g++) { [UNROLL] for (int k = 0; k < 2; k++) { [UNROLL]"
        " pass(s[2 * g + k], s[2 * g + k + 1]); } } drain(s[4]); fill(a); fill(b); late(a, b);",
        "",
    ),
    "a label": ("one: for (int g = 0; g < 2; g++) { [UNROLL] fill(g ? b : a); } last: late(a, b);", ""),
    "conditions without braces": ("if (four) fill(a); if (!four) fill(c); else fill(b); late(a, b);", ""),
    "else if": (
        "if (!four) fill(c); else if (four == 3) fill(c); else if (four) fill(a); else fill(c); fill(b); late(a, b);",
        "",
    ),
    "a condition below a loop": ("if (four) for (int g = 0; g < 2; g++) { [UNROLL] fill(g ? b : a); } late(a, b);", ""),
    "of either condition the inner one": (
        "if (four) if (!four) fill(c); else fill(a); fill(b); if (four) late(a, b);",
        "",
    ),
    "switch": (
        "switch (four) { case 3: fill(c); break; case four: case 5: fill(a); fill(b); break; default: fill(c); }"
        "late(a, b);",
        "",
    ),
    "a loop behind a condition": ("int g = 0; do if (g) fill(b); else fill(a); while (++g < 2); late(a, b);", "a loop"),
    "a block": ("{ fill(a); { fill(b); } } late(a, b);", ""),
    "an inlined function": ("both(a, b); late(a, b);", ""),
    "inlined functions in each other": ("nested<1>(a, b); late(a, b);", ""),
    "an inlined function in a loop": ("for (int g = 0; g < 1; g++) both(a, b); late(a, b);", "a loop"),
    "a function that is not inlined": ("both_called(a, b); late(a, b);", "both_called"),
    "calls in one expression": ("fill(a), fill(b); late(a, b);", "fill"),
}


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    streams = "hls::stream<int> a, b, c, s[5]; (void)s;"
    kernels = [
        f'extern "C" void k{k}() {{ [DATAFLOW] {streams} {body} }}' for k, (body, _) in enumerate(BODIES.values())
    ]
    source = re.sub(r"\[([A-Z][^]]*)\]", r"\n#pragma HLS \1\n", "\n".join(kernels))
    return Compiled(tmp_path_factory.mktemp("forms"), FORMS + source, "forms.cpp")


@pytest.mark.parametrize("form", BODIES)
def test_processes_of_a_region(forms: Compiled, form: str) -> None:
    """Each form of a statement has the processes that Vitis HLS makes of it."""
    waits = forms.report(f"k{list(BODIES).index(form)}")["waits"]
    writers = [process.partition(" (")[0] for process, _, writes, _ in waits if writes]
    assert writers == ([BODIES[form][1]] if BODIES[form][1] else [])


STATIC = """
static hls::stream<int> whole("whole");
static void work()
{
#pragma HLS DATAFLOW
    static hls::stream<int> a("a"), b("b");
    for (int i = 0; i < COUNT; i++) { a.write(i); whole.write(i); }
    for (int i = 0; i < COUNT; i++) { b.write(a.read()); whole.read(); }
    for (int i = 0; i < COUNT; i++) b.read();
}
extern "C" void one() { work(); }
extern "C" void two() { hls::stream<int> own("own"); own.write(1); own.read(); work(); }
"""


def test_static_stream_of_several_units(tmp_path: Path) -> None:
    """Each compute unit has a thread, and on a board its own stream."""
    compiled = Compiled(tmp_path, STATIC.replace("COUNT", "20000"))
    at_once, reports = threading.Barrier(4), []

    def unit(kernel: str) -> None:
        at_once.wait()
        for _ in range(5):
            reports.append((kernel, compiled.report(kernel)))

    threads = [threading.Thread(target=unit, args=(name,)) for name in ("one", "two", "one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {"one": ["a", "whole", "b"], "two": ["own", "a", "whole", "b"]}
    assert len(reports) == 20
    for kernel, report in reports:
        assert [f["name"] for f in report["fifos"]] == names[kernel]
        assert report["accesses"] == 6 * 20000 + 2 * (kernel == "two") and not report["waits"]


def test_stream_that_two_units_use_in_turn(tmp_path: Path) -> None:
    """A function's static stream may have a name that no marker can read."""
    source = STATIC.replace("COUNT", "2").replace("static hls::stream<int> whole", "hls::stream<int> whole")
    compiled = Compiled(tmp_path, source)
    reports: list[dict[str, Any]] = []
    for kernel in ("two", "one", "two"):
        thread = threading.Thread(target=lambda kernel=kernel: reports.append(compiled.report(kernel)))
        thread.start()
        thread.join()
    assert [len(report["fifos"]) for report in reports] == [4, 3, 4]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("static hls::stream<ap_uint<8> > s;", True),
        ('static ::hls::stream<int, 4> s("s"), t;', True),
        ("using hls::stream; static stream<int> s[4];", True),
        ("static hls::stream<int> &of(int n) { return all[n]; }", False),
        ("static hls::stream<int> made(int n);", False),
    ],
)
def test_only_static_variables_belong_to_a_unit(text: str, own: bool) -> None:
    marked = dataflow_marks.marked(text + "\nvoid f() {\n#pragma HLS DATAFLOW\n g(); }")
    assert marked is not None and ("static thread_local" in marked) == own


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return Compiled(tmp_path_factory.mktemp("regions"), REGIONS, "regions.cpp")


@pytest.mark.parametrize("name", ["nested", "unrolled", "repeated", "alone", "split"])
def test_regions_without_deadlock(regions: Compiled, name: str) -> None:
    """Nested functions, iterations of unrolled loops, regions in loops and loops in regions run
    concurrently."""
    report = regions.report(name)
    assert report["waits"] == []
    assert {f["least"] for f in report["fifos"]} == {1}


def test_depths_come_from_pragmas_macros_and_templates(regions: Compiled) -> None:
    found = {name: regions.report(name)["fifos"] for name in ("unrolled", "nested", "split")}
    assert [(f["name"], f["depth"]) for f in found["unrolled"]] == [(f"s[{k}]", 8) for k in range(5)]
    assert [(f["name"], f["depth"]) for f in found["nested"]] == [("a", 2), ("between", 2), ("b", 2)]
    assert [f["depth"] for f in found["split"]] == [4, 4]


def test_report_of_waiting_processes(regions: Compiled) -> None:
    report = regions.report("both")
    text = fifos.describe("both", report)
    assert "kernel both locks up on a board" in text
    assert "waits to write a, which is full until" in text and "waits to read b, which is empty until a loop (" in text
    assert [f["least"] for f in report["fifos"]] == [6, 1]
    line = 2 + REGIONS.split("void both")[0].count("\n") + 4
    assert f"a loop (regions.cpp:{line})" in text


def test_fifo_inside_one_process_must_hold_all_elements(regions: Compiled) -> None:
    """No other process reads the third element."""
    report = regions.report("in_one_process")
    assert report["waits"] == [["the kernel", "stream 1", True, "the kernel"]]
    assert report["fifos"][0]["least"] == 3


def test_other_launches_are_not_recorded(regions: Compiled) -> None:
    """The C simulation of the same library requests no report, so nothing is recorded."""
    regions.library.nested()
    assert regions.library.ft_fifos_report() == b""
    assert regions.report("nested")["accesses"] == 6 * 40  # three streams


LONG_LAUNCHES = """
extern "C" {
void late()
{
#pragma HLS DATAFLOW
    hls::stream<int> a("a"), b("b");
    for (int i = 0; i < 6000000; i++) { a.write(i); b.write(i); }
    [&] { for (int i = 0; i < 6000000; i++) b.read(); for (int i = 0; i < 6000000; i++) a.read(); }();
}
void shared()
{
    hls::stream<int> a("a"), b("b");
    for (int k = 0; k < 9; k++) {
#pragma HLS DATAFLOW
        for (int i = 0; i < 700000; i++) { a.write(i); if (i % 3 == 0) b.write(i); }
        for (int i = 0; i < 700000; i++) a.write(i);
        for (int i = 0; i < 1400000; i++) { a.read(); if (i < 700000 && i % 3 == 0) b.read(); }
    }
}
}
"""


def test_deadlock_is_found_in_a_long_launch(tmp_path: Path) -> None:
    """Repeated accesses are stored once, so a deadlock is found however long the launch is."""
    compiled = Compiled(tmp_path, LONG_LAUNCHES)
    late, shared = compiled.report("late"), compiled.report("shared")
    assert late["accesses"] == 24000000 and [row[1:3] for row in late["waits"]] == [["a", True], ["b", False]]
    text = fifos.describe("late", late)
    assert "waits to write a, which is full until" in text and "least depths take too long to find" in text
    assert shared["accesses"] > 1 << 24 and shared["waits"] == []


def test_polling_is_noted(regions: Compiled) -> None:
    assert regions.report("alone")["polled"] and not regions.report("split")["polled"]
    assert "asks whether a FIFO is empty" in fifos.describe("alone", regions.report("alone"))


def test_source_without_regions_is_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "plain.cpp"
    path.write_text('#include <hls_stream.h>\nextern "C" void k(int *a) { a[0] = 1; }\n')
    assert b"ft_fifos_report" not in user_kernels.library(path, ())
    assert dataflow_marks.marked("void f() {\n#pragma HLS PIPELINE\n}\n") is None


def test_error_has_the_line_of_the_source(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cpp"
    path.write_text("#include <hls_stream.h>\nvoid k() {\n#pragma HLS DATAFLOW\n  int a = 1;\n  nobody(a);\n}\n")
    with pytest.raises(RuntimeError, match=r"wrong\.cpp:5"):
        user_kernels.library(path, ())
