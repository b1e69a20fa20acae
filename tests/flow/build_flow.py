"""`ftensor build` in a separate process, with compilers that count their runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import ftensor

from .. import forked

ROOT = Path(ftensor.__file__).parent.parent
STANDIN = Path(__file__).parent / "standin" / "v++"

INVENTORY = """
description = "three kernels that compile quickly"
[[kernel]]
ops = ["mul", "neg", "abs"]
dtypes = ["float32"]
layouts = ["linear"]
grouping = "single"
banks = "DDR[0]"
"""
# Logs each compiler run and calls g++. With a limit set, later runs never end.
COMPILER = """#!/bin/sh
case " $* " in
  *" -c "*)
    for word; do case $word in *.cpp) basename "$word" .cpp >> "$RAN";; esac; done
    [ "$(wc -l < "$RAN")" -le "${HANG_BEHIND:-99}" ] || sleep 3600;;
esac
exec g++ "$@"
"""


class Flow:
    """A folder with an inventory, compilers, and build results."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out, self.log = folder, folder / "out", folder / "ran"
        self.inventory = folder / "three.toml"
        self.inventory.write_text(INVENTORY)
        self.bin = folder / "bin"
        self.bin.mkdir()
        self._program("counted", COMPILER)
        # The link imports ftensor. A run that never ends is killed with its session.
        forked.asking(self.bin / "v++-link", str(STANDIN), unless=("STANDIN_HANG_BEHIND",))
        link = f'case " $* " in *" -l "*) exec "{self.bin}/v++-link" "$@" ;; esac\n'
        self._program("v++", f'#!/bin/sh\n{link}exec "{sys.executable}" "{STANDIN}" "$@"\n')

    def _program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def environment(self, **settings: str) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "CXX": str(self.bin / "counted"),
            "RAN": str(self.log),
            "STANDIN_LOG": str(self.log),
            **settings,
        }

    def words(self, *options: str) -> list[str]:
        """Returns the interpreter's arguments."""
        arguments = ("--inventory", str(self.inventory), "--out", str(self.out), *options)
        return ["-m", "ftensor", "build", *arguments]

    def start(self, *options: str, **settings: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *self.words(*options)],
            env=self.environment(**settings),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def build(self, *options: str, status: int = 0, **settings: str) -> subprocess.CompletedProcess[str]:
        """Runs a build to the end; fails the test on another exit status or a traceback."""
        env = self.environment(**settings)
        done = forked.run(*self.words(*options), env=env, cwd=self.folder)
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def ran(self) -> list[str]:
        """Returns the compilers started since the last call, sorted."""
        steps = sorted(self.log.read_text().split()) if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return steps

    def objects(self) -> list[str]:
        """Returns the file names of the compiled kernels."""
        return sorted(p.name.rpartition("-")[0] for p in self.out.glob("objects/*.*o"))

    def processes(self) -> list[int]:
        """Returns the ids of processes whose working directory is this folder."""
        numbers = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "cwd").resolve() == self.folder.resolve():
                    numbers.append(int(entry.name))
            except OSError:
                continue
        return numbers


def wait_for(what: Callable[[], object], seconds: float = 600) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.01)
