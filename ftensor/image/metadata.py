"""EMBEDDED_METADATA, the XML from which XRT reads kernels, their arguments, registers and compute units."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.parsers import expat

from ..errors.image import ImageError, bad_section
from .contents import ArgumentDescription, ComputeUnit, Description, KernelDescription
from .xclbin import SectionKind

REGISTER_WINDOW = 0x10000  # bytes of a unit's registers on the control bus
DEEPEST = 64
LARGEST = 64 << 20
SCALAR, POINTER, STREAM = "0", "1", "4"  # values of addressQualifier


def _bad(problem: str) -> ImageError:
    return bad_section(SectionKind.EMBEDDED_METADATA.name, problem)


def _checked(data: bytes) -> None:
    """Raises an error for XML entities and for deep nesting. No real file has either, and both can
    exhaust a parser."""
    parser, depth = expat.ParserCreate(), 0

    def doctype(*_: object) -> None:
        raise _bad("a document type is declared, which may hide entities")

    def start(_name: str, _attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise _bad(f"elements are nested more than {DEEPEST} deep")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)


def read(data: bytes) -> Description:
    """Returns the kernels, platform and clock in the XML; banks are in other sections."""
    data = data.rstrip(b"\0")
    if len(data) > LARGEST:
        raise _bad(f"there are {len(data)} bytes of XML")
    try:
        _checked(data)
        root = ElementTree.fromstring(data)
    except ImageError:
        raise
    # expat asks Python for encodings that it does not know, unknown and multi-byte ones.
    except (expat.ExpatError, ElementTree.ParseError, LookupError, ValueError) as e:
        raise _bad(f"there is no XML ({e})") from None
    platform = root.find("platform")
    core = root.find("platform/device/core")
    if platform is None or core is None:
        raise _bad("there is no platform with a device and a core")
    frequency = core.get("clockFreq", "")
    clock = core.find("kernelClocks/clock")
    if clock is not None:
        frequency = clock.get("frequency", frequency)
    return Description(
        tuple(_kernel(element) for element in core.findall("kernel")),
        platform=platform.get("name", ""),
        clock_mhz=_megahertz(frequency),
        name=root.get("name", ""),
    )


def _kernel(element: ElementTree.Element) -> KernelDescription:
    name = element.get("name", "")
    by_id: dict[int, ArgumentDescription] = {}
    for row in element.findall("arg"):
        if not row.get("id"):  # not for the host to set: a printf buffer, for instance
            continue
        place = _integer(row, "id", 4096)
        if place in by_id:
            raise _bad(f"kernel {name!r} has two arguments of number {place}")
        c = row.get("type", "")
        if row.get("addressQualifier") == POINTER and "*" not in c:
            c += "*"
        size = _integer(row, "hostSize") if row.get("hostSize") else _integer(row, "size")
        by_id[place] = ArgumentDescription(row.get("name", ""), c, size, row.get("port", ""), _integer(row, "offset"))
    if sorted(by_id) != list(range(len(by_id))):
        raise _bad(f"kernel {name!r} has arguments of numbers {sorted(by_id)}")
    units = []
    for row in element.findall("instance"):
        remap = row.find("addrRemap")
        base = 0 if remap is None else _integer(remap, "base")
        units.append(ComputeUnit(row.get("name", ""), base))
    control = (element.get("hwControlProtocol") or "ap_ctrl_hs").upper()
    return KernelDescription(name, tuple(by_id[k] for k in sorted(by_id)), tuple(units), control)


def _integer(row: ElementTree.Element, name: str, end: int = 1 << 64) -> int:
    text = row.get(name, "0")
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}", text):
        raise _bad(f"{name}={text[:40]!r} is no number")
    value = int(text, 16) if text[:2].lower() == "0x" else int(text)
    if value >= end:
        raise _bad(f"{name}={text} is beyond {end - 1}")
    return value


def _megahertz(text: str) -> float:
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*MHz\s*", text)
    return float(match[1]) if match else 0.0


def write(description: Description) -> bytes:
    """Returns the XML of a complete description (`description.complete`)."""
    new = ElementTree.SubElement
    mhz = f"{description.clock_mhz:g}"
    root = ElementTree.Element("project", name=description.name)
    platform = new(
        root,
        "platform",
        vendor=description.platform.partition("_")[0] or "none",
        boardid="none",
        name=description.platform,
        featureRomTime="0",
    )
    new(platform, "version", major="1", minor="0")
    new(platform, "description")
    device = new(platform, "device", name="fpga0", fpgaDevice="virtex7:none", addrWidth="0")
    core = new(
        device,
        "core",
        name="OCL_REGION_0",
        target="csim",
        type="clc_region",
        clockFreq=f"{mhz}MHz",
        numComputeUnits=str(sum(len(k.units) for k in description.kernels)),
    )
    new(new(core, "kernelClocks"), "clock", port="KERNEL_CLK", frequency=f"{mhz}MHz")
    for kernel in description.kernels:
        _write_kernel(core, kernel)
    for bank in description.banks:
        if bank.name.startswith("HOST"):  # for the software device alone
            new(core, "hostMemory", base=hex(bank.base), size=hex(bank.size))
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)


def _write_kernel(core: ElementTree.Element, kernel: KernelDescription) -> None:
    new = ElementTree.SubElement
    element = new(
        core,
        "kernel",
        name=kernel.name,
        language="c",
        vlnv=f"xilinx.com:hls:{kernel.name}:1.0",
        attributes="",
        hwControlProtocol=kernel.control.lower(),
        workGroupSize="1",
        debug="true",
        interrupt="true",
    )
    for port in dict.fromkeys(a.port for a in kernel.arguments):
        master = any(a.port == port and a.is_pointer for a in kernel.arguments)
        stream = any(a.port == port and a.is_stream for a in kernel.arguments)
        new(
            element,
            "port",
            name=port,
            mode="master" if master else "slave",
            range="0xFFFFFFFFFFFFFFFF" if master else "0x1000",
            dataWidth="512" if master else "32",
            portType="stream" if stream else "addressable",
            base="0x0",
        )
    for k, a in enumerate(kernel.arguments):
        new(
            element,
            "arg",
            name=a.name,
            id=str(k),
            port=a.port,
            type=a.c,
            addressQualifier=POINTER if a.is_pointer else STREAM if a.is_stream else SCALAR,
            # XRT rounds the register size down to words and would drop a last argument of one or
            # two bytes, so each argument has at least a word.
            size=hex(max(a.size, 4)),
            offset=hex(a.offset),
            hostOffset="0x0",
            hostSize=hex(a.size),
        )
    new(element, "compileWorkGroupSize", x="1", y="1", z="1")
    new(element, "maxWorkGroupSize", x="1", y="1", z="1")
    for unit in kernel.units:
        instance = new(element, "instance", name=unit.name)
        new(instance, "addrRemap", base=hex(unit.base), range=hex(REGISTER_WINDOW), port="S_AXI_CONTROL")
