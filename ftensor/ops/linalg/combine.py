"""Choices and products of vectors' elements, and the trace of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations as chosen
from itertools import combinations_with_replacement as chosen_again
from math import comb
from typing import Any

from ..._tensor import Tensor
from ...dtypes import int64
from ...errors import linalg as errors_linalg
from ...rows.catalogue import op
from ..compose import composed
from ..create.data import tensor
from ..rearrange.cat import meshgrid, stack


@op()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of `r` elements of a vector in their order, one in a row. RuntimeError for other
    numbers of dims and a negative `r`.
    """
    if input.ndim != 1:
        raise errors_linalg.one_dim("combinations", input._shape)
    if r < 0:
        raise errors_linalg.not_negative("combinations", "r", r)
    n = input._shape[0]
    if r == 0:
        return input[:0].clone()
    choose = chosen_again if with_replacement else chosen
    rows = comb(n + r - 1, r) if with_replacement and n else comb(n, r)
    # The table of the host: a place in a list, and in an array.
    input._storage.backend.pool.ask(rows * r * (16 + input._dtype.itemsize))
    places = [i for row in choose(range(n), r) for i in row] if rows else []
    index = tensor(places, dtype=int64, device=input.device)
    elements: Tensor = input.index_select(0, index)
    return elements.reshape(rows, r)


@op(method=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """All rows with one element of each vector, the last changing first. RuntimeError for tensors
    that are no vectors.
    """
    vectors: Sequence[Tensor] = tensors
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        vectors = tensors[0]
    for t in vectors:
        if t.ndim != 1:
            raise errors_linalg.one_dim("cartesian_prod", t._shape)
    if len(vectors) == 1:
        return vectors[0]
    grids = meshgrid(*vectors, indexing="ij")
    return stack([g.reshape(-1) for g in grids], 1)


@composed(bare="")
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal. RuntimeError for other numbers of dims."""
    if input.ndim != 2:
        raise errors_linalg.two_dims("trace", input._shape)
    return input.diagonal().sum()
