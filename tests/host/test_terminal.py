"""Output on a terminal: colours, and messages about long waits."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from ftensor.cli import main
from ftensor.pages import pages, search
from ftensor.runtime.launch_cache import PATIENCE, Notice
from ftensor.terminal import complain, painted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that the test advances, and its timer."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[tuple[float, Callable[..., None], Any]] = []

    def __call__(self) -> float:
        return self.now

    def timer(self, seconds: float, call: Callable[..., None], arguments: Any) -> Any:
        self.due.append((self.now + seconds, call, arguments))
        return self

    def start(self) -> None:
        """Does nothing: `passes` advances the time."""

    def cancel(self) -> None:
        self.due.clear()

    def passes(self, seconds: float) -> None:
        self.now += seconds
        for when, call, arguments in self.due:
            if when <= self.now:
                call(*arguments)


@pytest.fixture
def errors_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[io.StringIO], io.StringIO]:
    def to(stream: io.StringIO) -> io.StringIO:
        monkeypatch.setattr("sys.stderr", stream)
        return stream

    return to


def compiled(clock: Clock, *seconds: float) -> None:
    notice = Notice(clock.timer, clock)
    for each in seconds:
        with notice.compiling("the device"):
            clock.passes(each)


def test_long_compilation_is_announced_while_it_lasts(errors_at: Any) -> None:
    seen, clock = errors_at(Terminal()), Clock()
    with Notice(clock.timer, clock).compiling("the device"):
        clock.passes(PATIENCE / 2)
        assert seen.getvalue() == ""
        clock.passes(PATIENCE)
        assert "kernels are being compiled for the device" in seen.getvalue()


def test_many_short_compilations_are_announced_once(errors_at: Any) -> None:
    seen = errors_at(Terminal())
    compiled(Clock(), *[PATIENCE / 4] * 3)
    assert seen.getvalue() == ""
    compiled(Clock(), *[PATIENCE / 4] * 40)
    assert seen.getvalue().count("compiled") == 1
    (page,) = set(pages()) & set(seen.getvalue().replace(")", " ").split())
    assert page == "compile-times"


def test_nothing_is_announced_to_a_log(errors_at: Any) -> None:
    seen = errors_at(io.StringIO())
    compiled(Clock(), 10 * PATIENCE)
    assert seen.getvalue() == ""


def test_colours_only_on_terminals(monkeypatch: pytest.MonkeyPatch, errors_at: Any) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert painted("well", "green", Terminal()) == "\x1b[32mwell\x1b[0m"
    assert painted("well", "green", io.StringIO()) == "well"
    seen = errors_at(Terminal())
    complain("ftensor build", "no")
    assert seen.getvalue() == "\x1b[31mftensor build:\x1b[0m no\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert painted("well", "green", Terminal()) == "well"


def test_pages_are_listed_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(pages()) and "boards" in pages()
    assert main(["docs", "docs/boards.md"]) == 0
    assert capsys.readouterr().out == pages()["boards"].read_text()
    assert main(["docs", "board"]) == 2
    assert "did you mean 'boards'" in capsys.readouterr().err


def test_pages_are_searched(capsys: pytest.CaptureFixture[str]) -> None:
    """The results are sections with all words, matches in titles first. Each names its page."""
    (best, *_) = search(["AXI", "streams"])
    assert (best.page, best.title) == ("own-kernels", "Your own kernels on tensors > AXI streams")
    assert all("axi" in f"{one.title} {' '.join(one.lines)}".lower() for one in search(["axi"]))
    assert search(["axi", "no-such-word"]) == []
    assert main(["docs", "--search", "xmutil", "loadapp"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("boards: ") and "loadapp" in lines[1]
    assert main(["docs", "--search", "loadapp xmutil"]) == 0  # no section has them in this order
    assert "loadapp" in capsys.readouterr().out
    assert main(["docs", "--search", "no-such-word"]) == 1
    assert "no section has 'no-such-word'" in capsys.readouterr().err
    assert main(["docs", "boards", "--search", "axi"]) == 2
    assert "not both" in capsys.readouterr().err
