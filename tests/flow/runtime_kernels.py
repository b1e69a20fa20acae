"""Small kernels in both languages, for the tests of the runtime."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ftensor.runtime import discovery
from ftensor.runtime.backend import Backend, CompiledKernel

OPENCL_HEAD = "#define IN(T, x) __global const T *x\n#define OUT(T, x) __global T *x\n"
CSIM_HEAD = """#include <cstdint>
#define IN(T, x) const T *x
#define OUT(T, x) T *x
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;
typedef uint64_t ulong;
#define long int64_t
"""


def source(backend: Backend, entry: str, params: str, body: str) -> str:
    """Returns a kernel whose body has the bounds `first` and `last` of its slab of `n` elements."""
    slab = "long first = n * unit / units, last = n * (unit + 1) / units;"
    if backend.target.kind == "csim":
        head = f'{CSIM_HEAD}extern "C" void {entry}({params}, int unit, int units)'
        return f"{head} {{ {slab} {body} }}"
    position = "int unit = get_global_id(0), units = get_global_size(0);"
    return f"{OPENCL_HEAD}__kernel void {entry}({params}) {{ {position} {slab} {body} }}"


def add_kernel(backend: Backend) -> CompiledKernel:
    """Returns the kernel o = a + b, in float32."""
    text = source(
        backend,
        "add",
        "IN(float, a), IN(float, b), OUT(float, o), long n",
        "for (long i = first; i < last; ++i) o[i] = a[i] + b[i];",
    )
    return backend.build(text, "add", ["*", "*", "*", "long"])


def slow_kernel(backend: Backend) -> CompiledKernel:
    """Returns a kernel o[i] = value, after `rounds` rounds of work that no compiler can remove."""
    text = source(
        backend,
        "slow",
        "OUT(float, o), float value, long rounds, long n",
        "float x = value; for (long r = 0; r < rounds; ++r) x = x * 0.5f + value * 0.5f;"
        "for (long i = first; i < last; ++i) o[i] = x;",
    )
    return backend.build(text, "slow", ["*", "float", "long", "long"])


@lru_cache(maxsize=1)
def all_backends() -> dict[str, Any]:
    """Returns every device of this machine, and one CPU runtime as if it had its own memory.

    Xilinx's devices are excluded because they don't compile; tests/flow/test_xrt.py tests them with
    images.
    """
    from ftensor.runtime.opencl.backend import OpenCLBackend

    here = [f for f in discovery.find() if f.target.name != "xilinx"]
    runtimes = {f.target.name: f for f in here if not f.target.emulates}
    runtimes |= {f.target.name: f for f in here if f.target.kind == "csim"}
    opened: dict[str, Any] = {name: f.open for name, f in runtimes.items()}
    for f in runtimes.values():
        if f.target.kind == "cpu":
            opened["separate-memory"] = lambda f=f: OpenCLBackend(
                f.target, f.cl_platform, f.cl_device, host_shared=False
            )
    return opened


def values(count: int, seed: int = 0) -> np.ndarray:
    """Returns reproducible float32 values."""
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def upload(backend: Backend, array: np.ndarray) -> Any:
    """Returns a storage with the array's elements."""
    storage = backend.allocate(array.nbytes)
    backend.upload(storage, 0, array)
    return storage


def download(backend: Backend, storage: Any, count: int) -> np.ndarray:
    """Returns `count` float32 values from the start of a storage."""
    array = np.empty(count, np.float32)
    backend.download(storage, 0, array)
    return array
