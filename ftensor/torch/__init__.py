"""ftensor as a device of torch: `model.to("fpga")`, in pure Python on torch's CPU wheel.

    import torch, ftensor.torch
    model = Net().to("fpga")

Modules: `registration` registers the device with torch and adds `torch.fpga` (`module`). `memory`
implements the basic mechanism: a torch storage that carries an ftensor storage. `structure` and
`copies` hold the ops without arithmetic. `kernels` generates one dispatcher kernel for each line
of `table.txt`, which `schema` writes and a person reviews. A line calls an op of the catalogue or
a derivative (`ftensor/ops/gradients/`). The decorators `impl` and `kernel` register the kernels
written by hand. `fallback` runs all other ops, and calls that a kernel refuses, on the host.
torch's own derivative formulas work unchanged on top of these kernels.
"""

from __future__ import annotations

try:
    import torch as _torch
except ModuleNotFoundError as _missing:
    if _missing.name != "torch":
        raise
    from ..errors.torch import no_torch as _no_torch

    raise _no_torch() from None

from functools import wraps as _wraps

from .._device import get_device_mapping, set_device_mapping
from ..execute.device_traits import set_default_dtype as _set_ftensor_default
from . import accelerator as _accelerator
from . import autocast as _autocast
from . import backend_ops as _backend_ops  # noqa: F401
from . import composites as _composites  # noqa: F401
from . import copies as _copies
from . import distributed as _distributed
from . import fallback as _fallback
from . import internals as _internals  # noqa: F401  first: it asks for torch's version
from . import kernels as _kernels
from . import memory as _memory
from . import module as _module
from . import optimizers as _optimizers  # noqa: F401
from . import profiling as _profiling
from . import registration as _registration
from . import serialization as _serialization
from . import structure as _structure  # noqa: F401
from . import submodules as _submodules
from .captures import capture
from .fallback import fallback_report
from .fused_runs import graph_report
from .memory import as_cpu, from_cpu, from_ftensor, to_ftensor
from .pt2e import from_pt2e

_registration.register_device(_module)
_serialization.install()
_kernels.install()
_fallback.install()
_autocast.install()
_accelerator.install()
_accelerator.install_module_to()
_copies.install()
_serialization.install_safetensors()
_distributed.install()
_profiling.install()
_kernels.install_user_kernels()
_submodules.install()
_set_default_dtype = _torch.set_default_dtype


@_wraps(_set_default_dtype)
def _both_default_dtypes(d: _torch.dtype, /) -> None:
    _set_default_dtype(d)
    if d in _memory.TO_FT:
        _set_ftensor_default(_memory.TO_FT[d])


# Kernels promote integers to ftensor's default dtype, so it must equal torch's.
_torch.set_default_dtype = _both_default_dtypes
_set_ftensor_default(_memory.TO_FT[_torch.get_default_dtype()])

__all__ = [
    "as_cpu",
    "capture",
    "fallback_report",
    "from_cpu",
    "from_ftensor",
    "from_pt2e",
    "get_device_mapping",
    "graph_report",
    "set_device_mapping",
    "to_ftensor",
]
