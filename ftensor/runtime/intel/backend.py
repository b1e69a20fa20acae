"""Intel FPGAs, and their emulator: kernels are single work-items, compiled or from images."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import image as image_errors
from ...image.file import VARIABLE
from ..opencl.backend import OpenCLBackend
from ..parts import CompiledKernel
from .images import IntelImages

if TYPE_CHECKING:
    from ...image.file import ImageFile
    from ..targets import Target


class IntelBackend(OpenCLBackend):
    """One board, which computes what its images hold; or the emulator, which also compiles."""

    images: IntelImages | None = None

    def __init__(self, target: Target, cl_platform: Any, cl_device: Any, host_shared: bool | None = None) -> None:
        super().__init__(target, cl_platform, cl_device, host_shared)
        self.compiles = bool(target.emulates)
        if os.environ.get(VARIABLE) or not self.compiles:
            images = IntelImages(self)
            images.load_from_environment()
            self.images = images

    def load_image(self, path: str | Path) -> ImageFile:
        """Add an image, whose kernels come first from now on; nothing is compiled any more."""
        images = self.images or IntelImages(self)
        file = images.load(path)
        self.images = images
        return file

    def build(self, source: str, entry: str, params: Sequence[str], options: tuple[str, ...] = ()) -> CompiledKernel:
        """Compile a kernel on the emulator; ImageError on a board, which can't."""
        if not self.compiles:
            raise image_errors.no_image(self.properties.name)
        return super().build(source, entry, params, options)
