"""The named tuples that ops with several results return, under torch's names.

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from ._device import DeviceLike, device as _device
from ._tensor import Tensor as _Tensor
from .dtypes import dtype as _dtype
from .formats import Size as _Size, layout as _layout, memory_format as _memory_format
from . import return_types as _return_types

_Number = _complex | np.generic

class aminmax(tuple[_Tensor, _Tensor]):
    @property
    def min(self) -> _Tensor: ...
    @property
    def max(self) -> _Tensor: ...
class aminmax_out(tuple[_Tensor, _Tensor]):
    @property
    def min(self) -> _Tensor: ...
    @property
    def max(self) -> _Tensor: ...
class frexp(tuple[_Tensor, _Tensor]):
    @property
    def mantissa(self) -> _Tensor: ...
    @property
    def exponent(self) -> _Tensor: ...
class max(tuple[_Tensor, _Tensor]):
    @property
    def values(self) -> _Tensor: ...
    @property
    def indices(self) -> _Tensor: ...
class max_out(tuple[_Tensor, _Tensor]):
    @property
    def values(self) -> _Tensor: ...
    @property
    def indices(self) -> _Tensor: ...
class min(tuple[_Tensor, _Tensor]):
    @property
    def values(self) -> _Tensor: ...
    @property
    def indices(self) -> _Tensor: ...
class min_out(tuple[_Tensor, _Tensor]):
    @property
    def values(self) -> _Tensor: ...
    @property
    def indices(self) -> _Tensor: ...
