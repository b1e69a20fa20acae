"""A recording larger than a device's memory: filtered, and searched for a pulse, by Dask's workers.

    python examples/recording.py [--devices intel-cpu,csim] [--samples 6000000] [--limit MIB]

Each worker process owns a device, whose memory is limited here to a fraction of the recording:
chunks without room wait in host memory. A low-pass filter (`map_overlap`: each chunk with the end
of its neighbours) removes the noise, and the correlation with the pulse has peaks where pulses
begin. SciPy does the same on the host, all at once.
"""

from __future__ import annotations

import argparse
import logging
import time
from typing import Any

import dask
import dask.array as da
import numpy as np
import scipy.signal
from distributed import Client, LocalCluster

import ftensor as ft
import ftensor.dask

RATE = 48_000  # samples a second
PULSE = scipy.signal.chirp(np.arange(512) / RATE, 2_000, 512 / RATE, 6_000).astype(np.float32)
TAPS = scipy.signal.firwin(257, 8_000, fs=RATE).astype(np.float32)


def recorded(samples: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns noise with pulses in it (samples,), and the positions of the pulses."""
    random = np.random.default_rng(1)
    sound = random.normal(scale=0.3, size=samples).astype(np.float32)
    begins = np.sort(random.choice(samples // 1000 - 2, 20, replace=False)) * 1000 + 500
    for begin in begins:
        sound[begin : begin + len(PULSE)] += PULSE
    return sound, begins


def convolved(chunk: Any, with_: np.ndarray[Any, Any]) -> Any:
    """Returns a chunk, with its neighbours' ends, filtered on its device."""
    taps = ft.tensor(with_, device=chunk.device)
    return ft.signal.fftconvolve(chunk, taps, mode="same")


def searched(sound: np.ndarray[Any, Any], chunk: int) -> Any:
    """Returns the correlation of the filtered recording with the pulse, as a Dask array of
    tensors.
    """
    x = da.from_array(sound, chunks=chunk)
    x = x.map_blocks(ft.tensor, dtype=np.float32, meta=ft.empty(0))
    for taps in (TAPS, PULSE[::-1].copy()):
        x = x.map_overlap(convolved, depth=len(taps), boundary=0.0, with_=taps, dtype=np.float32)
    return x


def by_scipy(sound: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the same, computed on the host."""
    filtered = scipy.signal.oaconvolve(sound, TAPS, mode="same")
    return scipy.signal.oaconvolve(filtered, PULSE[::-1], mode="same")


def run(
    devices: list[str], sound: np.ndarray[Any, Any], chunk: int, limit: int
) -> tuple[np.ndarray[Any, Any], float, dict[str, Any]]:
    """Returns the correlation, its seconds with kernels compiled, and the workers' reports."""
    with (
        LocalCluster(
            n_workers=len(devices),
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.ERROR,
            data=ftensor.dask.DeviceMemory,
            env={"FTENSOR_MEMORY_LIMIT": str(limit)},
        ) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(ftensor.dask.OwnDevice(devices))
        client.run(prepare, chunk)
        start = time.perf_counter()
        # All chunks are kept at once, so that devices are full. Data that leaves a device is
        # copied, since np.asarray would share its memory.
        correlation = searched(sound, chunk).persist().map_blocks(np.array, dtype=np.float32).compute()
        seconds = time.perf_counter() - start
        return correlation, seconds, client.run(report)


def prepare(chunk: int) -> None:
    """Makes a worker's device compile the kernels for inner chunks and for those at the ends."""
    with dask.config.set(scheduler="synchronous"):
        searched(np.zeros(3 * chunk, np.float32), chunk).compute()


def report(dask_worker: Any) -> str:
    """Returns a worker's device, and its numbers of values on the device and on the host."""
    memory = dask_worker.data
    most = ft.fpga.memory_stats()["allocated_bytes.all.peak"] / 2**20
    return f"{ft.fpga.get_device_name()}: at most {most:.0f} MiB, {memory.spilled} chunks spilled"


def main() -> None:
    """Runs it on one worker and on all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--devices", default="intel-cpu,csim", help="one for each worker")
    parser.add_argument("--samples", type=int, default=6_000_000)
    parser.add_argument("--limit", type=int, default=12, help="MiB of each device")
    parser.add_argument("--chunk", type=int, default=1 << 16, help="samples")
    options = parser.parse_args()
    sound, begins = recorded(options.samples)
    wanted = by_scipy(sound)
    devices = options.devices.split(",")
    print(f"{sound.nbytes / 2**20:.0f} MiB of sound, {options.limit} MiB of memory on each device")
    seconds = []
    for used in (devices[:1], devices):
        correlation, took, workers = run(used, sound, options.chunk, options.limit << 20)
        seconds.append(took)
        off = np.abs(correlation - wanted).max() / np.abs(wanted).max()
        peaks, _ = scipy.signal.find_peaks(correlation, 0.6 * correlation.max(), distance=len(PULSE))
        hit = np.isin(begins + len(PULSE) // 2, [peaks - 1, peaks, peaks + 1]).sum()
        print(
            f"{' + '.join(used)}: {took:.2f} s, {off:.1e} of the peak from SciPy's result, "
            f"{hit} of {len(begins)} pulses found"
        )
        print("".join(f"  {line}\n" for line in workers.values()), end="")
    print(f"{len(devices)} workers have {seconds[0] / seconds[1]:.2f} times the speed of the first")
    print("alone; devices that are this machine's processor share its cores, boards do not")


if __name__ == "__main__":
    main()
