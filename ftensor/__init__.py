"""ftensor: torch's tensors on FPGAs and any OpenCL device."""

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from . import _namespace, cuda, fpga, random, return_types
from ._device import device, get_default_device, get_device_mapping, set_default_device, set_device_mapping
from ._printing import get_printoptions, printoptions, set_printoptions
from ._tensor import Tensor
from ._version import __version__
from .dtypes import (
    bfloat16,
    bool,
    can_cast,
    cdouble,
    cfloat,
    chalf,
    complex32,
    complex64,
    complex128,
    double,
    dtype,
    float,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    result_type,
    short,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .dtypes.limits import finfo, iinfo
from .errors import KernelNotBuilt, OutOfMemoryError
from .errors.graph import GraphError
from .errors.linalg import LinAlgError as _LinAlgError
from .execute.device_traits import set_default_dtype
from .execute.indexed import get_index_check, set_index_check
from .formats import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    newaxis,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from .fpga import load_image, synchronize
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .graph.jit import jit
from .interop import dlpack as _methods
from .interop import state as _pickling
from .interop.dlpack import from_dlpack, from_torch
from .interop.host import from_numpy
from .interop.opencl import from_buffer
from .interop.state import load, save
from .ops import bind as _bind
from .ops import load as _load
from .ops.bind import module_attribute_error as _of_module
from .ops.examples import attach as _attach_examples
from .ops.reduce.feedback import scan
from .own.register import register_kernel, unregister_kernel
from .random import Generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .rows.spelling import show_types_in as _show_types_in
from .runtime.fallback import FallbackWarning, fallback_report, get_fallback, set_fallback
from .toolchain import export as _export

_load()
_export.install()
_bind.install(_sys.modules[__name__])
_bind.add_class("linalg", _LinAlgError)
_import_module(".modules", __name__).install()

from math import e, inf, nan, pi  # noqa: E402


def __dir__() -> list[str]:
    """Returns the public names, without the internal modules."""
    return sorted(
        name for name, value in globals().items() if name == "__version__" or (name[0] != "_" and not _is_hidden(value))
    )


def _is_hidden(value: object) -> bool:
    if not isinstance(value, _ModuleType):
        return False
    return not (isinstance(value, _bind.Namespace) or value in (cuda, fpga, random, return_types))


def __getattr__(name: str) -> object:
    # Imported at first use: few programs need them.
    if name in ("array_api", "distributions", "profiler"):
        return _import_module(f".{name}", __name__)
    if name == "benchmark":
        return _import_module(".profiler", __name__).benchmark
    raise _of_module(_sys.modules[__name__], name)


__all__ = __dir__()
_show_types_in(_sys.modules[__name__], fpga, random)
_attach_examples(_sys.modules[__name__])
