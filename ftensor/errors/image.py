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


def bad_section(section: str, what: str) -> ImageError:
    """A section whose content makes no sense."""
    return malformed(f"in its section {section}, {what}")


def no_section(section: str) -> ImageError:
    """A file without something that every image of kernels has."""
    return malformed(f"it has no section {section}, without which XRT loads no kernels")


def bad_description(what: str) -> ImageError:
    """A description of kernels from which no image can be made."""
    return ImageError(f"the description of the kernels can't be used: {what}")


def unreadable(path: object, why: object) -> ImageError:
    """A file that the system does not give."""
    return ImageError(f"can't read {str(path)!r}: {why}")


# Loading an image


def bad_manifest(what: str) -> ImageError:
    """A manifest that says nothing of use."""
    return ImageError(f"its manifest can't be used: {what}; copy or build the image again")


def manifest_version(found: object, known: int) -> ImageError:
    """A manifest that another ftensor wrote."""
    return ImageError(
        f"its manifest is of version {found!r}, this ftensor reads version {known}: build the "
        "image again, or use the ftensor that built it"
    )


def in_file(path: object, error: ImageError) -> ImageError:
    """What is wrong with a file, with the file's name."""
    return ImageError(f"{path}: {error}")
