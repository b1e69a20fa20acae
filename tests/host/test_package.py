"""`ftensor package` turns an image into the application folder of a Kria."""

from __future__ import annotations

import io
import json
import shlex
import shutil
import struct
import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from ftensor.cli import main
from ftensor.errors.image import ImageError
from ftensor.image import xclbin
from ftensor.image.xclbin import Mode, Section, SectionKind, Xclbin
from ftensor.toolchain import package

from .image_cases import FILE

WORDS = bytes.fromhex("ffffffff" * 4 + "000000bb" + "11220044" + "ffffffff" + "aa995566" + "20000000")


def bit_file(data: bytes) -> bytes:
    fields = b"".join(
        tag + struct.pack(">H", len(text)) + text
        for tag, text in ((b"a", b"top;Version=2023.2\0"), (b"b", b"xck26\0"), (b"c", b"2026\0"), (b"d", b"1:2:3\0"))
    )
    head = bytes.fromhex("00090ff00ff00ff00ff0000001")
    return head + fields + b"e" + struct.pack(">I", len(data)) + data


def image(bitstream: bytes, mode: int = Mode.FLAT) -> bytes:
    parts = (Section(SectionKind.BITSTREAM, "bitstream", bitstream),) if bitstream else ()
    return xclbin.write(Xclbin(UUID(int=5), parts, "xilinx_kv260", mode=mode))


def swapped(data: bytes) -> bytes:
    return b"".join(data[k : k + 4][::-1] for k in range(0, len(data), 4))


@pytest.mark.parametrize("given", [bit_file(WORDS), WORDS, swapped(WORDS)], ids=[".bit", ".bin", "swapped already"])
def test_bitstream_format_is_that_of_the_fpga_manager(given: bytes) -> None:
    """The file has no header, and the bytes of each word are reversed, as bootgen writes it."""
    assert package.for_fpga_manager(given) == swapped(WORDS)


def test_the_folder_of_an_application(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "first.xclbin").write_bytes(image(bit_file(WORDS)))
    assert main(["package", "--board", "kv260", "--out", str(tmp_path / "apps"), str(tmp_path / "first.xclbin")]) == 0
    folder = tmp_path / "apps/first"
    assert sorted(p.name for p in folder.iterdir()) == ["first.bit.bin", "first.dtbo", "first.xclbin", "shell.json"]
    assert (folder / "first.xclbin").read_bytes() == image(bit_file(WORDS))
    assert (folder / "first.bit.bin").read_bytes() == swapped(WORDS)
    assert json.loads((folder / "shell.json").read_text()) == {"shell_type": "XRT_FLAT", "num_slots": "1"}
    said = capsys.readouterr()
    assert "sudo xmutil unloadapp; sudo xmutil loadapp first" in said.out
    assert "sets no clock and no width of a port" in said.err


def test_the_commands_for_the_board_quote_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "first.xclbin").write_bytes(image(WORDS))
    out = tmp_path / "my apps; reboot"
    assert main(["package", "--out", str(out), str(tmp_path / "first.xclbin")]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "sudo cp" in line)
    assert shlex.split(line) == ["sudo", "cp", "-r", "--", str(out / "first"), "/lib/firmware/xilinx/"]


def test_output_in_an_encoding_that_lacks_a_character(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Terminals with LANG=C have such an encoding."""
    (tmp_path / "first.xclbin").write_bytes(image(WORDS))
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, "ascii"))
    assert main(["package", "--out", str(tmp_path / "\u00e4"), str(tmp_path / "first.xclbin")]) == 0
    assert b"\\xe4" in written.getvalue()


def tree(data: bytes) -> dict[str, object]:
    """Parses a compiled device tree."""
    magic, total, structure, strings, _, version, _, _, _, size = struct.unpack_from(">10I", data)
    assert (magic, total, version) == (0xD00DFEED, len(data), 17)
    at, path = structure, [{}]
    while True:
        (token,) = struct.unpack_from(">I", data, at)
        at += 4
        if token == 9:
            assert at == structure + size
            (root,) = path[0].values()
            return root
        if token == 1:
            name = data[at : data.index(b"\0", at)].decode()
            at += len(name) // 4 * 4 + 4
            made: dict[str, object] = {}
            path[-1][name] = made
            path.append(made)
        elif token == 3:
            length, offset = struct.unpack_from(">2I", data, at)
            key = data[strings + offset : data.index(b"\0", strings + offset)].decode()
            path[-1][key] = data[at + 8 : at + 8 + length]
            at += 8 + (length + 3 & -4)
        else:
            path.pop()


def test_the_overlay_names_the_bitstream_and_the_driver() -> None:
    read = tree(package.device_tree_overlay("app.bit.bin"))
    assert read["fragment@0"]["__overlay__"] == {"firmware-name": b"app.bit.bin\0"}
    assert read["fragment@1"]["__overlay__"] == {"zyxclmm_drm": {"compatible": b"xlnx,zocl\0"}}
    assert read["__fixups__"] == {"fpga_full": b"/fragment@0:target:0\0", "amba": b"/fragment@1:target:0\0"}


@pytest.mark.skipif(shutil.which("dtc") is None, reason="needs dtc")
def test_overlay_compiles_with_dtc() -> None:
    read = ["dtc", "-q", "-I", "dtb", "-O", "dts"]
    done = subprocess.run(read, input=package.device_tree_overlay("app.bit.bin"), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b'firmware-name = "app.bit.bin";' in done.stdout


@pytest.mark.parametrize(
    ("data", "overlay", "says"),
    [
        (image(WORDS, Mode.SW_EMU), None, "built for emulation"),
        (image(WORDS, Mode.PR), None, "a part of a bitstream"),
        (image(b""), None, "no section BITSTREAM"),
        (FILE, None, "built for emulation"),
        (image(b"\x7fELF" + bytes(100)), None, "is no bitstream"),
        (image(bit_file(WORDS)[:-8]), None, "announces 36 bytes, and has 28"),
        (image(bit_file(WORDS)[:20]), None, "header of its bitstream is damaged"),
        (image(WORDS), b"/dts-v1/;", "no compiled device tree"),
        (image(WORDS), package.device_tree_overlay("other.bit.bin"), "firmware-name is not 'app.bit.bin'"),
        (image(WORDS)[:300], None, "bytes"),
    ],
)
def test_mistakes(data: bytes, overlay: bytes | None, says: str) -> None:
    with pytest.raises(ImageError, match=says):
        package.package(data, "app", overlay)


def test_overlay_of_the_platform_is_used() -> None:
    own = package.device_tree_overlay("app.bit.bin") + b"more"
    assert package.package(image(WORDS), "app", own)["app.dtbo"] == own


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--board", "u55c", "x.xclbin"], "takes the xclbin file itself"),
        (["--board", "vek280", "x.xclbin"], "kv260"),
        (["--name", "../etc", "x.xclbin"], "can't name an application"),
        (["none.xclbin"], "can't read"),
    ],
)
def test_mistakes_of_the_command(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["package", *words]) == 1
    assert says in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
