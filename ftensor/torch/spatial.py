"""Images in other sizes and padded with what is there, under aten's names, and their derivatives;
the derivatives of images read at the points of a grid.

Of resizing and padding each dim by itself is a linear map, so that a derivative is a product with
its matrix, which the op itself makes of the unit matrix.
"""

from __future__ import annotations

from typing import Any

import torch

from .. import dtypes
from .._tensor import Tensor
from ..ops.compose import f
from ..ops.nn.grid_gradients import gradients
from .fallback import run as on_host
from .kernels import PADDING, SAMPLING
from .memory import lift, wrap
from .private import overload
from .registration import impl

Scale = float | None


def _unit(n: int, of: dtypes.dtype, device: Any, dims: int) -> Tensor:
    """The unit matrix as an image of n channels, with as many dims as are asked for."""
    made: Tensor = f.eye(n, dtype=of, device=device)
    return made.reshape((1, n, *(1,) * (dims - 1), n))


def _along(grad: Tensor, dim: int, matrix: Tensor) -> Tensor:
    """The gradient before a map of one dim, whose matrix is (elements, results)."""
    made: Tensor = f.matmul(grad.transpose(dim, -1), matrix.t()).transpose(dim, -1)
    return made


def _resize(x: Tensor, sizes: Any, scales: Any, mode: str, **more: Any) -> Tensor:
    """NotImplementedError where the sizes don't follow from the scales."""
    size = x._shape[2:]
    given = [s for s in scales if s is not None]
    if given and [int(n * s) for n, s in zip(size, given)] != list(sizes):
        raise NotImplementedError
    how = {"scale_factor": given} if given else {"size": list(sizes)}
    made: Tensor = f["nn.functional.interpolate"](x, mode=mode, **how, **more)
    return made


def _resizing(name: str, mode: str, n: int, cornered: bool, **more: Any) -> None:
    """Kernels of an overload and of its derivative; `cornered` have an align_corners."""
    op, back = overload(name), overload(f"{name}_backward")
    # A dim by itself: what has 2 dims only keeps one of size 1.
    flat = 2 if mode == "bicubic" or more else 1
    of_one = "linear" if mode in ("bilinear", "trilinear") and not more else mode

    def split(args: Any) -> tuple[dict[str, Any], Any]:
        corners = {"align_corners": args[0]} if cornered else {}
        return corners | more, (*args[cornered:], *[None] * n)[:n]

    @impl(name)
    def forward(self: Any, output_size: Any, *args: Any) -> torch.Tensor:
        named, scales = split(args)
        try:
            return wrap(_resize(lift(self), output_size, scales, mode, **named))
        except NotImplementedError:
            return on_host(op, self, output_size, *args)

    @impl(f"{name}_backward")
    def backward(grad: Any, output_size: Any, input_size: Any, *args: Any) -> torch.Tensor:
        named, scales = split(args)
        try:
            a = lift(grad)
            of, made = a._dtype, a.to(a._dtype.compute)
            for d, (size, count, scale) in enumerate(zip(input_size[2:], output_size, scales)):
                if size == count and scale in (None, 1.0):
                    continue
                unit = _unit(size, made._dtype, made.device, flat)
                one = (1,) * (flat - 1)
                own = None if scale is None else 1.0
                matrix = _resize(unit, (*one, count), (*(own for _ in one), scale), of_one, **named)
                made = _along(made, d + 2, matrix.reshape(size, count))
            return wrap(made.to(of).contiguous() if made is not a else a.clone())
        except NotImplementedError:
            return on_host(back, grad, output_size, input_size, *args)


for _n, _mode in enumerate(("linear1d", "bilinear2d", "trilinear3d"), 1):
    _resizing(f"upsample_nearest{_n}d", "nearest", _n, False)
    _resizing(f"_upsample_nearest_exact{_n}d", "nearest-exact", _n, False)
    _resizing(f"upsample_{_mode}", _mode[:-2], _n, True)
_resizing("upsample_bicubic2d", "bicubic", 2, True)
for _mode in ("bilinear", "bicubic"):
    _resizing(f"_upsample_{_mode}2d_aa", _mode, 2, True, antialias=True)


def _padding(name: str, mode: str) -> None:
    """Kernels of an overload and of its derivative."""
    op, back = overload(name), overload(f"{name}_backward")
    pad = f["nn.functional.pad"]

    @impl(name)
    def forward(self: Any, padding: Any) -> torch.Tensor:
        try:
            return wrap(pad(lift(self), list(padding), mode))
        except NotImplementedError:
            return on_host(op, self, padding)

    @impl(f"{name}_backward")
    def backward(grad: Any, self: Any, padding: Any) -> torch.Tensor:
        try:
            a = lift(grad)
            of, made = a._dtype, a.to(a._dtype.compute)
            for k in range(0, len(padding), 2):
                dim = self.dim() - 1 - k // 2
                unit = _unit(self.shape[dim], made._dtype, made.device, 1)
                made = _along(made, dim, pad(unit, list(padding[k : k + 2]), mode)[0])
            return wrap(made.to(of).contiguous())
        except NotImplementedError:
            return on_host(back, grad, self, padding)


for _n in (1, 2, 3):
    _padding(f"reflection_pad{_n}d", "reflect")
    _padding(f"replication_pad{_n}d", "replicate")


@impl("grid_sampler_2d_backward", "grid_sampler_3d_backward")
def grid_sampler_backward(
    grad: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int,
    align_corners: bool, output_mask: Any,
) -> tuple[torch.Tensor | None, ...]:  # fmt: skip
    how = SAMPLING[interpolation_mode], PADDING[padding_mode], align_corners
    found = gradients(lift(grad), lift(input), lift(grid), *how, output_mask)
    return tuple([None if one is None else wrap(one) for one in found])
