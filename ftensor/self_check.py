"""What `ftensor doctor` computes on a device, against NumPy: a kernel of each kind that a driver's
compiler has been seen to get wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import ftensor as ft

from . import errors

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
        found = ours().numpy()
        wrong = int((~np.isclose(found, right, rtol=1e-5, atol=1e-4)).sum())
        if wrong:
            raise errors.wrong_results(name, wrong, right.size)
