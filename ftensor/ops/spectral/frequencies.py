"""The frequencies that belong to the elements of a transform."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import creation as errors_creation
from ...errors import spectral as errors_spectral
from ..create.factory import Options, factory
from ..create.ranges import arange
from ..view.arguments import as_int


def _place(options: Options, n: Any, d: float, half: bool, out: Tensor | None) -> Tensor:
    """0, 1, ... and, without `half`, the negative ones behind, over n * d."""
    op = options.function
    n = as_int(n, op, "n")
    count = int(n / 2) + 1 if half else n  # rounded towards 0, as torch does
    if count < 0:
        raise errors_creation.negative_dimension((count,))
    if options.dtype is not None and options.dtype.kind not in "fc":
        raise errors_spectral.frequencies(op, options.dtype)
    frequencies = options.destination((count,), out)
    if frequencies._dtype.is_complex:
        raise errors.not_implemented_for(op, frequencies._dtype)
    if frequencies.numel():
        step = 1.0 / (n * float(d)) if n * float(d) else float("inf")
        middle = frequencies._shape[0] if half else (n + 1) // 2
        of: dict[str, Any] = {"dtype": frequencies._dtype, "device": frequencies.device}
        frequencies.narrow(0, 0, middle).copy_(arange(middle, **of))
        if middle < frequencies._shape[0]:
            frequencies.narrow(0, middle, n - middle).copy_(arange(-(n // 2), 0, **of))
        frequencies.mul_(step)
    return frequencies


@factory(namespace="fft", method=False)
def fftfreq(options: Options, n: int, d: float = 1.0, *, out: Tensor | None = None) -> Tensor:
    """The frequencies of `n` points that are `d` apart, in the order of `fft`: 0, 1, ... and then
    the negative ones, over n * d. RuntimeError for a dtype that is no floating-point one.
    """
    return _place(options, n, d, False, out)


@factory(namespace="fft", method=False)
def rfftfreq(options: Options, n: int, d: float = 1.0, *, out: Tensor | None = None) -> Tensor:
    """The frequencies of `rfft`: 0 to n // 2, over n * d."""
    return _place(options, n, d, True, out)
