"""Where the windows of a pooling call lie: sizes, checked, and views of the windows' elements."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....errors import spatial as errors_spatial
from ....execute.choices import specializes
from ....execute.constants import constant
from ....iterator.shape import COUNTED, Ints, numel
from ....kernels.skeletons import pool as board
from ....kernels.skeletons.cpu.max_pool import PlaneWindows
from .windows import covered, each, padded, windows

# Small windows are one launch: an operand is an element of all windows.
SMALL = (2, 3, 4)
# Of the windows' elements: shape, strides, where each view begins, how far in the spatial dims.
Elements = tuple[Ints, Ints, Ints, Ints]


def pool_of(
    name: str, n: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Pool:
    """The windows of a call on an input, known from the call before; as `Pool`."""
    shape, arguments = input._shape, (kernel_size, stride, padding, dilation)
    sizes = [tuple(x) if type(x) is list else x for x in arguments]
    flat = [k for x in sizes for k in (x if type(x) is tuple else (x,))]
    if all(type(k) is int or k is None for k in flat):
        return _pool(name, n, shape, *sizes, ceil_mode)
    return Pool(name, n, shape, *arguments, ceil_mode)


class Pool:
    """The windows of a call: sizes of each dim, checked, and how many windows there are."""

    def __init__(
        self,
        name: str,
        n: int,
        shape: Ints,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: bool,
    ) -> None:
        """RuntimeError for sizes that make no windows, or windows of padding alone."""
        self.n = n
        self._known: dict[Any, Elements] = {}
        self.kernel = each(name, "kernel_size", kernel_size, n)
        steps = self.kernel if stride is None or stride in ((), []) else stride
        self.stride = each(name, "stride", steps, n)
        self.padding = each(name, "padding", padding, n)
        self.dilation = each(name, "dilation", dilation, n)
        for word in ("kernel", "stride", "dilation"):
            if min(getattr(self, word)) < 1:
                raise errors_spatial.not_positive(name, word, getattr(self, word))
        if min(self.padding) < 0:
            raise errors_spatial.negative(name, "padding", self.padding)
        cover = covered(self.kernel, self.dilation)
        if any(2 * p > k for p, k in zip(self.padding, self.kernel)):
            raise errors_spatial.pool_padding(name, self.padding, self.kernel)
        if len(shape) not in (n + 1, n + 2) or 0 in shape[len(shape) - n - 1 :]:
            raise errors_spatial.input_dims(name, n, shape)
        self.sizes = shape[-n:]
        counts = []
        for m, c, s, p in zip(self.sizes, cover, self.stride, self.padding):
            count = (m + 2 * p - c + (s - 1 if ceil_mode else 0)) // s + 1
            # No window begins in the padding at the end.
            counts.append(count - 1 if ceil_mode and (count - 1) * s >= m + p else count)
        self.counts: Ints = tuple(counts)
        if min(counts) < 1:
            raise errors_spatial.empty_result(name, counts)
        self.shape = (*shape[:-n], *counts)
        self.after = tuple(
            [
                max(0, (k - 1) * s + c - m - p)
                for k, s, c, m, p in zip(counts, self.stride, cover, self.sizes, self.padding)
            ]
        )
        # Whether each element is in one window.
        whole = tuple([c * k for c, k in zip(counts, self.kernel)]) == self.sizes
        self.tiles = whole and self.stride == self.kernel and max(self.dilation) == 1
        # Whether windows have a few elements each, none of them padding.
        some = numel(self.kernel) in SMALL and not any(self.padding) and not any(self.after)
        self._few = some and 0 < numel(shape) <= COUNTED
        # The windows, where they lie side by side along rows.
        self.beside: PlaneWindows | None = None
        if self.stride[-1] == self.kernel[-1] and self.dilation[-1] == 1 and not any(self.padding):
            walk = self.sizes, self.counts, self.kernel, self.stride, self.dilation
            self.beside = PlaneWindows(numel(shape[:-n]), *walk)
        # The same of boards, whatever lies beside them: planes of one or two dims.
        self.banded: board.PoolWindows | None = None
        if n <= 2 and numel(shape):
            before = (1,) * (2 - n)  # along columns, where there are none
            self.banded = board.PoolWindows(
                numel(shape[:-n]),
                before + self.sizes,
                before + self.counts,
                before + self.kernel,
                before + self.stride,
                (0,) * (2 - n) + self.padding,
                before + self.dilation,
            )

    @property
    def dims(self) -> Ints:
        """The dims of the elements of a window."""
        return tuple(range(-self.n, 0))

    def windows(self, input: Tensor, value: Any) -> Tensor:
        """(*lead, *counts, *kernel), `value` where there is padding."""
        x = padded(input, self.padding, self.after, value)
        return windows(x, self.counts, self.kernel, self.stride, self.dilation)

    def few(self, input: Tensor) -> bool:
        """Whether a launch may see all windows at once: a few elements of floating point each, none
        of them padding."""
        return self._few and input._dtype.kind == "f"

    def small(self, input: Tensor) -> bool:
        """Whether that is so on a device of special kernels."""
        return self.few(input) and specializes(input)

    def elements(self, input: Tensor) -> tuple[tuple[Tensor, ...], Ints]:
        """Views (*lead, *counts) of the input, one for each element of a window, and how far from
        the first one they lie in the spatial dims, flattened."""
        key = input._shape, input._strides
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._elements(*key)
        shape, strides, beside, places = known
        view, offset = input._view, input._offset
        return tuple([view(shape, strides, offset + b) for b in beside]), places

    def _elements(self, sizes: Ints, own: Ints) -> Elements:
        lead = len(sizes) - self.n
        steps = own[lead:]
        shape = (*sizes[:lead], *self.counts)
        strides = (*own[:lead], *(a * s for a, s in zip(steps, self.stride)))
        rows = [numel(self.sizes[d + 1 :]) for d in range(self.n)]
        beside, places = [], []
        for at in itertools.product(*[range(k) for k in self.kernel]):
            moved = [k * d for k, d in zip(at, self.dilation)]
            beside.append(sum(m * a for m, a in zip(moved, steps)))
            places.append(sum(m * r for m, r in zip(moved, rows)))
        return shape, strides, tuple(beside), tuple(places)

    def firsts(self, input: Tensor) -> Tensor:
        """Where each window begins in the spatial dims, flattened: (*counts), not to be written."""

        def make() -> np.ndarray:
            whole = np.arange(numel(self.sizes)).reshape(self.sizes)
            return whole[tuple([slice(0, c * s, s) for c, s in zip(self.counts, self.stride)])]

        return constant(("windows", self.sizes, self.stride, self.counts), input, make)


_pool = lru_cache(256)(Pool)
