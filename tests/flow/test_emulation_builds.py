"""`ftensor emulate` without an image: kernels are built on request, and cached."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .. import forked
from ..made_images import make, require_xrt
from . import emulation_host
from .build_flow import wait_for
from .emulation_host import HANG, output

PROGRAM = """
import sys
import ftensor as ft

t = ft.tensor([1.0, 4.0, 9.0])
kept = t + 1  # on the device while other kernels come
if sys.argv[1:] == ["roots"]:
    print(t.sqrt().tolist())
print((t * 2).tolist(), kept.tolist(), input())
"""
ASIDE = """
import threading
import ftensor as ft

t, found = ft.tensor([1.0, 4.0, 9.0]), {}
ops = ["sqrt", "neg", "abs"]
threads = [
    threading.Thread(target=lambda op=op: found.update({op: getattr(t, op)().tolist()}))
    for op in ops
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(found["sqrt"], found["neg"], len(found))
"""


@pytest.fixture(autouse=True)
def needs() -> None:
    require_xrt()
    if shutil.which("g++") is None:
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", "g++ is not here"
        pytest.skip("needs g++")


def run(
    program: str, cache: Path, *words: str, options: tuple[str, ...] = (), **extra: str
) -> subprocess.CompletedProcess[str]:
    command = ("-m", "ftensor", "emulate", *options, "--", sys.executable, "-c", program, *words)
    return forked.run(*command, input="said\n", env=environment(cache, **extra))


def environment(cache: Path, **extra: str) -> dict[str, str]:
    env = emulation_host.environment(FTENSOR_CACHE_DIR=str(cache), FTENSOR_FALLBACK="error", **extra)
    env.pop("FTENSOR_IMAGE", None)
    return env


def built(done: subprocess.CompletedProcess[str]) -> int:
    """Returns the number of kernels that a run reports as built."""
    match = re.search(r"(\d+) kernels? built in", done.stderr)
    return int(match[1]) if match else 0


def test_kernels_are_built_once_and_later_requests_add_more(tmp_path: Path) -> None:
    """The program runs once, with its input and arguments. Only requested kernels are built."""
    last = "[2.0, 8.0, 18.0] [2.0, 5.0, 10.0] said"
    first, second = run(PROGRAM, tmp_path), run(PROGRAM, tmp_path)
    assert output(first) == output(second) == [last]
    assert (built(first), built(second)) == (2, 0)
    assert str(tmp_path / "emulate") in first.stderr and second.stderr == ""
    third = run(PROGRAM, tmp_path, "roots")
    assert output(third) == ["[1.0, 2.0, 3.0]", last] and built(third) == 1
    status = run(PROGRAM + "raise SystemExit(7)", tmp_path)
    assert (status.returncode, built(status)) == (7, 0)


@pytest.mark.long
def test_threads_and_runs_build_concurrently(tmp_path: Path) -> None:
    """They share one cache, which is empty at first. None overwrites the kernels of another."""
    command = [sys.executable, "-m", "ftensor", "emulate", "--", sys.executable, "-c"]
    texts = [ASIDE, ASIDE.replace('"abs"]', '"ceil"]')]
    runs = [
        subprocess.Popen(
            [*command, text],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environment(tmp_path),
        )
        for text in texts
    ]
    said = [process.communicate(timeout=HANG) for process in runs]
    values = "[1.0, 2.0, 3.0] [-1.0, -4.0, -9.0]"
    assert [out for out, _ in said] == [f"{values} 3\n"] * 2, said
    again = run(texts[1], tmp_path)
    assert output(again) == [f"{values} 3"] and built(again) == 0


def test_op_defined_by_the_program(tmp_path: Path) -> None:
    """The program defines the row, and the kernel's source has its expression."""
    page = (emulation_host.ROOT / "docs" / "add-a-kernel.md").read_text()
    text = re.search(r"```python\n# my_ops.py\n(.*?)```", page, re.S)
    assert text is not None
    done = run(text[1] + "\nprint(ft.half_square(ft.tensor([1.0, 3.0])).tolist())", tmp_path)
    assert output(done) == ["[0.5, 4.5]"]


def test_images_of_the_program_are_not_changed(tmp_path: Path, xrt_folder: Path) -> None:
    """With its own image, or with --no-build, a program finds the kernels that a board would
    have."""
    image = make(xrt_folder, "own", ("axpy", "bits"))
    lacks = f"""
import ftensor as ft
ft.load_image({str(image)!r})
try:
    ft.tensor([1.0]).exp()
except ft.KernelNotBuilt:
    print("not built")
"""
    done = run(lacks, tmp_path)
    assert output(done) == ["not built"]
    none = run(PROGRAM, tmp_path, options=("--no-build",))
    assert none.returncode == 1 and "has no image" in none.stderr
    assert list(tmp_path.iterdir()) == []


def test_missing_tools_are_named(tmp_path: Path) -> None:
    done = run(PROGRAM, tmp_path, CXX="no-such-compiler")
    assert done.returncode == 1
    assert "could not build the kernel ft_add" in done.stderr
    assert "apt-get install g++" in done.stderr


def test_failing_compiler(tmp_path: Path) -> None:
    """The compiler's message and the path of its log are printed."""
    script = tmp_path / "cxx"
    script.write_text('#!/bin/sh\n[ "$1" = --version ] && exec g++ "$@"\necho no >&2\nexit 3\n')
    script.chmod(0o700)
    done = run(PROGRAM, tmp_path / "cache", CXX=str(script))
    assert done.returncode == 1
    assert "ended with status 3" in done.stderr and "    no\n" in done.stderr
    log = re.search(r"the whole log is (\S+)", done.stderr)
    assert log is not None and Path(log[1]).read_text().endswith("no\n")


def test_cache_writable_by_others_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "emulate").mkdir()
    (tmp_path / "emulate").chmod(0o777)
    done = run(PROGRAM, tmp_path)
    assert len(output(done)) == 1 and built(done) == 2
    assert "FTENSOR_CACHE_DIR" in done.stderr
    assert not list((tmp_path / "emulate").glob("*/*"))


def test_interrupted_while_a_compiler_runs(tmp_path: Path, nothing_left: None) -> None:
    """Ctrl-C reaches the program and the compiler together, and ends both at once."""
    script, begun = tmp_path / "cxx", tmp_path / "begun"
    script.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec g++ "$@"\necho >>{begun}\nexec sleep {HANG}\n')
    script.chmod(0o700)
    # The parent of the tests may ignore SIGINT, and programs inherit that.
    text = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)" + PROGRAM
    command = [sys.executable, "-m", "ftensor", "emulate", "--", sys.executable, "-c", text]
    with subprocess.Popen(
        command,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.PIPE,
        start_new_session=True,
        env=environment(tmp_path / "cache", CXX=str(script)),
    ) as process:
        # If a program ends earlier, its output gives the reason.
        wait_for(lambda: begun.exists() or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG)
    assert process.returncode == 128 + signal.SIGINT, err
    assert out == "" and "KeyboardInterrupt" in err
