"""Runs Python programs of tests as processes, forked from one that has imported ftensor.

An interpreter takes 0.3 s of CPU to import ftensor and pyopencl, and most tests' programs take
less. Tests whose subject is the process itself (imports, signals, the order of hooks) start
interpreters.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import types
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryFile

# Modules that most programs import and that need no device.
BEFORE = ("ftensor.cli", "ftensor.emulation.command", "pyopencl")
IMPORTED = ("PYOPENCL_HOME",)  # pyopencl sets it on import, and its library reads it
HANG = 600  # seconds after which a program counts as hung, on the slowest machine
spent = 0.0  # CPU seconds of programs that `run` has seen end, for tests/cost.py
asked: list[Path] = []  # the file where programs of `asking` write theirs


# A program that runs another one as `run` does, without an interpreter's imports. It becomes the
# interpreter if one of these settings is set, or libraries are searched elsewhere than here.
ASK = """#!{python} -IS
import os, sys
words = [*{words}, *sys.argv[1:]]
if not os.environ.keys().isdisjoint({unless}):
    os.execv({python!r}, [{python!r}, *words])
import json, socket
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.connect({address!r})
request = os.memfd_create("request")
os.write(request, json.dumps([words, dict(os.environ), os.getcwd()]).encode())
os.lseek(request, 0, os.SEEK_SET)
status, theirs = os.pipe()
socket.send_fds(server, [b"."], [request, 0, 1, 2, theirs])
os.close(theirs)
_, ended, seconds = open(status).read().split()
with open(__file__ + ".spent", "a") as file:
    file.write(seconds + "\\n")
ended = int(ended)
sys.exit(ended if ended >= 0 else 128 - ended)
"""


def asking(script: Path, *words: str, unless: tuple[str, ...] = ()) -> None:
    """Writes a program that is `python words`. If `unless` is set, an interpreter runs it."""
    _server()
    unless = ("LD_LIBRARY_PATH", *unless)
    script.write_text(ASK.format(python=sys.executable, words=words, unless=unless, address=address(os.getpid())))
    script.chmod(0o700)
    asked.append(Path(f"{script}.spent"))


def address(process: int) -> str:
    """Returns the address of a process' server: an abstract socket name."""
    return f"\0ftensor-tests-{process}"


def seconds() -> float:
    """Returns the CPU seconds of all ended programs."""
    files = [file for file in asked if file.exists()]
    return spent + sum(float(line) for file in files for line in file.read_text().split())


def run(
    *words: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None, input: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs `python words` in a new session, with text as output.

    words: "-c" and a text, "-m" and a module, or a file; arguments. Raises
    subprocess.TimeoutExpired after HANG seconds.
    """
    global spent
    arguments = [str(word) for word in words]
    with ExitStack() as stack:
        request, stdin, stdout, stderr = (stack.enter_context(TemporaryFile("w+")) for _ in "1234")
        env = dict(os.environ if env is None else env)
        json.dump([arguments, env, str(cwd or Path.cwd())], request)
        stdin.write(input)
        for file in (request, stdin):
            file.seek(0)
        status, theirs = os.pipe()
        said = stack.enter_context(open(status))
        files = [file.fileno() for file in (request, stdin, stdout, stderr)]
        socket.send_fds(_server(), [b"."], [*files, theirs])
        os.close(theirs)
        process = int(said.readline())
        try:
            if not select.select([said], [], [], HANG)[0]:
                raise subprocess.TimeoutExpired(arguments, HANG)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            raise
        ended, seconds = said.readline().split()
        spent += float(seconds)
        for file in (stdout, stderr):
            file.seek(0)
        return subprocess.CompletedProcess(arguments, int(ended), stdout.read(), stderr.read())


@functools.cache
def _server() -> socket.socket:
    """Returns the socket of this process' server, which ends with this process."""
    ours, theirs = socket.socketpair()
    with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as others:
        others.bind(address(os.getpid()))
        files = [theirs.fileno(), others.fileno()]
        subprocess.Popen(
            [sys.executable, __file__, *map(str, files)],
            stdin=subprocess.DEVNULL,
            pass_fds=files,
            start_new_session=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
        )
    return ours


def _serve(asked: list[socket.socket]) -> list[str]:
    """Forks a process for each program. It returns in these processes, with their words."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        _, files, _, _ = socket.recv_fds(select.select(asked, [], [])[0][0], 1, 5)
        if not files:
            os._exit(0)
        if not os.fork():
            break
        for file in files:
            os.close(file)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for one in asked:
        one.close()
    request, *standard, status = files
    if process := os.fork():
        # The server waits for this process only, not for programs that it leaves running.
        os.write(status, b"%d\n" % process)
        _, ended, used = os.wait4(process, 0)
        seconds = used.ru_utime + used.ru_stime
        os.write(status, b"%d %f\n" % (os.waitstatus_to_exitcode(ended), seconds))
        os._exit(0)
    os.setsid()
    os.close(status)
    for number, file in enumerate(standard):
        os.dup2(file, number)
        os.close(file)
    with open(request) as file:
        words, env, cwd = json.load(file)
    home = {name: os.environ[name] for name in IMPORTED if name in os.environ}
    os.environ.clear()
    os.environ.update(env | home)
    os.chdir(cwd)
    return words


def _execute(words: list[str]) -> None:
    """Executes words like the interpreter's command line."""
    kind, *rest = words
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    first = "" if kind in ("-c", "-m") else str(Path(kind).resolve().parent)
    sys.path[:] = [first, *filter(None, paths), *sys.path[1:]]
    if kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), vars(main))
    elif kind == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    for name in BEFORE:
        with suppress(ImportError):
            importlib.import_module(name)
    _execute(_serve([socket.socket(fileno=int(number)) for number in sys.argv[1:]]))
