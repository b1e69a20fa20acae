"""`torch.fpga.amp`, `graphs`, `memory`, `random` and `streams`, as in `torch.cuda`; and what inductor
looks up in `torch.fpga`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, NoReturn

import torch
from torch.amp import custom_bwd, custom_fwd

from ..errors import torch as errors
from . import graphs, mem_pool, module
from .registration import NAME


class autocast(torch.autocast):
    """`torch.autocast("fpga")`."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype | None = None, cache_enabled: bool = True) -> None:
        super().__init__(NAME, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    """`torch.amp.GradScaler("fpga")`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(NAME, *args, **kwargs)


def _custom_fwd(fwd: Any = None, *, cast_inputs: torch.dtype | None = None) -> Any:
    return custom_fwd(fwd, device_type=NAME, cast_inputs=cast_inputs)


def _custom_bwd(bwd: Any) -> Any:
    return custom_bwd(bwd, device_type=NAME)


class NoCodegen:
    """Inductor's code generator for the device, which refuses: graphs of the device are compiled by
    ftensor's backend, which writes no files."""

    supports_caching = False  # inductor asks for it first

    @staticmethod
    def create(*args: Any, **kwargs: Any) -> NoReturn:
        """Raises NotImplementedError, with the way to keep a program."""
        raise errors.no_codegen()


def _find_codegen(name: str) -> Any:
    """`torch.fpga.__getattr__`: gives inductor its code generators when it first looks for them."""
    if name not in ("Scheduling", "PythonWrapperCodegen", "CppWrapperCodegen", "WrapperFxCodegen"):
        raise AttributeError(f"module 'torch.{NAME}' has no attribute {name!r}", name=name, obj=module)
    from torch._inductor.codegen.common import DeviceOpOverrides, register_device_op_overrides

    register_device_op_overrides(NAME, DeviceOpOverrides())
    return NoCodegen


_AMP = {"GradScaler": GradScaler, "autocast": autocast, "custom_bwd": _custom_bwd, "custom_fwd": _custom_fwd}
_GRAPHS = {
    **{n: getattr(graphs, n) for n in ("FPGAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing")},
    "make_graphed_callables": graphs.make_graphed_callables,
}
_NAMES = {
    "memory": """MemPool empty_cache get_per_process_memory_fraction max_memory_allocated max_memory_reserved
        mem_get_info memory_allocated memory_reserved memory_snapshot memory_stats memory_stats_as_nested_dict
        memory_summary reset_accumulated_memory_stats reset_peak_memory_stats set_per_process_memory_fraction
        use_mem_pool""",
    "random": """get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed seed_all
        set_rng_state set_rng_state_all""",
    "streams": "Event Stream",
}


def install() -> None:
    """Adds the modules, and the names of `graphs`, to `torch.fpga`."""
    module.__dict__.update(MemPool=mem_pool.MemPool, use_mem_pool=mem_pool.use_mem_pool)
    contents = {name: {n: getattr(module, n) for n in names.split()} for name, names in _NAMES.items()}
    for name, names in (contents | {"amp": _AMP, "graphs": _GRAPHS}).items():
        added = ModuleType(f"torch.{NAME}.{name}", f"The names of `torch.cuda.{name}` for the device.")
        added.__dict__.update(names, __all__=sorted(names))
        sys.modules[added.__name__] = added
        setattr(module, name, added)
    module.__dict__.update(_GRAPHS, OutOfMemoryError=torch.OutOfMemoryError, __getattr__=_find_codegen)
    module.__dict__.setdefault("__path__", [])  # a package for `import torch.fpga.amp`
