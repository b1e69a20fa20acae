"""Messages about image files."""

from __future__ import annotations

from ..table import counted


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


def changed_manifest() -> ImageError:
    """A manifest that says something else than when it was written."""
    return ImageError(
        "its manifest was changed since it was written: what it says has another digest than the "
        "one it names; build the image again (ftensor build with the same --out links anew)"
    )


def manifest_version(found: object, known: int) -> ImageError:
    """A manifest that another ftensor wrote."""
    return ImageError(
        f"its manifest is of version {found!r}, this ftensor reads version {known}: build the "
        "image again, or use the ftensor that built it"
    )


def in_file(path: object, error: ImageError) -> ImageError:
    """What is wrong with a file, with the file's name."""
    return ImageError(f"{path}: {error}")


def named_in(variable: str, error: ImageError) -> ImageError:
    """What is wrong with a file that a variable of the environment names."""
    return ImageError(f"{error} ({variable} in the environment names it)")


def no_image_there(path: object) -> ImageError:
    """A folder without the result of a build."""
    return ImageError(
        f"the folder {str(path)!r} holds no manifest.json, so no image was built there"
    )


def no_manifest(path: object) -> ImageError:
    """An xclbin that ftensor did not build."""
    return ImageError(
        f"it holds no ftensor manifest and no manifest.json lies beside it, so nobody knows which "
        f"kernel computes what; build it by `ftensor build`. `ftensor image info {path}` shows it"
    )


def manifest_of_another(manifest: object, other: str, name: str) -> ImageError:
    """manifest.json names another file."""
    return ImageError(f"{manifest} belongs to {other!r}, not to {name!r}; put the right one there")


def other_uuid(path: object, manifest: str, file: str) -> ImageError:
    """A manifest of another build."""
    return ImageError(
        f"{path} has the UUID {file}, but its manifest is of the image {manifest}; "
        f"take both from one build"
    )


def damaged(path: object) -> ImageError:
    """A file whose UUID is not the digest of its content."""
    return ImageError(
        f"{path} was changed since it was built: its content has another digest than its UUID; "
        f"copy or build it again"
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


def argument_differs(path: object, kernel: str, k: int, wanted: str, there: str) -> ImageError:
    """An argument of another name or type."""
    return ImageError(
        f"{path}: argument {k} of kernel {kernel!r} is {there}, its manifest says {wanted}; "
        f"build the image again"
    )


def launch_differs(path: object, entry: str, call: str, count: int) -> ImageError:
    """The manifest of an image passes arguments that the launch has not."""
    return ImageError(
        f"{path}: the manifest passes {call!r} for {entry}, but such a launch has {count} "
        f"arguments of other types; build the image again with this version of ftensor"
    )


def needs_a_board(path: object, platform: str) -> ImageError:
    """A hardware image in software emulation."""
    return ImageError(
        f"{path} is an image for the board {platform!r}; software emulation runs images made by "
        f"`ftensor build --target csim`"
    )


def needs_emulation(path: object) -> ImageError:
    """An image for emulation on a board."""
    return ImageError(
        f"{path} was made for emulation and can't be loaded into a board; run the program by "
        f"`ftensor emulate -- python ...`, or build an image for the board's platform"
    )


def other_platform(path: object, image: str, device: str) -> ImageError:
    """A hardware image of another board."""
    return ImageError(
        f"{path} was built for the platform {image!r}, but the device is {device!r}; "
        f"build it with --platform for this board"
    )


def not_loaded(path: object, why: object) -> ImageError:
    """The driver refused an image that looked right."""
    return ImageError(
        f"the driver can't load {path}: {why}; `ftensor image info` shows what the file is for, "
        f"and another process may be using the board"
    )


def launch_interrupted(kernel: str) -> RuntimeError:
    """A signal's handler, or a finalizer, launches what its own thread is about to launch."""
    return RuntimeError(
        f"{kernel} is being launched by what this signal's handler or finalizer interrupts, and "
        f"its channels serve one launch at a time; note what happened there, and compute later"
    )


def no_image(device: str) -> ImageError:
    """A board without an image was asked to compute."""
    return ImageError(
        f"{device} has no image, so it can compute nothing yet: set FTENSOR_IMAGE to an image, or "
        f"call ft.load_image(path). `ftensor build` makes images"
    )


def not_built_on_request(entry: str, why: object) -> ImageError:
    """`ftensor emulate` could not build a kernel."""
    return ImageError(f"`ftensor emulate` could not build the kernel {entry}: {why}")


def asked_for_at(error: ImageError, line: str) -> ImageError:
    """The same, told later than at the call that needed the kernel."""
    return ImageError(f"{error}\nIt was asked for at {line}")


def read_amid_launches() -> RuntimeError:
    """A finalizer reads while its own thread enqueues what was put off."""
    return RuntimeError(
        "this finalizer reads a tensor amid launches that it interrupts, and its value may be "
        "theirs; note what happened there, and read later"
    )


def compiles_nothing(device: str, entry: str) -> ImageError:
    """A kernel's source for a board."""
    return ImageError(
        f"{device} can't compile the kernel {entry}: a board runs what its images hold. "
        f"`ftensor build` makes images, FTENSOR_IMAGE and ft.load_image(path) load them"
    )


def no_images_here(device: str) -> ImageError:
    """load_image on a device that compiles its kernels."""
    return ImageError(
        f"{device} compiles its kernels when they are needed and takes no image; images are for "
        f"boards, for `ftensor emulate -- python ...`, and for FTENSOR_DEVICE=csim"
    )


def two_outputs_one_memory(kernel: str) -> ImageError:
    """Two results in one buffer, where the ports reach different banks."""
    return ImageError(
        f"kernel {kernel!r} writes its results through ports to different memory banks, so they "
        f"can't lie in one tensor's memory; give each its own"
    )


def of_another_maker(path: object, target: str, device: str) -> ImageError:
    """An image for one vendor's devices, given to another's."""
    return ImageError(f"{path} was built with --target {target} and can't run on {device}")


def of_another_target(path: object, target: str, wanted: str) -> ImageError:
    """A board's image on the emulator, or the other way round."""
    return ImageError(
        f"{path} was built with --target {target}; this device takes images that "
        f"`ftensor build --target {wanted}` makes"
    )
