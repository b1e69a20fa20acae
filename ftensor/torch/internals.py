"""All private names of torch that this package uses, and a check of torch's version.

Start here to support a newer torch. `tests/torch_device/test_private.py` checks each name.
`PATCHED` lists the names in torch that this package replaces. `compile.py` imports private names
of torch's compiler itself, at first use.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch.autograd import forward_ad

from .._version import TORCH_TESTED
from ..errors import torch as errors

T = TypeVar("T")
# Names that this package replaces, because torch's own versions need a device in C++.
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
    "safetensors.safe_open",
    "where the hooks take pinned memory from, and what they call pinned",
    "a c10::StorageImpl's pointer and size, when a storage is resized",
    "c10d's collectives of the device",
    "while a graph is traced: the parts of aten::multilabel_margin_loss_forward",
    "how the guard says its device and stream",
    "torch.autograd.profiler.profile._start_trace",
    "torch.autograd.profiler.profile.__exit__",
    "torch.autograd.profiler.profile._parse_kineto_results",
    "torch.autograd.profiler.profile.export_chrome_trace",
)


def check_version(version: str = torch.__version__) -> None:
    """Raises ImportError for a minor version of torch that is not in `TORCH_TESTED`."""
    if ".".join(version.split(".")[:2]) not in TORCH_TESTED:
        raise errors.torch_version(version, TORCH_TESTED)


check_version()

C = torch._C
# The device. C++ holds raw pointers to registered objects, so Python must keep these alive.
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

# Exchanges the C++ tensors of two Python tensor objects.
swap_implementations = C._swap_tensor_impl

# torch.Generator before `accelerator` replaces it.
Generator = C.Generator

# The dispatcher.
Keys = C.DispatchKeySet
Key = C.DispatchKey
ExcludeKeys = C._ExcludeDispatchKeyGuard
has_kernel = C._dispatch_has_kernel
has_kernel_for = C._dispatch_has_kernel_for_dispatch_key
all_schemas = C._jit_get_all_schemas
parse_schema = C.parse_schema
all_op_names = C._dispatch_get_all_op_names

# True for a batch of gradients (`is_grads_batched`), which has no storage.
is_batched = C._functorch.is_legacy_batchedtensor

CPU_KEYS = Keys(Key.CPU)
# Dispatch keys of a device tensor that requires grad.
RECORDED_KEYS = Keys(Key.AutogradPrivateUse1) | Keys(Key.PrivateUse1)


# c10::impl::DeviceGuardImplInterface: the number of virtual methods, and the vtable indices of the
# methods that return the current or previous device or stream.
_METHODS, _EXCHANGE_STREAM = 26, 9
_EXCHANGE_DEVICE, _GET_DEVICE, _GET_STREAM, _GET_NEW_STREAM = 1, 2, 5, 8
# x86-64 code: rdx = 0 (stream); eax = device, one byte each for type and index (-1); ret.
_CPU_STREAM = bytes.fromhex("31d2 b8 00ff0000 c3")


def answer_without_python() -> None:
    """Patches the vtable of the registered guard with methods that don't call Python.

    torch's Python guard calls Python for its type whenever torch needs the device or the stream,
    for example for each recorded result. Python may handle a signal there (Ctrl-C raises), or an
    error may already be set while an exception leaves a backward node. The methods are noexcept,
    so either case would end the process.

    The CPU's guard has the same methods in the same order. Its machine code for the stream also
    fits the device methods, and fits this device after a patch of the device type. On machines
    other than x86-64, or if the system forbids executable pages, only exchangeStream is replaced,
    by the CPU's version, which does nothing. Ctrl-C can then still end the process.
    """
    pointer = ctypes.c_void_p
    lib = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    guards = (pointer * 32).in_dll(lib, "_ZN3c104impl26device_guard_impl_registryE")
    guard = pointer.from_address(guards[int(PRIVATE_USE_1)] or 0)
    cpu = pointer.from_address(guards[int(C._autograd.DeviceType.CPU)] or 0)
    assert guard.value is not None and cpu.value is not None
    cpus = (pointer * _METHODS).from_address(cpu.value)
    # A vtable pointer points behind two entries: the offset to top and the type info.
    table = (pointer * (2 + _METHODS)).from_address(guard.value - 2 * ctypes.sizeof(pointer))
    methods = _keep_alive((pointer * (2 + _METHODS))(*table))
    zero_function = _device_zero(cpus[_GET_STREAM] or 0)
    methods[2 + _EXCHANGE_STREAM] = zero_function or cpus[_EXCHANGE_STREAM]
    if zero_function is not None:
        for slot in (_EXCHANGE_DEVICE, _GET_DEVICE, _GET_STREAM, _GET_NEW_STREAM):
            methods[2 + slot] = zero_function
    guard.value = ctypes.addressof(methods) + 2 * ctypes.sizeof(pointer)


# at::PrivateUse1HooksInterface: the number of virtual methods (all const), and the vtable indices
# of isBuilt(), isPinnedPtr(void*) and getPinnedMemoryAllocator().
_HOOKS, _IS_BUILT, _IS_PINNED, _PINNED = 17, 2, 11, 12


def pin_plain_memory() -> None:
    """Patches the registered hooks so that all CPU memory counts as pinned, allocated by the CPU's
    allocator.

    DistributedDataParallel and `pin_memory=True` of a CPU tensor ask the hooks for pinned memory,
    and hooks in Python can't implement these methods. The device reads all host memory alike.

    isPinnedPtr is replaced by isBuilt, which returns True and ignores further arguments.
    """
    pointer = ctypes.c_void_p
    folder = Path(torch.__file__).parent / "lib"
    hooks = ctypes.CDLL(str(folder / "libtorch_cpu.so"))._ZN2at6detail19getPrivateUse1HooksEv
    hooks.restype = pointer
    hook_table = pointer.from_address(hooks())
    assert hook_table.value is not None
    table = (pointer * (2 + _HOOKS)).from_address(hook_table.value - 2 * ctypes.sizeof(pointer))
    methods = _keep_alive((pointer * (2 + _HOOKS))(*table))
    give = ctypes.CDLL(str(folder / "libc10.so"))._ZN3c1015GetCPUAllocatorEv
    methods[2 + _PINNED] = ctypes.cast(give, pointer).value
    methods[2 + _IS_PINNED] = methods[2 + _IS_BUILT]
    hook_table.value = ctypes.addressof(methods) + 2 * ctypes.sizeof(pointer)


# c10::StorageImpl: byte offsets of its data pointer and of its size in bytes.
_DATA, _NBYTES = 16, 48


def give_storage(storage: torch.UntypedStorage, address: int, nbytes: int) -> None:
    """Replaces address and size (bytes) of a torch storage in place, for all tensors over it.

    Raises NotImplementedError if the layout of c10::StorageImpl is not the expected one.
    """
    data = ctypes.c_uint64.from_address(storage._cdata + _DATA)
    size = ctypes.c_uint64.from_address(storage._cdata + _NBYTES)
    if (data.value, size.value) != (storage.data_ptr(), storage.nbytes()):
        raise errors.storage_resize()
    data.value, size.value = address, nbytes


def _device_zero(cpu: int) -> int | None:
    """Returns the address of a function that returns device 0 of PrivateUse1 and stream 0.

    The function is a patched copy of the CPU's function at address `cpu`. Returns None if that
    code is not the expected one, or if the system forbids executable pages.
    """
    if ctypes.string_at(cpu, len(_CPU_STREAM)) != _CPU_STREAM:
        return None
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:  # a hardened kernel's refusal
        return None
    page.write(_CPU_STREAM[:3] + bytes((int(PRIVATE_USE_1), 0)) + _CPU_STREAM[5:])
    return ctypes.addressof(_keep_alive(ctypes.c_char.from_buffer(page)))


def _keep_alive(value: T) -> T:
    """Keeps an object alive for ever: C++ uses it even after Python has cleared its modules."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    return value


_PLAIN = {torch.Tensor, torch.nn.Parameter}
_modes, _tracer = C._len_torch_dispatch_stack, C._get_tracing_state
_transform, _is_neg = C._functorch.peek_interpreter_stack, torch.Tensor.is_neg


def is_plain(tensors: Sequence[torch.Tensor]) -> bool:
    """True if all arguments are plain tensors or Parameters, and nothing intercepts their ops.

    False for subclasses, lazy negatives, and inside a torch dispatch mode, a functorch transform,
    forward-mode autograd or a tracer.
    """
    if _modes() or _transform() is not None:
        return False
    if forward_ad._current_level >= 0 or _tracer() is not None:
        return False
    return _PLAIN.issuperset(map(type, tensors)) and not any(map(_is_neg, tensors))


def decompose(op: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> Any:
    """Runs torch's decomposition of a composite op; uses Python's while torch traces."""
    if C._dispatch_tls_is_dispatch_key_included(Key.PythonDispatcher):
        return op.decompose(*args, **kwargs)
    return op._op_dk(Key.CompositeImplicitAutograd, *args, **kwargs)


def overload(name: str) -> torch._ops.OpOverload:
    """Returns the aten overload of a qualified name without namespace, such as "add.Tensor"."""
    base, _, overload_name = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload_name or "default")
