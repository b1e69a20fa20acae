"""The messages between XRT's emulation library and the device: framing, and proto2's encoding.

The host sends requests and the device answers, one at a time. A request is `09 <u64 length> 15
<u32 number>` and a body; an answer is `09 <u64 length>` and a body. Bodies are protocol buffers of
version 2; XRT uses only varints (wire type 0) and byte strings (2).
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from enum import IntEnum

REQUEST = struct.Struct("<BQBI")
ANSWER = struct.Struct("<BQ")
LENGTH_KEY, NUMBER_KEY = 0x09, 0x15  # field 1 of 64 bits, field 2 of 32 bits
_NOTE_BYTES = socket.CMSG_SPACE(12)
LONGEST = 1 << 31  # the largest body that is accepted, in bytes; XRT sends 8 MiB at a time


class Api(IntEnum):
    """The calls of XRT 2.13's emulation library that the device answers."""

    CLOSE = 1
    LOAD = 3
    ALLOCATE = 4
    FREE = 5
    WRITE = 6
    READ = 7
    WRITE_REGISTERS = 9
    READ_REGISTERS = 11
    SETUP_INSTANCE = 28
    WRITE_REGISTER = 51  # by the host itself: xrt::ip, xrt::kernel::write_register
    READ_REGISTER = 52


class ProtocolError(Exception):
    """The other side sent data that this protocol does not define."""


class Fields:
    """A decoded body: the values of each field number, in the order of sending."""

    def __init__(self, values: dict[int, list[int | memoryview]]) -> None:
        self._values = values

    def number(self, field: int, default: int = 0) -> int:
        """Returns the last value of a varint field."""
        value = self._values.get(field, [default])[-1]
        if not isinstance(value, int):
            raise ProtocolError(f"field {field} is no number")
        return value

    def data(self, field: int) -> memoryview:
        """Returns the last value of a bytes field, which is valid until the next request is
        read."""
        value = self._values.get(field, [memoryview(b"")])[-1]
        if isinstance(value, int):
            raise ProtocolError(f"field {field} is no byte string")
        return value

    def messages(self, field: int) -> list[Fields]:
        """Returns a repeated field of messages."""
        values = self._values.get(field, [])
        return [decode(value) for value in values if isinstance(value, memoryview)]

    def text(self, field: int) -> str:
        """Returns a bytes field that holds a path or a name."""
        return bytes(self.data(field)).rstrip(b"\0").decode("utf-8", "surrogateescape")


def varint(value: int) -> bytes:
    """Encodes a number of at most 64 bits, seven bits per byte, lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: memoryview, at: int) -> tuple[int, int]:
    """Returns the number at a position, and the position after it."""
    value = shift = 0
    while shift < 70:
        if at >= len(data):
            raise ProtocolError("a number ends early")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise ProtocolError("a number is longer than 64 bits")


def decode(body: memoryview) -> Fields:
    """Returns the fields of a body; byte strings are views into it."""
    values: dict[int, list[int | memoryview]] = {}
    at, end = 0, len(body)
    while at < end:
        key, at = read_varint(body, at)
        field, wire = key >> 3, key & 7
        value: int | memoryview
        if wire == 0:
            value, at = read_varint(body, at)
        else:
            if wire == 2:
                size, at = read_varint(body, at)
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
            else:
                raise ProtocolError(f"field {field} has wire type {wire}")
            if size > end - at:
                raise ProtocolError(f"field {field} has {size} bytes, but {end - at} are left")
            value = body[at : at + size]
            at += size
            if wire != 2:
                value = int.from_bytes(value, "little")
        values.setdefault(field, []).append(value)
    return Fields(values)


def encode(fields: Mapping[int, int | bool | bytes | memoryview]) -> list[bytes | memoryview]:
    """Returns the parts of a body, in the order of the mapping, without copying byte strings."""
    parts: list[bytes | memoryview] = []
    for field, value in fields.items():
        if isinstance(value, int):
            parts.append(varint(field << 3) + varint(int(value)))
        else:
            parts += (varint(field << 3 | 2) + varint(len(value)), value)
    return parts


class HostConnection:
    """The device's side of the socket. The buffer for requests is reused.

    `sender` is the process that sent the last request, since forked children share the host's
    socket.
    """

    def __init__(self, stream: socket.socket) -> None:
        # From now on, received messages include the sender's process, user and group.
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.sender = 0
        self._stream = stream
        self._buffer = bytearray(1 << 16)

    def _receive(self, size: int) -> memoryview | None:
        """Returns exactly `size` bytes; None if the other side closed before the first."""
        if size > len(self._buffer):
            self._buffer = bytearray(size)
        view, at = memoryview(self._buffer)[:size], 0
        while at < size:
            got, notes, _, _ = self._stream.recvmsg_into([view[at:]], _NOTE_BYTES)
            if notes:
                self.sender = int.from_bytes(notes[0][2][:4], "little")
            if not got:
                if at:
                    raise ConnectionResetError(f"{at} of {size} bytes came, then the end")
                return None
            at += got
        return view

    def request(self) -> tuple[int, Fields] | None:
        """Returns the next request's number and fields; None at the end of the connection.

        Raises ConnectionError if the other side ends within a request, as a killed process does.
        """
        header = self._receive(REQUEST.size)
        if header is None:
            return None
        length_key, length, number_key, number = REQUEST.unpack(header)
        if (length_key, number_key) != (LENGTH_KEY, NUMBER_KEY) or length > LONGEST:
            raise ProtocolError(f"a request begins with {bytes(header).hex(' ')}")
        body = self._receive(length)
        if body is None and length:
            raise ConnectionResetError(f"request {number} came without its body")
        return number, decode(body if body is not None else memoryview(b""))

    def answer(self, fields: Mapping[int, int | bool | bytes | memoryview]) -> None:
        """Sends an answer."""
        parts = encode(fields)
        self._send([ANSWER.pack(LENGTH_KEY, sum(len(part) for part in parts)), *parts])

    def _send(self, parts: list[bytes | memoryview]) -> None:
        sent = self._stream.sendmsg(parts)
        if sent < sum(len(part) for part in parts):
            for part in parts:
                self._stream.sendall(memoryview(part)[sent:])
                sent = max(0, sent - len(part))
