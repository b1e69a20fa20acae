"""What is used of torch beyond its public interface, named in one place; torch's version is asked.

A step to a newer torch begins with this page; `tests/torch_device/test_private.py` asks for each
name.
Besides these, `PATCHED` lists what is replaced, and `compile.py` imports what it needs of torch's
compiler when it is first asked for.
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
from ..errors import torch_device as errors

T = TypeVar("T")
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
    """ImportError for a torch whose private interface was not tested."""
    if ".".join(version.split(".")[:2]) not in TORCH_TESTED:
        raise errors.torch_version(version, TORCH_TESTED)


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
all_op_names = C._dispatch_get_all_op_names

# Whether a gradient is one of many at once (`is_grads_batched`), without a storage.
is_batched = C._functorch.is_legacy_batchedtensor

CPU_KEYS = Keys(Key.CPU)
# Of a tensor of the device that is recorded.
RECORDED_KEYS = Keys(Key.AutogradPrivateUse1) | Keys(Key.PrivateUse1)


# Methods of c10::impl::DeviceGuardImplInterface: how many, and the places of those that say which
# device or stream is, or was, the current one.
_METHODS, _EXCHANGE_STREAM = 26, 9
_EXCHANGE_DEVICE, _GET_DEVICE, _GET_STREAM, _GET_NEW_STREAM = 1, 2, 5, 8
# x86-64: rdx = 0, the stream; eax = the device, its type and then its index (-1) a byte each; ret.
_CPU_STREAM = bytes.fromhex("31d2 b8 00ff0000 c3")


def answer_without_python() -> None:
    """Give the registered guard methods that ask nothing of Python: one device, and no streams.

    The guard of Python asks Python for its type wherever torch wants to know the device or the
    stream, as it does for each result that is recorded. There signals are handled, and Ctrl-C
    raises; or Python's error is set already, while an exception leaves a node of a backward pass.
    The methods are noexcept, so either would end the process.

    The CPU's guard has the same methods in the same order. What says its stream also serves for its
    device, and with our device's number in it for ours. On machines other than x86-64, and where no
    code may be made, ours has the CPU's way to exchange streams, nothing, and Ctrl-C is a risk.
    """
    pointer = ctypes.c_void_p
    lib = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    guards = (pointer * 32).in_dll(lib, "_ZN3c104impl26device_guard_impl_registryE")
    own = pointer.from_address(guards[int(PRIVATE_USE_1)] or 0)
    cpu = pointer.from_address(guards[int(C._autograd.DeviceType.CPU)] or 0)
    assert own.value is not None and cpu.value is not None
    cpus = (pointer * _METHODS).from_address(cpu.value)
    # With what stands before it: the offset to the top, the class.
    table = (pointer * (2 + _METHODS)).from_address(own.value - 2 * ctypes.sizeof(pointer))
    methods = _for_ever((pointer * (2 + _METHODS))(*table))
    answer = _device_zero(cpus[_GET_STREAM] or 0)
    methods[2 + _EXCHANGE_STREAM] = answer or cpus[_EXCHANGE_STREAM]
    if answer is not None:
        for place in (_EXCHANGE_DEVICE, _GET_DEVICE, _GET_STREAM, _GET_NEW_STREAM):
            methods[2 + place] = answer
    own.value = ctypes.addressof(methods) + 2 * ctypes.sizeof(pointer)


# Methods of at::PrivateUse1HooksInterface, const all: how many, and the places of isBuilt(),
# isPinnedPtr(void*) and getPinnedMemoryAllocator().
_HOOKS, _IS_BUILT, _IS_PINNED, _PINNED = 17, 2, 11, 12


def pin_plain_memory() -> None:
    """Makes the registered hooks give the CPU's own allocator where torch asks for pinned memory,
    as DistributedDataParallel and `pin_memory=True` of a tensor of the CPU do, and call all memory
    of the CPU pinned: the device reads it all alike. Python's hooks can't answer either.

    isBuilt says True, and ignores what else it is called with.
    """
    pointer = ctypes.c_void_p
    folder = Path(torch.__file__).parent / "lib"
    hooks = ctypes.CDLL(str(folder / "libtorch_cpu.so"))._ZN2at6detail19getPrivateUse1HooksEv
    hooks.restype = pointer
    own = pointer.from_address(hooks())
    assert own.value is not None
    table = (pointer * (2 + _HOOKS)).from_address(own.value - 2 * ctypes.sizeof(pointer))
    methods = _for_ever((pointer * (2 + _HOOKS))(*table))
    give = ctypes.CDLL(str(folder / "libc10.so"))._ZN3c1015GetCPUAllocatorEv
    methods[2 + _PINNED] = ctypes.cast(give, pointer).value
    methods[2 + _IS_PINNED] = methods[2 + _IS_BUILT]
    own.value = ctypes.addressof(methods) + 2 * ctypes.sizeof(pointer)


# c10::StorageImpl: the places of its pointer to the data and of its size in bytes.
_DATA, _NBYTES = 16, 48


def give_storage(storage: torch.UntypedStorage, address: int, nbytes: int) -> None:
    """Lets a storage of the device stand for other memory, which whoever knows it sees.

    NotImplementedError where torch keeps a storage in another way than is known.
    """
    data = ctypes.c_uint64.from_address(storage._cdata + _DATA)
    size = ctypes.c_uint64.from_address(storage._cdata + _NBYTES)
    if (data.value, size.value) != (storage.data_ptr(), storage.nbytes()):
        raise errors.storage_resize()
    data.value, size.value = address, nbytes


def _device_zero(cpu: int) -> int | None:
    """The address of a function that says device 0 of ours, and stream 0, made of the CPU's at an
    address; None where that is not as known, or the system lets nobody make code."""
    if ctypes.string_at(cpu, len(_CPU_STREAM)) != _CPU_STREAM:
        return None
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:  # a hardened kernel's refusal
        return None
    page.write(_CPU_STREAM[:3] + bytes((int(PRIVATE_USE_1), 0)) + _CPU_STREAM[5:])
    return ctypes.addressof(_for_ever(ctypes.c_char.from_buffer(page)))


def _for_ever(thing: T) -> T:
    """Something that C++ uses until the process ends, after Python has cleared its modules."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return thing


_PLAIN = {torch.Tensor, torch.nn.Parameter}
_modes, _tracer = C._len_torch_dispatch_stack, C._get_tracing_state
_transform, _is_neg = C._functorch.peek_interpreter_stack, torch.Tensor.is_neg


def is_plain(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether these are tensors as such, that no transform has wrapped and of which none is a lazy
    negative, and no mode, tangent or tracer is about to see what is done with them."""
    if _modes() or _transform() is not None:
        return False
    if forward_ad._current_level >= 0 or _tracer() is not None:
        return False
    return _PLAIN.issuperset(map(type, tensors)) and not any(map(_is_neg, tensors))


def by_parts(op: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> Any:
    """An op of several as torch makes it of these; while torch traces, in Python."""
    if C._dispatch_tls_is_dispatch_key_included(Key.PythonDispatcher):
        return op.decompose(*args, **kwargs)
    return op._op_dk(Key.CompositeImplicitAutograd, *args, **kwargs)


def overload(name: str) -> torch._ops.OpOverload:
    """The overload of aten that a qualified name without its namespace stands for."""
    base, _, over = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), over or "default")
