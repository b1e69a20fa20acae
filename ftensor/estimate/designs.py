"""Published figures of whole designs beside the models': times, areas, calls of the driver.

Unlike the rows of `published`, these differ in structure from ftensor's kernels, so each has the
factor between both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .. import dtypes
from ..boards import find
from ..kernels.skeletons.conv.key import ConvKey
from ..kernels.skeletons.sort import LOCAL_TILE, RUN, WAYS, SortGeometry, SortKey
from ..kernels.workload import KernelLaunch
from ..terminal import table
from ..toolchain.area.fit import area
from ..toolchain.inventory.read import expand, read
from .model import Setup, estimate, transfer_seconds


class Design(NamedTuple):
    """A published figure, the model's in the same unit, and the source with board, clock and
    tool."""

    quantity: str
    unit: str
    published: float
    model: float
    source: str

    @property
    def factor(self) -> float:
        """The model's figure divided by the published one."""
        return self.model / self.published


def designs() -> Iterator[Design]:
    """Yields the published designs."""
    u280 = find("u280")
    sort = "Vitis Libraries compoundSort, U280"
    yield Design("sort of 131,072 int32", "ms", 1.13, sort_seconds(131072, "u280", 300) * 1e3, sort)
    for to_board, published in ((True, 127.0), (False, 83.5)):
        what = "512 KB to the board" if to_board else "512 KB from the board"
        yield Design(what, "us", published, transfer_seconds(u280.link, 524288, to_board) * 1e6, sort)
    merge = "ArgSort-Ultra96, 250 MHz (model: KV260)"
    yield Design("16-way merge argsort of 2^20", "ms", 54.5, sort_seconds(1 << 20, "kv260", 250) * 1e3, merge)
    yield from _per_product("cnn", "conv", "float product", (494, 806, 5.0), "AutoSA cnn, U250, 1792 products")
    yield from _per_product("int8", "conv_bytes", "int8 product", (59, 64, 0.5), "AutoSA mm, U250, 12,288 products")


def sort_seconds(n: int, board: str, clock: float) -> float:
    """Returns the seconds of the kernels that sort one row of `n` int32, by the model."""
    setup = Setup(find(board), clock)
    tile, run, merges, total = min(LOCAL_TILE, n), RUN, False, 0.0
    while True:
        g = SortGeometry(merges, tile >= n, -(-n // tile), tile, n, run, False, 1, 1, (), (), ())
        total += estimate(KernelLaunch(SortKey(dtypes.int32), 1, 0, g.pack()), setup).kernel
        if g.last:
            return total
        tile, run, merges = min(WAYS * tile, n), tile, True


def _per_product(
    inventory: str, skeleton: str, what: str, published: tuple[float, float, float], where: str
) -> Iterator[Design]:
    """Yields LUT, FF and DSP of a kernel of an inventory, divided by its products a cycle."""
    group = next(g for g in expand(read(inventory)) if g.skeleton == skeleton)
    whole, key = area(group).whole, group.members[0]
    assert isinstance(key, ConvKey)
    products = key.rows * key.lanes
    for unit, figure in zip(("LUT", "FF", "DSP"), published):
        yield Design(f"{unit} for each {what}", unit, figure, getattr(whole, unit.lower()) / products, where)


def text() -> str:
    """Returns the table of designs and factors."""
    rows: list[tuple[object, ...]] = [("", "published", "model", "factor", "source")]
    for one in designs():
        published = f"{one.published:.3g} {one.unit}"
        rows.append((one.quantity, published, f"{one.model:.3g}", f"{one.factor:.2f}", one.source))
    return table(rows, indent="")
