"""What launches depend on beside their operands: settings, and traits of the device."""

from __future__ import annotations

from .. import dtypes
from .._tensor import Tensor
from ..dtypes import int64
from ..kernels.key import STRIDED
from ..rows.op import Op
from ..runtime.lifetime import open_backends
from ..runtime.program import built, in_image
from .keys import gathering_key, op_key


def set_default_dtype(d: dtypes.dtype) -> None:
    """The dtype of floating point tensors made of Python numbers, and of int-to-float results."""
    dtypes.set_default_dtype(d)
    for backend in open_backends():
        backend.forget_launches()


def is_board(x: Tensor) -> bool:
    """True if the device of `x` is a board by its target, or takes its kernels from images."""
    return x._storage.backend.built_ahead


def specializes(x: Tensor) -> bool:
    """Whether a kernel that serves one case alone costs nothing where `x` lies."""
    return x._storage.backend.target.specializes


def revisits_rows(x: Tensor) -> bool:
    """Whether one kernel may go over the rows of `x` several times."""
    return x._storage.backend.target.revisits_rows


def spares_double(x: Tensor) -> bool:
    """Whether sums may be taken in float64 for the range alone: the device has it, at no great
    cost."""
    backend = x._storage.backend
    return backend.properties.has_float64 and backend.target.spares_double


def has_built_kernel(op: Op, x: Tensor, inputs: int) -> bool:
    """Whether the images where `x` lies have an op of so many inputs like it, of any strides."""
    of = x._dtype
    kinds = (STRIDED,) * (inputs + 1)
    return in_image(x._storage.backend, op_key(op, "rows", of.compute, 1, of, (of,) * inputs, kinds))


def has_gather_kernel(op: Op, x: Tensor) -> bool:
    """Whether a launch where `x` lies may ask for a row whose inputs an index finds, all of its
    dtype: images may lack it."""
    return built(x._storage.backend, gathering_key(op, x._dtype, int64, 1))
