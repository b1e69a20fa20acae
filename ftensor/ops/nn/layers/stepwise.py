"""Sums of float16 and bfloat16 that are rounded after each step, like torch's own loops."""

from __future__ import annotations

from collections.abc import Sequence

from ...._tensor import Tensor
from ....dtypes import dtype
from ...create.sizes import zeros
from ...rearrange.cat import cat

GROUP = 16  # number of terms that torch adds in a row


def narrow(of: dtype) -> bool:
    return of.kind == "f" and of.compute is not of


def in_order(parts: Sequence[Tensor]) -> Tensor:
    """Returns the sum of tensors of one dtype in order, rounded to the dtype after each addition."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def in_steps(terms: Tensor) -> Tensor:
    """Returns the sum of a nonempty vector in the order of torch's classification losses: the first
    element, then groups of `GROUP` elements; the sums of full groups are summed in the same way."""
    rests = []
    while terms.numel() > 1:
        first, others = terms[:1], terms[1:]
        short = -others.numel() % GROUP
        if short:
            others = cat([others, zeros(short, dtype=terms._dtype, device=terms.device)])
        sums = in_order(others.reshape(-1, GROUP).unbind(1))
        if short:
            rests.append(sums[-1:])
            sums = sums[:-1]
        terms = cat([first, sums])
    total: Tensor = (in_order([*rests, terms]) + 0).reshape(())  # -0 becomes 0, as in a sum
    return total
