"""Devices by index: memory statistics, seeds and generator states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .. import errors
from .._device import DeviceLike, detected_device, fpga_devices
from .._device import device as _device
from ..random import Generator, default_generator
from ..runtime.backend import Backend
from ..runtime.discovery import DetectedDevice
from ..terminal import size, table

if TYPE_CHECKING:
    from .._tensor import Tensor


FPGA = _device("fpga")


def lookup(function: str, which: DeviceLike | None) -> DetectedDevice:
    """Returns the device that an argument of a function of `ft.fpga` names. Raises RuntimeError for
    another type of device."""
    if which is None:
        return detected_device(FPGA)
    chosen = which if isinstance(which, _device) else _device(which)
    if chosen.type != "fpga":
        raise errors.not_an_fpga(function, chosen)
    return detected_device(chosen)


def backend(function: str, which: DeviceLike | None) -> Backend:
    return lookup(function, which).open()


def memory_stats(device: DeviceLike | None = None) -> dict[str, int]:
    """Returns the pool's counters under torch's names, and ftensor's own counters.

    `kernels` is the number of compiled kernels on the device, `streams` the number of streams in
    use, including the default one.
    """
    detected = lookup("memory_stats", device)
    if not detected.opened:
        return {}
    backend = detected.open()
    counts = {"kernels": len(backend.kernels), "streams": len(backend.all_streams())}
    stats = backend.pool.stats() | counts
    return {_TORCH_NAMES.get(name, name): value for name, value in stats.items()}


def memory_stats_as_nested_dict(device: DeviceLike | None = None) -> dict[str, Any]:
    """Returns the counters of `memory_stats`, nested at the dots of their names."""
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        *outer, last = name.split(".")
        inner = nested
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nested


_TORCH_NAMES = {
    "allocated_bytes": "allocated_bytes.all.current",
    "peak_allocated_bytes": "allocated_bytes.all.peak",
    "reserved_bytes": "reserved_bytes.all.current",
    "peak_reserved_bytes": "reserved_bytes.all.peak",
    "requests": "allocation.all.allocated",
    "device_allocations": "num_device_alloc",
    "retries": "num_alloc_retries",
    "out_of_memory": "num_ooms",
}


def memory_allocated(device: DeviceLike | None = None) -> int:
    """Returns the bytes that tensors hold."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: DeviceLike | None = None) -> int:
    """Returns the most bytes that tensors held at once since the start or
    `reset_peak_memory_stats`."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: DeviceLike | None = None) -> int:
    """Returns the bytes that the pool holds, in tensors or free."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: DeviceLike | None = None) -> int:
    """Returns the most bytes that the pool held since the start or `reset_peak_memory_stats`."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device: DeviceLike | None = None) -> None:
    """Resets both peaks to the current values."""
    detected = lookup("reset_peak_memory_stats", device)
    if detected.opened:
        detected.open().pool.reset_peaks()


def empty_cache() -> None:
    """Returns the free memory of all devices' pools, and that of packed weights, to the system.
    Weights are packed again at their next use."""
    for detected in fpga_devices():
        if detected.opened:
            backend = detected.open()
            backend.drop_caches()
            backend.pool.release_cached()


def mem_get_info(device: DeviceLike | None = None) -> tuple[int, int]:
    """Returns (free bytes, total bytes) as known to this process: free is what its pool may still
    allocate. Opens the device."""
    pool = backend("mem_get_info", device).pool
    return max(pool.limit - pool.reserved, 0), pool.total


def set_per_process_memory_fraction(fraction: float, device: DeviceLike | None = None) -> None:
    """Limits the memory that this process may allocate to a fraction of the device's total.

    Frees cached memory beyond the limit; tensors beyond it stay. Allocations that would exceed it
    raise OutOfMemoryError. Raises TypeError for a fraction that is no float, ValueError outside 0
    to 1.

        ft.fpga.set_per_process_memory_fraction(0.5)
    """
    if not isinstance(fraction, float):
        raise errors.memory_fraction_type(fraction)
    if not 0 <= fraction <= 1:
        raise errors.memory_fraction(fraction)
    backend("set_per_process_memory_fraction", device).pool.set_fraction(fraction)


def get_per_process_memory_fraction(device: DeviceLike | None = None) -> float:
    """Returns the fraction of the device's memory that this process may allocate."""
    return backend("get_per_process_memory_fraction", device).pool.fraction


def memory_snapshot(device: DeviceLike | None = None) -> list[dict[str, Any]]:
    """Returns the memory blocks of the pool in torch's format of segments. Each segment has one
    block, which a tensor holds (`active_allocated`) or which is free (`inactive`). An address of 0
    means memory that the host can't reach. `ft.profiler` shows the lines of a program that hold
    memory."""
    detected = lookup("memory_snapshot", device)
    return detected.open().pool.snapshot() if detected.opened else []


def memory_summary(device: DeviceLike | None = None, abbreviated: bool = False) -> str:
    """Returns a text about the pool's memory: current, peak and total; unless `abbreviated`, also
    its blocks by size."""
    stats = memory_stats(device)
    if not stats:
        return "This device was not used yet: it holds no memory."
    rows = [
        ("memory", "now", "at most"),
        ("held by tensors", *_now_and_peak(stats, "allocated_bytes")),
        ("held by the pool", *_now_and_peak(stats, "reserved_bytes")),
        ("adopted from others", size(stats["adopted_bytes"]), ""),
        ("limit", "", size(stats["limit_bytes"])),
    ]
    calls = [
        ("requests", "count"),
        ("from tensors", stats["allocation.all.allocated"]),
        ("taken from the device", stats["num_device_alloc"]),
        ("tried again after the cache was emptied", stats["num_alloc_retries"]),
        ("refused", stats["num_ooms"]),
    ]
    tables: list[Sequence[Sequence[object]]] = [rows, calls]
    if not abbreviated:
        sizes = Counter((b["total_size"], b["allocated_size"] > 0) for b in memory_snapshot(device))
        classes = sorted({n for n, _ in sizes}, reverse=True)
        lines = [(size(n), sizes[n, True], sizes[n, False]) for n in classes]
        tables.append([("blocks of", "held", "free"), *lines])
    return "\n\n".join(table(part, indent="") for part in tables)


def _now_and_peak(stats: dict[str, int], name: str) -> tuple[str, str]:
    return size(stats[f"{name}.all.current"]), size(stats[f"{name}.all.peak"])


def _generator(which: DeviceLike = "fpga") -> Generator:
    return default_generator(_device("fpga", which) if isinstance(which, int) else which)


def _generators() -> list[Generator]:
    return [_generator(index) for index in range(len(fpga_devices()))]


def manual_seed(seed: int) -> None:
    """Seeds the current device's default generator, with -2**63 to 2**64 - 1."""
    _generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the default generators of all devices, with -2**63 to 2**64 - 1."""
    for generator in _generators():
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seeds the current device's default generator with an unpredictable number."""
    _generator().seed()


def seed_all() -> None:
    """Seeds the default generators of all devices with one unpredictable number."""
    manual_seed_all(Generator().seed())


def initial_seed() -> int:
    """Returns the seed of the current device's default generator."""
    return _generator().initial_seed()


def get_rng_state(device: DeviceLike = "fpga") -> Tensor:
    """Returns the state of a device's default generator: a uint8 tensor on the host."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Tensor]:
    """Returns the states of all devices' default generators."""
    return [generator.get_state() for generator in _generators()]


def set_rng_state(new_state: Tensor, device: DeviceLike = "fpga") -> None:
    """Sets the state of a device's default generator to a result of `get_rng_state`."""
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Sets the states of all devices' default generators to a result of `get_rng_state_all`."""
    for generator, state in zip(_generators(), new_states):
        generator.set_state(state)
