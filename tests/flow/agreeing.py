"""Calls with several possible kernels, for images that have some of them; prints the kernels that
ran.

Without FTENSOR_IMAGE, as for a trace, it prints nothing.
"""

import json
import os
import warnings

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.dispatch import MissingKernel, Observer, observed

launched: set[str] = set()


class Notes(Observer):
    """Records each kernel."""

    def launch(self, launch, stream, tensors, numbers):
        launched.update(step.key.entry for step in launch.steps)
        super().launch(launch, stream, tensors, numbers)


def calls() -> None:
    """Runs all cases."""
    x = ft.ones(8, 64)
    z = ft.fft.fft(x)  # streamed, also in a kernel for longer rows
    ft.fft.ifft(z[:, :16])
    ft.fft.irfft(ft.fft.rfft(x), n=64)
    ft.fft.fft(ft.ones(4, 128))  # too long, and of another length, so no kernel
    ft.fft.fft(ft.ones(2, 12))
    (x + x, x + x[0], x[:, 1:] * 2, x.t() + x.t()[0], x[:, ::2].contiguous(), -x)  # contiguous, rows, wide
    x.sum(1), x.sum(0), x.sum(), x[:, :7].sum(1), x.amax(1)
    x[ft.tensor([1, 0])]
    (ft.ones(8, 8) @ ft.ones(8, 8), ft.ones(96, 96) @ ft.ones(96, 96), ft.ones(40, 96) @ x.t()[:1].expand(96, 8))
    ft.nn.functional.conv2d(ft.ones(1, 2, 9, 9), ft.ones(3, 2, 3, 3))
    ft.nn.functional.conv_transpose2d(ft.ones(1, 2, 9, 9), ft.ones(2, 3, 3, 3), stride=2)
    ft.linalg.lu_factor(ft.eye(5))
    # Small windows as one launch, if an image has a kernel for them.
    plane = ft.arange(64.0).reshape(1, 8, 8)
    largest = ft.nn.functional.max_pool2d(plane, 2)
    assert largest.tolist()[0][1] == [25.0, 27.0, 29.0, 31.0]
    ft.nn.functional.max_pool2d(plane, 3)


if os.environ.get("FTENSOR_IMAGE"):
    warnings.simplefilter("ignore")
    backend = default_backend()
    with observed(backend, Notes()):
        calls()
    lacking = {m.error.entry for m in backend.launches.values() if isinstance(m, MissingKernel)}
    print(json.dumps([sorted(launched), sorted(lacking)]))
else:
    calls()
