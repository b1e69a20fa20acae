"""The xclbin container: written files read back, and damaged ones are refused."""

from __future__ import annotations

import struct
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftensor.errors.image import ImageError
from ftensor.image import xclbin
from ftensor.image.xclbin import Mode, Section, SectionKind, Xclbin

names = st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=15)
sections = st.builds(Section, st.integers(0, 2**32 - 1), names, st.binary(max_size=200))
images = st.builds(
    Xclbin,
    st.uuids(allow_nil=True),
    st.lists(sections, max_size=6).map(tuple),
    platform=names,
    interface_uuid=st.uuids(allow_nil=True),
    mode=st.sampled_from(list(Mode)),
    timestamp=st.integers(0, 2**64 - 1),
    version=st.tuples(st.integers(0, 255), st.integers(0, 255), st.integers(0, 65535)),
    unique_id=st.integers(0, 2**64 - 1),
)


@given(images)
def test_written_files_read_back(image: Xclbin) -> None:
    """Every field survives, and sections start on 8-byte boundaries."""
    data = xclbin.write(image)
    assert xclbin.read(data) == image
    for k in range(len(image.sections)):
        _, _, offset, size = xclbin.ENTRY.unpack_from(data, 456 + 40 * k)
        assert offset % 8 == 0
        assert data[offset : offset + size] == image.sections[k].data


def test_field_offsets_are_those_published() -> None:
    """Offsets are those of the published structure."""
    image = Xclbin(
        UUID(int=7), (Section(SectionKind.BITSTREAM, "kernels", b"\x7fELF"),), "vendor_board_name_1_0", mode=Mode.SW_EMU
    )
    data = xclbin.write(image)
    assert data[:8] == b"xclbin2\0"
    assert struct.unpack_from("<i", data, 8) == (-1,)
    assert struct.unpack_from("<Q", data, 304) == (len(data),)
    assert struct.unpack_from("<H", data, 332) == (5,)
    assert data[352:].startswith(b"vendor_board_name_1_0\0")
    assert data[416:432] == UUID(int=7).bytes
    assert struct.unpack_from("<I", data, 448) == (1,)
    assert image.section(SectionKind.BITSTREAM) == b"\x7fELF"
    assert image.section(SectionKind.IP_LAYOUT) is None


@given(images, st.data())
def test_truncated_files_are_refused(image: Xclbin, data: st.DataObject) -> None:
    """Every shorter length is refused."""
    whole = xclbin.write(image)
    end = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(ImageError):
        xclbin.read(whole[:end])


@given(images, st.data())
def test_damaged_files_never_crash_the_reader(image: Xclbin, data: st.DataObject) -> None:
    """With a few bytes changed, the reader returns an image or raises one clear error."""
    broken = bytearray(xclbin.write(image))
    for _ in range(data.draw(st.integers(1, 8))):
        broken[data.draw(st.integers(0, min(len(broken), 700) - 1))] = data.draw(st.integers(0, 255))
    try:
        parsed = xclbin.read(bytes(broken))
    except ImageError:
        return
    assert sum(len(s.data) for s in parsed.sections) <= len(broken) * len(parsed.sections)


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, b"xclbin0\0"), (448, b"\xff\xff\xff\xff"), (456 + 24, b"\xff" * 8), (456 + 32, b"\xff" * 8)],
    ids=["magic", "sections", "offset", "size"],
)
def test_hostile_fields(at: int, value: bytes) -> None:
    """Sizes exceed any file."""
    whole = bytearray(xclbin.write(Xclbin(UUID(int=1), (Section(0, "", b"x" * 16),))))
    whole[at : at + len(value)] = value
    with pytest.raises(ImageError, match="xclbin"):
        xclbin.read(bytes(whole))


def test_too_long_names_are_refused() -> None:
    """The file's field has a fixed size."""
    with pytest.raises(ValueError, match="longer"):
        xclbin.write(Xclbin(UUID(int=1), (), "x" * 64))


def test_signed_files() -> None:
    """The signature follows the length given in the header; any other trailing data is damage."""
    image = Xclbin(UUID(int=1), (Section(0, "", b"x" * 16),))
    whole = bytearray(xclbin.write(image))
    whole[8:12] = struct.pack("<i", 5)
    assert xclbin.read(bytes(whole) + b"proof") == image
    with pytest.raises(ImageError, match="header says"):
        xclbin.read(bytes(whole) + b"proofs")
    assert xclbin.read(bytes(whole)) == image
