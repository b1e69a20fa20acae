"""What `ft.fpga.image_report()` gives: the images of a device, and what changing between them has cost."""

from __future__ import annotations

from dataclasses import dataclass

from ..table import counted, size, table


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
