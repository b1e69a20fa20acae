"""Messages about image files."""

from __future__ import annotations

from ..table import counted
from .message import Message


class ImageError(ValueError):
    """A file that is no image, or a damaged one."""


malformed = Message(ImageError, "not a usable xclbin: {what}; copy or build the file again")


def too_short(what: str, need: int, have: int) -> ImageError:
    """A part that ends early."""
    return malformed(f"{what} needs {need} bytes, but only {have} are there")


def bad_section(section: str, what: str) -> ImageError:
    """A section whose content makes no sense."""
    return malformed(f"in its section {section}, {what}")


def no_section(section: str) -> ImageError:
    """A file without something that every image of kernels has."""
    return malformed(f"it has no section {section}, without which XRT loads no kernels")


bad_description = Message(ImageError, "the description of the kernels can't be used: {what}")


def unreadable(path: object, why: object) -> ImageError:
    """A file that the system does not give."""
    return ImageError(f"can't read {str(path)!r}: {why}")


# Loading an image

bad_manifest = Message(ImageError, "its manifest can't be used: {what}; copy or build the image again")
changed_manifest = Message(
    ImageError,
    "its manifest was changed since it was written: what it says has another digest than the one "
    "it names; build the image again (ftensor build with the same --out links anew)",
)
manifest_version = Message(
    ImageError,
    "its manifest is of version {version!r}, this ftensor reads version {known}: build the image "
    "again, or use the ftensor that built it",
)
in_file = Message(ImageError, "{path}: {error}")
named_in = Message(ImageError, "{error} ({variable} in the environment names it)", "variable error")


def no_image_there(path: object) -> ImageError:
    """A folder without the result of a build."""
    return ImageError(f"the folder {str(path)!r} holds no manifest.json, so no image was built there")


no_manifest = Message(
    ImageError,
    "it holds no ftensor manifest and no manifest.json lies beside it, so nobody knows which "
    "kernel computes what; build it by `ftensor build`. `ftensor image info {path}` shows it",
)
manifest_of_another = Message(ImageError, "{manifest} belongs to {other!r}, not to {name!r}; put the right one there")
other_uuid = Message(
    ImageError,
    "{path} has the UUID {file}, but its manifest is of the image {manifest}; take both from one build",
    "path manifest file",
)
damaged = Message(
    ImageError,
    "{path} was changed since it was built: its content has another digest than its UUID; copy or build it again",
)


def kernel_missing(path: object, kernel: str, there: list[str]) -> ImageError:
    """The manifest promises a kernel that the file lacks."""
    have = ", ".join(there) or "no kernel"
    return ImageError(f"{path} has no kernel {kernel!r}, which its manifest names; it has {have}")


def units_missing(path: object, kernel: str, wanted: int, there: int) -> ImageError:
    """Fewer compute units than promised."""
    return ImageError(
        f"{path} has {counted(there, 'compute unit')} of {kernel!r}, its manifest promises "
        f"{wanted}; was it linked with another configuration?"
    )


def argument_count(path: object, kernel: str, wanted: int, there: int) -> ImageError:
    """A kernel of another parameter list."""
    return ImageError(
        f"{path}: kernel {kernel!r} takes {counted(there, 'argument')}, its manifest says "
        f"{wanted}; build the image again"
    )


argument_differs = Message(
    ImageError,
    "{path}: argument {k} of kernel {kernel!r} is {there}, its manifest says {wanted}; build the image again",
    "path kernel k wanted there",
)
launch_differs = Message(
    ImageError,
    "{path}: the manifest passes {call!r} for {entry}, but such a launch has {count} arguments of "
    "other types; build the image again with this version of ftensor",
    "path entry call count",
)
needs_a_board = Message(
    ImageError,
    "{path} is an image for the board {platform!r}; software emulation runs images made by "
    "`ftensor build --target csim`",
)
needs_emulation = Message(
    ImageError,
    "{path} was made for emulation and can't be loaded into a board; run the program by `ftensor "
    "emulate -- python ...`, or build an image for the board's platform",
)
other_platform = Message(
    ImageError,
    "{path} was built for the platform {image!r}, but the device is {device!r}; build it with "
    "--platform for this board",
)
not_loaded = Message(
    ImageError,
    "the driver can't load {path}: {why}; `ftensor image info` shows what the file is for, and "
    "another process may be using the board",
)
launch_interrupted = Message(
    RuntimeError,
    "{kernel} is being launched by what this finalizer interrupts, and its channels serve one "
    "launch at a time; note what happened there, and compute later",
)
no_image = Message(
    ImageError,
    "{device} has no image, so it can compute nothing yet: set FTENSOR_IMAGE to an image, or call "
    "ft.load_image(path). `ftensor build` makes images",
)
not_built_on_request = Message(ImageError, "`ftensor emulate` could not build the kernel {entry}: {why}")
asked_for_at = Message(ImageError, "{error}\nIt was asked for at {line}")
read_amid_launches = Message(
    RuntimeError,
    "this finalizer reads a tensor amid launches that it interrupts, and its value may be theirs; "
    "note what happened there, and read later",
)
compiles_nothing = Message(
    ImageError,
    "{device} can't compile the kernel {entry}: a board runs what its images hold. `ftensor "
    "build` makes images, FTENSOR_IMAGE and ft.load_image(path) load them",
)
no_images_here = Message(
    ImageError,
    "{device} compiles its kernels when they are needed and takes no image; images are for "
    "boards, for `ftensor emulate -- python ...`, and for FTENSOR_DEVICE=csim",
)
two_outputs_one_memory = Message(
    ImageError,
    "kernel {kernel!r} writes its results through ports to different memory banks, so they can't "
    "lie in one tensor's memory; give each its own",
)
of_another_maker = Message(ImageError, "{path} was built with --target {target} and can't run on {device}")
of_another_target = Message(
    ImageError,
    "{path} was built with --target {target}; this device takes images that `ftensor build --target {wanted}` makes",
)
