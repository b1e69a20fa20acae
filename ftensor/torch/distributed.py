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

_READ = ("send", "barrier")  # all other collectives write their first argument
# gloo splits the first dim of these collectives' tensors; other backends split the flat elements.
_IN_A_ROW = ("_allgather_base_", "_reduce_scatter_base_")


def _on_host(t: Any) -> Any:
    """Returns a host view of device tensor `t`, a copy if the host can't reach its memory."""
    if not isinstance(t, torch.Tensor) or t.device.type != NAME:
        return t
    return t.cpu() if _apart(t) else on_host(t)


def _apart(t: torch.Tensor) -> bool:
    """True if the host can't reach the memory of device tensor `t`."""
    apart: bool = untyped_storage(t)._ft.ptr is None
    return apart


def _arriving(work: Any, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> Any:
    """Returns a Work that is done when `work` is done and its results are copied to the device.

    `pairs` holds (device tensor, its host copy).
    """
    arrived: torch.futures.Future[list[torch.Tensor]] = torch.futures.Future()

    # A thread and not a callback: a point-to-point receive has no future.
    def wait() -> None:
        try:
            dist.Work.unbox(work).wait()
            with torch.no_grad():
                for t, twin in pairs:
                    t.copy_(twin)
        except Exception as error:  # noqa: BLE001  # raised in the waiting thread
            arrived.set_exception(error)
        else:
            arrived.set_result([t for t, _ in pairs])

    threading.Thread(target=wait, daemon=True).start()
    return torch._C._distributed_c10d._create_work_from_future(arrived).boxed()


def _in_a_row(t: Any) -> Any:
    return t.view(-1) if isinstance(t, torch.Tensor) and t.is_contiguous() else t


def _collective(op: Any, written: bool, in_a_row: bool) -> Any:
    def run(*args: Any) -> Any:
        twins = tree.tree_map(_on_host, args)
        pairs = list(zip(tree.tree_leaves(args[0]), tree.tree_leaves(twins[0]))) * written
        for t, _ in pairs:
            untyped_storage(t)._ft.expose()  # the host writes this memory until the work is done
        result = op(*(map(_in_a_row, twins) if in_a_row else twins))
        work = result[-1] if isinstance(result, tuple) else result
        if copied := [pair for pair in pairs if _apart(pair[0])]:
            work = _arriving(work, copied)
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
                library.impl(word, _collective(op, word not in _READ, word in _IN_A_ROW))


_kept: list[Library] = []
