"""The kernel cache on disk: damaged entries, several processes, killed writers, missing folder."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftensor.runtime import cache, discovery

from .. import forked


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_keys_are_equal_when_the_parts_are(a: list[str], b: list[str]) -> None:
    assert (cache.key(*a) == cache.key(*b)) == (a == b)


def test_entry_round_trips() -> None:
    name = cache.key("source")
    assert cache.get(name) is None
    for payload in (b"", b"\x00" * 1000, b"later"):
        written = cache.put(name, payload)
        assert written == cache.path(name)
        assert cache.get(name) == payload


@pytest.mark.parametrize("spoil", [lambda d: d[:-1], lambda d: b"", lambda d: b"x" + d[1:]])
def test_damaged_entry_is_dropped(spoil: object) -> None:
    name = cache.key("source")
    cache.put(name, b"program" * 100)
    file = cache.path(name)
    file.write_bytes(spoil(file.read_bytes()))  # type: ignore[operator]
    assert cache.get(name) is None
    assert not file.exists()


def test_waiting_reader_finds_the_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    name, entries, began = cache.key("source"), [], threading.Event()

    def other() -> None:
        began.set()
        with cache.entry_lock(name):
            entries.append(cache.get(name))

    thread = threading.Thread(target=other)
    with cache.entry_lock(name):
        thread.start()
        began.wait()
        handle = os.open(cache.path(name).parent, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(handle)
        cache.put(name, b"program")
    thread.join()
    assert entries == [b"program"]
    thread = threading.Thread(target=other)
    with cache.entry_lock(name):  # its writer was stopped
        monkeypatch.setattr(cache, "MAX_WAIT_SECONDS", 0.0)
        thread.start()
        thread.join()
    assert entries == [b"program"] * 2


def test_signal_handler_does_not_wait_for_its_own_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def waits(handle: int) -> bool:
        raise AssertionError("a thread that waits for itself")

    name = cache.key("source")
    with cache.entry_lock(name):
        monkeypatch.setattr(cache, "_locked", waits)
        with cache.entry_lock(name):  # like a signal handler that compiles
            pass


def test_no_wait_without_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "file" / "kernels"))
    with cache.entry_lock("name"), cache.entry_lock("name"):
        pass


def test_device_rebuilds_a_damaged_entry(folder: Path) -> None:
    from .runtime_kernels import add_kernel, all_backends, download, upload, values

    for open_backend in all_backends().values():
        backend = open_backend()
        for turn in range(3):
            x, out = upload(backend, values(16)), backend.allocate(64)
            add_kernel(backend)(backend.current_stream(), 1, x.handle, x.handle, out.handle, 16)
            assert (download(backend, out, 16) == 2 * values(16)).all()
            files = [f for f in folder.rglob("*") if f.is_file()]
            assert files
            for file in files:
                # The second time the digest is valid, but no device can load the content.
                if turn == 0:
                    file.unlink()  # the C simulation has it mapped, so a new file is written, as a crash leaves it
                    file.write_bytes(b"cut short")
                else:
                    cache.put(file.name, b"not a program")


def test_unwritable_folder_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "file" / "below"))
    with pytest.warns(RuntimeWarning, match="FTENSOR_CACHE_DIR") as caught:
        assert cache.put(cache.key("a"), b"1") is None
        assert cache.put(cache.key("b"), b"2") is None
    assert len(caught) == 1
    assert cache.get(cache.key("a")) is None


def test_csim_works_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from .runtime_kernels import add_kernel, all_backends, download, upload, values

    if "csim" not in all_backends():
        pytest.skip("no compiler")
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "file" / "below"))
    backend = all_backends()["csim"]()
    x, out = upload(backend, values(16)), backend.allocate(64)
    with pytest.warns(RuntimeWarning):
        kernel = add_kernel(backend)
    kernel(backend.current_stream(), 1, x.handle, x.handle, out.handle, 16)
    assert (download(backend, out, 16) == 2 * values(16)).all()


WRITER = """
import sys
from ftensor.runtime import cache
print("ready", flush=True)
turn = 0
while True:
    for n in range(20):
        cache.put(cache.key(str(n)), bytes([n]) * 200_000)
"""


def test_cache_works_after_concurrent_and_killed_writers(folder: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE) for _ in range(3)]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    seen = 0
    until = time.monotonic() + 0.7
    hang = until + 600
    while time.monotonic() < until or (not seen and time.monotonic() < hang):
        for n in range(20):
            payload = cache.get(cache.key(str(n)))
            # Entries are missing or complete: never partial, and never dropped as damaged.
            assert payload in (None, bytes([n]) * 200_000)
            seen += payload is not None
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert writer.stdout is not None
        writer.stdout.close()
    assert seen
    for n in range(20):
        assert cache.get(cache.key(str(n))) in (None, bytes([n]) * 200_000)
        cache.put(cache.key(str(n)), b"new")
        assert cache.get(cache.key(str(n))) == b"new"


def test_files_of_killed_writers_are_removed_later(folder: Path) -> None:
    name = cache.key("source")
    cache.put(name, b"1")
    old, fresh = (cache.path(name).parent / f".new-{age}" for age in ("old", "fresh"))
    for file in (old, fresh):
        file.write_bytes(b"part")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    cache.put(name, b"2")
    assert not old.exists() and fresh.exists()
    assert cache.get(name) == b"2"


def test_entry_under_another_name_is_ignored() -> None:
    one, other = cache.key("one"), cache.key("other")
    written = cache.put(one, b"program one")
    assert written is not None
    cache.path(other).parent.mkdir(exist_ok=True)
    cache.path(other).write_bytes(written.read_bytes())
    assert cache.get(other) is None and not cache.path(other).exists()
    assert cache.get(one) == b"program one"


@pytest.mark.parametrize("which", ["file", "folder", "cache"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_entries_writable_by_others_are_not_run(folder: Path, which: str, mode: int) -> None:
    name = cache.key("planted")
    file = cache.put(name, b"program")
    assert file is not None
    place = {"file": file, "folder": file.parent, "cache": folder}[which]
    place.chmod(place.stat().st_mode | mode)
    with pytest.warns(RuntimeWarning, match=f"{place} can be written by others; chmod go-w"):
        assert cache.get(name) is None
    assert cache.put(name, b"mine") is None
    place.chmod(place.stat().st_mode & ~0o022)
    assert cache.get(name) == b"program"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file to somebody else")
def test_entries_of_other_users_are_not_run(folder: Path) -> None:
    name = cache.key("planted")
    file = cache.put(name, b"program")
    assert file is not None
    os.chown(file, 4321, 4321)
    with pytest.warns(RuntimeWarning, match="can be written by others"):
        assert cache.get(name) is None


def test_a_sticky_folder_may_hold_the_cache(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o1777)
    name = cache.key("source")
    assert cache.put(name, b"program") is not None
    assert cache.get(name) == b"program"
    assert cache.path(name).parent.stat().st_mode & 0o077 == 0


def test_folder_of_another_user_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FTENSOR_CACHE_DIR", "~no-such-user/kernels")
    with pytest.raises(ValueError, match="no such user"):
        cache.directory()


def test_entry_for_another_processor_is_not_loaded(folder: Path) -> None:
    """Intel's compiler can be set to a processor. Programs with different settings share a
    folder."""
    if not any(device.target.name == "intel-cpu" for device in discovery.find()):
        pytest.skip("Intel's CPU runtime is not here")
    program = "import ftensor as ft; print((ft.ones(100) + 1).sum().item())"
    counts = []
    for variables in ({"CL_CONFIG_CPU_TARGET_ARCH": "corei7"}, {}, {}):
        env = os.environ | {"FTENSOR_DEVICE": "intel-cpu"} | variables
        done = forked.run("-c", program, env=env)
        assert done.stdout == "200.0\n", done.stderr
        counts.append(sum(file.is_file() for file in folder.rglob("*")))
    assert 0 < counts[0] < counts[1] == counts[2]
