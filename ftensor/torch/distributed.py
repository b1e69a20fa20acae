"""torch.distributed on the device: gloo's collectives over host views of device tensors.

`init_process_group("fpga")` and "gloo" accept device tensors, so DistributedDataParallel works.
On a device that computes in host memory gloo reads and writes the tensors' memory. On other
devices tensors are copied to the host, and results are copied back when the work is done.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any

import torch
import torch.distributed as dist
from torch.utils import _pytree as tree

from . import internals
from .internals import untyped_storage
from .memory import on_host
from .registration import NAME, Library

_READ_ONLY_OPS = ("send", "barrier")  # all other collectives write their first argument
# gloo splits the first dim of these collectives' tensors; other backends split the flat elements.
_ORDERED_OPS = ("_allgather_base_", "_reduce_scatter_base_")


def _on_host(t: Any) -> Any:
    """Returns a host view of device tensor `t`, a copy if the host can't reach its memory."""
    if not isinstance(t, torch.Tensor) or t.device.type != NAME:
        return t
    return t.cpu() if _has_device_memory(t) else on_host(t)


def _has_device_memory(t: torch.Tensor) -> bool:
    """True if the host can't reach the memory of device tensor `t`."""
    return untyped_storage(t)._ft.ptr is None


def _with_copy_back(work: Any, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> Any:
    """Returns a Work that is done when `work` is done and its results are copied to the device.

    `pairs` holds (device tensor, its host copy).
    """
    finished: torch.futures.Future[list[torch.Tensor]] = torch.futures.Future()

    # A thread and not a callback: a point-to-point receive has no future.
    def wait() -> None:
        try:
            dist.Work.unbox(work).wait()
            with torch.no_grad():
                for t, host_copy in pairs:
                    t.copy_(host_copy)
        except Exception as error:  # noqa: BLE001  # raised in the waiting thread
            finished.set_exception(error)
        else:
            finished.set_result([t for t, _ in pairs])

    threading.Thread(target=wait, daemon=True).start()
    return torch._C._distributed_c10d._create_work_from_future(finished).boxed()


def _in_order(t: Any) -> Any:
    return t.view(-1) if isinstance(t, torch.Tensor) and t.is_contiguous() else t


def _collective(op: Any, is_output: bool, in_a_row: bool) -> Any:
    def run(*args: Any) -> Any:
        host_args = tree.tree_map(_on_host, args)
        pairs = list(zip(tree.tree_leaves(args[0]), tree.tree_leaves(host_args[0]))) * is_output
        for t, _ in pairs:
            untyped_storage(t)._ft.expose()  # the host writes this memory until the work is done
        result = op(*(map(_in_order, host_args) if in_a_row else host_args))
        work = result[-1] if isinstance(result, tuple) else result
        if separate := [pair for pair in pairs if _has_device_memory(pair[0])]:
            work = _with_copy_back(work, separate)
        return (args[0], work) if isinstance(result, tuple) else work

    return run


def _group(store: Any, rank: int, size: int, timeout: Any) -> Any:
    return dist.ProcessGroupGloo(store, rank, size, timeout=timeout)


def install() -> None:
    """Registers the device's collectives, if torch was built with torch.distributed."""
    if not dist.is_available():
        return
    dist.Backend.register_backend(NAME, _group, devices=["cpu", NAME])
    library = Library("c10d", "IMPL", "PrivateUse1")
    _kept.append(library)
    with warnings.catch_warnings():  # these replace torch's kernels, which need a C++ backend
        warnings.filterwarnings("ignore", "(?s).*Overriding a previously registered kernel")
        for name in internals.all_op_names():
            namespace, _, word = name.partition("::")
            if namespace == "c10d" and internals.has_kernel_for(name, "PrivateUse1"):
                op = getattr(torch.ops.c10d, word).default
                library.impl(word, _collective(op, word not in _READ_ONLY_OPS, word in _ORDERED_OPS))


_kept: list[Library] = []
