"""The device's protocol with the host: messages, framing, answers, and its end."""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftensor.emulation import device, protocol
from ftensor.emulation.device import Device, Fatal
from ftensor.emulation.protocol import Api, HostConnection, ProtocolError

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="the software device is for Linux")]


numbers = st.integers(0, 2**64 - 1)


bodies = st.dictionaries(st.integers(1, 2**20), st.one_of(numbers, st.binary(max_size=300)))


def body(fields: dict[int, Any]) -> bytes:
    """Returns the body of a message."""
    return b"".join(bytes(part) for part in protocol.encode(fields))


@given(bodies)
def test_message_bodies_round_trip(fields: dict[int, Any]) -> None:
    decoded = protocol.decode(memoryview(body(fields)))
    for field, value in fields.items():
        if isinstance(value, int):
            assert decoded.number(field) == value
        else:
            assert decoded.data(field) == value


@given(bodies, st.data())
def test_broken_bodies_are_refused(fields: dict[int, Any], data: st.DataObject) -> None:
    """A body that is truncated or changed anywhere gives fields or ProtocolError, nothing else."""
    broken = bytearray(body(fields))
    del broken[data.draw(st.integers(0, len(broken))) :]
    if broken:
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    try:
        protocol.decode(memoryview(bytes(broken)))
    except ProtocolError:
        return


def test_known_bytes_of_messages() -> None:
    """The bytes are from the documentation of protocol buffers, and of the framing."""
    assert body({1: 150}) == bytes.fromhex("08 96 01")
    assert body({2: b"testing"}) == bytes.fromhex("12 07") + b"testing"
    near, far = socket.socketpair()
    with near, far:
        far.sendall(bytes.fromhex("09 0300000000000000 15 05000000 08 96 01"))
        number, fields = HostConnection(near).request() or (0, None)
        assert number == Api.FREE and fields is not None and fields.number(1) == 150
        HostConnection(near).answer({1: True})
        assert far.recv(100) == bytes.fromhex("09 0200000000000000 08 01")


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ("15 05000000", ConnectionError),
        ("0a 0300000000000000 15 05000000", ProtocolError),
        ("09 ffffffffffffffff 15 05000000", ProtocolError),
        ("09 0300000000000000 15 05000000 08", ConnectionError),
    ],
    ids=["short", "key", "length", "body"],
)
def test_invalid_requests(sent: str, error: type[Exception]) -> None:
    near, far = socket.socketpair()
    with near, far:
        far.sendall(bytes.fromhex(sent))
        far.shutdown(socket.SHUT_WR)
        with pytest.raises(error):
            HostConnection(near).request()


class Host:
    """XRT's side of the connection with a device in a thread."""

    def __init__(self, folder: Path) -> None:
        self.warnings: list[str] = []
        self.failure: Fatal | None = None
        self.stream, self.far = socket.socketpair()
        self.device = Device(folder, lambda: lambda text: None, self.warnings.append)
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        with self.far:
            try:
                self.device.serve(HostConnection(self.far))
            except Fatal as failure:
                self.failure = failure

    def ask(self, number: int, **fields: Any) -> protocol.Fields:
        """Sends one request. `f3=7` is the third field."""
        sent = body({int(name[1:]): value for name, value in fields.items()})
        self.stream.sendall(protocol.REQUEST.pack(9, len(sent), 0x15, number) + sent)
        key, length = protocol.ANSWER.unpack(self._exactly(protocol.ANSWER.size))
        assert key == 9
        return protocol.decode(memoryview(self._exactly(length)))

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.stream.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def ends(self, number: int, **fields: Any) -> str:
        """Sends one request that ends the device, and returns its message."""
        with pytest.raises(EOFError):
            self.ask(number, **fields)
        self.thread.join()
        assert self.failure is not None
        return str(self.failure)

    def close(self) -> None:
        self.stream.close()
        self.thread.join()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host with its device."""
    process = Host(tmp_path)
    yield process
    process.close()


def test_buffers_keep_what_the_host_writes(host: Host) -> None:
    assert host.ask(Api.ALLOCATE, f1=0x4000, f2=8192, f3=0).number(1) == 1
    assert host.ask(Api.WRITE, f3=0x4000 + 100, f4=b"abcdef", f5=6).number(1) == 6
    answer = host.ask(Api.READ, f4=0x4000 + 98, f5=8)
    assert (answer.number(1), bytes(answer.data(2))) == (8, b"\0\0abcdef")
    assert host.ask(Api.ALLOCATE, f1=0x5000, f2=4096, f3=0).number(1) == 0  # the memory is in use
    assert "no room" in host.warnings[0]
    assert host.ask(Api.FREE, f1=0x4000).number(1) == 1
    assert host.ask(Api.ALLOCATE, f1=0x4000, f2=8192, f3=0).number(1) == 1
    host.ask(Api.WRITE, f3=0x4000, f4=b"x", f5=1)
    assert bytes(host.ask(Api.READ, f4=0x4064, f5=2).data(2)) == b"\0\0"  # nothing of it is left


def test_unwritten_memory_is_not_sent(host: Host) -> None:
    """An empty answer leaves XRT's own copy unchanged."""
    host.ask(Api.ALLOCATE, f1=0, f2=4096, f3=0)
    answer = host.ask(Api.READ, f4=0, f5=4096)
    assert (answer.number(1), len(answer.data(2))) == (0, 0)


@pytest.mark.parametrize("named", [False, True])
def test_shared_buffers_have_a_file_during_their_lifetime(
    host: Host, tmp_path: Path, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has no name. With too many open files it is one in the device's folder."""
    if named:

        def too_many(name: str) -> int:
            raise OSError(errno.EMFILE, "too many")

        monkeypatch.setattr(device.os, "memfd_create", too_many)
    paths = [Path(host.ask(Api.ALLOCATE, f1=a, f2=4096, f3=1).text(2)) for a in (0, 4096)]
    assert len(set(paths)) == 2
    for path in paths:
        with open(os.open(path, os.O_RDWR | os.O_CREAT), "wb") as file:  # as XRT does
            file.write(b"x" * 4096)
        assert path.stat().st_size == 4096
    assert len(list(tmp_path.iterdir())) == (2 if named else 0)
    for address in (0, 4096):
        host.ask(Api.FREE, f1=address)
    assert not any(path.exists() for path in paths)


@pytest.mark.parametrize(
    ("number", "fields", "message"),
    [
        (Api.WRITE, {"f3": 0x8F00, "f4": bytes(4096), "f5": 4096}, "leaves the buffer 0x8000"),
        (Api.READ, {"f4": 0x7FFF, "f5": 1}, "in no live buffer; live buffers: 0x8000..0x9000"),
        (Api.READ, {"f4": 0x8000, "f5": 4097}, "the host reads 4097 bytes at 0x8000..0x9001"),
        (Api.FREE, {"f1": 0x100}, "no buffer at 0x100 to free"),
        (Api.WRITE_REGISTERS, {"f2": 0x1800000, "f4": bytes(4)}, "0x1800000, which is of no comp"),
        (Api.READ_REGISTERS, {"f2": 0x10, "f3": 4}, "of no compute unit"),
        (50, {"f1": 0}, "call number 50"),
    ],
)
def test_fatal_requests(host: Host, number: int, fields: dict[str, Any], message: str) -> None:
    host.ask(Api.ALLOCATE, f1=0x8000, f2=4096, f3=0)
    assert message in host.ends(number, **fields)


def test_closing_a_program_keeps_the_device(host: Host) -> None:
    assert host.ask(Api.CLOSE, f2=b"handle", f3=0).number(1) == 1
    assert host.ask(Api.SETUP_INSTANCE, f1=0).number(1) == 1
    assert host.ask(Api.LOAD, f1=b"", f2=b"").number(1) == 1  # only the memory
    assert host.ask(Api.CLOSE, f2=b"handle", f3=1).number(1) == 1
    host.thread.join(600)
    assert not host.thread.is_alive() and host.failure is None


def test_close_of_a_forked_child_is_ignored(host: Host) -> None:
    """The child has the host's socket. Its requests to free and to close are answered without
    effect."""
    host.ask(Api.ALLOCATE, f1=0, f2=4096, f3=0)
    host.ask(Api.WRITE, f3=0, f4=b"kept", f5=4)
    child = os.fork()
    if not child:
        answers = [host.ask(Api.FREE, f1=0), host.ask(Api.CLOSE, f2=b"", f3=1)]
        os._exit(sum(answer.number(1) for answer in answers))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    assert bytes(host.ask(Api.READ, f4=0, f5=4).data(2)) == b"kept"


def test_missing_image(host: Host) -> None:
    assert host.ask(Api.LOAD, f1=b"/none/xml", f2=b"/none/dl").number(1) == 0
    assert "cannot be loaded" in host.warnings[0]
