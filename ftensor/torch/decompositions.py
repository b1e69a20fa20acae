"""Ops that torch makes of others, all of which the device has: tried before the host.

Most of torch's decompositions are no gain. They ask for an op that only the host has, call
themselves, draw other random numbers, take many passes, or are wrong
(`multilabel_margin_loss_forward` counts targets after the first -1). So these are named one by one.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torch._decomp import decomposition_table

from ..errors.spatial import unpool_bounds
from .hand_over import kernel
from .private import overload

ALLOWED = (
    "_prelu_kernel",
    "_prelu_kernel_backward",
    "_weight_norm_interface",
    "binary_cross_entropy_backward",
    "elu_",
    "glu_backward",
    "logit_backward",
    "select_backward",
    "unfold_backward",
)


for _name in ALLOWED:
    kernel(_name)(decomposition_table[overload(_name)])


def _unpool(n: int) -> None:
    parts = decomposition_table[overload(f"max_unpool{n}d")]

    @kernel(f"max_unpool{n}d")
    def unpool(self: Any, indices: Any, output_size: Any, *args: Any) -> Any:
        """Each element at its place. The parts count places through all planes, so that one beyond
        its own would fall into another."""
        if indices.numel():
            low, high = (int(x) for x in indices.aminmax())
            if low < 0 or high >= prod(output_size):
                raise unpool_bounds(f"max_unpool{n}d", low, high, prod(output_size))
        return parts(self, indices, output_size, *args)


for _n in (2, 3):
    _unpool(_n)
