"""The samples that torch's op database has for an op."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch.testing._internal import common_utils
from torch.testing._internal.opinfo import core


def no_test() -> None:
    """torch looks for the test at hand, by which it seeds, through all of the stack and all modules
    for each frame's source: that takes longer than most samples. None: the seed is torch's own."""


common_utils.extract_test_fn = core.extract_test_fn = no_test


def no_seed(seed: int) -> None:
    """Of a device that is not here torch keeps each seed for later, with the stack at that time: 0.8 ms."""


for absent in (torch.cuda, torch.mtia, torch.xpu):
    if not absent.is_available():
        absent.manual_seed_all = no_seed


def first_samples(op: Any, dtype: torch.dtype, count: int | None, **how: bool) -> list[Any]:
    """The first samples of an op on the CPU, the same in every test and program."""
    torch.manual_seed(0)
    return list(itertools.islice(op.sample_inputs("cpu", dtype, **how), count))
