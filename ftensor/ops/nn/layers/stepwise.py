"""Sums of float16 and bfloat16 that are rounded after each step, like torch's own loops."""

from __future__ import annotations

from collections.abc import Sequence

from ...._tensor import Tensor
from ....dtypes import dtype
from ...create.sizes import zeros
from ...rearrange.cat import cat

GROUP = 16  # number of terms that torch adds one after another


def is_half(element: dtype) -> bool:
    return element.kind == "f" and element.compute is not element


def rounded_sum(tensors: Sequence[Tensor]) -> Tensor:
    """Returns the sum of tensors of one dtype in order, rounded to the dtype after each
    addition."""
    total = tensors[0]
    for term in tensors[1:]:
        total = total + term
    return total


def grouped_sum(terms: Tensor) -> Tensor:
    """Returns the sum of a nonempty vector in the order of torch's classification losses: the first
    element, then groups of `GROUP` elements; the sums of full groups are summed in the same way."""
    remainders = []
    while terms.numel() > 1:
        first, following = terms[:1], terms[1:]
        short = -following.numel() % GROUP
        if short:
            following = cat([following, zeros(short, dtype=terms._dtype, device=terms.device)])
        sums = rounded_sum(following.reshape(-1, GROUP).unbind(1))
        if short:
            remainders.append(sums[-1:])
            sums = sums[:-1]
        terms = cat([first, sums])
    return (rounded_sum([*remainders, terms]) + 0).reshape(())  # -0 becomes 0, as in a sum
