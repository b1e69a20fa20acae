"""Images on Intel FPGAs: each compute unit and each stage of a kernel runs on its own queue."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ...errors import image as errors
from ...image.file import ImageFile
from ...image.intel_file import TARGETS
from ..images import Images, LoadedImage, Slot
from ..parts import CompiledKernel
from ..stream import Stream
from .launch import Turn, make_launcher

if TYPE_CHECKING:
    from .backend import IntelBackend


class IntelImages(Images):
    """The images of a device. All stay programs; a board's driver puts the one in that is needed,
    and saves the buffers meanwhile."""

    backend: IntelBackend

    def __init__(self, backend: IntelBackend) -> None:
        super().__init__(backend)
        # On the emulator a stage that waits for another one holds a processor until the system
        # takes it away: a launch would take milliseconds.
        self.side_by_side = not backend.compiles
        self._turns: dict[tuple[int, str], Turn] = {}
        self._queues: weakref.WeakKeyDictionary[Stream, list[Any]] = weakref.WeakKeyDictionary()

    def check(self, file: ImageFile) -> None:
        """An image made for a board or for the emulator, whichever this is."""
        target = file.manifest.target
        if target not in TARGETS:
            raise errors.of_another_maker(file.path, target, self.device)
        if (target == "intel-emulator") is not self.backend.compiles:
            wanted = "intel-emulator" if self.backend.compiles else "intel"
            raise errors.of_another_target(file.path, target, wanted)

    def activate(self, image: LoadedImage) -> None:
        """Make the image a program, once; the active image is the one whose kernels come first."""
        if image.program is None:
            try:
                image.program = self.backend.load_program(image.file.data)
            except self.backend.cl.Error as e:
                raise errors.not_loaded(image.file.path, e) from None
        self.active = image

    def changed(self) -> None:
        """Other kernels, and units, are there now."""
        super().changed()
        self.backend.units = self.most_units()

    def launcher(self, slot: Slot) -> CompiledKernel:
        """The launcher itself: it never changes."""
        if slot.run is None:
            image = next(self._holders(slot.entry))
            self._program(image)
            slot.run = make_launcher(self, image, slot)
        return slot.run

    def _program(self, image: LoadedImage) -> None:
        """An image that FTENSOR_IMAGE named behind the first becomes a program when needed."""
        active = self.active
        self.activate(image)
        self.active = active or image

    def turn(self, image: LoadedImage, name: str) -> Turn:
        """What all launches of one kernel share."""
        return self._turns.setdefault((id(image), name), Turn())

    def queues(self, stream: Stream, count: int) -> list[Any]:
        """The queues that a stream's stages and units run on."""
        with self.lock:
            queues = self._queues.setdefault(stream, [])
            while len(queues) < count:
                queues.append(self.backend.make_queue())
            return queues
