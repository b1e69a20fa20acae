"""Repairs of XRT's libraries, for the one build that is known to need them: Debian's 2.13.

Nothing of the system is changed: a repaired library is a private copy. A build in which the bytes
of a repair are not found exactly once is used as it is.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Repair:
    """Bytes that occur exactly once where the fault is, what they become, and why."""

    why: str
    find: bytes
    become: bytes

    def __post_init__(self) -> None:
        assert len(self.find) == len(self.become)


def _repair(why: str, before: str, find: str, become: str, after: str) -> Repair:
    return Repair(why, bytes.fromhex(before + find + after), bytes.fromhex(before + become + after))


# CpuemShim::alloc_void grows a buffer with realloc and drops the new pointer:
#   test rax,rax; jne return; mov rdi,[rbx+0x670]; call    becomes
#   mov [rbx+0x670],rax; jmp return
# This fault is in Debian's build alone; XRT's source is right.
HEAP = _repair(
    "a buffer that has moved is written at its old place",
    "",
    "48 85 c0 75 e6 48 8b bb 70",
    "48 89 83 70 06 00 00 eb e2",
    "06 00 00 e8",
)
# CpuemShim::launchDeviceProcess takes SIGSEGV, SIGFPE, SIGABRT, SIGUSR1 and SIGCHLD for itself.
# From then on any child of the host that ends by a signal ends the host and its whole process
# group, and an OpenCL runtime for CPUs in the same process loses its handler of divisions by zero.
# The device's supervisor takes the host down by itself. The first sigaction "fails", and the rest
# is skipped:   call sigaction   becomes   mov eax,-1
HANDLERS = _repair(
    "signals of the host and its children are taken for crashes of the device",
    "48 89 84 24 00 04 00 00",
    "e8 d7 a5 fd ff",
    "b8 ff ff ff ff",
    "85 c0 0f 84 ef 07 00 00",
)
# CpuemShim::xclClose waits for any child of the process group, again and again while there is
# none:   call waitpid   becomes   xor eax,eax; nop
CHILDREN = _repair(
    "a close takes the exit status of the host's other children, or never ends",
    "31 d2 4c 89 f6 31 ff",
    "e8 a4 d2 fc ff",
    "31 c0 0f 1f 00",
    "83 f8 ff 74 ef",
)
# The scheduler of kds_sw_emu=false puts a command's second mask of compute units over the first:
# kernels on unit 32 and beyond run on another unit, 32 below. This fault is in XRT's source.
#   lea r10,[rsp+0x20]; xor edx,edx; jmp    becomes    lea; mov dl,32; jmp  (edx was below 4)
MASKS = _repair(
    "launches of the 33rd compute unit and those behind it go to other units",
    "4c 8d 54 24 20",
    "31 d2",
    "b2 20",
    "eb 30",
)
# sws::init gives a device a new scheduler core when a first kernel is made, which may be the first
# after all others were released. Launches still in flight then use the core that is freed. So it
# waits for them:   test layout; jne on; cmp emulation; jne throw   becomes   jmp wait
CORE = _repair(
    "a kernel made while launches of released kernels are in flight ends the program",
    "e8 74 e0 ff ff",
    "4d 85 e4 75 08 3c 01 0f 85 13 b3 fd ff",
    "e9 1b b3 fd ff 90 90 90 90 90 90 90 90",
    "48 89 ef e8",
)
# ... and the throw, of which emulation has no need, becomes
#   wait: cmp [pending],0; jne pause; cmp [commands],0; jne pause; jmp on; pause: pause; jmp wait
# In this order: the scheduler puts what is pending among the commands before it counts it off.
WAIT = _repair(
    "as above",
    "48 83 c5 08 eb d3",
    "bf 10 00 00 00 e8 0a ed ff ff 48 8d 35 93 42 0e 00 48 89 c7 48 89 c3 e8 48 ec ff ff",
    "83 3d bd b1 12 00 00 75 0f 48 83 3d a3 b1 12 00 00 75 05 e9 d5 4c 02 00 f3 90 eb e4",
    "48 8b 15",
)
EMULATION, SCHEDULER = "libxrt_swemu.so.2", "libxrt_coreutil.so.2"
REPAIRS = {EMULATION: (HEAP, HANDLERS, CHILDREN), SCHEDULER: (MASKS, CORE, WAIT)}


def repaired(name: str, library: bytes) -> bytes | None:
    """A library, by its name, with its repairs; None for a build that they do not know.

    One that has them already, as within an emulation, is given back as it is.
    """
    repairs = REPAIRS[name]
    if all(library.count(repair.become) == 1 for repair in repairs):
        return library
    if any(library.count(repair.find) != 1 for repair in repairs):
        return None
    for repair in repairs:
        library = library.replace(repair.find, repair.become)
    return library
