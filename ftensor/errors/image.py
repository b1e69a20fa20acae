"""Messages about image files."""

from __future__ import annotations


class ImageError(ValueError):
    """A file that is no image, or a damaged one."""


def malformed(what: str) -> ImageError:
    """A container whose parts contradict each other."""
    return ImageError(f"not a usable xclbin: {what}; copy or build the file again")


def too_short(what: str, need: int, have: int) -> ImageError:
    """A part that ends early."""
    return malformed(f"{what} needs {need} bytes, but only {have} are there")
