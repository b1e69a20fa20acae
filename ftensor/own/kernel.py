"""Users' kernels called with tensors: from a file to a launch, with checks of all user input."""

from __future__ import annotations

import operator
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from .._device import detected_device, resolve
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
from ..kernels.user_kernels import DTYPES, UserKernelArgument, UserKernelKey, declaration
from ..kernels.user_kernels import argument as argument_of
from ..toolchain.user_kernels import check_parameters, image, language

if TYPE_CHECKING:
    from .._device import device
    from ..runtime.backend import Backend
    from ..runtime.interfaces import UserKernel
    from ..runtime.opencl.launch import UserProgram

# Dtype of the real and imaginary parts, by complex dtype.
_PAIRS = {dtypes.complex32: dtypes.float16, dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def check_arguments(
    key: UserKernelKey, args: Sequence[Any], device: device, alignment: int, called: str
) -> tuple[list[Tensor], list[Any]]:
    """Returns (tensors, numbers) of a call, checked and converted for the kernel.

    Tensors must start at multiples of `alignment` bytes in their memory, or at its start if
    `alignment` is 0. `called` is the device's name for messages. Raises TypeError for a wrong
    count, type or dtype, ValueError for an unsupported layout or number, RuntimeError for a tensor
    on another device or read-only memory.
    """
    given = [a for a in key.arguments if a.kind != "stream"]
    parameters = [a for a in given if not a.is_size]
    if len(args) != len(parameters):
        raise errors.own_argument_count(key.name, len(parameters), len(args), declaration(key.name, parameters))
    tensors: list[Tensor] = []
    scalars: list[Any] = []
    arguments = iter(args)
    for a in given:
        if a.is_size:
            scalars.append(tensors[-1].nbytes)
            continue
        argument = next(arguments)
        if a.kind == "*":
            tensors.append(_tensor(key.name, a, argument, device, alignment, called))
        else:
            scalars.append(_number(key.name, a, argument))
    return tensors, scalars


def _tensor(kernel: str, a: UserKernelArgument, x: Any, device: device, alignment: int, called: str) -> Tensor:
    if type(x) is not Tensor:
        hint = ": ft.from_numpy makes one" if isinstance(x, np.ndarray) else ""
        raise errors.not_a_tensor(kernel, a.name, a.c, x, hint)
    storage = x._storage
    if storage.device != device:
        raise errors.wrong_device(kernel, str(device), a.name, storage.device)
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
    x._start_is_read(alignment and max(alignment, beat))
    if start and (not alignment or start % alignment):
        requirement = f"at multiples of {alignment} bytes" if alignment else "with it"
        raise errors.misplaced(kernel, a.name, start, called, requirement)
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


def _number(kernel: str, a: UserKernelArgument, x: Any) -> Any:
    dtype = dtypes.int64 if a.kind == "local" else DTYPES[a.kind]
    expected = {"b": "True or False", "f": "a number"}.get(dtype.kind, "an integer")
    if a.kind == "local":
        expected = "the bytes of a work-group's memory"
    hint = ": pass its .item()" if isinstance(x, Tensor) else ""
    try:
        is_number = hasattr(type(x), "__float__") or hasattr(type(x), "__index__")  # excludes str
        if hint or isinstance(x, (np.ndarray, np.complexfloating)) or not is_number:
            raise TypeError
        value = float(x) if dtype.kind == "f" else operator.index(bool(x) if isinstance(x, np.bool_) else x)
    except (TypeError, ValueError, OverflowError):
        raise errors.not_a_number(kernel, a.name, a.c, expected, x, hint) from None
    low: float
    high: float
    if dtype.kind == "b":
        low, high = 0, 1
    elif a.kind == "local":
        low, high = 1, integer_limits(dtype).max
    elif dtype.kind == "f":
        low, high = floating_limits(dtype).min, floating_limits(dtype).max
        if value != value or abs(value) == float("inf"):
            return value
    else:
        low, high = integer_limits(dtype).min, integer_limits(dtype).max
    if not low <= value <= high:
        raise errors.number_range(kernel, a.name, a.c, x, low, high)
    return value


MAX_GRIDS = 64  # cached launches of a kernel, one for each (units, group)
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
        device: device,
        key: UserKernelKey,
        make: Callable[[UserKernelKey], UserKernel],
        recreate: tuple[Callable[..., Kernel], tuple[Any, ...]],
        program: UserProgram | None = None,
    ) -> None:
        self._backend, self._device, self._key, self._make = backend, device, key, make
        self._recreate = recreate
        self._program = program  # None unless the source is OpenCL C
        # Creates the kernel now, so that an error is raised here and not at the first call.
        self._most = 1 if program is not None else make(key).units
        self._launches: dict[Any, tuple[Launch, int]] = {}
        self._nothing = new((0,), uint8, device)

    @property
    def name(self) -> str:
        """The kernel's name in its file."""
        return self._key.name

    @property
    def device(self) -> device:
        """The kernel's device."""
        return self._device

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
        tensors, scalars = check_arguments(self._key, args, self._device, begins, called)
        enqueue(launch, tensors or [self._nothing], scalars)

    def __repr__(self) -> str:
        return f"<kernel {declaration(self.name, [a for a in self._key.arguments if not a.is_size])} on {self._device}>"

    def __reduce__(self) -> tuple[Callable[..., Kernel], tuple[Any, ...]]:
        return self._recreate

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self

    def _launch(self, units: Units | None, group: Units | None) -> tuple[Launch, int]:
        kept = sizes_of(self.name, "units", units), sizes_of(self.name, "group", group)
        launch = self._launches.get(kept)
        if launch is None:
            if len(self._launches) >= MAX_GRIDS:
                self._launches.clear()
            launch = self._launches[kept] = self._prepared(*kept)
        return launch

    def _prepared(self, units: Ints | None, group: Ints | None) -> tuple[Launch, int]:
        key, count = self._key, len(self._key.pointers)
        if self._program is None:
            work_items = self._units(units, group)
        else:
            work_items, key = 1, replace(key, grid=self._grid(units, group), group=group)
        user_kernel = self._make(key)
        self._backend.user_kernels[key] = user_kernel.run
        operands = tuple(range(count))
        step = Step(key, work_items, operands, operands, scalars=bool(key.scalars))
        launch = Launch((step,), max(1, count))
        launch.bind((Bound(user_kernel.run, None),))
        return launch, user_kernel.begins

    def _grid(self, units: Ints | None, group: Ints | None) -> Ints:
        """Returns the work-items of a launch of OpenCL C; checks `group`."""
        assert self._program is not None
        if units is None and self._program.asks_which:
            raise errors.needs_units(self.name)
        grid, most = units or (1,), self._program.most
        if group is not None:
            divides = len(group) == len(grid) and not any(n % m for n, m in zip(grid, group))
            if not divides or prod(group) > most:
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


IMAGES = (".xclbin", ".awsxclbin")


def from_file(device: device, file: Any, name: Any, flags: Any) -> Kernel:
    """Returns a kernel of an image, OpenCL C or C++ file, by the file's suffix.

    Raises FileNotFoundError if there is no such file, ValueError for an unknown suffix.
    """
    words, chosen, path = words_of("flags", flags), name_of(name), file_of(file)
    if path.suffix.lower() in IMAGES:
        return _from_image(device, image_file.read(path, bare=True), chosen, words)
    if path.suffix.lower() == ".cl":
        # Invalid UTF-8 only occurs in comments.
        return _from_text(device, path.read_text("utf-8", "replace"), chosen, words, str(path))
    return _from_cpp(device, path, chosen, words)


def from_cpp(device: device, file: Any, name: Any, flags: Any) -> Kernel:
    """Returns a kernel of HLS C++ or C, compiled by g++.

    Raises an error for a device that does not run C++, and for a board, which needs v++.
    """
    words, chosen = words_of("flags", flags), name_of(name)
    return _from_cpp(device, file_of(file), chosen, words)


def from_text(device: device, text: Any, name: Any, options: Any) -> Kernel:
    """Returns a kernel of OpenCL C source."""
    words = words_of("options", options)
    return _from_text(device, text_of(text), name_of(name), words, "the text")


def _from_cpp(device: device, path: Path, name: str | None, flags: tuple[str, ...]) -> Kernel:
    if language(path) is None:
        raise errors.unknown_kind(str(path))
    backend = detected_device(device).open()
    if backend.dialect != "vitis":
        raise errors.no_cpp_here(backend.properties.name, path)
    if backend.target.kind == "board" and not getattr(backend, "emulated", False):
        raise errors.needs_vpp(backend.properties.name, path)
    file = image(path, flags)
    if name is not None and file.description.kernel(name) is None:
        check_parameters(file, name)
    return _from_image(device, file, name, flags)


def _from_image(device: device, file: ImageFile, name: str | None, flags: tuple[str, ...]) -> Kernel:
    kernels = {k.name: k for k in file.description.kernels}
    described = kernels[_chosen(list(kernels), name, str(file.path))]
    arguments, shared = _arguments(described)
    key = UserKernelKey(described.name, file.uuid, arguments, shared)
    backend = detected_device(device).open()
    recreate = _recreate_from_file, (str(file.path.absolute()), key.name, flags)
    return Kernel(backend, device, key, partial(backend.user_kernel_of_image, file), recreate)


def _from_text(device: device, text: str, name: str | None, options: tuple[str, ...], origin: str) -> Kernel:
    backend = detected_device(device).open()
    program = backend.user_program(text, options)
    chosen = _chosen(list(program.parameters), name, origin)
    key = UserKernelKey(chosen, program.digest, program.arguments(chosen))
    recreate = _recreate_from_text, (text, chosen, options, origin)
    return Kernel(backend, device, key, program.kernel, recreate, program)


def _recreate_from_file(path: str, name: str, flags: tuple[str, ...]) -> Kernel:
    return from_file(resolve("fpga"), path, name, flags)


def _recreate_from_text(text: str, name: str, options: tuple[str, ...], origin: str) -> Kernel:
    return _from_text(resolve("fpga"), text, name, options, origin)


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


def _arguments(kernel: KernelDescription) -> tuple[tuple[UserKernelArgument, ...], bool]:
    """Returns (arguments of a call, True if the kernel also takes the number of its compute unit).

    Raises an error for a free-running kernel and for an unsupported parameter.
    """
    if kernel.control == "AP_CTRL_NONE" or not kernel.name.isidentifier():
        raise errors.free_running(kernel.name)
    arguments = []
    shared = tuple(a.name for a in kernel.arguments[-2:]) == UNIT_NAMES
    for k, a in enumerate(kernel.arguments[:-2] if shared else kernel.arguments):
        described = argument_of(a.name, a.c, k, size=a.size)
        if described is None:
            raise errors.bad_parameter(kernel.name, a.name, a.c)
        arguments.append(described)
    return tuple(arguments), shared


Ints = tuple[int, ...]
File = str | bytes | os.PathLike[str]
Words = str | Sequence[str | os.PathLike[str]] | None
# Limit of one launch. Drivers don't check the product of sizes for overflow, and some crash.
MAX_WORK_ITEMS = 1 << 48


def file_of(file: Any) -> Path:
    """Returns the path of an existing file.

    Raises TypeError for a value that is not a path, FileNotFoundError if there is no such file.
    """
    if not isinstance(file, (str, bytes, os.PathLike)):
        raise errors.not_a_path(file)
    path = Path(os.fsdecode(file))
    if not os.path.isfile(path):  # unlike `Path.is_file`, no error for a NUL or a name that is too long
        raise errors.no_such_file(os.fsdecode(file))
    return path


def name_of(name: Any) -> str | None:
    """Returns a kernel's name or None; raises TypeError for anything else."""
    if name is None or isinstance(name, str):
        return name
    raise errors.not_a_name(name)


def text_of(text: Any) -> str:
    """Returns OpenCL C source; raises TypeError for a value that is not a str."""
    if isinstance(text, str):
        return text
    raise errors.not_a_text(text)


def words_of(parameter: str, words: Any) -> tuple[str, ...]:
    """Returns compiler options as a tuple, from a sequence or from a string split like in a shell.

    Raises TypeError for anything else, ValueError for a string with an unclosed quotation mark.
    """
    if words is None:
        return ()
    if isinstance(words, str):
        try:
            return tuple(shlex.split(words))
        except ValueError as e:
            raise errors.not_cut(parameter, words, str(e).lower()) from None
    listed = isinstance(words, Sequence) and not isinstance(words, (bytes, bytearray, memoryview))
    if not listed or not all(isinstance(word, (str, os.PathLike)) for word in words):
        raise errors.not_words(parameter, words)
    return tuple([os.fsdecode(word) for word in words])


def sizes_of(kernel: str, parameter: str, count: Any) -> Ints | None:
    """Returns work-items or compute units in one to three dims, from an integer or a sequence.

    Returns None for None. Raises ValueError for anything else, and for more than a launch can have.
    """
    if count is None:
        return None
    sequence = isinstance(count, (tuple, list)) or (isinstance(count, np.ndarray) and count.ndim == 1)
    try:
        sizes = tuple([_integer(n) for n in (count if sequence else (count,))])
    except TypeError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise errors.bad_sizes(kernel, parameter, count)
    if prod(sizes) > MAX_WORK_ITEMS:
        raise errors.too_many(kernel, parameter, count, MAX_WORK_ITEMS)
    return sizes


def _integer(n: Any) -> int:
    if isinstance(n, (bool, Tensor)):
        raise TypeError
    return operator.index(n)
