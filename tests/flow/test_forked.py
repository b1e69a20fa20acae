"""Programs that tests fork behave like those of a new interpreter."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from .. import forked


def test_arguments_input_environment_and_status(tmp_path: Path) -> None:
    text = (
        "import os, sys\n"
        "print(__name__, sys.argv[1:], input(), os.environ['SAID'], os.getcwd())\n"
        "print('aside', os.getsid(0) == os.getpid(), file=sys.stderr)\n"
        "sys.exit(3)\n"
    )
    (tmp_path / "program.py").write_text(text)
    env = os.environ | {"SAID": "told"}
    for words in (("-c", text), (tmp_path / "program.py",), ("-m", "program")):
        done = forked.run(*words, "a", "b c", env=env, cwd=tmp_path, input="line\n")
        assert done.stdout == f"__main__ ['a', 'b c'] line told {tmp_path}\n"
        assert (done.stderr, done.returncode) == ("aside True\n", 3)


def test_programs_that_end_without_exit() -> None:
    assert forked.run("-c", "import os; os.kill(os.getpid(), 9)").returncode == -signal.SIGKILL
    done = forked.run("-c", "import atexit; atexit.register(print, 'hook'); 1 / 0")
    assert (done.returncode, done.stdout) == (1, "hook\n")
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_slow_imports_are_preloaded() -> None:
    """No device is open yet."""
    text = "import sys; print({'ftensor', 'pyopencl'} <= {*sys.modules})\n"
    text += "import ftensor; print(ftensor._device._table)"
    assert forked.run("-c", text).stdout == "True\nNone\n"
