"""`ftensor package`: the application folder of a Kria, as `xmutil loadapp` takes it, from an
xclbin."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..boards import find
from ..errors import image as errors
from ..errors.commands import EstimateError
from ..errors.image import ImageError, unreadable
from ..image import xclbin
from ..image.xclbin import Mode, SectionKind
from ..terminal import complain, note, size

SHELL = {"shell_type": "XRT_FLAT", "num_slots": "1"}
FIRMWARE = "/lib/firmware/xilinx"
_SYNC = bytes.fromhex("aa995566")  # the word that begins a configuration
_SWAPPED = _SYNC[::-1]
_SYNC_WITHIN = 4096
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_DTB = bytes.fromhex("d00dfeed")


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor package`; returns the exit status."""
    try:
        board = find(arguments.board)
        if not board.memories()[0].startswith("HP"):
            raise errors.needs_no_package(board.title)
        image = Path(arguments.image)
        name = arguments.name or image.stem
        if not _NAME.fullmatch(name):
            raise errors.bad_package_name(name)
        overlay = _read(Path(arguments.overlay)) if arguments.overlay else None
        files = package(_read(image), name, overlay)
        folder = Path(arguments.out) / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            (folder / file).write_bytes(data)
    except (ImageError, EstimateError) as problem:
        complain("ftensor package", problem)
        return 1
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        complain("ftensor package", f"can't write {arguments.out!r}: {getattr(problem, 'strerror', None) or problem}")
        return 1
    print("\n".join([*(f"{folder / file}: {size(len(data))}" for file, data in files.items()), *_next(folder, name)]))
    if overlay is None:
        note(
            f"{name}.dtbo names the bitstream and XRT's driver; it sets no clock and no width of a port. Pass the "
            "overlay that createdts makes of your platform's .xsa: --overlay pl.dtbo"
        )
    return 0


def _next(folder: Path, name: str) -> list[str]:
    """Returns the commands with which the user copies the folder to the board and loads it."""
    return [
        "on the board:",
        f"  sudo cp -r -- {shlex.quote(str(folder))} {FIRMWARE}/",
        f"  sudo xmutil unloadapp; sudo xmutil loadapp {name}",
        f"  FTENSOR_IMAGE={FIRMWARE}/{name}/{name}.xclbin python3 program.py",
    ]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as e:  # ValueError: a NUL in the path
        raise unreadable(path, getattr(e, "strerror", None) or e) from None


def package(image: bytes, name: str, overlay: bytes | None = None) -> dict[str, bytes]:
    """Returns the files of an application folder by name, from the bytes of an xclbin.

    `overlay` is the platform's compiled device tree overlay; its firmware-name must be
    "NAME.bit.bin". Raises ImageError for an image without a bitstream, and for another overlay.
    """
    container = xclbin.read(image)
    if container.mode in (Mode.SW_EMU, Mode.HW_EMU, Mode.HW_EMU_PR):
        raise errors.no_bitstream("it was built for emulation")
    if container.mode != Mode.FLAT:
        raise errors.no_bitstream("it holds a part of a bitstream, for a platform with a dynamic region")
    section = container.section(SectionKind.BITSTREAM)
    if not section:
        raise errors.no_bitstream("it has no section BITSTREAM")
    firmware = f"{name}.bit.bin"
    if overlay is None:
        overlay = device_tree_overlay(firmware)
    elif not overlay.startswith(_DTB):
        raise errors.bad_overlay("it is no compiled device tree: dtc -@ -O dtb -o pl.dtbo pl.dtsi compiles one")
    elif not re.search(rb"(?<![\w./-])" + re.escape(firmware.encode()) + rb"\0", overlay):
        raise errors.bad_overlay(f"its firmware-name is not {firmware!r}; change that, or give --name")
    return {
        firmware: for_fpga_manager(section),
        f"{name}.dtbo": overlay,
        "shell.json": (json.dumps(SHELL, indent=2) + "\n").encode(),
        f"{name}.xclbin": image,
    }


def for_fpga_manager(bitstream: bytes) -> bytes:
    """Returns a bitstream in the form of Linux' FPGA manager for a ZynqMP: without the header of a
    .bit file, and with the bytes of each 32-bit word reversed."""
    data = _without_header(bitstream)
    if _SWAPPED in data[:_SYNC_WITHIN]:
        return data
    if _SYNC not in data[:_SYNC_WITHIN] or len(data) % 4:
        raise errors.no_bitstream("its section BITSTREAM is no bitstream of 32-bit words")
    return np.frombuffer(data, np.uint32).byteswap().tobytes()


def _without_header(bitstream: bytes) -> bytes:
    """Returns the configuration in a .bit file, or the whole if there is no header."""
    if not bitstream.startswith(bytes.fromhex("00090ff0")):
        return bitstream
    at = 2 + 9 + 2  # a field of 9 bytes, and the number 1
    while bitstream[at : at + 1] in (b"a", b"b", b"c", b"d"):  # design, part, date, time
        (length,) = struct.unpack_from(">H", bitstream.ljust(at + 3, b"\0"), at + 1)
        at += 3 + length
    if bitstream[at : at + 1] != b"e" or len(bitstream) < at + 5:
        raise errors.no_bitstream("the header of its bitstream is damaged")
    (length,) = struct.unpack_from(">I", bitstream, at + 1)
    if length > len(bitstream) - at - 5:
        raise errors.no_bitstream(f"its bitstream announces {length} bytes, and has {len(bitstream) - at - 5}")
    return bitstream[at + 5 : at + 5 + length]


# A node of a device tree: properties (bytes) and nodes by name.
Node = Mapping[str, "bytes | Node"]


def device_tree_overlay(firmware: str) -> bytes:
    """Returns the compiled overlay that names a bitstream and XRT's driver (zocl)."""
    unknown = b"\xff\xff\xff\xff"  # filled in by __fixups__, from the labels of the board's tree
    driver = {"zyxclmm_drm": {"compatible": b"xlnx,zocl\0"}}
    return compiled_tree(
        {
            "fragment@0": {"target": unknown, "__overlay__": {"firmware-name": firmware.encode() + b"\0"}},
            "fragment@1": {"target": unknown, "__overlay__": driver},
            "__fixups__": {"fpga_full": b"/fragment@0:target:0\0", "amba": b"/fragment@1:target:0\0"},
        }
    )


def compiled_tree(root: Node) -> bytes:
    """Returns a device tree as bytes, in the format of the Devicetree Specification, version 17."""
    names: dict[str, int] = {}
    words = bytearray()

    def padded(data: bytes) -> bytes:
        return data + bytes(-len(data) % 4)

    def node(name: str, content: Node) -> None:
        words.extend(struct.pack(">I", 1) + padded(name.encode() + b"\0"))
        for key, value in content.items():
            if isinstance(value, bytes):
                offset = names.setdefault(key, sum(len(k) + 1 for k in names))
                words.extend(struct.pack(">3I", 3, len(value), offset) + padded(value))
        for key, value in content.items():
            if not isinstance(value, bytes):
                node(key, value)
        words.extend(struct.pack(">I", 2))

    node("", root)
    words.extend(struct.pack(">I", 9))
    strings = b"".join(name.encode() + b"\0" for name in names)
    structure = 40 + 16  # after the header and an empty list of reserved memory
    total = structure + len(words) + len(strings)
    head = struct.pack(
        ">10I", 0xD00DFEED, total, structure, structure + len(words), 40, 17, 16, 0, len(strings), len(words)
    )
    return head + bytes(16) + bytes(words) + strings
