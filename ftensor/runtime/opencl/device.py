"""What an OpenCL device says about itself, and what its programs are built with."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..parts import DeviceProperties

if TYPE_CHECKING:
    from ..targets import Target

# Processors that Intel's compiler can be told to compile for, whatever is at hand, whose registers
# hold so many floats: by CL_CONFIG_CPU_TARGET_ARCH. The device still says what is at hand.
NARROW = {"corei7": 4, "corei7-avx": 8, "core-avx2": 8}
LAST_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")


def device_properties(platform: Any, device: Any) -> DeviceProperties:
    """What an OpenCL device says about itself."""
    return DeviceProperties(
        name=device.name.strip(),
        platform=platform.name.strip(),
        version=device.version.strip(),
        driver=f"{platform.version.strip()} {device.driver_version.strip()}",
        total_memory=int(device.global_mem_size),
        max_allocation=int(device.max_mem_alloc_size),
        multi_processor_count=int(device.max_compute_units),
        has_float64=bool(device.double_fp_config),
        has_float16="cl_khr_fp16" in device.extensions.split(),
    )


def build_options(target: Target, device: Any) -> tuple[str, ...]:
    """The options every program of a device is built with."""
    options = tuple(target.build_options)
    if not any(option.startswith("-cl-std") for option in options):
        options = ("-cl-std=CL1.2", *options)
    # torch divides as IEEE 754 says; OpenCL promises 2.5 ulp unless asked.
    if device.single_fp_config & (1 << 7):
        options = (*options, "-cl-fp32-correctly-rounded-divide-sqrt")
    if target.kind == "cpu":
        options = (*options, f"-DFT_STREAMED_BYTES={streamed_bytes()}")
    return options


def register_floats(target: Target, cl_device: Any) -> int:
    """How many floats a register holds of the CPU that programs are compiled for."""
    at_hand = int(cl_device.native_vector_width_float)
    architecture = os.environ.get("CL_CONFIG_CPU_TARGET_ARCH", "") if target.name == "intel-cpu" else ""
    return min(at_hand, NARROW.get(architecture, at_hand))


def compiled_for(cl_device: Any) -> str:
    """What a compiled kernel depends on beside the device's name and driver: its vectors, and the
    settings of Intel's compiler.

    A home folder may serve several processors, and processes may be told different ones by
    CL_CONFIG_CPU_TARGET_ARCH. Intel's runtime takes a program made for AVX2 on AVX-512 too, but
    from then on it refuses what it has made itself (INVALID_BINARY).
    """
    settings = {k: v for k, v in os.environ.items() if k.startswith("CL_CONFIG_")}
    width = cl_device.native_vector_width_float
    return " ".join([str(width), *(f"{k}={settings[k]}" for k in sorted(settings))])


def streamed_bytes(cache: Path = LAST_CACHE) -> int:
    """The size beyond which a result passes by the CPU's caches (see hls/dialect/opencl.h).

    A sixteenth of the last one: an op has two or three operands of that size, and others use the
    cache, too. Where that is 480 MB, adding is 1.4 times faster with results of 64 MB, no faster
    with 16 MB, and the op that reads them 1.2 times slower. Of 32 MB, adding is 1.12 times faster
    with results of 8 MB, and with 4 MB layer norm's derivative 1.4 times slower.
    """
    try:
        size = int(cache.read_text().strip().removesuffix("K")) << 10
    except (OSError, ValueError):
        size = 0  # another system, or a CPU without a third cache
    return max(4 << 20, size // 16)


def prepare_pyopencl() -> None:
    """Let pyopencl do without its cache of generated code where that cache can't be written.

    Its module for kernels can't even be imported then, for instance in a container whose user
    has no home.
    """
    import platformdirs
    import pyopencl as cl

    if "pyopencl.invoker" in sys.modules:
        return
    folder = Path(platformdirs.user_cache_dir("pytools", "pytools"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        cl._PYOPENCL_NO_CACHE = True
