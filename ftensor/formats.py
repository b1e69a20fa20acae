"""`ft.Size`, layouts and memory formats."""

from __future__ import annotations

from typing import Any

from .iterator.shape import numel


class Size(tuple[int, ...]):
    """A shape, like `torch.Size`: a tuple that prints with its class name and has `numel()`."""

    __slots__ = ()

    def numel(self) -> int:
        """Returns the number of elements of a tensor of this shape."""
        return numel(self)

    def __repr__(self) -> str:
        return f"ftensor.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, item: Any) -> Any:
        sizes = tuple.__getitem__(self, item)
        return Size(sizes) if isinstance(item, slice) else sizes

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))


class _Word:
    """A named constant, as in torch's namespace: a layout or a memory format."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"ftensor.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class memory_format(_Word):
    """The memory order of a tensor's dims."""

    __slots__ = ()


class layout(_Word):
    """The storage scheme of a tensor's elements. All tensors are `strided`; the other layouts exist
    for comparisons (`x.layout is ft.sparse_coo`), and factories refuse them."""

    __slots__ = ()


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
sparse_bsr = layout("sparse_bsr")
sparse_bsc = layout("sparse_bsc")
# A new dim of size 1 among indices: x[ft.newaxis].
newaxis = None
