"""What is used of torch beyond its public interface, named in one place; torch's version is asked.

A step to a newer torch begins with this page; `tests/torch_device/test_private.py` asks for each
name.
Besides these, `PATCHED` lists what is replaced, and `compile.py` imports what it needs of torch's
compiler when it is first asked for.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import torch

from ..errors import torch_device as errors
from ..torch_autoload import TESTED

# What this package replaces in torch: where only C++ could answer for a device.
PATCHED = (
    "torch.storage._StorageBase.clone",
    "torch.UntypedStorage.__new__",
    "torch.UntypedStorage._write_file",
    "torch.UntypedStorage._set_from_file",
    "torch.accelerator.*",
    "torch.Generator",
    "torch.Tensor.record_stream",
    "torch.nn.Module._apply",
    "torch.Tensor.__dlpack__",
    "torch.Tensor.__dlpack_device__",
    "torch._TorchCompileInductorWrapper.__call__",
    "torch.from_dlpack",
    "torch.set_default_dtype",
    "torch.to_dlpack",
    "torch.utils.dlpack.from_dlpack",
    "torch.utils.dlpack.to_dlpack",
    "torch.UntypedStorage.resize_",
    "torch.clear_autocast_cache",
    "how torch.multiprocessing pickles an UntypedStorage",
    "aten::_pin_memory on CPU",
    "while a graph is traced: the parts of aten::multilabel_margin_loss_forward",
    "exchangeStream of the guard",
)


def check_version(found: str = torch.__version__) -> None:
    """ImportError for a torch whose private interface was not tested."""
    if ".".join(found.split(".")[:2]) not in TESTED:
        raise errors.torch_version(found, TESTED)


check_version()

C = torch._C
# The device: C++ holds bare pointers to what is registered, so someone must hold the objects.
Hooks = C._acc.PrivateUse1Hooks
DeviceGuard = C._acc.DeviceGuard
register_hooks = C._acc.register_python_privateuseone_hook
register_guard = C._acc.register_python_privateuseone_device_guard
PRIVATE_USE_1 = C._autograd.DeviceType.PrivateUse1
register_device_module = torch._register_device_module

# Storages and tensors over addresses.
storage_at = C._construct_storage_from_data_pointer
empty_tensor = C._acc.create_empty_tensor
from_dlpack_capsule = C._from_dlpack
untyped_storage = C.TensorBase.untyped_storage

# What two tensors' Python objects stand for is exchanged.
swap_implementations = C._swap_tensor_impl

# The class that torch.Generator is.
Generator = C.Generator

# The dispatcher.
Keys = C.DispatchKeySet
Key = C.DispatchKey
ExcludeKeys = C._ExcludeDispatchKeyGuard
has_kernel = C._dispatch_has_kernel
has_kernel_for = C._dispatch_has_kernel_for_dispatch_key
all_schemas = C._jit_get_all_schemas

CPU_KEYS = Keys(Key.CPU)


_METHODS, _EXCHANGE_STREAM = 26, 9  # of c10::impl::DeviceGuardImplInterface, as its header says


def exchange_no_streams() -> None:
    """Give the registered guard the method by which the CPU's guard exchanges streams: nothing.

    torch exchanges streams back while an exception leaves a node of a backward pass. Python's
    guard asks Python for its type there, where Python's error is set, so the call fails; and the
    method is noexcept, so the process would end. Both classes have the same methods in the same
    order: ours gets a table of them with that one changed.
    """
    pointer = ctypes.c_void_p
    lib = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    guards = (pointer * 32).in_dll(lib, "_ZN3c104impl26device_guard_impl_registryE")
    own = pointer.from_address(guards[int(PRIVATE_USE_1)] or 0)
    cpu = pointer.from_address(guards[int(C._autograd.DeviceType.CPU)] or 0)
    assert own.value is not None and cpu.value is not None
    table = (pointer * (2 + _METHODS)).from_address(own.value - 2 * ctypes.sizeof(pointer))
    _table[:] = list(table)  # with what stands before it: the offset to the top, the class
    _table[2 + _EXCHANGE_STREAM] = (pointer * _METHODS).from_address(cpu.value)[_EXCHANGE_STREAM]
    own.value = ctypes.addressof(_table) + 2 * ctypes.sizeof(pointer)


_table = (ctypes.c_void_p * (2 + _METHODS))()  # lives as long as the process


def overload(name: str) -> torch._ops.OpOverload:
    """The overload of aten that a qualified name without its namespace stands for."""
    base, _, over = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), over or "default")
