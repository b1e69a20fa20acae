"""Kernels of a user's own on every target: OpenCL C where it compiles that, else HLS C++."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.observe import Observer, observed
from ftensor.own.kernel import Kernel

TEXT = """
{kernel}void axpy({ptr}const float *x, float a, {ptr}float *y, int n, {ptr}uchar *seen)
{{
    for (int i = 0; i < n; i++) y[i] += a * x[i];
    seen[0] += 1;
}}
{kernel}void kinds({ptr}double *out, char c, uchar uc, short s, ushort us, uint ui, long l,
                   ulong ul, float f, {double})
{{
    out[0] = c, out[1] = uc, out[2] = s, out[3] = us, out[4] = ui, out[5] = l, out[6] = ul;
    out[7] = f, out[8] = d;
}}
"""
TYPES = """
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
"""
HLS = default_backend().dialect == "vitis"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Makes the kernel of a name."""
    if not HLS:
        text = TEXT.format(kernel="__kernel ", ptr="__global ", double="double d")
        return lambda name: ft.fpga.opencl_kernel(text, name)
    file = tmp_path_factory.mktemp("own") / "own.cpp"
    file.write_text(TYPES + TEXT.format(kernel='extern "C" ', ptr="", double="double d"))
    return lambda name: ft.fpga.source(file, name)


def operands(n: int = 8) -> tuple[ft.Tensor, ft.Tensor, ft.Tensor]:
    x = ft.tensor([float(k) for k in range(n)])
    return x, ft.tensor([1.0] * n), ft.tensor([0, 0, 0], dtype=ft.uint8)


@pytest.mark.core
def test_a_kernel_among_ops(own: Any) -> None:
    axpy, (x, y, seen) = own("axpy"), operands()
    axpy(x + 1, 2, y, 8, seen)
    axpy(x, -1.0, y, 4, seen)
    assert (y * 2).tolist() == [6.0, 8.0, 10.0, 12.0, 22.0, 26.0, 30.0, 34.0]
    assert seen.tolist() == [2, 0, 0]


def test_numbers_of_each_type(own: Any) -> None:
    values = [-128, 255, -(2**15), 2**16 - 1, 2**32 - 1, -(2**53), 2**53, 0.5, 1e300]
    out = ft.zeros(9, dtype=ft.float64)
    own("kinds")(out, *values)
    assert out.tolist() == values


def test_a_view_begins_where_it_begins(own: Any) -> None:
    axpy, (x, y, seen) = own("axpy"), operands()
    if HLS and default_backend().target.kind == "board":
        with pytest.raises(ValueError, match=r"argument 'y' begins 12 bytes into its memory"):
            axpy(x, 1, y[3:], 2, seen)
    elif default_backend().host_shared:
        axpy(x[1:], 1, y[3:], 2, seen[1:])
        assert y.tolist() == [1.0, 1.0, 1.0, 2.0, 3.0, 1.0, 1.0, 1.0]
        assert seen.tolist() == [0, 1, 0]


def test_the_door_sees_it(own: Any) -> None:
    """One launch, which says what it may write; who stands there may leave it out."""
    met: list[Any] = []

    class Notes(Observer):
        def launch(self, launch: Any, stream: Any, tensors: Sequence[Any], numbers: Any) -> None:
            met.append((launch, [t._storage for t in tensors], list(numbers)))

    axpy, (x, y, seen) = own("axpy"), operands()
    with observed(default_backend(), Notes()):
        axpy(x, 2, y, 8, seen)
    ((launch, storages, numbers),) = met
    assert storages == [x._storage, y._storage, seen._storage] and numbers == [2.0, 8]
    assert launch.written == {1, 2}
    assert y.tolist() == [1.0] * 8


def test_in_a_graph(own: Any) -> None:
    """`ft.jit` traces it as any launch, and has it done again with other tensors."""
    axpy = own("axpy")

    @ft.jit
    def graph(x: ft.Tensor, seen: ft.Tensor) -> ft.Tensor:
        y = x + 1
        axpy(x * 2, 0.5, y, 8, seen)
        return y * 10

    x, y, seen = operands()
    for a in (x, y, x):
        assert graph(a, seen).tolist() == [20 * v + 10 for v in a.tolist()]
    assert seen.tolist() == [3, 0, 0]


def test_streams(own: Any) -> None:
    axpy, (x, y, seen) = own("axpy"), operands()
    stream = ft.fpga.Stream()
    stream.wait_stream(ft.fpga.current_stream())
    with ft.fpga.stream(stream):
        for _ in range(3):
            axpy(x, 1, y, 8, seen)
    stream.synchronize()
    assert y.tolist() == [1.0 + 3 * k for k in range(8)]


def test_what_is_known_of_indices_is_forgotten(own: Any) -> None:
    """A kernel may write indices that are out of range."""
    out = ft.arange(9).to(ft.float64)
    own("kinds")(out, 0, 0, 0, 0, 0, 99, 0, 0, 0)
    with pytest.raises(IndexError):
        ft.ones(9)[out.to(ft.int64)]


@pytest.mark.skipif(HLS, reason="HLS C++ has no work-items")
@pytest.mark.core
def test_work_items() -> None:
    text = """__kernel void at(__global int *out, __local int *own)
    {
        own[get_local_id(0)] = 100 * get_global_id(1);
        out[get_global_id(1) * get_global_size(0) + get_global_id(0)] =
            own[get_local_id(0)] + get_global_id(0);
    }"""
    at, out = ft.fpga.opencl_kernel(text), ft.zeros(2, 4, dtype=ft.int32)
    at.run(out, 16, units=(4, 2), group=(2, 1))
    assert out.tolist() == [[0, 1, 2, 3], [100, 101, 102, 103]]
    with pytest.raises(TypeError, match=r"at\.run\(\.\.\., units=n\)"):
        at(out, 16)
    for units, group in (((4, 2), 3), ((4, 2), (3, 1)), (0, None), (True, None), ((1,) * 4, None)):
        with pytest.raises(ValueError, match=r"at: (units|group)="):
            at.run(out, 16, units=units, group=group)


@pytest.mark.skipif(not HLS, reason="OpenCL C has work-items instead")
def test_compute_units(tmp_path: Path) -> None:
    file = tmp_path / "shared.cpp"
    file.write_text(
        'extern "C" void part(int *out, int n, int ft_unit, int ft_units) {'
        " for (int i = n * ft_unit / ft_units; i < n * (ft_unit + 1) / ft_units; i++)"
        " out[i] = 10 * ft_units + ft_unit; }\n"
        'extern "C" void whole(int *out) { out[0] = 1; }'
    )
    part, out = ft.fpga.source(file, "part"), ft.zeros(4, dtype=ft.int32)
    part(out, 4)
    assert out.tolist() == [10] * 4
    part.run(out, 4, units=2)
    assert out.tolist() == [20, 20, 21, 21]
    with pytest.raises(ValueError, match="int ft_unit, int ft_units"):
        ft.fpga.source(file, "whole").run(out, units=2)


def test_it_goes_with_who_holds_it(own: Any) -> None:
    kernel: Kernel | None = own("axpy")
    assert kernel is not None
    x, y, seen = operands()
    kernel(x, 1, y, 1, seen)
    before = len(default_backend().own)
    ft.synchronize()
    kernel = None
    assert len(default_backend().own) == before - 1
