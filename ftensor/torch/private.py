"""What is used of torch beyond its public interface, named in one place; torch's version is asked.

A step to a newer torch begins with this page; `tests/torch_device/test_private.py` asks for each
name.
Besides these, `PATCHED` lists what is replaced, and `compile.py` imports what it needs of torch's
compiler when it is first asked for.
"""

from __future__ import annotations

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
    "torch.set_default_dtype",
    "torch.UntypedStorage.resize_",
    "torch.clear_autocast_cache",
    "how torch.multiprocessing pickles an UntypedStorage",
    "aten::_pin_memory on CPU",
    "while a graph is traced: the parts of aten::multilabel_margin_loss_forward",
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


def overload(name: str) -> torch._ops.OpOverload:
    """The overload of aten that a qualified name without its namespace stands for."""
    base, _, over = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), over or "default")
