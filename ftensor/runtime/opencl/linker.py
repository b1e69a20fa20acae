"""The linker that PoCL calls as a command: without one its library ends the process."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from ...errors import runtime as errors

if TYPE_CHECKING:
    from ..parts import DeviceProperties

# Where clang, which PoCL holds, looks beside PATH.
FOLDERS = "/usr/bin:/usr/local/bin:/bin"
PROBE = """
import sys, numpy, pyopencl as cl
device = next(d for p in cl.get_platforms() if p.name == sys.argv[1] for d in p.get_devices())
context = cl.Context([device])
queue = cl.CommandQueue(context)
built = cl.Program(context, "__kernel void one(__global int *p) { p[0] = 1; }").build()
kernel = cl.Kernel(built, "one")
kernel.set_args(cl.Buffer(context, cl.mem_flags.READ_WRITE, 4))
cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
queue.finish()
"""


def there() -> bool:
    """Whether there is a linker where PoCL looks."""
    return bool(shutil.which("ld") or shutil.which("ld", path=FOLDERS))


@functools.lru_cache
def require(of: DeviceProperties) -> None:
    """RuntimeError where PoCL would end the process for want of a linker.

    Some builds of PoCL hold one, so where there is none a process of its own tries a kernel.
    """
    if there():
        return
    done = subprocess.run(
        [sys.executable, "-c", PROBE, of.platform], env={**os.environ, "POCL_KERNEL_CACHE": "0"}, capture_output=True
    )
    if done.returncode:
        raise errors.no_linker(of.name)
