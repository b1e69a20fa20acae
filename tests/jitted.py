"""torch's op database, jitted: each sample's graph has eager's bits, or raises a GraphError.

python -m tests.jitted --only 'nn.functional' --samples 4
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import ftensor as ft

from .op_samples import first_samples
from .oracle import ours, outcome

DTYPES = (torch.float32, torch.int64, torch.complex64, torch.bfloat16, torch.bool)


class Case(NamedTuple):
    """An op under one of its names, in a dtype."""

    op: Any
    name: str
    dtype: torch.dtype

    @property
    def entry(self) -> str:
        """Returns the database's entry, or its in-place form."""
        return self.name + (self.op.variant_test_name and f".{self.op.variant_test_name}")

    def __str__(self) -> str:
        return f"{self.entry}-{str(self.dtype).removeprefix('torch.')}"


def cases() -> Iterator[Case]:
    """Yields each op and its in-place form in each dtype."""
    from .spelling.test_opinfo import function

    for op in op_db:
        for dtype in DTYPES:
            if dtype not in op.supported_dtypes("cpu"):
                continue
            for name in (op.name, op.name + "_"):
                in_place = name == op.name + "_"
                if function(name) is None or (in_place and op.inplace_variant is None):
                    continue
                yield Case(op, name, dtype)


def bits(value: Any) -> Any:
    """Returns a result as comparable values: tensors by geometry and bits."""
    if isinstance(value, ft.Tensor):
        array = np.ascontiguousarray(
            value.to_torch().clone(memory_format=torch.contiguous_format).view(-1).view(torch.uint8).numpy()
        )
        return value.shape, value.stride(), value.dtype, array.tobytes()
    if isinstance(value, (tuple, list)):
        return [bits(v) for v in value]
    if isinstance(value, Exception):
        return type(value), str(value)
    return type(value), repr(value)


def tensors(value: Any) -> list[ft.Tensor]:
    """Returns the tensors among arguments."""
    if isinstance(value, ft.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors(v)]
    if isinstance(value, dict):
        return tensors(list(value.values()))
    return []


def to_ftensor(value: Any) -> Any:
    """Returns torch's arguments as ftensor's, on one device."""
    if isinstance(value, tuple):
        return tuple(to_ftensor(v) for v in value)
    return ft.zeros(1).device if value == "cpu" and type(value) is str else ours(value)


class Asked(NamedTuple):
    """Eager's result of a sample, and the difference of the graph's; "" if there is none."""

    eager: Any
    otherwise: str


def compared(mine: Callable[..., Any], jitted: Callable[..., Any], sample: Any) -> Asked:
    """Calls a graph twice and eager once with a sample, and compares the bits.

    jitted: `whole(mine)`, which may have had other samples before.
    """
    results = []
    for call in (None, None, mine):  # so that the trace is the first to need tables
        args = to_ftensor((sample.input, *sample.args))
        kwargs = {k: to_ftensor(v) for k, v in sample.kwargs.items()}
        ft.manual_seed(7)
        if call is None:
            got = outcome(lambda a=args, k=kwargs: jitted(a, k))
            if isinstance(got, ft.GraphError):
                return Asked(None, f"GraphError: {got}")
        else:
            got = outcome(lambda a=args, k=kwargs: mine(*a, **k))
        results.append((bits(got), bits(tensors((args, kwargs))), got))
    *others, (eager, before, wanted) = results
    for result, after, got in others:
        if result != eager:
            return Asked(wanted, f"{got!r:.300} not {wanted!r:.300}")
        if after != before:
            return Asked(wanted, "arguments differ")
    return Asked(wanted, "")


def whole(mine: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a jitted function of an argument list and a dict."""
    return ft.jit(lambda args, kwargs: mine(*args, **kwargs))


def differences(case: Case, samples: int) -> str:
    """Returns the first difference of a case's first samples when jitted; for a GraphError, its
    text."""
    from .spelling.test_opinfo import IN_ORDER, function

    op, name, dtype = case
    mine: Callable[..., Any] | None = IN_ORDER.get(name) or function(name)
    assert mine is not None
    jitted = whole(mine)
    return next(filter(None, (compared(mine, jitted, s).otherwise for s in first_samples(op, dtype, samples))), "")


def left_out(case: Case) -> bool:
    """Returns whether eager's results are not deterministic."""
    from .spelling.test_opinfo import LEFT_OUT, UNDETERMINED

    op, name, _ = case
    return name in UNDETERMINED or "its samples draw a dropout" in LEFT_OUT.get(op.full_name, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a pattern of the cases' names")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--part", default="0/1", help="K/N: each N-th, from the K-th")
    options = parser.parse_args()
    k, n = map(int, options.part.split("/"))
    ran = 0
    for case in list(cases())[k::n]:
        if not re.search(options.only, str(case)) or left_out(case):
            continue
        ran += 1
        try:
            if line := differences(case, options.samples):
                print(f"{case}: {line}", flush=True)
        except Exception as error:  # noqa: BLE001
            print(f"{case}: BROKE {type(error).__name__}: {error}", flush=True)
    print(f"{ran} cases")


if __name__ == "__main__":
    main()
