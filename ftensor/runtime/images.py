"""The images of a device: their kernels, the loaded one, reports."""

from __future__ import annotations

import difflib
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import image as errors
from ..image import file as image_file
from ..image.file import ImageFile
from ..image.manifest import KernelRecord, MemberRecord
from ..kernels.key import Key
from ..terminal import counted, size, table
from .backend import Backend
from .interfaces import CompiledKernel


@dataclass(frozen=True)
class ImageRow:
    """One image in a report."""

    name: str
    path: str
    platform: str
    uuid: str
    kernels: int
    entries: int
    active: bool


@dataclass(frozen=True)
class ImageReport:
    """The images of a device, and what changing between them and between banks has cost.

    `reloads` counts the times an image was loaded in another's place, `seconds` what that took;
    `saved_bytes` went to the host and back meanwhile. `bank_copies` counts arguments that lay in
    another memory bank than their kernel reaches, `bank_bytes` what was copied for that.
    """

    images: tuple[ImageRow, ...]
    reloads: int = 0
    saved_bytes: int = 0
    seconds: float = 0.0
    bank_copies: int = 0
    bank_bytes: int = 0

    def __str__(self) -> str:
        if not self.images:
            return "no image is loaded"
        rows = [
            (r.name, counted(r.kernels, "kernel"), counted(r.entries, "launch"), "active" if r.active else "")
            for r in self.images
        ]
        return (
            f"{table(rows, indent='')}\n"
            f"{counted(self.reloads, 'reload')} in {self.seconds:.3f} s, "
            f"{size(self.saved_bytes)} saved; {counted(self.bank_copies, 'copy')} between banks, "
            f"{size(self.bank_bytes)}"
        )


ATTEMPTS = 3  # to get kernels into an image that other processes change


class BuildResult(NamedTuple):
    """What became of kernels that were asked for: the image that has them, if any could be built,
    and by their entries why others could not."""

    image: str | None
    problems: Mapping[str, str]


class LoadedImage:
    """An image that a device may use; `program` is what its driver made of it, while active."""

    def __init__(self, file: ImageFile) -> None:
        self.file = file
        self.program: Any = None

    def find(self, entry: str) -> tuple[KernelRecord, MemberRecord] | None:
        """The kernel and member that serve an entry."""
        return self.file.manifest.find(entry)


class Slot:
    """A kernel as ops hold it, whatever image it comes from; `run` is its present launcher. One of
    a user's own comes from one `image` and says by `make` how it is launched."""

    __slots__ = ("entry", "image", "kernels", "make", "params", "run")

    def __init__(
        self,
        entry: str,
        params: tuple[str, ...] = (),
        image: LoadedImage | None = None,
        make: Callable[[], CompiledKernel] | None = None,
    ) -> None:
        self.entry, self.params = entry, params
        self.image, self.make = image, make
        self.run: CompiledKernel | None = None
        self.kernels: tuple[tuple[str, int], ...] = ()  # what it starts, and how many units of each


class Images(ABC):
    """The images of one device, in the order in which they were given.

    An entry that several hold comes from the active one, else from the first.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        # Has kernels built that no image holds, and says in which file they are.
        self.maker: Callable[[Sequence[Key]], BuildResult] | None = None
        # By their entries: what was asked for since, and why what was asked for before is not here.
        self.wanted: dict[str, Key] = {}
        self.refused: dict[str, str] = {}
        self.loaded: list[LoadedImage] = []
        self.active: LoadedImage | None = None
        self.slots: dict[str, Slot] = {}
        self.reloads = self.saved_bytes = self.bank_copies = self.bank_bytes = 0
        self.seconds = 0.0

    def load(self, path: str | Path) -> ImageFile:
        """Add an image, and make it the active one; an image given before is not added twice.

        From now on nothing is built on request. ImageError where it can't be used here.
        """
        self.backend.settle()
        self.maker = None
        return self._load_file(path).file

    def want(self, key: Key) -> None:
        """Note a kernel that no image holds, where someone builds: `ask` has it built, with all
        others that are wanted by then."""
        if self.maker is not None and not self.holds(key.entry):
            self.refused.pop(key.entry, None)
            self.wanted[key.entry] = key

    def ask(self) -> BuildResult | None:
        """Have built what is wanted and not there yet, and wait for it; None where all is there."""
        keys = [key for entry, key in tuple(self.wanted.items()) if not self.holds(entry)]
        return self.maker(keys) if keys and self.maker is not None else None

    def take(self, result: BuildResult) -> None:
        """Load what was built. What could not be is `refused` from now on."""
        problems = dict(result.problems)
        if result.image is not None:
            try:
                image = self._load_file(result.image)
            except errors.ImageError as problem:
                problems |= dict.fromkeys(self.wanted, str(problem))
            else:
                # It grew from the one before, which is needed no more. One without entries is a
                # user's own.
                there = set(image.file.manifest.entries)
                self.loaded[:] = [
                    i for i in self.loaded if i is image or not there.issuperset(i.file.manifest.entries or [""])
                ]
        for entry in tuple(self.wanted):
            if entry in problems or self.holds(entry):
                del self.wanted[entry]
        if problems:
            self.refused |= problems
            self.changed()  # so that who uses one of these again asks for it again

    def _load_file(self, path: str | Path) -> LoadedImage:
        file = image_file.read(path)
        self.check(file)
        with self.lock:
            image = self._known(file) or LoadedImage(file)
            # First the driver's word, then the list: a refused image leaves no trace.
            self.activate(image)
            if image not in self.loaded:
                self.loaded.append(image)
            self.changed()
        return image

    def add(self, file: ImageFile) -> LoadedImage:
        """Add an image of a user's own kernels: ops go on with the kernels that they have."""
        self.check(file)
        with self.lock:
            for image in self.loaded:
                if image.file.uuid == file.uuid:
                    return image
            self.loaded.append(image := LoadedImage(file))
            self.changed()
        return image

    def load_from_environment(self) -> None:
        """Add the images that FTENSOR_IMAGE names; the first of them becomes the active one."""
        try:
            for path in image_file.from_environment():
                file = image_file.read(path)
                self.check(file)
                if self._known(file) is None:
                    self.loaded.append(LoadedImage(file))
            if self.loaded:
                self.activate(self.loaded[0])
                self.changed()
        except errors.ImageError as problem:
            raise errors.named_in(image_file.VARIABLE, problem) from None

    def _known(self, file: ImageFile) -> LoadedImage | None:
        for image in self.loaded:
            if image.file.uuid == file.uuid and image.file.manifest == file.manifest:
                return image
        return None

    def _holders(self, entry: str) -> Iterator[LoadedImage]:
        if self.active is not None and self.active.find(entry) is not None:
            yield self.active
        for image in self.loaded:
            if image is not self.active and image.find(entry) is not None:
                yield image

    def has(self, entry: str) -> bool:
        """Whether a launch may ask for an entry: an image holds it, or it is built on request."""
        return self.maker is not None or self.holds(entry)

    def holds(self, entry: str) -> bool:
        """Whether an image that is there holds an entry."""
        return next(self._holders(entry), None) is not None

    @property
    def entries(self) -> tuple[str, ...]:
        """Every entry that some image serves."""
        return tuple(dict.fromkeys(e for i in self.loaded for e in i.file.manifest.entries))

    def kernel(self, entry: str, params: Sequence[str]) -> CompiledKernel | None:
        """The launcher of an entry, or None where no image has it; ImageError without images.

        `params` are the launch's arguments as `Backend.build` takes them.
        """
        if entry not in self.wanted and not self.holds(entry):
            if entry in self.refused:
                raise self.refusal(entry)
            if not self.loaded:
                raise errors.no_image(self.device)
            return None
        with self.lock:
            slot = self.slots.setdefault(entry, Slot(entry, tuple(params)))
            return self.launcher(slot)

    def refusal(self, entry: str) -> errors.ImageError:
        """The error of a launch whose kernel was to be built, and is not there."""
        why = self.refused.get(entry, "the image that was built for it holds it no more")
        return errors.not_built_on_request(entry, why)

    def nearest(self, entry: str) -> str | None:
        """The entry that is there and most like the wanted one, of the same op; else None."""
        records = [m for i in self.loaded for k in i.file.manifest.kernels for m in k.members]
        same = [m.entry for m in records if entry.startswith(f"ft_{m.op}_")]
        closest = difflib.get_close_matches(entry, same, 1, 0.0)
        return closest[0] if closest else None

    @property
    def uuids(self) -> tuple[str, ...]:
        """Of the loaded images, in the order of loading."""
        return tuple(image.file.uuid for image in self.loaded)

    @property
    def build_options(self) -> str:
        """The options of `ftensor build` by which the active image was made for the device."""
        manifest = (self.active or self.loaded[0]).file.manifest
        platform = f" --platform {shlex.quote(manifest.platform)}" if manifest.platform else ""
        return f"--target {manifest.target}{platform}"

    def most_units(self) -> int:
        """The compute units of the kernel that has most of them."""
        return max((k.units for i in self.loaded for k in i.file.manifest.kernels), default=1)

    def memory(self) -> int:
        """The bytes of the banks that kernels reach, in the image where these are most."""
        return max((i.file.memory for i in self.loaded), default=0)

    def report(self) -> ImageReport:
        """What is loaded, and the counts so far."""
        with self.lock:
            rows = tuple(
                ImageRow(
                    i.file.name,
                    str(i.file.path),
                    i.file.platform,
                    i.file.uuid,
                    len(i.file.manifest.kernels or i.file.description.kernels),
                    len(i.file.manifest.entries),
                    i is self.active,
                )
                for i in self.loaded
            )
            return ImageReport(rows, self.reloads, self.saved_bytes, self.seconds, self.bank_copies, self.bank_bytes)

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """The device's own, which is a new one in a forked child."""
        return self.backend.lock

    @property
    def device(self) -> str:
        """The device's name, for messages."""
        return self.backend.properties.name

    def changed(self) -> None:
        """Other kernels are there now: what the device had prepared is out of date.

        Prepared launches that someone still holds go on with the kernels that they have.
        """
        self.slots.clear()
        self.backend.forget_launches()
        self.backend.kernels.clear()

    # What a kind of device fills in

    @abstractmethod
    def check(self, file: ImageFile) -> None:
        """ImageError where an image can't run on the device; the driver is not asked."""

    @abstractmethod
    def activate(self, image: LoadedImage) -> None:
        """Give the driver an image, in place of the active one where only one fits."""

    @abstractmethod
    def launcher(self, slot: Slot) -> CompiledKernel:
        """A function that launches what is in a slot."""
