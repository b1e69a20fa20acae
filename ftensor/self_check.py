"""Whether a device works: what `ftensor doctor` computes on it, against NumPy. A kernel of each
kind that a driver's compiler has been seen to get wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import ftensor as ft

from . import errors
from ._device import found_of, resolve

CHECK_SECONDS = 120
Case = tuple[str, Callable[[], "ft.Tensor"], np.ndarray]


def cases() -> Iterator[Case]:
    """(name, what computes it, the right result); whole numbers, so that all but fft is exact."""
    numbers = np.arange(2 * 3 * 9 * 9) * 37 % 11 - 5.0
    image = numbers.reshape(2, 3, 9, 9).astype(np.float32)
    filters = numbers[: 8 * 3 * 3 * 3].reshape(8, 3, 3, 3).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (2, 3))[:, :, ::2, ::2]
    yield (
        "conv2d",
        lambda: ft.nn.functional.conv2d(ft.tensor(image), ft.tensor(filters), stride=2),
        np.einsum("nchwij,fcij->nfhw", windows, filters),
    )
    a, b = image.reshape(18, 27), image.reshape(27, 18)
    yield "matmul", lambda: ft.matmul(ft.tensor(a), ft.tensor(b)), a @ b
    rows = image.reshape(9, 54)[:, :24]
    yield (
        "fft.fft",
        lambda: ft.view_as_real(ft.fft.fft(ft.tensor(rows))),
        np.fft.fft(rows.astype(np.float64))[..., None].view(np.float64),
    )
    yield "sort", lambda: ft.sort(ft.tensor(a), dim=1)[0], np.sort(a, axis=1)


def compute() -> None:
    """RuntimeError that names the first op whose result is not NumPy's."""
    for name, ours, right in cases():
        result = ours().numpy()
        wrong = int((~np.isclose(result, right, rtol=1e-5, atol=1e-4)).sum())
        if wrong:
            raise errors.wrong_results(name, wrong, right.size)


def try_device(selector: str) -> str:
    """Compute on a device in a process of its own, since a broken driver may take its process
    along or hang it; "" if that works, else what went wrong."""
    root = str(Path(__file__).parent.parent)
    code = f"import sys; sys.path.insert(0, {root!r}); from ftensor.self_check import check; check()"
    environment = {**os.environ, "FTENSOR_DEVICE": selector}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CHECK_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return f"gave no answer within {CHECK_SECONDS} seconds"
    if done.returncode == 0:
        return ""
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}; {said[-1] if said else 'nothing said'}"
    raised = [line for line in said if "Error" in line.partition(":")[0]]
    return (raised or said or [f"exit status {done.returncode}"])[-1]


def check() -> None:
    """Compile a kernel for the first device, run it and a few ops, and compare; raises if that
    fails."""
    backend = found_of(resolve("fpga")).open()
    values = np.arange(64, dtype=np.int32)
    storage = backend.allocate(values.nbytes)
    backend.upload(storage, 0, values)
    expected = values
    if backend.target.kind != "board" or backend.target.emulates:  # a board has only its image
        loop = "{ for (int i = 0; i < n; ++i) p[i] += 1; }"
        heads = {
            "vitis": 'extern "C" void ft_check(int *p, int n, int unit, int units)',
            "intel": "__kernel void ft_check(__global int *p, int n, int unit, int units)",
            "opencl": "__kernel void ft_check(__global int *p, int n)",
        }
        source = f"{heads[backend.dialect]} {loop}\n"
        kernel = backend.build(source, "ft_check", ["*", "int"])
        kernel(backend.current_stream(), 1, storage.handle, values.size)
        expected = values + 1
    result = np.empty_like(values)
    backend.download(storage, 0, result)
    if not np.array_equal(result, expected):
        raise RuntimeError(f"the device computed {result.tolist()} for {expected.tolist()}")
    # A board computes what its image holds, and Oclgrind's interpreter takes minutes.
    if backend.images is None and backend.target.name != "oclgrind":
        compute()
