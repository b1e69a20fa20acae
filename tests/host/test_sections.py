"""Sections of an xclbin: they read back, have XRT's layout, and errors name the damaged section."""

from __future__ import annotations

import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftensor.errors.image import ImageError
from ftensor.image import description, info, metadata, xclbin
from ftensor.image import sections as tables
from ftensor.image.contents import (
    CLOCK_TYPES,
    ArgumentDescription,
    Bank,
    BankConnection,
    Clock,
    ComputeUnit,
    Description,
    IpLayoutEntry,
    KernelDescription,
)
from ftensor.image.description import content_uuid, pack
from ftensor.image.sections import CLOCK, key_values, parse, require_kernels, sections
from ftensor.image.xclbin import Mode, Section, SectionKind, Xclbin

from .image_cases import FILE, LIBRARY, SIMPLE, VADD

words = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True)
scalars = st.sampled_from(["char", "unsigned short", "int", "long", "float", "double", "uint8_t"])
pointers = st.sampled_from(["float *", "const int*", "hls::vector<float, 16> *", 'odd<"&"> *'])


@st.composite
def descriptions(draw: st.DrawFn) -> Description:
    """Draws any valid description."""
    names = draw(st.lists(words, min_size=1, max_size=4, unique=True))
    banks = tuple(
        Bank(f"HBM[{k}]", draw(st.integers(1, 1 << 20)) * 4096, type="HBM") for k in range(draw(st.integers(1, 4)))
    )
    kernels = []
    for name in names:
        arguments = []
        for k in range(draw(st.integers(0, 6))):
            c = draw(scalars | pointers)
            bank = (draw(st.sampled_from(banks)).name,) if "*" in c else ()
            arguments.append(ArgumentDescription(f"{draw(words)}_{k}", c, banks=bank))
        units = tuple(ComputeUnit(f"u{k}") for k in range(draw(st.integers(1, 3))))
        control = draw(st.sampled_from(["AP_CTRL_HS", "AP_CTRL_CHAIN"]))
        kernels.append(KernelDescription(name, tuple(arguments), units, control))
    clock = draw(st.integers(1, 800)) / 2
    return Description(tuple(kernels), banks, draw(words), clock, draw(words))


@given(descriptions())
def test_a_packed_description_reads_back(wanted: Description) -> None:
    """The sections contain the completed description."""
    image = require_kernels(parse(xclbin.read(pack(wanted, LIBRARY, "{}"))))
    assert image.description == description.complete(wanted)
    assert image.manifest == "{}"
    assert image.xclbin.section(SectionKind.BITSTREAM) == LIBRARY
    assert image.xclbin.mode == Mode.SW_EMU


@given(descriptions())
def test_registers_and_bases_follow_the_rules(wanted: Description) -> None:
    """Arguments follow one another in 32-bit words from 0x10. Compute units follow in windows of 64
    KiB."""
    done = description.complete(wanted)
    for kernel in done.kernels:
        end = 0x10
        for argument in kernel.arguments:
            assert argument.offset == end
            end += 12 if argument.size == 8 else 8
    bases = [unit.base for kernel in done.kernels for unit in kernel.units]
    assert all(base % 0x10000 == 0 for base in bases)
    assert sorted(set(bases)) == bases


def test_field_offsets_are_those_of_xrt() -> None:
    """The bytes equal the published structures."""
    content = {s.kind: s.data for s in sections(description.complete(SIMPLE))}
    assert content[SectionKind.MEM_TOPOLOGY] == struct.pack("<i4x", 2) + (
        struct.pack("<BB6xQQ16s", 1, 1, 4 << 20, 0, b"DDR[0]")
        + struct.pack("<BB6xQQ16s", 1, 1, 4 << 20, 4 << 30, b"DDR[1]")
    )
    assert content[SectionKind.CONNECTIVITY] == struct.pack("<13i", 4, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1)
    assert content[SectionKind.IP_LAYOUT] == struct.pack("<i4x", 2) + (
        struct.pack("<IIQ64s", 1, 0, 0x1800000, b"vadd:vadd_1")
        + struct.pack("<IIQ64s", 1, 0, 0x1810000, b"vadd:vadd_2")
    )
    xml = content[SectionKind.EMBEDDED_METADATA].decode()
    # The second-last argument has one byte, and still takes a whole word of registers.
    assert (
        '<arg name="flag" id="3" port="S_AXI_CONTROL" type="unsigned char" addressQualifier="0" '
        'size="0x4" offset="0x34" hostOffset="0x0" hostSize="0x1" />'
    ) in xml
    assert '<addrRemap base="0x1810000" range="0x10000" port="S_AXI_CONTROL" />' in xml


def test_other_sections_of_real_files() -> None:
    """Clocks, groups, the builder's metadata, interrupts, and IP that is no compute unit."""
    clocks = (Clock("DATA_CLK", 300, "DATA"), Clock("KERNEL_CLK", 500, "KERNEL"))
    units = (
        IpLayoutEntry("vadd:vadd_1", 0x1800000, "AP_CTRL_CHAIN", interrupt=5),
        IpLayoutEntry("memory_subsystem", 0x2000000, "", type=5),
    )
    streams = (Bank("dc_0", 7, 9, "STREAMING_CONNECTION"), Bank("HOST[0]", 1 << 30, 1 << 40, "HOST"))
    entries = [CLOCK.pack(c.mhz, CLOCK_TYPES.index(c.type), c.name.encode()) for c in clocks]
    clocks_data = struct.pack("<h", len(clocks)) + b"".join(entries)
    notes = b'{"key_value_metadata": {"key_values": [{"key": "branch", "value": "main"}]}}'
    image = Xclbin(
        UUID(int=1),
        (
            Section(SectionKind.CLOCK_FREQ_TOPOLOGY, "", clocks_data),
            Section(SectionKind.IP_LAYOUT, "", tables.ip_layout_data(units)),
            Section(SectionKind.ASK_GROUP_TOPOLOGY, "", tables.memories_data(streams)),
            Section(SectionKind.KEYVALUE_METADATA, "", notes),
            Section(SectionKind.BUILD_METADATA, "", b'{"build_metadata": {"dsa": "some_platform"}}\0'),
            Section(SectionKind.USER_METADATA, "", b"plain words"),
            Section(77, "later", b"x" * 2048),
        ),
    )
    parsed = parse(xclbin.read(xclbin.write(image)))
    assert (parsed.clocks, parsed.units, parsed.groups) == (clocks, units, streams)
    assert parsed.keys == {"branch": "main"}
    assert parsed.manifest is None
    report = info.text(parsed)
    for word in ("KERNEL_CLK", "kind 77", "2.0 KiB", "some_platform", "branch", "memory_subsystem"):
        assert word in report
    with pytest.raises(ImageError, match="BITSTREAM"):
        require_kernels(parsed)
    for rows in ([], {"key_values": 3}, {"key_values": [3]}):
        with pytest.raises(ImageError, match="KEYVALUE_METADATA"):
            key_values({"key_value_metadata": rows})


def test_uuids_identify_images() -> None:
    """Equal content has an equal UUID. Another library, kernel or platform changes it."""
    other = replace(SIMPLE, platform="another")
    uuids = [
        content_uuid(SIMPLE, LIBRARY),
        content_uuid(SIMPLE, LIBRARY + b"\0"),
        content_uuid(other, LIBRARY),
        content_uuid(replace(SIMPLE, kernels=(replace(VADD, name="vsub"),)), LIBRARY),
    ]
    assert len(set(uuids)) == 4
    assert content_uuid(SIMPLE, LIBRARY) == uuids[0]
    assert xclbin.read(pack(SIMPLE, LIBRARY)).uuid == uuids[0]


# Damage


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (SectionKind.MEM_TOPOLOGY, struct.pack("<i4x", -1)),
        (SectionKind.MEM_TOPOLOGY, struct.pack("<i4x", 2_000_000_000)),
        (SectionKind.MEM_TOPOLOGY, struct.pack("<i4x", 3) + bytes(40)),
        (SectionKind.IP_LAYOUT, b"\1"),
        (SectionKind.IP_LAYOUT, struct.pack("<i4x", 2) + bytes(100)),
        (SectionKind.CONNECTIVITY, struct.pack("<4i", 1, 0, 5, 0)),
        (SectionKind.CONNECTIVITY, struct.pack("<4i", 1, 0, 0, -1)),
        (SectionKind.CLOCK_FREQ_TOPOLOGY, b"\xff\x7f"),
        (SectionKind.ASK_GROUP_TOPOLOGY, struct.pack("<i", 9)),
        (SectionKind.BUILD_METADATA, b"[" * 100_000),
        (SectionKind.BUILD_METADATA, b"\xff\xfe"),
        (SectionKind.BUILD_METADATA, b"[1]"),
        (SectionKind.EMBEDDED_METADATA, b"<project>"),
        (SectionKind.EMBEDDED_METADATA, b"<project/>"),
        (SectionKind.EMBEDDED_METADATA, b"<a>" * 100_000),
        (SectionKind.EMBEDDED_METADATA, b'<?xml version="1.0" encoding="klingon"?><a/>'),
        (SectionKind.EMBEDDED_METADATA, b'<?xml version="1.0" encoding="utf-7"?><a/>'),
    ],
)
def test_invalid_section_is_named(kind: SectionKind, data: bytes) -> None:
    """One error names the section."""
    whole = xclbin.read(pack(SIMPLE, LIBRARY))
    kept = [s for s in whole.sections if s.kind != kind]
    with pytest.raises(ImageError, match=f"section {kind.name},"):
        parse(whole.with_sections([*kept, Section(kind, "", data)]))


def test_entities_are_refused_before_they_expand() -> None:
    """A few hundred bytes would expand to gigabytes."""
    lines = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(12))
    bomb = f'<!DOCTYPE project [<!ENTITY e0 "ha">{lines}]><project>&e12;</project>'
    with pytest.raises(ImageError, match="entities"):
        metadata.read(bomb.encode())
    outside = '<!DOCTYPE p [<!ENTITY f SYSTEM "file:///etc/hostname">]><p>&f;</p>'
    with pytest.raises(ImageError, match="entities"):
        metadata.read(outside.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'id="1"', b'id="0"'),
        (b'id="1"', b'id="7"'),
        (b'offset="0x1c"', b'offset="here"'),
        (b'offset="0x1c"', b'offset="0x10000000000000000"'),
        (b'hostSize="0x1"', b'hostSize="-1"'),
    ],
)
def test_contradictions_in_the_xml(old: bytes, new: bytes) -> None:
    """Invalid numbers, and arguments that are missing or duplicated."""
    xml = metadata.write(description.complete(SIMPLE))
    assert xml.count(old) >= 1
    with pytest.raises(ImageError, match="EMBEDDED_METADATA"):
        metadata.read(xml.replace(old, new))


@given(st.data())
def test_damaged_files_parse_or_raise_ftensor_errors(data: st.DataObject) -> None:
    """Any bytes change anywhere. The result is an image, or one of ftensor's errors."""
    broken = bytearray(FILE)
    start = data.draw(st.sampled_from([0, 304, 456, 700]))
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(start, len(broken) - 1))
        broken[at] = data.draw(st.integers(0, 255))
    _parse_or_refuse(bytes(broken[: data.draw(st.integers(0, len(broken)) | st.just(len(broken)))]))


@given(st.sampled_from(sorted(SectionKind)), st.binary(max_size=300))
def test_any_bytes_in_a_section_parse_or_raise(kind: SectionKind, content: bytes) -> None:
    """A valid container has a section of random bytes."""
    whole = xclbin.read(FILE)
    kept = [s for s in whole.sections if s.kind != kind]
    _parse_or_refuse(xclbin.write(whole.with_sections([*kept, Section(kind, "", content)])))


@given(st.binary(max_size=600))
def test_any_bytes_parse_or_raise(content: bytes) -> None:
    """Random bytes come alone, and after the magic number."""
    _parse_or_refuse(content)
    _parse_or_refuse(xclbin.MAGIC + content)


def _parse_or_refuse(content: bytes) -> None:
    try:
        parsed = parse(xclbin.read(content))
        report = info.text(parsed)
    except ImageError as e:
        assert "xclbin" in str(e)
        return
    assert all(line.isprintable() for line in report.splitlines())


def test_escape_sequences_in_names_are_escaped(tmp_path: Path) -> None:
    """The terminal shows them and does not execute them."""
    image = Xclbin(UUID(int=1), (Section(3, "\x1b[2J", b""),), "\x1b]0;title\x07")
    assert "\x1b" not in info.text(parse(xclbin.read(xclbin.write(image))))


def test_structure_sizes_are_those_of_xrts_header(tmp_path: Path) -> None:
    """XRT's own header is compiled."""
    import shutil

    header = Path("/usr/include/xrt/xclbin.h")
    if not header.exists() or shutil.which("g++") is None:
        pytest.skip("needs XRT's headers (libxrt-dev) and g++")
    names = ("mem_data", "ip_data", "connection", "clock_freq")
    text = "#include <cstdio>\n#include <xclbin.h>\nint main() {"
    text += "".join(f'printf("%zu ", sizeof({name}));' for name in names) + "}\n"
    (tmp_path / "sizes.cpp").write_text(text)
    program = str(tmp_path / "sizes")
    subprocess.run(["g++", "-I", str(header.parent), str(tmp_path / "sizes.cpp"), "-o", program], check=True)
    sizes = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    layouts = (tables.MEMORY, tables.UNIT, tables.CONNECTION, tables.CLOCK)
    assert [int(n) for n in sizes] == [layout.size for layout in layouts]


def test_connections_name_banks(tmp_path: Path) -> None:
    """An argument connected to two banks has both, in order."""
    both = ArgumentDescription("x", "float *", banks=("DDR[1]", "DDR[0]"))
    wanted = replace(SIMPLE, kernels=(KernelDescription("k", (both,)),))
    image = parse(xclbin.read(pack(wanted, LIBRARY)))
    assert image.connections == (BankConnection(0, 0, 1), BankConnection(0, 0, 0))
    assert image.description.kernels[0].arguments[0].banks == ("DDR[1]", "DDR[0]")
