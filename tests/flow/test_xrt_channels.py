"""HBM in channels, on the real XRT with the software device: placement of tensors, and copies."""

from __future__ import annotations

from pathlib import Path

from .xrt_programs import run

HEAD = """
axpy, n, MB = kernel("axpy"), 200_003, 1 << 20
a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
def channels(storage):
    return [piece.at // MB for piece in storage.handle.cl.pieces]
def copies():
    return ft.fpga.image_report().bank_copies
x, y, z = put(a), put(b), backend.allocate(4 * n)
axpy(stream, 4, z.handle, x.handle, y.handle, 2.0, n)
"""


def test_slabs_are_placed_near_their_units(many_channels: Path) -> None:
    """Each unit's part of each operand is in one of the four channels of its number, and no two
    operands are in the same. All bytes can be written and read back, whole or in part."""
    answer = run(
        HEAD
        + """
pieces = [p for s in (x, y, z) for p in s.handle.cl.pieces]
places = [channels(s) for s in (x, y, z)]
first = bool((got(z) == 2 * a + b).all())
part = np.full(70_000, 7, np.float32)
backend.upload(x, 4 * 90_000, part)                # over the border of two slabs
axpy(stream, 4, y.handle, x.handle, y.handle, 1.0, n)    # in place
a[90_000:160_000] = 7
back = np.empty(100_001, np.float32)
backend.download(y, 4 * 50_000, back)
answer(places=places, pages=[p.address % 4096 for p in pieces], first=first, copies=copies(),
       back=bool((back == (a + b)[50_000:150_001]).all()))
""",
        many_channels,
    )
    assert [[c // 4 for c in of] for of in answer["places"]] == [[0, 1, 2, 3]] * 3
    assert all(len({of[unit] for of in answer["places"]}) == 3 for unit in range(4))
    assert set(answer["pages"]) == {0}
    assert answer["first"] and answer["back"]
    assert answer["copies"] == 0


def test_operands_of_one_unit_are_in_different_channels(one_of_many_channels: Path) -> None:
    """Otherwise all ports would wait for the first channel, which XRT fills before the next."""
    answer = run(
        HEAD
        + """
axpy(stream, 1, y.handle, z.handle, x.handle, 3.0, n)
pieces = [s.handle.piece for s in (x, y, z)]
arena = backend.arena(None, (0, "HBM[0:15]", True))
answer(z=bool((got(z) == 2 * a + b).all()), y=bool((got(y) == 7 * a + 3 * b).all()),
       channels=[(p.at - arena.base) // arena.channel for p in pieces], copies=copies())
""",
        one_of_many_channels,
    )
    assert answer["z"] and answer["y"] and answer["copies"] == 0
    assert len(set(answer["channels"])) == 3


def test_slabs_are_made_contiguous_once_for_another_kernel(many_channels: Path) -> None:
    """A launch on one unit reads contiguously. Tensors of that size are contiguous from then on."""
    answer = run(
        HEAD
        + """
w = backend.allocate(4 * n)
axpy(stream, 1, w.handle, z.handle, y.handle, 1.0, n)
after = copies()
v = backend.allocate(4 * n)
axpy(stream, 4, v.handle, w.handle, z.handle, 1.0, n)
small = put(a[:1000])
axpy(stream, 4, small.handle, small.handle, small.handle, 1.0, 1000)
answer(w=bool((got(w) == 2 * a + b + b).all()), v=bool((got(v) == 4 * a + 3 * b).all()),
       small=bool((got(small) == 2 * a[:1000]).all()), after=after, copies=copies(),
       bank=[s.handle.bank for s in (w, v, small)])
""",
        many_channels,
    )
    assert answer["w"] and answer["v"] and answer["small"]
    assert (answer["after"], answer["copies"]) == (2, 2)
    assert answer["bank"] == ["HBM[0:15]"] * 3


def test_freed_memory_is_reused(many_channels: Path) -> None:
    """Memory that tensors and caches release is one piece again. A full memory raises ftensor's
    error. A tensor is contiguous if there is no room for slabs."""
    answer = run(
        HEAD
        + """
def free():
    space = backend.arena(None, (0, "HBM[0:15]", True)).regions[0].space
    space.take(1 << 40, 0, 1 << 62)
    return space.free
taken = len(free())
del x, y, z
backend.make_room()
whole = free()
one, held, message = put(b), [], ""
try:
    while True:
        held.append(backend.allocate(4 * n))
        axpy(stream, 4, held[-1].handle, one.handle, one.handle, 1.0, n)
except ft.OutOfMemoryError as e:
    message = str(e)
right = all(bool((got(s) == 2 * b).all()) for s in held[:-1])
count = len(held) - 1
held.clear()
last = backend.allocate(4 * n)
axpy(stream, 4, last.handle, one.handle, one.handle, 1.0, n)
answer(taken=taken, whole=len(whole), held=count, right=right, message=message,
       last=bool((got(last) == 2 * b).all()))
""",
        many_channels,
    )
    assert answer["taken"] > 3 and answer["whole"] == 1
    assert 12 <= answer["held"] <= 19  # of 800 KB, in less than 16 MiB
    assert "has no room for" in answer["message"]
    assert answer["right"] and answer["last"]


def test_slabs_survive_a_change_of_images(many_channels: Path, three_banks: Path) -> None:
    """Like all tensors, they are kept on the host meanwhile."""
    answer = run(
        HEAD
        + f"""
ft.load_image({str(three_banks)!r})
other = kernel("axpy")
other(stream, 1, x.handle, z.handle, y.handle, 1.0, n)
ft.load_image({str(many_channels)!r})
axpy = kernel("axpy")
axpy(stream, 4, y.handle, x.handle, z.handle, 1.0, n)
answer(y=bool((got(y) == 4 * a + 3 * b).all()), x=bool((got(x) == 2 * a + 2 * b).all()),
       places=channels(y))
""",
        many_channels,
    )
    assert answer["x"] and answer["y"]
    assert [c // 4 for c in answer["places"]] == [0, 1, 2, 3]


def test_full_memory_with_reusable_blocks_is_no_error(many_channels: Path) -> None:
    """A result uses the memory of its block, whatever its former layout. Memory left over in an
    arena is used too."""
    answer = run(
        HEAD
        + """
small = put(a[:1000])
axpy(stream, 1, small.handle, small.handle, small.handle, 0.0, 1000)
del z
w = backend.allocate(4 * n)
axpy(stream, 1, w.handle, small.handle, small.handle, 2.0, 1000)     # in a line
full = backend.pool.reserved
backend.arena(None, (0, "HBM[0:15]", True)).regions[0].space.free.clear()
v = backend.allocate(8000)
axpy(stream, 1, v.handle, small.handle, small.handle, 3.0, 1000)
answer(w=bool((got(w)[:1000] == 3 * a[:1000]).all()), bank=w.handle.bank, full=full,
       v=bool((got(v)[:1000] == 4 * a[:1000]).all()))
""",
        many_channels,
        FTENSOR_MEMORY_LIMIT=str(3 * 900_000),
    )
    assert answer["w"] and answer["v"]
    assert answer["bank"] == "HBM[0:15]"
    assert answer["full"] + 800_000 > 2_700_000
