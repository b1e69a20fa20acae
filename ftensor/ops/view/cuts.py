"""Where split, chunk and their relatives cut a dim: pure arithmetic, no tensors."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import view as errors_view

Ints = tuple[int, ...]
Cuts = list[tuple[int, int]]  # (start, stop) of each piece, as a slice would read them


def cuts_of(sizes: Iterable[int]) -> Cuts:
    """The cuts that give pieces of these sizes, one after the other."""
    cuts, start = [], 0
    for size in sizes:
        cuts.append((start, start + size))
        start += size
    return cuts


def equal_pieces(length: int, size: int) -> Cuts:
    """Pieces of `size`; the last takes what is left. An empty dim gives one empty piece."""
    if size < 0 or (size == 0 and length):
        raise errors_view.split_size(size, length)
    if not length:
        return [(0, 0)]
    return [(start, min(start + size, length)) for start in range(0, length, size)]


def sized_pieces(length: int, sizes: Ints) -> Cuts:
    """Pieces of the sizes given, which must make up the dim."""
    if sum(sizes) != length or min(sizes, default=0) < 0:
        raise errors_view.split_sizes(sizes, length)
    return cuts_of(sizes)


def chunks(length: int, count: int) -> Cuts:
    """At most `count` pieces, all but the last of one size."""
    if count <= 0:
        raise errors_view.piece_count("chunk", count)
    if not length:
        return [(0, 0)] * count
    return equal_pieces(length, -(-length // count))


def sections(length: int, count: int) -> Cuts:
    """Exactly `count` pieces whose sizes differ by at most 1, the larger ones first."""
    if count <= 0:
        raise errors_view.piece_count("tensor_split", count)
    size, larger = divmod(length, count)
    return cuts_of([size + 1] * larger + [size] * (count - larger))


def between(length: int, indices: Ints) -> Cuts:
    """Pieces between consecutive indices, read as slices are: negative ones from the end."""
    return list(zip((0, *indices), (*indices, length), strict=True))
