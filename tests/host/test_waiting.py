"""Messages about long waits on a terminal: `waiting`, pip's progress in make, and hints."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from ftensor import terminal as waiting
from ftensor.terminal import guess
from tests import pip_line


class Terminal(io.StringIO):
    """A terminal stream that records the times of writes."""

    def __init__(self, terminal: bool = True) -> None:
        super().__init__()
        self.terminal, self.drawn = terminal, Event()

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        if "launches" in text:
            self.drawn.set()
        return super().write(text)


def test_line_is_drawn_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "EVERY", 0.01)
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with waiting.waiting(lambda: "3 launches"):
        assert err.drawn.wait(60)
        print("a program's own")
        print("part", end="")
    assert out.getvalue() == "a program's own\npart"
    assert re.search(r"\d s  3 launches", err.getvalue())
    assert err.getvalue().endswith("\x1b[K")
    assert "\n" not in err.getvalue()
    assert sys.stdout is out


def test_nothing_is_drawn_off_terminals_or_mid_line(monkeypatch: pytest.MonkeyPatch) -> None:
    err = Terminal(False)
    monkeypatch.setattr(sys, "stderr", err)
    with waiting.waiting(lambda: "launches"):
        pass
    assert err.getvalue() == ""
    terminal = Terminal()
    line = waiting._Line(Terminal(), terminal)
    line.write("half of")
    line.draw("launches")
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_pip_shows_its_duration(terminal: bool) -> None:
    def done(code: str) -> tuple[int, str]:
        stream = Terminal(terminal)
        return pip_line.run([sys.executable, "-c", code], stream), stream.getvalue()

    status, said = done("print('Collecting it', flush=True)")
    assert status == 0
    assert "installed in" in said
    assert ("\r" in said) is terminal
    status, said = done("print('no such thing'); raise SystemExit(3)")
    assert status == 3
    assert "no such thing" in said


def test_make_installs_through_pip_line() -> None:
    text = (Path(__file__).resolve().parents[2] / "Makefile").read_text()
    rule: Any = text.partition("$(VENV)/installed-%:")[2].partition("\n\n")[0]
    assert "tests/pip_line.py" in rule


def test_hints_differ_from_the_input() -> None:
    assert guess("csim", ["csim", "csim"]) == ""
    assert guess("csmi", ["csim", "csmi"]) == "; did you mean 'csim'?"
