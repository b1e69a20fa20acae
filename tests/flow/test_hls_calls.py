"""Whole calls of the library on kernels made from HLS sources, grouped as in an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import backend_of, get_device_mapping, resolve, set_device_mapping
from ftensor.execute.dispatch import observed
from ftensor.kernels.key import KernelKey
from ftensor.kernels.skeletons.conv import ConvKey
from ftensor.kernels.skeletons.gemm import GemmKey
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain.group import KernelGroup, is_wide, port_groups

from .before import compile_before
from .hls_kernels import Kernels, launch, reference, same, values

pytestmark = [pytest.mark.skipif(csim_compiler() is None, reason="the C simulation needs a C++ compiler")]

REAL = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64")
ALL = (*REAL, "bool", "complex64", "complex128")


def tensor(of: str, *shape: int, seed: int = 1) -> ft.Tensor:
    """Returns a tensor on the C simulation."""
    d = getattr(ft, of)
    numbers = values(d, int(np.prod(shape, dtype=int)), seed)
    if of == "bfloat16":
        wide = (numbers.astype(np.uint32) << 16).view(np.float32)
        return ft.tensor(wide.reshape(shape)).to(d)
    return ft.tensor(numbers.astype(bool) if of == "bool" else numbers).reshape(shape).to(d)


def ordinary(of: str, *shape: int, seed: int) -> ft.Tensor:
    """Returns finite numbers, since in sums of many terms a NaN would hide all others."""
    d = getattr(ft, of)
    if d.kind not in "fc":
        return tensor(of, *shape, seed=seed)
    parts = np.random.default_rng(seed).standard_normal((*shape, 2))
    numbers = parts[..., 0] + 1j * parts[..., 1] if d.is_complex else parts[..., 0]
    return ft.tensor(numbers).to(d)


def ints(most: int, *shape: int, seed: int = 2, of: str = "int64") -> ft.Tensor:
    """Returns indices below `most`, some of them negative."""
    numbers = np.random.default_rng(seed).integers(-most, most, shape)
    return ft.tensor(numbers).to(getattr(ft, of))


def pointwise(of: str) -> list[ft.Tensor]:
    """Whole vectors, remainders, single elements, numbers, strided and broadcast operands of a
    dtype."""
    a, b = tensor(of, 5, 37), tensor(of, 5, 37, seed=3)
    results = [a * b, a + b[0, 3], a.t() * b.t(), a + b[0], a[:, ::2] == b[:, ::2], a == b, a.clone()]
    results += [a * 2, ft.where(a == b, a, b), a != a[2, 2]]
    results += [a.to(d) for d in (ft.float32, ft.int32, ft.bool, ft.complex64, ft.float16)]
    results += [ft.full((37,), 1, dtype=a.dtype), ft.zeros(3, 5, dtype=a.dtype)]
    results.append(a.clone())
    results[-1][1:, 2] = 1
    results[-1][0, :20] += b[0, :20]
    return results


def unary(of: str) -> list[ft.Tensor]:
    """Functions with helpers from every header."""
    a, b = tensor(of, 3, 50), tensor(of, 3, 50, seed=4)
    names = ["exp", "sin", "sqrt", "tanh", "abs", "sigmoid", "log1p", "reciprocal"]
    if not a.dtype.is_complex:
        names += ["floor", "erfinv", "digamma", "relu", "sign", "lgamma"]
        names += ["round"]
    results = [getattr(ft, n)(a) if hasattr(ft, n) else ft.tanh(a) for n in names]
    results += [ft.pow(a, b), a / b]
    if not a.dtype.is_complex:
        results += [ft.remainder(a, b), ft.fmod(a, b), a // b, ft.logaddexp(a, b), ft.maximum(a, b)]
        results += [ft.clamp(a, -0.5, 0.5), ft.nextafter(a, b), ft.lerp(a, b, 0.25)]
    else:
        results += [a.real.clone(), a.imag.clone(), ft.angle(a), a.conj() * b]
    return results


def integers(of: str) -> list[ft.Tensor]:
    """Division, shifts, powers and bitwise ops."""
    a, b = tensor(of, 90), tensor(of, 90, seed=5)
    results = [a // b, ft.remainder(a, b), ft.gcd(a, b), a & b, a | b, ~a, a ^ b]
    return results + [a << (b & 3), a >> (b & 3), ft.maximum(a, b), a / b, a > b]


def reductions(of: str) -> list[ft.Tensor]:
    """Along rows, across rows, over everything, in two stages: sums, extremes, indices."""
    a, big = tensor(of, 6, 301), tensor(of, 2, 70000)
    results = [a.sum(), a.sum(0), a.sum(1), a.t().sum(0), a[:, ::3].sum(1), big.sum(), a.prod(1)]
    results += [a.any(), a.all(1), a[:, 5].sum()]
    if of in ("float32", "float64", "float16", "bfloat16", "complex64", "complex128"):
        results += [a.mean(), a.mean(0), a.var(1) if of == "float32" else a.mean(1)]
        results += [big.mean()]
    if not a.dtype.is_complex and of != "bool":
        results += [a.amax(1), a.amin(0), a.argmax(), a.argmin(1), big.argmax(), *a.max(0)]
    return results


def wide_reductions(of: str) -> list[ft.Tensor]:
    """Rows on 64-byte boundaries whose ends fill no vector: offsets, dims in between, repeated
    rows."""
    a, b = tensor(of, 6, 320)[:, :301], tensor(of, 3, 4, 448)[:, 1:, 64:370]
    results = [a.sum(0), a.sum(1), a[2:].sum(0), a[1:5, 64:].sum(1), b.sum(1), b.sum((0, 2))]
    results += [b.sum((0, 1)), b.sum(2), b[:, 0].sum(0), a.expand(4, 6, 301).sum((0, 2))]
    results += [b[:, :, :130].sum(1), b[:, :, :17].sum((0, 1)), a.any(0), b.all(2)]
    many = tensor(of, 2000, 64)
    results += [many.sum(0), many[:, :39].sum(0)]
    if not a.dtype.is_complex and of != "bool":
        results += [b.amax(1), b.amin(2), *a.max(0), b.argmax(2), many[:, :39].argmax(0)]
    if of == "float32":
        results += [a.var(0), b.var((0, 1)), b.var(2)]
        results.append(ordinary(of, 14000, 64, seed=3).sum(0))  # all four levels of sums in each split
    return results


def indexing(of: str) -> list[ft.Tensor]:
    """Reads and writes through index tensors of several dtypes, masks, gathers and scatters."""
    a = tensor(of, 7, 11)
    i, j = ints(7, 5, 6), ints(11, 5, 6, seed=3)
    results = [a[i, j], a[i], a[:, ints(11, 4)], a[ints(7, 9, of="int32")], a[a == a]]
    results += [ft.index_select(a, 1, ft.tensor([3, 1, 10])), a.gather(1, ints(11, 7, 3).abs() % 11)]
    b = a.clone()
    b[i[0], j[0]] = a[0, 0]
    c = a.clone()
    c.index_put_((i, j), tensor(of, 5, 6, seed=9), accumulate=True)
    d = a.clone()
    d.scatter_(1, ints(11, 7, 2).abs() % 11, tensor(of, 7, 2, seed=8))
    e = a.clone()
    e[e == e] = 0
    return [*results, b, c, d, e]


def places() -> list[ft.Tensor]:
    """Values computed from their positions."""
    results = [ft.arange(100), ft.arange(3, 40, 2, dtype=ft.float32), ft.linspace(0, 1, 77)]
    results += [ft.tril_indices(9, 8), ft.triu_indices(7, 9, 1), ft.eye(6), ft.logspace(0, 2, 33)]
    results += [ft.arange(50, dtype=ft.int32), ft.nonzero(tensor("int32", 9, 40) > 0)]
    results += [ft.linspace(0, 1, 5, dtype=ft.float64), ft.arange(9, dtype=ft.float16)]
    return results


def products(of: str) -> list[ft.Tensor]:
    """Products of small and of packed matrices."""
    a, b = tensor(of, 9, 33), tensor(of, 33, 20, seed=2)
    big = tensor(of, 130, 150)
    results = [a @ b, a @ b[:, 0], big @ big.t()]
    if a.dtype.kind in "fc":
        results.append(ft.addmm(tensor(of, 9, 20, seed=7), a, b, beta=0.5, alpha=2))
    # Packed products: result rows that start at beats, with a whole or a narrow last panel, or
    # inside a beat; sums of more than one part, and groups of steps with a remainder; batches; all
    # three scalings.
    shapes = ((100, 551), (551, 144), (100, 144), (2, 3, 80, 130), (3, 130, 96))
    a, b, c, x, y = (ordinary(of, *shape, seed=k) for k, shape in enumerate(shapes))
    results += [a @ b, a[:, :301] @ b[:301, :140], ft.addmm(c, a, b, beta=0, alpha=3)]
    results += [ft.addmm(c, a, b, beta=2, alpha=3), ft.addmm(c[0], a, b)]
    wide = ft.zeros(4, 100, 320, dtype=a.dtype)
    for k, columns in enumerate((slice(0, 144), slice(16, 156), slice(3, 147), slice(0, 288, 2))):
        target = wide[k][:, columns]
        ft.mm(a, b[:, : target.shape[1]], out=target)
    return [*results, wide, x @ y, b.t() @ a.t(), c.t() @ b.t()[:100, ::2]]


def pools(of: str) -> list[ft.Tensor]:
    """Whole planes and strips of them, with indices; overlapping windows; averages."""
    f, a, b = ft.nn.functional, tensor(of, 3, 26, 37), tensor(of, 2, 130, 200, seed=2)
    results = [f.max_pool2d(a, 2), *f.max_pool2d(b, 3, 2, 1, return_indices=True)]
    results.append(f.max_pool2d(b[1:, 3:, :], 1, (40, 150)))
    if a.dtype.kind == "f":
        results += [f.avg_pool2d(ordinary(of, 3, 26, 37, seed=4), 3, 1, 1, count_include_pad=False)]
    return results


def convolutions(of: str) -> list[ft.Tensor]:
    """Results in vectors, along rows and over planes, and one by one."""
    shapes = (2, 20, 13, 11), (35, 20, 3, 3), (1, 8, 16, 32), (20, 8, 1, 1), (1, 3, 6, 5, 7)
    shapes = (*shapes, (4, 3, 2, 3, 3))
    x, w, y, v, z, u = (ordinary(of, *shape, seed=k) for k, shape in enumerate(shapes))
    results = [ft.conv2d(x, w, w[:, 0, 0, 0], padding=1), ft.conv2d(y, v), ft.conv3d(z, u, padding=1)]
    results.append(ft.conv2d(x, w, stride=2))
    if x.dtype.kind == "f":
        results.append(ft.conv_transpose2d(x[1:], w[:20, :4], stride=2))
    results.append(ft.conv2d(x[:, :, 2:, 1:], w[:, :, :2, 1:]))
    return [*results, ft.conv2d(x[:, :, :, :1], w[:, :, :, :1]), ft.conv2d(x, w[:18], dilation=2)]


def whole_rows() -> list[ft.Tensor]:
    """softmax and layer norm of rows of many lengths, that start at beats or inside them."""
    results = []
    for shape in ((9, 1), (40, 5), (6, 64), (50, 196), (3, 4096), (33, 71), (2, 15)):
        x = ordinary("float32", *shape, seed=3)
        results += [ft.softmax(x, 1), ft.log_softmax(x[1:], 1)]
        results += ft.native_layer_norm(x, (shape[1],), x[0], None, 1e-5)
        results.append(ft.nn.functional.layer_norm(x[1:], (shape[1],), x[0], x[1]))
    return results


CALLS: dict[str, Callable[[], list[ft.Tensor]]] = {}
for _name in ALL:
    CALLS[f"pointwise-{_name}"] = lambda of=_name: pointwise(of)  # type: ignore[misc]
for _name in ("float32", "float64", "float16", "bfloat16", "complex64"):
    CALLS[f"unary-{_name}"] = lambda of=_name: unary(of)  # type: ignore[misc]
for _name in ("int8", "uint8", "int32", "int64"):
    CALLS[f"integers-{_name}"] = lambda of=_name: integers(of)  # type: ignore[misc]
for _name in ("float32", "float64", "float16", "bfloat16", "int32", "uint8", "bool", "complex64"):
    CALLS[f"reductions-{_name}"] = lambda of=_name: reductions(of)  # type: ignore[misc]
for _name in ("float32", "float64", "float16", "int64", "uint8", "bool", "complex64", "complex128"):
    CALLS[f"wide-{_name}"] = lambda of=_name: wide_reductions(of)  # type: ignore[misc]
for _name in ("float32", "bfloat16", "int8", "int64", "complex64", "bool"):
    CALLS[f"indexing-{_name}"] = lambda of=_name: indexing(of)  # type: ignore[misc]
for _name in ("float32", "float64", "float16", "bfloat16", "complex64", "int32"):
    CALLS[f"products-{_name}"] = lambda of=_name: products(of)  # type: ignore[misc]
for _name in ("float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32"):
    CALLS[f"pools-{_name}"] = lambda of=_name: pools(of)  # type: ignore[misc]
for _name in ("float32", "float64", "int8", "bfloat16"):
    CALLS[f"convolutions-{_name}"] = lambda of=_name: convolutions(of)  # type: ignore[misc]
CALLS["places"], CALLS["whole_rows"] = places, whole_rows
# Every run has one case of each kind, and for pointwise ops also the case with two parts.
FEW = ("float32", "places", "whole_rows", "integers-int32", "pointwise-complex64")
# Every second one of the other cases; kinds and dtypes alternate. XRT runs all rows of the same
# sources.
NAMES = [name for k, name in enumerate(CALLS) if name.endswith(FEW) or k % 2 == 0]
# "pointwise-float32" alone takes half of their time.
ALWAYS = {n for n in NAMES if n.endswith(FEW)} - {"pointwise-float32"}


@pytest.fixture(scope="module", autouse=True)
def csim(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Makes the C simulation the device, with three compute units; restores the former device."""
    before = get_device_mapping()
    set_device_mapping("csim")
    backend = backend_of(resolve())
    units, backend.units = backend.units, 3
    names = [
        item.callspec.params["name"]  # type: ignore[attr-defined]
        for item in request.session.items
        if getattr(item, "function", None) is test_group_has_the_bits_of_its_members
    ]
    compile_before(backend, [CALLS[name] for name in names])
    yield backend
    backend.units = units
    forget(backend)
    set_device_mapping(before)


def forget(backend: Any) -> None:
    """Discards prepared kernels and launches."""
    backend.kernels.clear()
    backend.launches.clear()


def arrays(results: list[ft.Tensor]) -> list[tuple[Any, np.ndarray]]:
    """Returns the results' dtypes and bytes."""
    pairs = []
    for t in results:
        whole = t.contiguous()
        array = whole.float().numpy() if t.dtype is ft.bfloat16 else whole.numpy()
        pairs.append((t.dtype, np.ascontiguousarray(array).reshape(-1).view(np.uint8)))
    return pairs


def groups_of(keys: list[Any]) -> dict[Any, tuple[KernelGroup, int]]:
    """Returns the groups that an inventory would make of the keys: the group and index of each."""
    groups: dict[Any, tuple[KernelGroup, int]] = {}
    pointwise_ = [k for k in keys if isinstance(k, KernelKey)]
    for turn, bundle in enumerate(port_groups(pointwise_)):
        structure = ("dataflow", "burst", "loop")[turn % 3]
        group = KernelGroup(f"group_{turn}", tuple(bundle.members), structure=structure, units=3)
        groups |= {key: (group, opcode) for opcode, key in enumerate(bundle.members)}
    for turn, key in enumerate(k for k in keys if not isinstance(k, KernelKey)):
        groups[key] = (KernelGroup(f"single_{turn}", (key,)), 0)
    return groups


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in ALWAYS else [pytest.mark.long]) for n in NAMES])
def test_group_has_the_bits_of_its_members(csim: Any, capfd: pytest.CaptureFixture[str], name: str) -> None:
    """Bits of the C simulation's kernels and of the groups' HLS sources are equal. FIFOs are empty
    at the end, since the next launch would read a remaining element first.

    Products are compared with kernels of the simulation that round like the sources.
    """
    keys: list[Any] = []

    def record(key: Any, run: Any) -> Any:
        if key not in keys:
            keys.append(key)
        if not isinstance(key, (GemmKey, ConvKey)):
            return run

        def call(stream: Any, units: int, *args: Any) -> None:
            for unit in range(units):
                reference(key)(*args, unit, units)

        return call

    with observed(csim, Kernels(record)):
        expected = arrays(CALLS[name]())
    assert keys
    where = groups_of(keys)
    if name.startswith("wide-"):
        wide = {k.skeleton for k in keys if is_wide(where[k][0], "in_a") and k.reduction}
        assert wide == {"reduce_inner", "reduce_outer"}
    used = set()

    def replace(key: Any, run: Any) -> Any:
        group, opcode = where[key]
        used.add(key)

        def call(stream: Any, units: int, *args: Any) -> None:
            launch(group, opcode, args, units)

        return call

    with observed(csim, Kernels(replace)):
        actual = arrays(CALLS[name]())
    assert used == set(keys)
    for k, ((of, mine), (_, theirs)) in enumerate(zip(actual, expected)):
        assert same(mine, theirs, of), (name, k, of)
    assert "still holds" not in capfd.readouterr().err
