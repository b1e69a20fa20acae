"""Users' kernels called with tensors: argument checks and launches."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from .._device import found_of, resolve
from .._tensor import Tensor
from ..dtypes import uint8
from ..dtypes.limits import floating_limits, integer_limits
from ..errors import image as errors
from ..execute.launch import Bound, Launch, Step, enqueue
from ..execute.output import new
from ..image import file as image_file
from ..image.contents import KernelDescription
from ..image.file import UNIT_NAMES, ImageFile
from ..iterator.shape import is_contiguous
from ..kernels.user_kernels import DTYPES, OwnArgument, OwnKey, declaration
from ..kernels.user_kernels import argument as argument_of
from ..toolchain.user_kernels import image, language
from .given import Ints, file_of, name_of, sizes_of, text_of, words_of

if TYPE_CHECKING:
    from .._device import device
    from ..runtime.backend import Backend
    from ..runtime.interfaces import OwnKernel
    from ..runtime.opencl.launch import OwnProgram


# Dtype of the real and imaginary parts, by complex dtype.
_PAIRS = {dtypes.complex32: dtypes.float16, dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def check_arguments(
    key: OwnKey, args: Sequence[Any], where: device, begins: int, called: str
) -> tuple[list[Tensor], list[Any]]:
    """Returns (tensors, numbers) of a call, checked and converted for the kernel.

    Tensors must start at multiples of `begins` bytes in their memory, or at its start if `begins`
    is 0. `called` is the device's name for messages. Raises TypeError for a wrong count, type or
    dtype, ValueError for an unsupported layout or number, RuntimeError for a tensor on another
    device or read-only memory.
    """
    taken = [a for a in key.arguments if a.kind != "stream"]
    if len(args) != len(taken):
        raise errors.own_argument_count(key.name, len(taken), len(args), declaration(key.name, taken))
    tensors, numbers = [], []
    for a, argument in zip(taken, args):
        if a.kind == "*":
            tensors.append(_tensor(key.name, a, argument, where, begins, called))
        else:
            numbers.append(_number(key.name, a, argument))
    return tensors, numbers


def _tensor(kernel: str, a: OwnArgument, x: Any, where: device, begins: int, called: str) -> Tensor:
    if type(x) is not Tensor:
        way = ": ft.from_numpy makes one" if isinstance(x, np.ndarray) else ""
        raise errors.not_a_tensor(kernel, a.name, a.c, x, way)
    storage = x._storage
    if storage.device != where:
        raise errors.wrong_device(kernel, str(where), a.name, storage.device)
    pairs = a.dtype is not None and a.nbytes == 2 * a.dtype.itemsize and _PAIRS.get(x._dtype) is a.dtype
    if a.dtype is not None and x._dtype is not a.dtype and not pairs:
        if x._dtype.is_complex and not a.dtype.is_complex:
            raise errors.complex_for_real(kernel, a.name, a.c, a.dtype.name, x._dtype.name)
        raise errors.wrong_dtype(kernel, a.name, a.c, a.dtype.name, x._dtype.name)
    if not is_contiguous(x._shape, x._strides):
        raise errors.not_contiguous(kernel, a.name, x._shape, x._strides)
    if a.nbytes and x.nbytes % a.nbytes:
        raise errors.part_of_element(kernel, a.name, a.c, a.nbytes, x.nbytes)
    start = x._offset * x._dtype.itemsize
    beat = min(a.nbytes & -a.nbytes, 64)  # alignment of a vector in C++
    x._start_is_read(begins and max(begins, beat))
    if start and (not begins or start % begins):
        places = f"at multiples of {begins} bytes" if begins else "with it"
        raise errors.misplaced(kernel, a.name, start, called, places)
    if beat > (a.dtype or x._dtype).itemsize and x._place() % beat:
        raise errors.misplaced(kernel, a.name, x._place(), called, f"at multiples of {beat} bytes")
    if not a.const:
        if storage.readonly:
            raise errors.read_only(kernel, a.name, a.c)
        storage.changed()
    if a.dtype is None:  # launches count elements, but this kernel counts bytes
        return Tensor._make(storage, dtypes.uint8, (x.nbytes,), (1,), start)
    if pairs:  # a float2 * parameter: complex numbers as pairs of floats
        return Tensor._make(storage, a.dtype, (2 * x.numel(),), (1,), 2 * x._offset)
    return x


def _number(kernel: str, a: OwnArgument, x: Any) -> Any:
    of = dtypes.int64 if a.kind == "local" else DTYPES[a.kind]
    wanted = {"b": "True or False", "f": "a number"}.get(of.kind, "an integer")
    if a.kind == "local":
        wanted = "the bytes of a work-group's memory"
    way = ": pass its .item()" if isinstance(x, Tensor) else ""
    try:
        is_number = hasattr(type(x), "__float__") or hasattr(type(x), "__index__")  # excludes str
        if way or isinstance(x, (np.ndarray, np.complexfloating)) or not is_number:
            raise TypeError
        value = float(x) if of.kind == "f" else operator.index(bool(x) if isinstance(x, np.bool_) else x)
    except (TypeError, ValueError, OverflowError):
        raise errors.not_a_number(kernel, a.name, a.c, wanted, x, way) from None
    low: float
    high: float
    if of.kind == "b":
        low, high = 0, 1
    elif a.kind == "local":
        low, high = 1, integer_limits(of).max
    elif of.kind == "f":
        low, high = floating_limits(of).min, floating_limits(of).max
        if value != value or abs(value) == float("inf"):
            return value
    else:
        low, high = integer_limits(of).min, integer_limits(of).max
    if not low <= value <= high:
        raise errors.number_range(kernel, a.name, a.c, x, low, high)
    return value


MOST_GRIDS = 64  # cached launches of a kernel, one for each (units, group)
Units = int | Sequence[int]


class Kernel:
    """A user's kernel on a device, from `ft.fpga.kernel`, `source` or `opencl_kernel`.

    `kernel(*args)` enqueues it on the current stream and returns nothing. Pointers take contiguous
    tensors of the pointer's dtype on the kernel's device, other parameters take Python numbers.
    `print(kernel)` shows the parameters. A pickle holds the source of OpenCL C, or the file's path
    for other kernels; unpickling builds the kernel again on the current device. A copy is the
    kernel itself.
    """

    def __init__(
        self,
        backend: Backend,
        where: device,
        key: OwnKey,
        make: Callable[[OwnKey], OwnKernel],
        again: tuple[Callable[..., Kernel], tuple[Any, ...]],
        program: OwnProgram | None = None,
    ) -> None:
        self._backend, self._where, self._key, self._make = backend, where, key, make
        self._again = again
        self._program = program  # None unless the source is OpenCL C
        # Makes the kernel now, so that an error is raised here and not at the first call.
        self._most = 1 if program is not None else make(key).units
        self._launches: dict[Any, tuple[Launch, int]] = {}
        self._nothing = new((0,), uint8, where)

    @property
    def name(self) -> str:
        """The kernel's name in its file."""
        return self._key.name

    @property
    def device(self) -> device:
        """The kernel's device."""
        return self._where

    def __call__(self, *args: Any) -> None:
        """Calls `run` with the default numbers of units."""
        self.run(*args)

    def run(self, *args: Any, units: Units | None = None, group: Units | None = None) -> None:
        """Enqueues the kernel on the current stream.

        In OpenCL C `units` are the work-items, a number or one for each of up to three dims, by
        default 1, and `group` those of a work-group. In HLS C++ they are compute units, by default
        all, of a kernel whose last parameters are `int ft_unit, int ft_units`; other kernels run on
        one unit. Raises TypeError, ValueError and RuntimeError for arguments that the kernel can't
        take.
        """
        launch, begins = self._launch(units, group)
        called = self._backend.properties.name
        tensors, numbers = check_arguments(self._key, args, self._where, begins, called)
        enqueue(launch, tensors or [self._nothing], numbers)

    def __repr__(self) -> str:
        return f"<kernel {declaration(self.name, self._key.arguments)} on {self._where}>"

    def __reduce__(self) -> tuple[Callable[..., Kernel], tuple[Any, ...]]:
        return self._again

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self

    def _launch(self, units: Units | None, group: Units | None) -> tuple[Launch, int]:
        kept = sizes_of(self.name, "units", units), sizes_of(self.name, "group", group)
        launch = self._launches.get(kept)
        if launch is None:
            if len(self._launches) >= MOST_GRIDS:
                self._launches.clear()
            launch = self._launches[kept] = self._prepared(*kept)
        return launch

    def _prepared(self, units: Ints | None, group: Ints | None) -> tuple[Launch, int]:
        key, count = self._key, len(self._key.pointers)
        if self._program is None:
            work_items = self._units(units, group)
        else:
            work_items, key = 1, replace(key, grid=self._grid(units, group), group=group)
        own = self._make(key)
        self._backend.own[key] = own.run
        places = tuple(range(count))
        step = Step(key, work_items, places, places, numbers=bool(key.numbers))
        launch = Launch((step,), max(1, count))
        launch.bind((Bound(own.run, None),))
        return launch, own.begins

    def _grid(self, units: Ints | None, group: Ints | None) -> Ints:
        """Returns the work-items of a launch of OpenCL C; checks `group`."""
        assert self._program is not None
        if units is None and self._program.asks_which:
            raise errors.needs_units(self.name)
        grid, most = units or (1,), self._program.most
        if group is not None:
            whole = len(group) == len(grid) and not any(n % m for n, m in zip(grid, group))
            if not whole or prod(group) > most:
                raise errors.bad_group(self.name, group, grid, most)
        return grid

    def _units(self, units: Ints | None, group: Ints | None) -> int:
        """Returns the compute units of a launch of HLS C++."""
        if group is not None:
            raise errors.no_groups(self.name, group)
        if units is None:
            return self._most
        if len(units) > 1 or (units > (1,) and not self._key.shared):
            raise errors.no_units(self.name, units)
        return units[0]


Words = tuple[str, ...]
IMAGES = (".xclbin", ".awsxclbin")


def of_file(where: device, file: Any, name: Any, flags: Any) -> Kernel:
    """Returns a kernel of an image, OpenCL C or C++ file, by the file's suffix.

    Raises FileNotFoundError if there is no such file, ValueError for an unknown suffix.
    """
    words, chosen, path = words_of("flags", flags), name_of(name), file_of(file)
    if path.suffix.lower() in IMAGES:
        return _of_image(where, image_file.read(path, bare=True), chosen, words)
    if path.suffix.lower() == ".cl":
        # Invalid UTF-8 only occurs in comments.
        return _of_text(where, path.read_text("utf-8", "replace"), chosen, words, str(path))
    return _of_cpp(where, path, chosen, words)


def of_cpp(where: device, file: Any, name: Any, flags: Any) -> Kernel:
    """Returns a kernel of HLS C++ or C, compiled by g++.

    Raises an error for a device that does not run C++, and for a board, which needs v++.
    """
    words, chosen = words_of("flags", flags), name_of(name)
    return _of_cpp(where, file_of(file), chosen, words)


def of_text(where: device, text: Any, name: Any, options: Any) -> Kernel:
    """Returns a kernel of OpenCL C source."""
    words = words_of("options", options)
    return _of_text(where, text_of(text), name_of(name), words, "the text")


def _of_cpp(where: device, path: Path, name: str | None, flags: Words) -> Kernel:
    if language(path) is None:
        raise errors.unknown_kind(str(path))
    backend = found_of(where).open()
    if backend.dialect != "vitis":
        raise errors.no_cpp_here(backend.properties.name, path)
    if backend.target.kind == "board" and not getattr(backend, "emulated", False):
        raise errors.needs_vpp(backend.properties.name, path)
    return _of_image(where, image(path, flags), name, flags)


def _of_image(where: device, file: ImageFile, name: str | None, flags: Words) -> Kernel:
    kernels = {k.name: k for k in file.description.kernels}
    described = kernels[_chosen(list(kernels), name, str(file.path))]
    arguments, shared = _arguments(described)
    key = OwnKey(described.name, file.uuid, arguments, shared)
    backend = found_of(where).open()
    again = _file_again, (str(file.path.absolute()), key.name, flags)
    return Kernel(backend, where, key, partial(backend.user_kernel_of_image, file), again)


def _of_text(where: device, text: str, name: str | None, options: Words, origin: str) -> Kernel:
    backend = found_of(where).open()
    program = backend.user_program(text, options)
    chosen = _chosen(list(program.parameters), name, origin)
    key = OwnKey(chosen, program.digest, program.arguments(chosen))
    again = _text_again, (text, chosen, options, origin)
    return Kernel(backend, where, key, program.kernel, again, program)


def _file_again(path: str, name: str, flags: Words) -> Kernel:
    """Recreates a pickled kernel on the current device."""
    return of_file(resolve("fpga"), path, name, flags)


def _text_again(text: str, name: str, options: Words, origin: str) -> Kernel:
    return _of_text(resolve("fpga"), text, name, options, origin)


def _chosen(names: list[str], name: str | None, origin: str) -> str:
    if not names:
        raise errors.no_kernels(origin)
    listed = ", ".join(names)
    if name is None:
        if len(names) > 1:
            raise errors.name_one(origin, len(names), listed)
        return names[0]
    if name not in names:
        raise errors.no_kernel_named(origin, name, listed)
    return name


def _arguments(kernel: KernelDescription) -> tuple[tuple[OwnArgument, ...], bool]:
    """Returns (arguments of a call, True if the kernel also takes the number of its compute unit).

    Raises an error for a free-running kernel and for an unsupported parameter.
    """
    if kernel.control == "AP_CTRL_NONE" or not kernel.name.isidentifier():
        raise errors.free_running(kernel.name)
    arguments = []
    shared = tuple(a.name for a in kernel.arguments[-2:]) == UNIT_NAMES
    for k, a in enumerate(kernel.arguments[:-2] if shared else kernel.arguments):
        own = argument_of(a.name, a.c, k, size=a.size)
        if own is None:
            raise errors.bad_parameter(kernel.name, a.name, a.c)
        arguments.append(own)
    return tuple(arguments), shared
