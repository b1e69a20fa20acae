"""User kernels: kernel arguments and keys. Their computation is opaque to this package."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .. import dtypes
from ..dtypes import dtype
from ..image.contents import BYTES, ENDS
from .inventory_terms import ManifestTerms
from .key import Key
from .skeleton import BoardSkeleton, Parameter, register
from .workload import Access, KernelLaunch, PipelinedLoop

Ints = tuple[int, ...]
BEAT = 64  # bytes of the widest port
# C types of scalars, by the type names that declarations here use.
_SCALARS = {
    "bool": "bool", "_Bool": "bool", "half": "half", "_Float16": "half", "float": "float",
    "double": "double", "uchar": "uchar", "ushort": "ushort", "uint": "uint", "ulong": "ulong",
    "int8_t": "char", "uint8_t": "uchar", "int16_t": "short", "uint16_t": "ushort",
    "int32_t": "int", "uint32_t": "uint", "int64_t": "long", "uint64_t": "ulong",
    "size_t": "ulong", "ssize_t": "long", "ptrdiff_t": "long", "intptr_t": "long",
    "uintptr_t": "ulong",
}  # fmt: skip
DTYPES = {
    "bool": dtypes.bool,
    "half": dtypes.float16,
    "float": dtypes.float32,
    "double": dtypes.float64,
    "char": dtypes.int8,
    "uchar": dtypes.uint8,
    "short": dtypes.int16,
    "ushort": dtypes.uint16,
    "int": dtypes.int32,
    "uint": dtypes.uint32,
    "long": dtypes.int64,
    "ulong": dtypes.uint64,
}
_INTEGERS = {"signed", "unsigned", "char", "short", "int", "long"}
_QUALIFIERS = {"const", "volatile", "restrict", "__restrict", "__restrict__", "struct", "class"}
_VECTOR = re.compile(r"(?:hls::)?vector<(.+), ?(\d+)u?l?>|([a-z]+?)(2|3|4|8|16)")
_COMPLEX = re.compile(r"complex<(float|double)>")
_BITS = re.compile(r"ap_u?(?:int|fixed)<(\d+)\b.*>")


def scalar(c: str) -> str | None:
    """Returns the `DTYPES` name of a scalar C type; None for any other type."""
    words = [w for w in c.replace("std::", "").split() if w not in _QUALIFIERS]
    if len(words) == 1 and words[0] in _SCALARS:
        return _SCALARS[words[0]]
    if not words or not _INTEGERS.issuperset(words):
        return None
    kind = next((w for w in ("char", "short", "long") if w in words), "int")
    return "u" * ("unsigned" in words) + kind


def element(c: str) -> tuple[dtype | None, int]:
    """Returns (dtype of the tensors that a pointer to C type `c` takes, size of an element in
    bytes).

    The dtype is None if tensors of any dtype are valid; the size is 0 if it is unknown.
    """
    words = " ".join(w for w in c.replace("std::", "").split() if w not in _QUALIFIERS)
    if (word := scalar(words)) is not None:
        return DTYPES[word], DTYPES[word].itemsize
    if match := _COMPLEX.fullmatch(words):
        return (dtypes.complex64, 8) if match[1] == "float" else (dtypes.complex128, 16)
    if match := _BITS.fullmatch(words):
        return None, max(1, 1 << (max(int(match[1]), 8) - 1).bit_length() >> 3)
    if match := _VECTOR.fullmatch(words):
        word = scalar(match[1] or match[3])
        count = int(match[2] or match[4])
        if word is not None:
            return DTYPES[word], DTYPES[word].itemsize * (4 if match[4] == "3" else count)
    return None, 0


@dataclass(frozen=True)
class UserKernelArgument:
    """A parameter of a kernel.

    `kind` is "*" for a pointer to global memory, "local" for a pointer to local memory, a name of
    `DTYPES` for a scalar, "stream" for a stream, which the hardware connects and no call passes.
    `number` is the index among all parameters, streams included. A pointer takes tensors of `dtype`
    (None: any dtype) whose bytes are a multiple of `nbytes`. `size` is the size of a scalar's
    register in bytes.
    """

    name: str
    c: str
    kind: str
    number: int
    dtype: dtype | None = None
    nbytes: int = 0
    const: bool = False
    size: int = 0

    @property
    def is_size(self) -> bool:
        """True for the size in bytes of a tensor that ends a stream; calls do not pass it."""
        return self.name.startswith(BYTES)

    @property
    def is_number(self) -> bool:
        """True if a call passes a number: neither a pointer to global memory nor a stream."""
        return self.kind not in ("*", "stream")

    def __str__(self) -> str:
        return f"{self.c}{'' if self.c.endswith('*') else ' '}{self.name}"


def argument(name: str, c: str, number: int, size: int = 0) -> UserKernelArgument | None:
    """Returns the parameter of C type `c`; None if no call can pass the type."""
    c = " ".join(c.replace("*", " * ").split()).replace("* ", "*")
    if "stream" in c:
        return UserKernelArgument(name, c, "stream", number)
    if c.count("*") > 1 or "&" in c:
        return None
    head, star, _ = c.partition("*")
    if star:
        dtype, nbytes = element(head)
        return UserKernelArgument(name, c, "*", number, dtype, nbytes, "const" in head.split())
    word = scalar(c)
    if word is None or word == "half":
        return None
    return UserKernelArgument(name, c, word, number, size=max(size, DTYPES[word].itemsize))


def declaration(name: str, arguments: Sequence[UserKernelArgument]) -> str:
    """Returns a kernel's declaration for messages."""
    return f"{name}({', '.join(map(str, arguments))})"


@dataclass(frozen=True)
class UserKernelKey:
    """Key of a user kernel. `origin` distinguishes kernels of the same name. `shared` means that
    two more parameters pass the compute unit's index and the count of compute units. For OpenCL C,
    `grid` and `group` are the global and local work sizes."""

    name: str
    origin: str
    arguments: tuple[UserKernelArgument, ...]
    shared: bool = False
    grid: Ints = ()
    group: Ints | None = None
    skeleton: str = "own"
    lanes: int = 1

    @property
    def symbol(self) -> str:
        """The name of the function in an image for the host."""
        return self.name + ENDS * any(a.is_size for a in self.arguments)

    @property
    def entry(self) -> str:
        """The kernel's name and origin."""
        return f"{self.name}@{self.origin}"

    @property
    def pointers(self) -> tuple[UserKernelArgument, ...]:
        """The parameters that take tensors."""
        return tuple([a for a in self.arguments if a.kind == "*"])

    @property
    def scalars(self) -> tuple[UserKernelArgument, ...]:
        """The parameters that take numbers."""
        return tuple([a for a in self.arguments if a.is_number])


class UserKernelSkeleton(BoardSkeleton[UserKernelKey]):
    """Skeleton of user kernels, of which only the operands are known."""

    name = "own"

    def parameters(self, key: UserKernelKey) -> tuple[Parameter, ...]:
        parameters = [("*", f"{'const ' * a.const}void *", a.name) for a in key.pointers]
        parameters += [("long", "long ", f"{a.name}_offset") for a in key.pointers]
        return (*parameters, *[(a.kind, f"{a.kind} ", a.name) for a in key.scalars])

    def program(self, key: UserKernelKey, dialect: str, *, float64: bool, grid: str) -> str:
        """Raises AssertionError: the program comes from a user's file or image."""
        raise AssertionError(f"{key.name} is a kernel of the user's, which nobody holds any more")

    def record(self, key: UserKernelKey) -> ManifestTerms:
        return ManifestTerms(key.name, (), (), "", "own")

    def lines(self, key: UserKernelKey) -> tuple[str, ...]:
        return ()

    def operands(self, key: UserKernelKey) -> str:
        return ", ".join(a.c for a in key.arguments)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        return []

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns one access per operand, in beats: a lower bound of the kernel's traffic."""
        return list(_accesses(launch.key, launch.geometry))

    def extent(self, launch: KernelLaunch) -> str:
        return " + ".join(map(str, launch.geometry)) + " bytes"


def _accesses(key: UserKernelKey, sizes: Ints) -> Iterator[Access]:
    for argument, nbytes in zip(key.pointers, sizes):
        yield Access(argument.name, not argument.const, nbytes, -(-nbytes // BEAT), 0, nbytes)


def is_user_kernel(key: Key | Any) -> bool:
    """True if `key` is the key of a user kernel."""
    return isinstance(key, UserKernelKey)


register(UserKernelSkeleton())
