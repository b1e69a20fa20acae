"""A device's images: their kernels, the active image, reports."""

from __future__ import annotations

import difflib
import logging
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import KernelNotBuilt
from ..errors import image as errors
from ..image import file as image_file
from ..image.file import ImageFile
from ..image.manifest import HostRecord, KernelRecord, MemberRecord
from ..kernels.key import Key
from ..terminal import counted, size, table
from .backend import Backend
from .interfaces import CompiledKernel

log = logging.getLogger(__name__)


def _log_loaded(file: ImageFile) -> None:
    log.info("image %s: %d entries", file.path, len(file.manifest.entries))


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
    """The images of a device, and the cost of switching between images and between banks.

    `reloads` counts the times that an image replaced another, `seconds` their time; `saved_bytes`
    went to the host and back meanwhile. `bank_copies` counts arguments that were in another memory
    bank than their kernel reaches, `bank_bytes` the bytes copied for them.
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


ATTEMPTS = 3  # to add kernels to an image that other processes change


class BuildResult(NamedTuple):
    """The result of a build request: the image with the built kernels, or None, and the reason for
    each entry that failed."""

    image: str | None
    problems: Mapping[str, str]


class LoadedImage:
    """An image that a device may use; `program` is the driver's program while the image is
    active."""

    def __init__(self, file: ImageFile) -> None:
        self.file = file
        self.host = frozenset(file.manifest.host)
        self.program: Any = None

    def find(self, entry: str) -> tuple[KernelRecord, MemberRecord] | None:
        """Returns the kernel and member records of an entry, or None."""
        return self.file.manifest.find(entry)


class Slot:
    """A kernel as ops hold it, independent of the active image. `run` is its launcher in the active
    image, None if there is none. A user's own kernel comes from its `image`, and `make` returns its
    launcher."""

    __slots__ = ("__weakref__", "entry", "image", "kernels", "make", "params", "run")

    def __init__(
        self,
        entry: str,
        params: tuple[str, ...] = (),
        image: LoadedImage | None = None,
        make: Callable[[], CompiledKernel] | None = None,
        kernels: tuple[tuple[str, int], ...] = (),
    ) -> None:
        self.entry, self.params = entry, params
        self.image, self.make = image, make
        self.run: CompiledKernel | None = None
        self.kernels = kernels  # its kernels, with the number of units of each


class Images(ABC):
    """The images of one device, in loading order.

    If several images hold an entry, the active image has priority, then the first one.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        # Builds kernels that no image holds, and returns the image with them.
        self.maker: Callable[[Sequence[Key]], BuildResult] | None = None
        # By entry: kernels requested since the last build, and reasons why earlier requests failed.
        self.requested: dict[str, Key] = {}
        self.refused: dict[str, str] = {}
        self.loaded: list[LoadedImage] = []
        self.active: LoadedImage | None = None
        self.slots: dict[str, Slot] = {}
        self.reloads = self.saved_bytes = self.bank_copies = self.bank_bytes = 0
        self.seconds = 0.0

    def load(self, path: str | Path) -> ImageFile:
        """Loads an image and makes it the active one. The same image is added only once.

        Afterwards nothing is built on request. Raises ImageError if the device can't use the image.
        """
        self.backend.settle()
        self.maker = None
        return self._load_file(path).file

    def request(self, key: Key) -> None:
        """Requests a kernel that no image holds, if a builder exists. `build_requested` builds all
        requested kernels together."""
        if self.maker is not None and not self.holds(key.entry):
            self.refused.pop(key.entry, None)
            self.requested[key.entry] = key

    def build_requested(self) -> BuildResult | None:
        """Builds the requested kernels and waits; returns None if nothing is left to build."""
        keys = [key for entry, key in tuple(self.requested.items()) if not self.holds(entry)]
        return self.maker(keys) if keys and self.maker is not None else None

    def load_built(self, result: BuildResult) -> None:
        """Loads the built kernels, and records those that failed in `refused`."""
        problems = dict(result.problems)
        if result.image is not None:
            try:
                image = self._load_file(result.image)
            except errors.ImageError as problem:
                problems |= dict.fromkeys(self.requested, str(problem))
            else:
                # The new image includes the previous one, which is no longer needed. An image
                # without entries is a user's own.
                built_entries = set(image.file.manifest.entries)
                self.loaded[:] = [
                    i
                    for i in self.loaded
                    if i is image or not built_entries.issuperset(i.file.manifest.entries or [""])
                ]
        for entry in tuple(self.requested):
            if entry in problems or self.holds(entry):
                del self.requested[entry]
        if problems:
            self.refused |= problems
            self.changed()  # so that later uses request these again

    def _load_file(self, path: str | Path) -> LoadedImage:
        file = image_file.read(path)
        self.check(file)
        with self.lock:
            image = self._known(file) or LoadedImage(file)
            # Activate first, then add: an image that the driver refuses leaves no trace.
            self.activate(image)
            if image not in self.loaded:
                self.loaded.append(image)
            self.changed()
        _log_loaded(file)
        return image

    def add(self, file: ImageFile) -> LoadedImage:
        """Adds an image of a user's own kernels, and leaves the active image as it is."""
        self.check(file)
        with self.lock:
            for image in self.loaded:
                if image.file.uuid == file.uuid:
                    return image
            self.loaded.append(image := LoadedImage(file))
            self.changed()
        return image

    def load_from_environment(self) -> None:
        """Adds the images named in FTENSOR_IMAGE, and makes the first of them the active one."""
        try:
            for path in image_file.from_environment():
                file = image_file.read(path)
                self.check(file)
                if self._known(file) is None:
                    self.loaded.append(LoadedImage(file))
                    _log_loaded(file)
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
        """Returns True if a launch may use an entry: an image holds it, or it is built on
        request."""
        return self.maker is not None or self.holds(entry)

    def holds(self, entry: str) -> bool:
        """Returns True if an image holds the entry now."""
        return next(self._holders(entry), None) is not None

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries of all images."""
        return tuple(dict.fromkeys(e for i in self.loaded for e in i.file.manifest.entries))

    def kernel(self, entry: str, params: Sequence[str]) -> CompiledKernel | None:
        """Returns the launcher of an entry, or None if no image has it.

        `params` are the launch's arguments as in `Backend.build`. Raises ImageError if the device
        has no images, or if the entry's build failed.
        """
        if entry not in self.requested and not self.holds(entry):
            if entry in self.refused:
                raise self.refusal(entry)
            if not self.loaded:
                raise errors.no_image(self.device)
            return None
        with self.lock:
            slot = self.slots.setdefault(entry, Slot(entry, tuple(params)))
            return self.launcher(slot)

    def refusal(self, entry: str) -> errors.ImageError:
        """Returns the error to raise for a requested kernel that could not be built."""
        why = self.refused.get(entry, "the image that was built for it holds it no more")
        return errors.not_built_on_request(entry, why)

    def nearest(self, entry: str) -> str | None:
        """Returns the available entry of the same op that is most similar to `entry`, or None."""
        records = [m for i in self.loaded for k in i.file.manifest.kernels for m in k.members]
        same_op = [m.entry for m in records if entry.startswith(f"ft_{m.op}_")]
        closest = difflib.get_close_matches(entry, same_op, 1, 0.0)
        return closest[0] if closest else None

    def leaves_to_host(self, missing: KernelNotBuilt) -> bool:
        """Returns True if the missing kernel is a step that an image leaves to the host."""
        step = HostRecord(missing.op, missing.signature, missing.layout)
        return any(step in image.host for image in self.loaded)

    @property
    def uuids(self) -> tuple[str, ...]:
        """The uuids of the images, in loading order."""
        return tuple(image.file.uuid for image in self.loaded)

    @property
    def build_options(self) -> str:
        """The options of `ftensor build` that made the active image."""
        manifest = (self.active or self.loaded[0]).file.manifest
        platform = f" --platform {shlex.quote(manifest.platform)}" if manifest.platform else ""
        return f"--target {manifest.target}{platform}"

    def most_units(self) -> int:
        """Returns the largest number of compute units of a kernel."""
        return max((k.units for i in self.loaded for k in i.file.manifest.kernels), default=1)

    def memory(self) -> int:
        """Returns the bytes of the banks that kernels reach, in the image with the most."""
        return max((i.file.memory for i in self.loaded), default=0)

    def report(self) -> ImageReport:
        """Returns the loaded images and the counts so far."""
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
        """The device's lock; a forked child has a new one."""
        return self.backend.lock

    @property
    def device(self) -> str:
        """The device's name, for messages."""
        return self.backend.properties.name

    def changed(self) -> None:
        """Drops all launches and kernels that the device has prepared, after a change of images.

        Launches that others still hold keep their kernels.
        """
        self.slots.clear()
        self.backend.forget_launches()
        self.backend.kernels.clear()

    # Methods of each kind of device

    @abstractmethod
    def check(self, file: ImageFile) -> None:
        """Raises ImageError if the device can't run an image, without calling the driver."""

    @abstractmethod
    def activate(self, image: LoadedImage) -> None:
        """Loads an image into the driver, in place of the active one if only one fits."""

    @abstractmethod
    def launcher(self, slot: Slot) -> CompiledKernel:
        """Returns a function that launches a slot's kernel."""
