"""The standard's extension `fft`: torch's transforms with the arguments `axis` and `axes`, and the
standard's rules for real and complex input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._device import DeviceLike
from .._tensor import Tensor
from ..dtypes import dtype
from ..errors import creation as messages
from ..rows.catalogue import op_of
from .dtypes import check

# Input and output of each transform.
_TRANSFORMS = {
    "fft": "floating-point",
    "ifft": "floating-point",
    "rfft": "real floating-point",
    "irfft": "floating-point",
    "hfft": "floating-point",
    "ihfft": "real floating-point",
}
_TRANSFORMS_ND = {
    "fftn": "floating-point",
    "ifftn": "floating-point",
    "rfftn": "real floating-point",
    "irfftn": "floating-point",
}
__all__ = [*_TRANSFORMS, *_TRANSFORMS_ND, "fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _norm(name: str, norm: str) -> None:
    if norm not in ("backward", "ortho", "forward"):
        raise messages.unknown_word(name, "norm", "'backward', 'ortho', 'forward'", norm)


def _make_transform(name: str, category: str) -> Callable[..., Tensor]:
    call = op_of(f"fft.{name}")

    def function(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        check(name, category, x)
        _norm(name, norm)
        return call(x, n, axis, norm)

    return _set_metadata(function, name, category)


def _make_transform_nd(name: str, category: str) -> Callable[..., Tensor]:
    call = op_of(f"fft.{name}")

    def function(
        x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
    ) -> Tensor:
        check(name, category, x)
        _norm(name, norm)
        return call(x, s, axes, norm)

    return _set_metadata(function, name, category)


def _set_metadata(function: Any, name: str, category: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`ftensor.fft.{name}` of {category} arrays; TypeError for others."
    return function


def _make_shift(name: str) -> Callable[..., Tensor]:
    call = op_of(f"fft.{name}")

    def function(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
        return call(x, axes)

    return _set_metadata(function, name, "all")


def _make_frequencies(name: str) -> Callable[..., Tensor]:
    call = op_of(f"fft.{name}")

    def function(n: int, /, *, d: float = 1.0, dtype: dtype | None = None, device: DeviceLike | None = None) -> Tensor:
        return call(n, d, dtype=dtype, device=device)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`ftensor.fft.{name}` of n places at distance `d`."
    return function


for _name, _category in _TRANSFORMS.items():
    globals()[_name] = _make_transform(_name, _category)
for _name, _category in _TRANSFORMS_ND.items():
    globals()[_name] = _make_transform_nd(_name, _category)
fftshift, ifftshift = _make_shift("fftshift"), _make_shift("ifftshift")
fftfreq, rfftfreq = _make_frequencies("fftfreq"), _make_frequencies("rfftfreq")


def __dir__() -> list[str]:
    return list(__all__)
