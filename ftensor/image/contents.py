"""Dataclasses for the contents of images: kernels, arguments, units, banks, clocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

IP_KERNEL = 1  # type of the IP_LAYOUT entry of a compute unit
MEMORY_TYPES = (
    "DDR3", "DDR4", "DRAM", "STREAMING", "PREALLOCATED", "ARE", "HBM", "BRAM", "URAM",
    "STREAMING_CONNECTION", "HOST", "PS_KERNEL",
)  # fmt: skip
CONTROLS = ("AP_CTRL_HS", "AP_CTRL_CHAIN", "AP_CTRL_NONE", "AP_CTRL_ME", "ACCEL_ADAPTER", "FAST_ADAPTER")
CLOCK_TYPES = ("UNUSED", "DATA", "KERNEL", "SYSTEM")

# For a kernel with AXI streams that takes tensors instead: the suffix of the function's name, and
# the prefix of the parameters with the tensors' sizes in bytes.
ENDS, BYTES = "_ends", "ft_bytes_"
NOT_MEMORY = {"STREAMING", "STREAMING_CONNECTION"}  # their size and base have another meaning
AFTER = -1  # base of a bank that follows the banks before it


@dataclass(frozen=True)
class Bank:
    """A memory bank of a board, `size` and `base` in bytes; `type` is one of MEMORY_TYPES.

    Banks of equal base and size are several paths to one memory. For the base AFTER,
    `description.complete` chooses an address.
    """

    name: str
    size: int
    base: int = AFTER
    type: str = "DDR4"
    used: bool = True


@dataclass(frozen=True)
class ArgumentDescription:
    """A kernel argument.

    `c` is its C type ("float *", "unsigned int"), `size` the bytes that the host passes, `port`
    the AXI port, `offset` the offset of its register. A pointer reaches `banks`.
    `description.complete` fills in zero and empty values.
    """

    name: str
    c: str
    size: int = 0
    port: str = ""
    offset: int = 0
    banks: tuple[str, ...] = ()

    @property
    def is_pointer(self) -> bool:
        """True if the argument is a buffer, passed by its device address."""
        return "*" in self.c

    @property
    def is_stream(self) -> bool:
        """True for a stream port, which is connected in hardware and never set."""
        return "stream" in self.c


@dataclass(frozen=True)
class ComputeUnit:
    """One instance of a kernel, with the address of its registers."""

    name: str
    base: int = 0


@dataclass(frozen=True)
class KernelDescription:
    """A kernel: its arguments in order, and its compute units."""

    name: str
    arguments: tuple[ArgumentDescription, ...]
    units: tuple[ComputeUnit, ...] = ()
    control: str = "AP_CTRL_HS"


@dataclass(frozen=True)
class Description:
    """The kernels of an image, and its board."""

    kernels: tuple[KernelDescription, ...]
    banks: tuple[Bank, ...] = ()
    platform: str = ""
    clock_mhz: float = 300.0
    name: str = "kernels"

    def kernel(self, name: str) -> KernelDescription | None:
        """Returns the kernel named `name`, or None."""
        return next((k for k in self.kernels if k.name == name), None)

    def folded(self) -> Description:
        """Returns the description with one bank for each memory, as XRT sees it: XRT treats banks
        of equal base and size as one. On a Kria, ports reach one memory through several such banks.
        """
        first = first_ways(self.banks)
        used = {first[b.name] for b in self.banks if b.used}
        banks = (replace(b, used=b.name in used) for b in self.banks if first[b.name] == b.name)

        def fold(a: ArgumentDescription) -> ArgumentDescription:
            return replace(a, banks=tuple(dict.fromkeys(first[bank] for bank in a.banks)))

        kernels = (replace(k, arguments=tuple(fold(a) for a in k.arguments)) for k in self.kernels)
        return replace(self, kernels=tuple(kernels), banks=tuple(banks))


def first_ways(banks: Iterable[Bank]) -> dict[str, str]:
    """Maps the name of each bank to the first bank of the same memory; banks that kernels use come
    first. A bank of base AFTER is a memory of its own."""
    banks = tuple(banks)
    alone = {b.name for b in banks if b.type in NOT_MEMORY or b.base == AFTER}
    seen: dict[tuple[int, int], str] = {}
    for bank in sorted(banks, key=lambda b: not b.used):  # sorted() is stable
        if bank.name not in alone:
            seen.setdefault((bank.base, bank.size), bank.name)
    return {b.name: b.name if b.name in alone else seen[b.base, b.size] for b in banks}


@dataclass(frozen=True)
class IpLayoutEntry:
    """An entry of IP_LAYOUT: `name` is "kernel:instance", `control` one of CONTROLS."""

    name: str
    base: int
    control: str = "AP_CTRL_HS"
    type: int = IP_KERNEL
    interrupt: int | None = None


@dataclass(frozen=True)
class BankConnection:
    """A unit's argument that reaches a bank, by indices into the other sections."""

    argument: int
    unit: int
    bank: int


@dataclass(frozen=True)
class Clock:
    """A clock; `type` is one of CLOCK_TYPES."""

    name: str
    mhz: int
    type: str
