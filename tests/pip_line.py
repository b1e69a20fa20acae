"""pip for the Makefile: on a terminal, one line shows its step and duration; elsewhere it prints
two lines.

    python tests/pip_line.py PYTHON install ...

If pip fails, all of its output is shown. This runs before anything is installed.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import deque
from shutil import get_terminal_size
from typing import TextIO

EVERY = 1.0  # seconds between two updates


def run(command: list[str], stream: TextIO) -> int:
    """Returns pip's exit status. Writes pip's output to `stream` if that is not 0."""
    said: deque[str] = deque(maxlen=2000)
    pip = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    assert pip.stdout is not None
    reader = threading.Thread(target=said.extend, args=(pip.stdout,), daemon=True)
    reader.start()
    began, terminal = time.monotonic(), stream.isatty()
    if not terminal:
        print("installing, which may take some minutes", file=stream, flush=True)
    while reader.is_alive():
        if terminal:
            text = f"{time.monotonic() - began:4.0f} s  {said[-1].strip() if said else 'pip'}"
            print(f"\r\x1b[K{text[: get_terminal_size().columns - 1]}", end="", file=stream)
            stream.flush()
        reader.join(EVERY)
    if terminal:
        print("\r\x1b[K", end="", file=stream, flush=True)
    status = pip.wait()
    if status:
        print("".join(said), end="", file=stream)
    else:
        print(f"installed in {time.monotonic() - began:.0f} s", file=stream, flush=True)
    return status


if __name__ == "__main__":
    python, *words = sys.argv[1:]
    options = ["--progress-bar", "off", "--disable-pip-version-check"]
    sys.exit(run([python, "-m", "pip", *words, *options], sys.stdout))
