"""Tables that Fourier transforms read: roots of unity of passes, between them, and of chirps."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from .._tensor import Tensor
from ..iterator.stride import contiguous_strides
from ..kernels.skeletons.fft import RADICES

if TYPE_CHECKING:
    from ..runtime.backend import Backend

Arrays = np.ndarray[Any, Any]
# Bytes of tables that a device keeps.
KEPT_BYTES = 1 << 28
WIDE = ("float64", "complex128")

_tables: WeakKeyDictionary[Backend, OrderedDict[tuple[Hashable, bool], Tensor]]
_tables = WeakKeyDictionary()


@dataclass
class FftTables:
    """Tables one after another, by name; each begins on a vector's alignment."""

    lanes: int
    names: list[tuple[Any, ...]] = field(default_factory=list)
    places: dict[tuple[Any, ...], int] = field(default_factory=dict)
    size: int = 0

    def place(self, *name: Any) -> int:
        """Where the table of this name begins, in real numbers."""
        if name not in self.places:
            self.names.append(name)
            self.places[name] = self.size
            self.size += -(-_size(self.lanes, name) // 16) * 16
        return self.places[name]

    def array(self) -> Arrays:
        """All of them, in double precision."""
        joined = np.zeros(max(self.size, 16))
        for name in self.names:
            kind, *of = name
            table, at = _TABLES[kind](self.lanes, *of), self.places[name]
            joined[at : at + table.size] = table
        return joined


def _size(lanes: int, name: tuple[Any, ...]) -> int:
    kind, *of = name
    if kind == "roots":
        r, length = of
        return 2 * ((r - 1) * length * (length > 1) + r * (r not in RADICES))
    if kind == "twiddles":
        a, b = of
        return 2 * a * -(-b // lanes) * lanes
    return 2 * {"half": of[0] + 1, "chirp": of[0]}.get(kind, of[-1])


def _roots(lanes: int, r: int, length: int) -> Arrays:
    parts = []
    if length > 1:
        powers = np.arange(length)[:, None] * np.arange(1, r)
        parts.append(unit_roots(powers.reshape(-1), r * length))
    if r not in RADICES:
        parts.append(unit_roots(np.arange(r), r))
    return np.concatenate(parts).view(np.float64)


def _twiddles(lanes: int, a: int, b: int) -> Arrays:
    groups = -(-b // lanes)
    column = np.arange(groups * lanes).reshape(groups, 1, lanes)
    roots = unit_roots((np.arange(a)[None, :, None] * column).reshape(-1), a * b)
    roots = roots.reshape(groups, a, lanes)
    return np.stack([roots.real, roots.imag], 2).reshape(-1)


def _half(lanes: int, h: int) -> Arrays:
    return unit_roots(np.arange(h + 1), 2 * h).view(np.float64)


def chirp(n: int) -> Arrays:
    """exp(-pi i k^2 / n) for k below n."""
    k = np.arange(n, dtype=object if n > 3_000_000_000 else np.int64)
    return unit_roots(k * k % (2 * n), 2 * n)


def chirp_spectrum(n: int, size: int) -> Arrays:
    """The transform of the conjugate chirp, of `size` points, over `size`."""
    around = np.zeros(size, np.complex128)
    around[:n] = chirp(n).conj()
    around[size - n + 1 :] = around[n - 1 : 0 : -1]
    spectrum: Arrays = np.fft.fft(around) / size
    return spectrum


_TABLES: dict[str, Callable[..., Arrays]] = {
    "roots": _roots,
    "twiddles": _twiddles,
    "half": _half,
    "chirp": lambda lanes, n: chirp(n).view(np.float64),
    "spectrum": lambda lanes, n, size: chirp_spectrum(n, size).view(np.float64),
}


def unit_roots(powers: Arrays, n: int) -> Arrays:
    """exp(-2 pi i k / n) for integers k, to about 2e-16.

    Angles are brought into an eighth of the circle as integers, so that no rounded angle is large.
    """
    eighths = powers.astype(np.int64) % n * 8
    octant, rest = eighths // n, eighths % n
    odd = octant % 2 == 1
    angle = np.where(odd, n - rest, rest) * (np.pi / 4 / n)
    c, s = np.cos(angle), np.sin(angle)
    c, s = np.where(odd, s, c), np.where(odd, c, s)  # within a quarter
    quarter = octant // 2
    re = np.choose(quarter, (c, -s, -c, s))
    im = np.choose(quarter, (s, c, -s, -c))
    roots: Arrays = re - 1j * im
    return roots


def kept_table(x: Tensor, name: Hashable, make: Callable[[], Arrays]) -> Tensor:
    """The table of this name, in the dtype of real numbers and on the device of `x`: kept from an
    earlier call, or what `make` gives, in double precision."""
    backend = x._storage.backend
    wide = x._dtype.name in WIDE
    kept = _tables.get(backend)
    if kept is None:
        kept = _tables.setdefault(backend, OrderedDict())
    table = kept.get((name, wide))
    if table is None:
        of = x._dtype.to_real()
        array = make().astype(of.numpy)
        storage = backend.allocate_lasting(array.nbytes)
        storage.device = x._storage.device
        table = Tensor._make(storage, of, array.shape, contiguous_strides(array.shape))
        backend.upload(storage, 0, array)
        if len(backend.streams) > 1:
            backend.current_stream().finish()  # others will read it, too
        while kept and sum([t.nbytes for t in kept.values()]) + table.nbytes > KEPT_BYTES:
            kept.popitem(last=False)
        kept[name, wide] = table
    return table
