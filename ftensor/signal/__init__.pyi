"""The functions of ftensor.signal, torch's.

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from .._device import DeviceLike, device as _device
from .._tensor import Tensor as _Tensor
from ..dtypes import dtype as _dtype
from ..formats import Size as _Size, layout as _layout, memory_format as _memory_format
from .. import return_types as _return_types

_Number = _complex | np.generic

from . import windows as windows
