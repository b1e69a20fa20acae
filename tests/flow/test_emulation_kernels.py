"""The software device's kernels, memory, compute units and reports."""

from __future__ import annotations

import ctypes
import faulthandler
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftensor.emulation import crash, kernels
from ftensor.emulation.kernels import ImageProblem
from ftensor.emulation.memory import PAGE, BoardMemory, OutOfRange

from .emulation_host import HANG, ROOT

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="the software device is for Linux")]


XML = """<project><platform><device><core><kernel name="k">
<arg name="out" addressQualifier="1" id="1" size="0x8" offset="0x18" type="int*"/>
<arg name="n" addressQualifier="{q}" id="0" size="0x4" offset="{o}" type="{c}"/>
<instance name="k_1"><addrRemap base="0x1800000"/></instance></kernel></core></device></platform>
</project>"""


def test_metadata_has_the_offsets_of_arguments() -> None:
    kernel = kernels.describe(XML.format(q=0, o="0x10", c="short").encode())["k"]
    assert [a.name for a in kernel.arguments] == ["n", "out"]  # in the order of their numbers
    assert kernel.units == {"k_1": 0x1800000}
    memory = BoardMemory()
    memory.allocate(0x3000, 4096)
    registers = bytearray(0x20)
    struct.pack_into("<h", registers, 0x10, -2)
    struct.pack_into("<Q", registers, 0x18, 0x3040)
    values, shown = kernel.bind(registers, memory)
    buffer = memory.find(0x3000)
    assert buffer is not None and buffer.written
    assert values == [-2, buffer.pointer + 0x40]
    assert shown == "n=-2, out=0x3040 (4032 bytes)"
    struct.pack_into("<Q", registers, 0x18, 0x4000)
    with pytest.raises(OutOfRange, match="argument 'out' of kernel 'k' is the address 0x4000"):
        kernel.bind(registers, memory)


def launchable(*arguments: tuple[str, str]) -> tuple[kernels.KernelFunction, bytearray]:
    """Returns a kernel of pointers (name, C type), and its registers, all zero."""
    rows = [kernels.RegisterArgument(name, 0x10 + 8 * k, True, None, c) for k, (name, c) in enumerate(arguments)]
    return kernels.KernelFunction("k", rows), bytearray(0x10 + 8 * len(rows))


def test_unset_argument_is_named() -> None:
    """No buffer starts at address 0 (the patch BASE of environment.py), so a zero register is
    unset."""
    kernel, registers = launchable(("a", "const int *"), ("out", "int *"))
    memory = BoardMemory()
    memory.allocate(0x1000, 4096)
    struct.pack_into("<Q", registers, 0x10, 0x1000)
    with pytest.raises(OutOfRange, match="argument 'out' of kernel 'k' is a null pointer; was it set"):
        kernel.bind(registers, memory)


def test_buffer_that_was_never_sent_is_reported() -> None:
    kernel, registers = launchable(("a", "const int *"), ("out", "int *"))
    memory = BoardMemory()
    for k in (1, 2):
        memory.allocate(k << 12, 4096)
        struct.pack_into("<Q", registers, 8 + 8 * k, k << 12)
    (note,) = kernel.notes(registers, memory)
    assert "argument 'a' of kernel 'k' is a buffer that the host has never sent" in note
    assert "XCL_BO_SYNC_BO_TO_DEVICE" in note
    memory.write(0x1000, memoryview(b"abcd"))
    assert not list(kernel.notes(registers, memory))
    struct.pack_into("<Q", registers, 0x10, 0x1014)
    (note,) = kernel.notes(registers, memory)
    assert "argument 'a' of kernel 'k' begins at the address 0x1014, no multiple of 64 bytes" in note


def test_unread_operands_of_ftensors_kernels_are_no_mistake() -> None:
    kernel, registers = launchable(("a", "const int *"), ("ft_units", "int"))
    kernel.arguments[-1] = kernels.RegisterArgument("ft_units", 0x18, False, None, "int")
    memory = BoardMemory()
    memory.allocate(0x1000, 4096)
    struct.pack_into("<Q", registers, 0x10, 0x1000)
    assert not list(kernel.notes(registers, memory))


def test_result_is_pending_until_it_is_read() -> None:
    kernel, registers = launchable(("a", "const int *"), ("out", "int *"))
    memory = BoardMemory()
    for k in (1, 2):
        memory.allocate(k << 12, 4096)
        struct.pack_into("<Q", registers, 8 + 8 * k, k << 12)
    kernel.bind(registers, memory)
    assert memory.unread() == ["argument 'out' of kernel 'k'"]
    memory.read(0x2000, 4)
    assert memory.unread() == []
    kernel.bind(registers, memory)
    struct.pack_into("<QQ", registers, 0x10, 0x2000, 0x1000)  # the next kernel reads it
    (_, out), _ = kernel.bind(registers, memory)
    ctypes.memset(out, 1, 4)
    assert len(memory.unread()) == 1
    memory.read(0x1000, 4)
    assert memory.unread() == []


@pytest.mark.parametrize("c", ["const int *", "int const *", "volatile const int *"])
def test_pointer_to_const_is_no_result(c: str) -> None:
    kernel, registers = launchable(("a", c), ("out", "int * const"))
    memory = BoardMemory()
    for k in (1, 2):
        memory.allocate(k << 12, 4096)
        struct.pack_into("<Q", registers, 8 + 8 * k, k << 12)
    kernel.bind(registers, memory)
    assert memory.unread() == ["argument 'out' of kernel 'k'"]


def test_unchanged_buffer_is_no_result() -> None:
    """The C type of an input may lack `const`."""
    kernel, registers = launchable(("a", "int *"))
    memory = BoardMemory()
    memory.allocate(0x1000, 4096)
    struct.pack_into("<Q", registers, 0x10, 0x1000)

    def launched(writes: bytes = b"") -> list[str]:
        (pointer,), _ = kernel.bind(registers, memory)
        ctypes.memmove(pointer, writes, len(writes))
        return memory.unread()

    memory.write(0x1000, memoryview(b"sent"))
    assert launched() == []
    kernel.bind(registers, memory)
    memory.write(0x1000, memoryview(b"more"))  # the next input, of the same buffer
    assert memory.unread() == []
    assert launched(b"done") == ["argument 'a' of kernel 'k'"]
    assert launched() == []  # the next kernel has read it
    memory.free(0x1000)
    memory.allocate(0x1000, 4096)
    assert launched() == ["argument 'a' of kernel 'k'"]  # it was never sent, so it is no input


def test_overrun_names_the_argument() -> None:
    running = ["kernel k, compute unit k_1: a=0x1000 (4096 bytes), out=0x2000 (4096 bytes), n=7"]
    said = "it accessed 8 bytes behind the end of the buffer {} (4096 bytes)"
    assert crash._argument(said.format("0x2000..0x3000"), running) == ", of argument 'out'"
    assert crash._argument(said.format("0x20000..0x21000"), running) == ""
    assert crash._argument("the pointer 0x0, which is near no buffer", running) == ""


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("no xml", "no XML"),
        (XML.format(q=2, o="0x10", c="int"), "is a stream or a local memory"),
        (XML.format(q=0, o="0x10", c="ap_int&lt;7&gt;"), "'ap_int<7>'"),
        (XML.format(q=0, o="somewhere", c="int"), "no usable place"),
        (XML.replace("addrRemap", "x").format(q=0, o="0x10", c="int"), "has no address"),
    ],
)
def test_unusable_metadata(xml: str, message: str) -> None:
    with pytest.raises(ImageProblem, match=message):
        kernels.describe(xml.encode())


def test_unconnected_streams() -> None:
    """A library without a function to start such a kernel is refused. Free-running kernels need
    none."""
    text = XML.format(q=4, o="0x10", c="hls::stream")
    described = kernels.describe(text.encode())
    assert described["k"].streams == ("n",) and [a.name for a in described["k"].arguments] == ["out"]
    with pytest.raises(ImageProblem, match="is a stream or a local memory"):
        kernels.Library(Path("libm.so.6"), described)
    alone = text.replace("<kernel ", '<kernel hwControlProtocol="ap_ctrl_none" ')
    assert alone != text and not kernels.describe(alone.encode())


@pytest.mark.parametrize(
    ("c", "size", "letter"),
    [("int", 4, "i"), ("unsigned", 4, "I"), ("long int", 8, "q"), ("unsigned long long", 8, "Q"),
     ("const unsigned char", 4, "B"), ("short unsigned int", 4, "H"), ("std::int64_t", 8, "q"),
     ("float", 4, "f"), ("double", 8, "d"), ("bool", 4, "?"), ("signed int", 4, "i"),
     ("signed char", 1, "b"), ("ushort", 2, "H")],
)  # fmt: skip
def test_names_of_scalars(c: str, size: int, letter: str) -> None:
    scalar = kernels.scalar_type(c, size)
    assert kernels._LETTERS[scalar] == letter


def test_scalar_types_without_a_c_equivalent() -> None:
    assert kernels.scalar_type("half", 2) is None
    assert kernels.scalar_type("hls::vector<float, 2>", 8) is None
    assert kernels.scalar_type("double", 4) is None  # the host would send half of it


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 15), st.integers(1, 4)), max_size=30))
def test_memory_finds_the_buffer_of_an_address(steps: list[tuple[bool, int, int]]) -> None:
    """Compared with a list of pages: buffers never overlap, and each address belongs to its buffer
    or to none."""
    memory, owner = BoardMemory(), {}
    for make, page, pages in steps:
        if make:
            free = all(p not in owner for p in range(page, page + pages))
            assert memory.allocate(page * PAGE, pages * PAGE - 1) == free
            owner |= dict.fromkeys(range(page, page + pages), page) if free else {}
        elif owner.get(page) == page:
            memory.free(page * PAGE)
            owner = {p: first for p, first in owner.items() if first != page}
        else:
            with pytest.raises(OutOfRange):
                memory.free(page * PAGE)
    for page in range(20):
        buffer = memory.find(page * PAGE + 5)
        assert (buffer.address // PAGE if buffer else None) == owner.get(page)
    for first in set(owner.values()):
        memory.free(first * PAGE)


def test_pointer_is_explained() -> None:
    memory = BoardMemory()
    memory.allocate(0x10000, 100)
    buffer = memory.find(0x10000)
    assert buffer is not None
    assert "28 bytes behind the end of the buffer 0x10000" in memory.explain(buffer.pointer + 128)
    assert "4 bytes before the buffer" in memory.explain(buffer.pointer - 4)
    assert "near no buffer" in memory.explain(64)


def test_limited_address_space() -> None:
    """Under `ulimit -v` a buffer still fits, with guards of a page."""
    code = """
import resource, sys
from ftensor.emulation.memory import PAGE, BoardMemory
used = int(open("/proc/self/statm").read().split()[0]) * PAGE  # more where there are more cores
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), used + (1 << 29)))
memory = BoardMemory()
assert memory.allocate(0, 4096)
memory.write(0, memoryview(b"abc"))
assert bytes(memory.read(0, 3)) == b"abc"
assert memory.find(0).mapped[1] == 3 * PAGE
assert not memory.allocate(4096, 8 << 30)
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


class Unit(kernels.EmulatedUnit):
    """A compute unit whose kernel is a Python function."""

    def __init__(self, completions: kernels.Completions, work: Any) -> None:
        self.notes: list[str | None] = []
        kernel = kernels.KernelFunction("k", [], {}, work)

        def run(text: str, call: Callable[[], None]) -> None:
            self.notes.append(text)
            call()
            self.notes.append(None)

        super().__init__(kernel, "k_1", completions, run)

    def control(self) -> int:
        """Returns the control register."""
        return int.from_bytes(self.read(0), "little")


def word(value: int) -> memoryview:
    """Returns four bytes."""
    return memoryview(value.to_bytes(4, "little"))


def test_the_control_register() -> None:
    """It is busy, then done once, then idle. CONTINUE starts nothing."""
    go, completions = threading.Event(), kernels.Completions()
    unit = Unit(completions, lambda: go.wait(HANG))
    assert unit.control() == 4
    unit.write(0, word(0), BoardMemory())
    assert unit.control() == 4
    unit.write(0, word(1), BoardMemory())
    assert unit.control() == 1
    completions.hold(unit, 0.001)
    assert unit.control() == 1
    go.set()
    completions.hold(unit, HANG)
    assert [unit.control(), unit.control()] == [6, 4]
    unit.write(0, word(0x10), BoardMemory())
    assert unit.control() == 4
    unit.write(0x20, word(7), BoardMemory())
    assert unit.read(0x20) == bytes(word(7))
    unit.close()
    assert unit.notes == ["kernel k, compute unit k_1: " + unit.mark, None]
    assert unit.mark.startswith("\0k\0")


def test_kernel_writes_the_register_of_a_scalar_by_reference() -> None:
    kernel = kernels.describe(XML.format(q=0, o="0x10", c="short &amp;").encode())["k"]
    shown = []

    def work(n: Any, out: int) -> None:
        shown.append(n.contents.value)
        n.contents.value = -7 * n.contents.value

    kernel.call, memory = work, BoardMemory()
    memory.allocate(0x3000, 4096)
    unit = kernels.EmulatedUnit(kernel, "k_1", completions := kernels.Completions(), lambda text, call: call())
    unit.write(0x10, word(5), memory)
    unit.write(0x18, word(0x3000), memory)
    unit.write(0, word(1), memory)
    completions.wait(unit, HANG)
    assert shown == [5] and struct.unpack("<h", unit.read(0x10)[:2]) == (-35,)
    unit.close()


def test_one_answer_of_a_polling_round_waits_for_a_unit() -> None:
    go, end, completions = threading.Event(), threading.Event(), kernels.Completions()
    long, short = (Unit(completions, lambda event=event: event.wait(HANG)) for event in (go, end))
    wait_for = completions._changed.wait_for

    def held(*words: Any) -> bool:
        end.set()  # `short` sees it while the answer is held, and not before
        return wait_for(*words)

    long.write(0, word(1), BoardMemory())
    completions.hold(long, 0.01)
    short.write(0, word(1), BoardMemory())
    completions._changed.wait_for = held
    completions.hold(short, HANG)  # the other one has slept in this round
    assert not end.is_set() and short.running
    completions.hold(long, HANG)
    assert end.is_set() and long.running and not short.running
    go.set()
    long.close()
    short.close()


def test_report_names_the_failed_unit() -> None:
    table = crash.CrashRecord()
    first, second = table.slot(), table.slot()
    killed = signal.SIGSEGV  # a wait status is the signal's number
    reports: list[str] = []

    def ended() -> None:
        reports.append(crash.describe_end(killed, table))

    def faulted() -> None:
        faulthandler.dump_traceback(table._trace, all_threads=False)
        table.say("it accessed nothing")
        ended()

    first("kernel a", lambda: second("kernel b", ended))
    second("kernel b", lambda: first("kernel a", faulted))
    assert [report.splitlines() for report in reports] == [
        ["one of 2 running kernels was ended by SIGSEGV (Segmentation fault)", "  kernel a", "  kernel b"],
        ["a kernel was ended by SIGSEGV (Segmentation fault)", "  kernel a", "  it accessed nothing"],
    ]
    assert "exit(3), with no kernel running" in crash.describe_end(3 << 8, table)
    assert crash.describe_end(signal.SIGKILL, table) == "it accessed nothing"
