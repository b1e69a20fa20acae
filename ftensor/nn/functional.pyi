"""The functions of ftensor.nn.functional, torch's.

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from .._device import DeviceLike, device as _device
from .._tensor import Tensor as _Tensor
from ..dtypes import dtype as _dtype
from ..formats import Size as _Size, layout as _layout, memory_format as _memory_format
from .. import return_types as _return_types

_Number = _complex | np.generic

def celu(input: _Tensor, alpha: _float=1.0, inplace: _bool=False) -> _Tensor:
    """The value; for negative ones alpha * expm1(value / alpha). RuntimeError for alpha 0."""
def celu_(input: _Tensor, alpha: Any=1.0) -> _Tensor:
    """In-place form of `celu`."""
def elu(input: _Tensor, alpha: _float=1.0, inplace: _bool=False) -> _Tensor:
    """The value; for negative ones alpha * expm1(value)."""
def elu_(input: _Tensor, alpha: Any=1.0) -> _Tensor:
    """In-place form of `elu`."""
def gelu(input: _Tensor, *, approximate: str='none', out: _Tensor | None=None) -> _Tensor:
    """The value times the normal distribution function, or its approximation by \"tanh\"."""
def hardshrink(input: _Tensor, lambd: _float=0.5, *, out: _Tensor | None=None) -> _Tensor:
    """0 within [-lambd, lambd]."""
def hardsigmoid(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """(input + 3) / 6, brought into [0, 1]."""
def hardswish(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Input * hardsigmoid(input)."""
def hardtanh(input: _Tensor, min_val: _float=-1.0, max_val: _float=1.0, inplace: _bool=False) -> _Tensor:
    """The value brought into [min_val, max_val]; RuntimeError where min_val is the larger, or is
    negative for uint8.
    """
def hardtanh_(input: _Tensor, min_val: Any=-1.0, max_val: Any=1.0) -> _Tensor:
    """In-place form of `hardtanh`."""
def leaky_relu(input: _Tensor, negative_slope: _float=0.01, inplace: _bool=False) -> _Tensor:
    """The value, negative ones times `negative_slope`."""
def leaky_relu_(input: _Tensor, negative_slope: Any=0.01) -> _Tensor:
    """In-place form of `leaky_relu`."""
def linear(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """`input @ weight.T + bias`; the dims of `input` before the last are kept."""
def log_softmax(input: _Tensor, dim: _int | None=None, _stacklevel: _int=3, dtype: _dtype | None=None) -> _Tensor:
    """The logarithm of `softmax`."""
def logsigmoid(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Log(sigmoid(input)), in contiguous memory."""
def mish(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Input * tanh(softplus(input))."""
def pad(input: _Tensor, pad: Any, mode: str='constant', value: _float | None=None) -> _Tensor:
    """A copy with `value` (0) before and after: pairs of counts, for the last dim first."""
def relu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """The value, and 0 for negative ones."""
def relu6(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """The value brought into [0, 6]."""
def relu_(input: _Tensor) -> _Tensor:
    """In-place form of `relu`."""
def selu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """A scaled elu that keeps mean and variance."""
def selu_(input: _Tensor) -> _Tensor:
    """In-place form of `selu`."""
def sigmoid(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """1 / (1 + exp(-input)).

    Integer and bool inputs are computed in the default dtype.
    `out` takes the result where its dtype can hold it, else RuntimeError.
    """
def silu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Input * sigmoid(input)."""
def softmax(input: _Tensor, dim: _int | None=None, _stacklevel: _int=3, dtype: _dtype | None=None) -> _Tensor:
    """Exponentials along a dim, divided by their sum."""
def softplus(input: _Tensor, beta: _float=1, threshold: _float=20, *, out: _Tensor | None=None) -> _Tensor:
    """Log(1 + exp(beta * input)) / beta, and the value itself where beta * input > threshold."""
def softshrink(input: _Tensor, lambd: _float=0.5, *, out: _Tensor | None=None) -> _Tensor:
    """The value moved towards 0 by `lambd`, at most to 0. RuntimeError for a negative `lambd`."""
def softsign(input: _Tensor) -> _Tensor:
    """Input / (1 + abs(input))."""
def tanh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """The hyperbolic tangent.

    Integer and bool inputs are computed in the default dtype.
    `out` takes the result where its dtype can hold it, else RuntimeError.
    """
def tanhshrink(input: _Tensor) -> _Tensor:
    """Input - tanh(input)."""
def threshold(input: _Tensor, threshold: _float, value: _float, inplace: _bool=False) -> _Tensor:
    """`value` wherever the input is not above `threshold`."""
def threshold_(input: _Tensor, threshold: Any, value: Any) -> _Tensor:
    """In-place form of `threshold`."""
