"""The kernels that a table of an inventory requests."""

from __future__ import annotations

from collections.abc import Iterator

from ...dtypes import dtype
from ...errors import build as errors
from ...kernels.inventory_terms import InventoryRequest
from ...kernels.key import Key
from ...kernels.skeleton import inventory_words, requested_keys
from ...rows.op import Op
from ...runtime.targets import CSIM
from .keys import (
    INDEXED_LAYOUTS,
    Row,
    Signature,
    accepts,
    common_of,
    fold_keys,
    located_keys,
    parse_signature,
    pointwise,
    pointwise_keys,
    reduction,
    row_named,
    supports_signature,
)
from .table import KernelSpec


def keys_of_spec(table: KernelSpec) -> Iterator[Key]:
    """Yields the key of every kernel that a table requests, in the order of its ops.

    Raises InventoryError if the table names an op, but no kernel of the op fits the dtypes and
    layouts.
    """
    for name in table.ops:
        found = False
        for key in _keys_by_name(table, name):
            found = True
            yield key
        if not found and name in table.chosen:
            requested_dtypes = [d.name for d in table.dtypes] + list(table.signatures)
            raise errors.serves_nothing(
                table.where, name, requested_dtypes, f"in a layout of {', '.join(table.layouts)}"
            )


def _keys_by_name(table: KernelSpec, name: str) -> Iterator[Key]:
    if name in inventory_words():
        yield from requested_keys(name, InventoryRequest(table.dtypes, table.options, CSIM))
    else:
        for row in row_named(name):
            yield from _row_keys(table, row)


def _row_keys(table: KernelSpec, row: Row) -> Iterator[Key]:
    if isinstance(row, Op):
        for signature in _pointwise_signatures(table, row):
            yield from pointwise_keys(row, signature, table.layouts, table.shape)
        if (row.located or row.gathers) and any(layout in INDEXED_LAYOUTS for layout in table.layouts):
            for d in table.dtypes:
                if row.expression(d.compute):
                    yield from located_keys(row, d, table.layouts, table.shape)
        return
    for d in table.dtypes:
        for to in _result_dtypes(table, d):
            reduced = reduction(row, d, to)
            if reduced is not None:
                yield from fold_keys(row, reduced, table.layouts, table.shape)
    for text in table.signatures:
        signature_ = _spelled(table, row, text)
        if supports_signature(row, signature_):
            yield from fold_keys(row, signature_, table.layouts, table.shape)


def _pointwise_signatures(table: KernelSpec, row: Op) -> Iterator[Signature]:
    for d in table.dtypes:
        for to in _result_dtypes(table, d):
            signature = pointwise(row, d, to)
            if signature is not None:
                yield signature
    for text in table.signatures:
        signature_ = _spelled(table, row, text)
        if len(signature_.ins) == row.arity and accepts(row, signature_, common_of(signature_)):
            yield signature_


def _result_dtypes(table: KernelSpec, dtype: dtype) -> tuple[dtype | None, ...]:
    """Returns the dtypes of results; (None,) for the row's own dtype."""
    return tuple(dict.fromkeys(dtype if d is None else d for d in table.to)) or (None,)


def _spelled(table: KernelSpec, row: Row, text: str) -> Signature:
    signature = parse_signature(row, text)
    if signature is None:
        raise errors.wrong_value(
            table.table.where("dtypes"), "dtypes", text, 'dtypes, or signatures such as "bool(float32, number)"'
        )
    return signature
