"""Device properties and settings on which launches depend."""

from __future__ import annotations

from .. import dtypes
from .._tensor import Tensor
from ..dtypes import int64
from ..kernels.key import STRIDED
from ..rows.op import Op
from ..runtime.launch_cache import in_image, is_available
from ..runtime.lifetime import open_backends
from .keys import gathering_key, op_key


def set_default_dtype(d: dtypes.dtype) -> None:
    """Sets the dtype of floating point tensors from Python numbers, and of int-to-float results."""
    dtypes.set_default_dtype(d)
    for backend in open_backends():
        backend.forget_launches()


def is_board(x: Tensor) -> bool:
    """True if the device of `x` is a board or takes its kernels from images."""
    return x._storage.backend.built_ahead


def specializes(x: Tensor) -> bool:
    """True if the device of `x` compiles on demand, so that a kernel for a special case costs
    nothing."""
    return x._storage.backend.target.specializes


def revisits_rows(x: Tensor) -> bool:
    """True if one kernel may read the rows of `x` several times."""
    return x._storage.backend.target.revisits_rows


def spares_double(x: Tensor) -> bool:
    """True if sums may use float64 for its range alone: the device supports it at low cost."""
    backend = x._storage.backend
    return backend.properties.has_float64 and backend.target.spares_double


def has_built_kernel(op: Op, x: Tensor, inputs: int) -> bool:
    """True if the images of the device of `x` have the op with `inputs` operands of its dtype and
    any strides."""
    dtype = x._dtype
    kinds = (STRIDED,) * (inputs + 1)
    return in_image(x._storage.backend, op_key(op, "rows", dtype.compute, 1, dtype, (dtype,) * inputs, kinds))


def has_gather_kernel(op: Op, x: Tensor) -> bool:
    """True if a launch on the device of `x` can use an op that reads by index, all operands in its
    dtype. Images may lack the kernel."""
    return is_available(x._storage.backend, gathering_key(op, x._dtype, int64, 1))
