"""The kernels that a table of an inventory requests."""

from __future__ import annotations

from collections.abc import Iterator

from ...dtypes import dtype
from ...errors import build as errors
from ...kernels.inventory_terms import InventoryRequest
from ...kernels.key import Key
from ...kernels.skeleton import inventory_words, keys_of
from ...rows.op import Op
from ...runtime.targets import CSIM
from .keys import (
    LOCATING,
    Row,
    Signature,
    accepts,
    common_of,
    fold_keys,
    located_keys,
    pointwise,
    pointwise_keys,
    reduction,
    row_named,
    spelled,
    supports_signature,
)
from .table import KernelSpec


def chosen(table: KernelSpec) -> Iterator[Key]:
    """Yields the key of every kernel that a table requests, in the order of its ops.

    Raises InventoryError if the table names an op, but no kernel of the op fits the dtypes and
    layouts.
    """
    for name in table.ops:
        served = False
        for key in _of_name(table, name):
            served = True
            yield key
        if not served and name in table.chosen:
            asked = [d.name for d in table.dtypes] + list(table.signatures)
            raise errors.serves_nothing(table.where, name, asked, f"in a layout of {', '.join(table.layouts)}")


def _of_name(table: KernelSpec, name: str) -> Iterator[Key]:
    if name in inventory_words():
        yield from keys_of(name, InventoryRequest(table.dtypes, table.options, CSIM))
    else:
        for row in row_named(name):
            yield from _of_row(table, row)


def _of_row(table: KernelSpec, row: Row) -> Iterator[Key]:
    if isinstance(row, Op):
        for signature in _pointwise(table, row):
            yield from pointwise_keys(row, signature, table.layouts, table.shape)
        if (row.located or row.gathers) and any(layout in LOCATING for layout in table.layouts):
            for of in table.dtypes:
                if row.expression(of.compute):
                    yield from located_keys(row, of, table.layouts, table.shape)
        return
    for of in table.dtypes:
        for to in _targets(table, of):
            reduced = reduction(row, of, to)
            if reduced is not None:
                yield from fold_keys(row, reduced, table.layouts, table.shape)
    for text in table.signatures:
        asked = _spelled(table, row, text)
        if supports_signature(row, asked):
            yield from fold_keys(row, asked, table.layouts, table.shape)


def _pointwise(table: KernelSpec, row: Op) -> Iterator[Signature]:
    for of in table.dtypes:
        for to in _targets(table, of):
            signature = pointwise(row, of, to)
            if signature is not None:
                yield signature
    for text in table.signatures:
        asked = _spelled(table, row, text)
        if len(asked.ins) == row.arity and accepts(row, asked, common_of(asked)):
            yield asked


def _targets(table: KernelSpec, of: dtype) -> tuple[dtype | None, ...]:
    """Returns the dtypes of results; (None,) for the row's own dtype."""
    return tuple(dict.fromkeys(of if d is None else d for d in table.to)) or (None,)


def _spelled(table: KernelSpec, row: Row, text: str) -> Signature:
    signature = spelled(row, text)
    if signature is None:
        raise errors.wrong_value(
            table.table.where("dtypes"), "dtypes", text, 'dtypes, or signatures such as "bool(float32, number)"'
        )
    return signature
