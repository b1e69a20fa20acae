"""The samples of an op in torch's op database."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from torch.testing._internal import common_utils
from torch.testing._internal.opinfo import core


def no_test() -> None:
    """Replaces torch's search for the running test, from which it derives a seed. The search goes
    through the whole stack and all modules for each frame's source, which takes longer than most
    samples. None selects torch's own seed."""


common_utils.extract_test_fn = core.extract_test_fn = no_test


def no_seed(seed: int) -> None:
    """Replaces the seeding of missing devices. torch stores each seed with the current stack, which
    takes 0.8 ms."""


for absent in (torch.cuda, torch.mtia, torch.xpu):
    if not absent.is_available():
        absent.manual_seed_all = no_seed


def first_samples(op: Any, dtype: torch.dtype, count: int | None, **how: bool) -> list[Any]:
    """Returns the first samples of an op on the CPU, equal in every test and program."""
    torch.manual_seed(0)
    return list(itertools.islice(op.sample_inputs("cpu", dtype, **how), count))
