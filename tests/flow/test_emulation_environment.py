"""The software device's process, and a program's environment: folders, settings, patches of XRT."""

from __future__ import annotations

import fcntl
import os
import platform
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ftensor.emulation import command, device, environment, protocol
from ftensor.emulation.protocol import Api
from ftensor.errors.commands import EmulationError

from .emulation_host import HANG, ROOT

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="the software device is for Linux")]


def supervise(scratch: Path, host: int) -> subprocess.Popen[bytes]:
    """Starts the device process as XRT does."""
    environment._device_process(scratch / "model" / "process", scratch)
    env = {
        "PATH": os.environ["PATH"],
        "EMULATION_SOCKETID": f"device0_1_{host}",
        "USER": str(scratch.relative_to("/tmp")),
        "FTENSOR_EMULATION": str(scratch),
    }
    return subprocess.Popen([scratch / "model" / "process"], env=env, stdin=subprocess.DEVNULL)


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A scratch folder with short paths for sockets."""
    with environment.scratch_folder() as folder:
        yield folder


def test_device_dies_by_a_signal_that_ends_the_host(scratch: Path) -> None:
    """After an unknown call it may not simply exit, since the host would wait forever."""
    with subprocess.Popen(["sleep", str(HANG)]) as sleeper, socket.socket(socket.AF_UNIX) as server:
        server.bind(str(scratch / f"device0_1_{sleeper.pid}"))
        process = supervise(scratch, sleeper.pid)
        server.listen()
        stream, _ = server.accept()
        with stream:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                process.send_signal(number)  # these are the host's
            request = b"".join(map(bytes, protocol.encode({3: 0})))
            stream.sendall(protocol.REQUEST.pack(9, len(request), 0x15, Api.CLOSE) + request)
            assert stream.recv(100) == bytes.fromhex("09 0200000000000000 08 01")
            stream.sendall(protocol.REQUEST.pack(9, 0, 0x15, 99))
            assert sleeper.wait(HANG) == -signal.SIGTERM
            assert process.wait(HANG) == -signal.SIGKILL
            assert environment.reports(scratch) == ["XRT asked for its call number 99, which this device does not have"]


def test_device_ends_with_its_host(scratch: Path) -> None:
    """No report is written if the host has ended the connection or never began it."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(scratch / f"device0_1_{os.getpid()}"))
        server.listen()
        process = supervise(scratch, os.getpid())
        server.accept()[0].close()
        assert process.wait(HANG) == 0
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    (scratch / "model/process").unlink()
    (scratch / "model").rmdir()
    assert supervise(scratch, ended.pid).wait(HANG) == 0
    assert environment.reports(scratch) == []
    assert not list(scratch.glob("device-*"))


def library(name: str) -> bytes:
    """Returns bytes in which the patches of a library find their places."""
    noise = random.Random(name)
    parts = [b for repair in environment.REPAIRS[name] for b in (noise.randbytes(64), repair.find)]
    return b"".join(parts) + noise.randbytes(64)


@pytest.mark.parametrize("name", list(environment.REPAIRS))
def test_patches_change_only_their_places(name: str) -> None:
    before = library(name)
    after = environment.repair_library(name, before)
    assert after is not None and len(after) == len(before)
    for repair in environment.REPAIRS[name]:
        at = before.index(repair.find)
        assert after[at : at + len(repair.find)] == repair.become
    assert sum(a != b for a, b in zip(before, after)) <= sum(len(repair.find) for repair in environment.REPAIRS[name])
    assert environment.repair_library(name, after) == after
    assert environment.repair_library(name, before.replace(environment.REPAIRS[name][0].find, b"")) is None
    assert environment.repair_library(name, before + environment.REPAIRS[name][0].find) is None  # in two places


def fake_xrt(folder: Path) -> Path:
    """Creates an XRT folder with libraries of an unknown build."""
    (folder / "lib").mkdir(parents=True)
    for name in (environment.OPENCL, *environment.REPAIRS):
        (folder / "lib" / name).write_bytes(b"another build")
    return folder


def needs_x86_64() -> None:
    """Skips on other machines than x86-64, which XRT's emulation requires."""
    if platform.machine() != "x86_64":
        pytest.skip("XRT's emulation is for x86-64")


def test_unknown_build_is_not_patched(scratch: Path, tmp_path: Path) -> None:
    """The user is warned of the consequences."""
    needs_x86_64()
    xrt = fake_xrt(tmp_path / "xrt")
    env, notes = environment.prepare(scratch, {"XILINX_XRT": str(xrt), "USER": "me"})
    assert "not one that ftensor knows" in notes[0] and "ends by a signal" in notes[0]
    for name in environment.REPAIRS:
        assert (scratch / "xrt/lib" / name).resolve() == xrt / "lib" / name
    assert "kds_sw_emu=true" in (scratch / "config/xrt.ini").read_text()
    assert env["LOGNAME"] == "me" and env["USER"] == f"{scratch.name}/s"


def test_known_build_is_patched_and_the_environment_complete(scratch: Path, tmp_path: Path) -> None:
    needs_x86_64()
    xrt = fake_xrt(tmp_path / "xrt")
    for name in environment.REPAIRS:
        (xrt / "lib" / name).write_bytes(library(name))
    vendors = tmp_path / "vendors"
    vendors.mkdir()
    (vendors / "other.icd").write_text("libother.so\n")
    (vendors / "old-xilinx.icd").write_text("libxilinxopencl.so\n")
    (tmp_path / "mine.ini").write_text("[Runtime]\nverbosity = 7\n[Emulation]\nkeepRunDir=true\n")
    variables = {
        "XILINX_XRT": str(xrt),
        "OCL_ICD_VENDORS": str(vendors),
        "XILINX_OPENCL": "/sdx",
        "XRT_INI_PATH": str(tmp_path / "mine.ini"),
        "LD_LIBRARY_PATH": "/mine",
        "HOME": "/home",
    }
    env, notes = environment.prepare(scratch, variables, [1 << 28, 32 << 30])
    assert notes == []
    for name in environment.REPAIRS:
        assert (scratch / "xrt/lib" / name).read_bytes() == environment.repair_library(name, library(name))
    offered = {file.name: file.read_text().strip() for file in (scratch / "icd").iterdir()}
    assert offered == {"other.icd": "libother.so", "xilinx.icd": str(scratch / "xrt/lib" / environment.OPENCL)}
    settings = (scratch / "config/xrt.ini").read_text()
    assert "kds_sw_emu=false" in settings and "verbosity=7" in settings
    assert "keepRunDir=true" in settings  # names keep their case
    assert "XILINX_OPENCL" not in env and env["HOME"] == "/home"
    assert env["LD_LIBRARY_PATH"] == f"{scratch}/xrt/lib:/mine"
    assert '"Size": "256MB"' in (scratch / "config/emconfig.json").read_text()
    assert '"Size": "32GB"' in (scratch / "config/emconfig.json").read_text()
    model = Path(env["XILINX_VITIS"]) / environment.MODEL
    assert os.access(model, os.X_OK) and model.read_text().startswith("#!/bin/sh\n")


@pytest.mark.parametrize(
    ("size", "text"), [(1, "1MB"), (256 << 20, "256MB"), (4 << 30, "4GB"), ((5 << 30) + 1, "6GB"), (3 << 29, "1536MB")]
)
def test_bank_sizes_as_xrt_reads_them(size: int, text: str) -> None:
    assert environment.bank_size(size) == text


def test_missing_xrt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environment.platform, "machine", lambda: "riscv64")
    assert "not for Linux on riscv64" in environment.available({"XILINX_XRT": str(tmp_path)})
    with pytest.raises(EmulationError, match="apt-get install libxrt1"):
        environment.xrt_folder({"XILINX_XRT": str(tmp_path)})


def test_folders_of_killed_runs_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Folders without a lock are removed. Those in use, or possibly being created, are not."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "SOCKET_LIMIT", 1000)
    stale, young, old = (tmp_path / f"{environment.PREFIX}{name}" for name in ("a", "b", "c"))
    for folder in (stale, young, old):
        (folder / "run").mkdir(parents=True)
    (stale / "lock").touch()
    os.utime(old, (1, 1))
    with environment.scratch_folder() as mine:
        assert not stale.exists() and not old.exists()
        assert young.exists()
        with environment.scratch_folder(keep=True) as second:
            assert mine.exists()
    assert not mine.exists() and second.exists()


def test_folder_is_locked_from_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A concurrent cleanup treats it as a folder being created."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "SOCKET_LIMIT", 1000)
    flock = fcntl.flock

    def late(lock: Any, how: int) -> None:
        if how == fcntl.LOCK_EX:
            environment._sweep()
        flock(lock, how)

    monkeypatch.setattr(environment.fcntl, "flock", late)
    with environment.scratch_folder() as mine:
        assert mine.exists()


def test_socket_paths_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "PREFIX", "ftensor-" + "x" * 80)
    with pytest.raises(EmulationError, match="Linux allows 107"), environment.scratch_folder():
        pytest.fail("the folder was given out")
    assert not list(Path("/tmp").glob("ftensor-xxxx*"))


def test_the_device_imports_no_package() -> None:
    """It starts at each program load, and must not wait for NumPy or ftensor."""
    code = environment.BOOTSTRAP.format(
        init=str(ROOT / "ftensor/emulation/__init__.py"), folder=str(ROOT / "ftensor/emulation")
    ).replace("\nmain()", "\nprint(*sys.modules)")
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded - set(sys.stdlib_module_names) == {"__main__", "ftensor_device"}


def test_run_returns_a_shell_exit_status() -> None:
    env = dict(os.environ)
    assert command.run(["sh", "-c", "exit 4"], env) == 4
    assert command.run(["sh", "-c", "kill -USR1 $$"], env) == 128 + signal.SIGUSR1
    # The program leads its own session.
    assert command.run(["sh", "-c", 'test "$(ps -o sid= $$ | tr -d " ")" = $$'], env) == 0
    assert device.HOLD <= 0.001


def test_threads_are_joined_unless_they_keep_computing() -> None:
    code = """
import hashlib, threading
from ftensor.runtime.xrt.queue import wait_for_idle_threads
data, begun, done = bytes(1 << 22), threading.Event(), threading.Event()
def compute(times):
    begun.set()
    for _ in range(times):
        hashlib.sha256(data).digest()
    done.set()
threading.Thread(target=compute, args=(1,), daemon=True).start()
begun.wait()
wait_for_idle_threads(600)
print(done.is_set())
threading.Thread(target=compute, args=(1 << 40,), daemon=True).start()
wait_for_idle_threads(10**6)
print("went on")
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True, timeout=HANG)
    assert done.stdout.split("\n") == ["True", "went on", ""]


def test_unusable_settings_and_folders(scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xrt.ini").write_text("no section\n")
    with pytest.raises(EmulationError, match=r"xrt\.ini cannot be read"):
        environment._settings(scratch / "x", {"XRT_INI_PATH": str(tmp_path / "xrt.ini")}, True)
    monkeypatch.setattr(environment.os, "access", lambda path, mode: False)
    with pytest.raises(EmulationError, match="noexec"):
        environment._device_process(scratch / "model" / "process", scratch)
