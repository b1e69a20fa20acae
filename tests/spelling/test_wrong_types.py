"""Values of a wrong type for functions that torch lacks: the error names the value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ftensor as ft
from ftensor.errors.image import ImageError


def negate(x: ft.Tensor) -> ft.Tensor:
    return -x


# The call, its error class, and the text in the message.
WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "load_image of int": (lambda: ft.load_image(3), TypeError, "path of an image.*int 3"),
    "load_image of None": (lambda: ft.load_image(None), TypeError, "NoneType None"),
    "load_image of list": (lambda: ft.load_image([]), TypeError, r"list \[\]"),
    "load_image of nothing": (lambda: ft.load_image(""), FileNotFoundError, "file or folder ''"),
    "load_image with NUL": (lambda: ft.load_image("a\0b"), FileNotFoundError, r"a\\x00b"),
    "load_image of no file": (lambda: ft.load_image("/absent/a.xclbin"), FileNotFoundError, "/absent/a.xclbin"),
    "load_image of no path": (lambda: ft.load_image(Path("/absent")), FileNotFoundError, "'/absent'"),
    "load_image for no device": (lambda: ft.load_image("a", 3.5), TypeError, "3.5"),
    "kernel that is an int": (
        lambda: ft.register_kernel("ftensor::neg")(3),
        TypeError,
        "neg must be a function, not int",
    ),
    "kernel that is None": (lambda: ft.register_kernel("own::neg")(None), TypeError, "own::neg .*NoneType"),
    "kernel of an int": (lambda: ft.register_kernel(3), TypeError, "name of an op.*int 3"),
    "kernel of a function": (lambda: ft.register_kernel(negate), TypeError, "name of an op.*function"),
    "unregister an int": (lambda: ft.unregister_kernel(3), TypeError, "name of an op.*int 3"),
    "unregister None": (lambda: ft.unregister_kernel(None), TypeError, "NoneType None"),
    "unregister a word": (lambda: ft.unregister_kernel("neg"), ValueError, "'neg' names no op"),
    "unregister torch's": (lambda: ft.unregister_kernel("own::neg"), ValueError, "'own::neg' is no op of ftensor"),
    "unregister no op": (lambda: ft.unregister_kernel("ftensor::ne_g"), ValueError, "ne_g"),
    "fallback": (lambda: ft.set_fallback(3), ValueError, "3 is no fallback policy"),
    "index check": (lambda: ft.set_index_check([]), ValueError, r"not \[\]"),
    "device mapping": (lambda: ft.set_device_mapping(3), RuntimeError, "3 names no device"),
    "default device": (lambda: ft.set_default_device(3.5), TypeError, "3.5"),
    "image_report": (lambda: ft.fpga.image_report(3.5), TypeError, "3.5"),
    "jit": (lambda: ft.jit(3), TypeError, "not int"),
    "export of an int": (lambda: ft.jit(negate).export(3, ft.ones(2, 3)), TypeError, "int"),
    "export of nothing": (lambda: ft.jit(negate).export("", ft.ones(2, 3)), ValueError, "'' is no name"),
    "own kernel": (lambda: ft.fpga.kernel(3), TypeError, "file=3"),
    "own source": (lambda: ft.fpga.source(3), TypeError, "file=3"),
    "own OpenCL C": (lambda: ft.fpga.opencl_kernel(3), TypeError, "text=3"),
    "stream": (lambda: ft.fpga.stream(3), TypeError, "stream.*must be an ft.fpga.Stream or None, not 3"),
    "set_stream": (lambda: ft.fpga.set_stream("x"), TypeError, "not 'x'"),
    "wait_stream": (lambda: ft.fpga.current_stream().wait_stream(3), TypeError, "wait_stream.*not 3"),
    "wait_event": (lambda: ft.fpga.current_stream().wait_event(3), TypeError, "wait_event.*not 3"),
    "event's record": (lambda: ft.fpga.Event().record(3), TypeError, "record.*not 3"),
    "event's wait": (lambda: ft.fpga.Event().wait(3), TypeError, "wait.*not 3"),
    "event's time": (lambda: ft.fpga.Event().elapsed_time(3), TypeError, "elapsed_time.*not 3"),
    "profiler's device": (lambda: ft.profiler.profile(device=3.5), TypeError, "3.5"),
    "from_numpy": (lambda: ft.from_numpy(3), TypeError, "not int"),
    "from_torch": (lambda: ft.from_torch(3), TypeError, "not int"),
    "to_device": (lambda: ft.ones(1).to_device(3.5), TypeError, "3.5"),
}


@pytest.mark.parametrize("call", WRONG)
def test_error_names_the_wrong_type(call: str) -> None:
    wrong, kind, says = WRONG[call]
    with pytest.raises(kind, match=says) as caught:
        wrong()
    assert type(caught.value) is kind
    assert (-ft.ones(1)).tolist() == [-1]  # nothing was registered


def test_invalid_images_are_refused(tmp_path: Path) -> None:
    """A file of another kind and an empty folder raise an ImageError, or the reason why images
    cannot be used."""
    other = tmp_path / "other.xclbin"
    other.write_text("other")
    for path in (other, tmp_path):
        with pytest.raises(ImageError):
            ft.load_image(path)
