"""The device process: a supervisor, and the worker that is the device.

XRT's library waits for ever for the answer of a device that has ended, so nothing here may simply
end. A kernel can corrupt the process it runs in. So the supervisor waits for the worker. If the
worker crashed, the supervisor writes a report, ends the host, and dies by a signal itself, which
XRT can handle.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

from .crash import CrashRecord, describe_end
from .device import Device, Fatal
from .memory import P2P
from .protocol import HostConnection, ProtocolError
from .shuffle import SETTING, LaunchShuffle

ORDERLY = 0  # the worker's exit status after the end of the connection; a kernel that calls exit(0) gives another one
CONNECT_SECONDS = 30.0
GRACE_SECONDS = 2.0  # seconds for the host between SIGTERM and SIGKILL
GOODBYE = "orderly end"


def connect(path: str, host: int) -> socket.socket | None:
    """Returns the host's socket once it exists; None if the host ended or does not open it."""
    deadline = time.monotonic() + CONNECT_SECONDS
    while time.monotonic() < deadline and alive(host):
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            stream.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            stream.close()
            time.sleep(0.002)
        else:
            return stream
    return None


def alive(process: int) -> bool:
    """True if a process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def work(stream: socket.socket, table: CrashRecord, folder: Path) -> None:
    """The worker: serves the host, then ends the process. Does not return."""

    def end(status: int) -> None:
        sys.stderr.flush()
        os._exit(status)

    def failed(kind: type[BaseException], value: BaseException) -> None:
        table.say("internal error: " + "".join(traceback.format_exception(kind, value, None)))
        os.kill(os.getpid(), signal.SIGKILL)

    def warn(text: str) -> None:
        print(f"ftensor emulate: {text}", file=sys.stderr, flush=True)
        with contextlib.suppress(OSError), open(folder.parent / f"warnings-{folder.name}.jsonl", "a") as file:
            file.write(json.dumps(text) + "\n")

    threading.excepthook = lambda info: failed(info.exc_type, info.exc_value or info.exc_type("in a thread"))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a file for each shared buffer
    seed = os.environ.get(SETTING)
    device = Device(
        folder, table.slot, warn, table.reset, LaunchShuffle(int(seed)) if seed else None, P2P in os.environ
    )
    table.watch_faults(lambda address: f"it accessed {device.memory.explain(address)}")
    try:
        device.serve(HostConnection(stream))
    except (Fatal, ProtocolError) as failure:
        table.say(str(failure))
        os.kill(os.getpid(), signal.SIGKILL)
    except ConnectionError:
        pass  # the host was killed: nothing is left to do
    except BaseException as failure:
        failed(type(failure), failure)
        raise
    table.say(GOODBYE)
    end(ORDERLY)


def take_down(host: int) -> None:
    """Ends the host, which would otherwise wait for ever."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(host, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and alive(host):
            time.sleep(0.01)
        os.kill(host, signal.SIGKILL)


def main() -> None:
    """Entry point, started by XRT with EMULATION_SOCKETID, USER and FTENSOR_EMULATION set."""
    # The device exists as long as the host's connection. Signals from a terminal or parent to the
    # whole process group are for the host alone.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # Close the host's files and pipes, which this process inherited.
    for file in [int(name) for name in os.listdir("/proc/self/fd")]:
        if file > 2:
            with contextlib.suppress(OSError):  # the descriptor of the listing itself
                os.close(file)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    name = os.environ["EMULATION_SOCKETID"]  # device<index>_<n>_<the host's process>
    host = int(name.rpartition("_")[2])
    try:
        report = supervise(f"/tmp/{os.environ['USER']}/{name}", host)
    except BaseException:  # noqa: BLE001  whatever it is, the host would wait for ever
        report = f"internal error: {traceback.format_exc()}"
    if report is None:
        return
    scratch = Path(os.environ["FTENSOR_EMULATION"])
    try:
        temporary = scratch / f"report-{name}.tmp"  # a host may have several devices
        temporary.write_text(report + "\n")
        temporary.rename(scratch / f"report-{name}.txt")
    except OSError:  # the folder is missing or full
        print(f"ftensor emulate: {report}", file=sys.stderr, flush=True)
    take_down(host)
    os.kill(os.getpid(), signal.SIGKILL)


def supervise(path: str, host: int) -> str | None:
    """Runs the worker for the host at a socket; returns None after a normal end, else the
    report."""
    stream = connect(path, host)
    if stream is None:
        return f"XRT did not open its socket {path}" if alive(host) else None
    table = CrashRecord()
    scratch = os.environ["FTENSOR_EMULATION"]
    with tempfile.TemporaryDirectory(prefix=f"device-{host}-", dir=scratch) as folder:
        worker = os.fork()
        if not worker:
            work(stream, table, Path(folder))
        status = os.waitpid(worker, 0)[1]
    if table.said == GOODBYE and os.WIFEXITED(status):
        return None
    return describe_end(status, table, Path(scratch) / f"calls-{host}")
