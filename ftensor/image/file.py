"""An image on disk: the file, its manifest, and whether they fit each other."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from ..errors import image as errors
from . import xclbin
from .contents import Bank, Description, KernelDescription
from .manifest import KernelRecord, Manifest, StageRecord
from .pack import content_uuid
from .sections import ImageInfo, parse, require_kernels
from .xclbin import Mode, SectionKind

SUFFIX = ".aocx"
TARGETS = ("intel", "intel-emulator")


def image_uuid(data: bytes) -> str:
    """The UUID of an image: a digest of its bytes, as the file names none itself."""
    return str(UUID(bytes=hashlib.sha256(data).digest()[:16], version=4))


# In beats: as deep as one block memory is.
CHANNEL_DEPTH = 512
COMMON = ("opcode", "n", "ft_unit", "ft_units")


def uses_channels(skeleton: str, structure: str) -> bool:
    """Whether load, compute and store are kernels of their own, joined by channels. Of a graph the
    stages are, whose manifest names them."""
    return skeleton == "map" and structure == "dataflow"


def copy_name(name: str, copy: int) -> str:
    """The name of a compute unit's own kernel; there is one for each, as all run at once."""
    return name if copy == 0 else f"{name}_{copy}"


def stages(
    name: str, skeleton: str, structure: str, arguments: Sequence[str], copy: int = 0
) -> tuple[StageRecord, ...]:
    """The OpenCL kernels of one compute unit, to be launched together."""
    own = copy_name(name, copy)
    if not uses_channels(skeleton, structure):
        return (StageRecord(own, tuple(arguments)),)
    inputs = [a for a in arguments if a.startswith("in_")]
    wanted = {
        "load": [*inputs, *COMMON],
        "compute": [*(a for a in arguments if a.startswith("value")), "out0_offset", *COMMON],
        "store": ["out0", "out0_offset", *COMMON[1:]],
    }
    if not inputs:
        del wanted["load"]
    return tuple(
        StageRecord(f"{own}_{stage}", tuple(a for a in arguments if a in names)) for stage, names in wanted.items()
    )


MANIFEST = "manifest.json"
# The last two arguments of each kernel that ftensor makes.
UNIT_NAMES = ("ft_unit", "ft_units")
# Names images, separated as in PATH.
VARIABLE = "FTENSOR_IMAGE"
# The bytes of a scalar argument, by the C name that a manifest uses.
SIZES = {
    "char": 1,
    "uchar": 1,
    "short": 2,
    "ushort": 2,
    "int": 4,
    "uint": 4,
    "long": 8,
    "ulong": 8,
    "float": 4,
    "double": 8,
    "*": 8,
}


@dataclass(frozen=True)
class ImageFile:
    """A checked image. `description` has what the file itself says of its kernels, if it does."""

    path: Path
    manifest: Manifest
    data: bytes = field(repr=False)
    mode: int = Mode.FLAT
    uuid: str = ""
    platform: str = ""
    description: Description = field(default_factory=lambda: Description(()))

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return self.path.name

    @property
    def emulated(self) -> bool:
        """Whether its kernels are programs for the host, not hardware."""
        return self.mode == Mode.SW_EMU

    @property
    def library(self) -> bytes:
        """The shared object of an image for software emulation."""
        section = xclbin.read(self.data).section(SectionKind.BITSTREAM)
        assert section is not None, "checked when it was opened"
        return section

    @property
    def banks(self) -> tuple[Bank, ...]:
        """The memories that its kernels reach."""
        kernels = self.description.kernels
        reached = {bank for k in kernels for a in k.arguments for bank in a.banks}
        return tuple(b for b in self.description.banks if b.name in reached)

    @property
    def memory(self) -> int:
        """The bytes of the banks that its kernels reach."""
        return sum(bank.size for bank in self.banks)

    def bank(self, kernel: str, argument: int) -> str:
        """The memory that a pointer argument reaches; several are one name with blanks."""
        described = self.description.kernel(kernel)
        return " ".join(described.arguments[argument].banks) if described else ""


def locate(path: str | Path) -> Path:
    """The image meant by a path: the file itself, or the one that a build left in a folder."""
    path = Path(path)
    if not path.is_dir():
        return path
    manifest = path / MANIFEST
    if not manifest.is_file():
        raise errors.no_image_there(path)
    return path / Manifest.read(manifest).file


def read(path: str | Path, bare: bool = False) -> ImageFile:
    """Read an xclbin and its manifest; ImageError where they are damaged or don't fit.

    One without a manifest is anybody's: no op finds a kernel in it. One that looks as ours do has
    lost it and is refused, unless it is read `bare`, for its kernels by their names.
    """
    path = locate(path)
    try:
        data = path.read_bytes()
    except OSError as e:
        raise errors.unreadable(path, e.strerror or e) from None
    if path.suffix == SUFFIX:
        return _without_container(path, data)
    try:
        info = require_kernels(parse(xclbin.read(data)))
        manifest = _manifest(path, info, bare)
    except errors.ImageError as e:
        raise errors.in_file(path, e) from None
    _fits(path, manifest, info)
    image = info.xclbin
    return ImageFile(path, manifest, data, image.mode, str(image.uuid), image.platform, info.description)


def _without_container(path: Path, data: bytes) -> ImageFile:
    """An image for an Intel FPGA: its manifest, which lies beside it, says all about it."""
    manifest = _beside(path)
    if manifest.uuid != image_uuid(data):
        raise errors.damaged(path)
    return ImageFile(path, manifest, data, Mode.FLAT, manifest.uuid, manifest.platform)


def _manifest(path: Path, info: ImageInfo, bare: bool) -> Manifest:
    """The manifest inside the file, else the one beside it, else one that names no kernel."""
    if (text := info.manifest) is not None:
        return Manifest.from_json(text)
    kernels = info.description.kernels
    set_ = [[a.name for a in k.arguments if not a.is_stream] for k in kernels]
    ours = any(tuple(names[-2:]) == UNIT_NAMES for names in set_)
    if not bare and (ours or path.with_name(MANIFEST).is_file()):
        return _beside(path)
    target = "csim" if info.xclbin.mode == Mode.SW_EMU else "hw"
    uuid = str(info.xclbin.uuid)
    return Manifest(path.stem, target, info.description.platform, uuid, path.name, ())


def _beside(path: Path) -> Manifest:
    """The manifest in the file's folder."""
    beside = path.with_name(MANIFEST)
    try:
        manifest = Manifest.read(beside)
    except FileNotFoundError:
        raise errors.no_manifest(path) from None
    except OSError as e:
        raise errors.unreadable(beside, e.strerror or e) from None
    if manifest.file not in ("", path.name):
        raise errors.manifest_of_another(beside, manifest.file, path.name)
    return manifest


def _fits(path: Path, manifest: Manifest, info: ImageInfo) -> None:
    """Whether the kernels that the manifest promises are in the file, as it promises them."""
    image = info.xclbin
    if manifest.uuid and manifest.uuid != str(image.uuid):
        raise errors.other_uuid(path, manifest.uuid, str(image.uuid))
    if image.mode == Mode.SW_EMU and manifest.target == "csim" and manifest.kernels:
        library = image.section(SectionKind.BITSTREAM)
        assert library is not None
        # Such a file is made by `pack` alone, and its UUID is a digest of what it holds.
        if content_uuid(info.description, library) != image.uuid:
            raise errors.damaged(path)
    for record in manifest.kernels:
        kernel = info.description.kernel(record.name)
        if kernel is None or not record.name.isidentifier():
            there = [k.name for k in info.description.kernels]
            raise errors.kernel_missing(path, record.name, there)
        _same_arguments(path, record, kernel)
        if len(kernel.units) < record.units:
            raise errors.units_missing(path, record.name, record.units, len(kernel.units))


def _same_arguments(path: Path, record: KernelRecord, kernel: KernelDescription) -> None:
    wanted, there = record.arguments, [a for a in kernel.arguments if not a.is_stream]
    if len(wanted) != len(there):
        raise errors.argument_count(path, record.name, len(wanted), len(there))
    for k, (a, b) in enumerate(zip(wanted, there)):
        if a.name != b.name or (a.what == "*") != b.is_pointer or SIZES.get(a.what) != b.size:
            raise errors.argument_differs(
                path, record.name, k, f"{a.name} ({a.what})", f"{b.name} ({b.c}, {b.size} bytes)"
            )


def check_device(file: ImageFile, device: str, emulation: str) -> None:
    """Whether an image can run on a device of that name; `emulation` is XRT's mode or "".

    A platform is told by its first two words, maker and board: the rest of the name is a
    version, which XRT itself compares by the interface UUID.
    """
    if file.manifest.target in TARGETS:
        raise errors.of_another_maker(file.path, file.manifest.target, device)
    if emulation == "sw_emu" and not file.emulated:
        raise errors.needs_a_board(file.path, file.platform)
    if not emulation and file.mode in (Mode.SW_EMU, Mode.HW_EMU, Mode.HW_EMU_PR):
        raise errors.needs_emulation(file.path)
    mine, theirs = _board(file.platform), _board(device)
    if not emulation and mine and theirs and mine != theirs:
        raise errors.other_platform(file.path, file.platform, device)


def _board(platform: str) -> Sequence[str]:
    words = platform.lower().replace(":", "_").replace("-", "_").split("_")
    return words[:2] if len(words) >= 2 else ()


def from_environment() -> list[str]:
    """The paths in FTENSOR_IMAGE, the images that a program begins with."""
    parts = os.environ.get(VARIABLE, "").split(os.pathsep)
    return [part for part in map(str.strip, parts) if part]
