"""User kernels on every target: OpenCL C on devices that compile it, otherwise HLS C++."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.dispatch import Observer, observed
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
    """Returns a function that makes the kernel of a name."""
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
def test_user_kernel_among_ops(own: Any) -> None:
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


def test_offset_of_a_view(own: Any) -> None:
    axpy, (x, y, seen) = own("axpy"), operands()
    if HLS and default_backend().target.kind == "board":
        with pytest.raises(ValueError, match=r"argument 'y' begins 12 bytes into its memory"):
            axpy(x, 1, y[3:], 2, seen)
    elif default_backend().host_shared:
        axpy(x[1:], 1, y[3:], 2, seen[1:])
        assert y.tolist() == [1.0, 1.0, 1.0, 2.0, 3.0, 1.0, 1.0, 1.0]
        assert seen.tolist() == [0, 1, 0]


def test_executor_sees_user_kernels(own: Any) -> None:
    """It sees one launch, which names the memory it may write, and may skip it."""
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


def test_user_kernels_in_a_graph(own: Any) -> None:
    """`ft.jit` traces a user kernel like any launch, and replays it with other tensors."""
    axpy = own("axpy")

    @ft.jit
    def graph(x: ft.Tensor, seen: ft.Tensor) -> ft.Tensor:
        y = x + 1
        axpy(x * 2, 0.5, y, 8, seen)
        return y * 10

    x, y, seen = operands()
    # A board with images exchanges them twice in each call.
    calls = (x, y) if default_backend().images is not None else (x, y, x)
    for a in calls:
        assert graph(a, seen).tolist() == [20 * v + 10 for v in a.tolist()]
    assert seen.tolist() == [len(calls), 0, 0]


def test_user_kernels_on_streams(own: Any) -> None:
    axpy, (x, y, seen) = own("axpy"), operands()
    stream = ft.fpga.Stream()
    stream.wait_stream(ft.fpga.current_stream())
    with ft.fpga.stream(stream):
        for _ in range(3):
            axpy(x, 1, y, 8, seen)
    stream.synchronize()
    assert y.tolist() == [1.0 + 3 * k for k in range(8)]


def test_user_kernel_invalidates_known_index_bounds(own: Any) -> None:
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


ONE = "__kernel void one(__global float *x) { x[get_global_id(0)] = N; }"


@pytest.mark.skipif(HLS, reason="HLS C++ has no work-items")
def test_work_sizes_of_any_integer_type() -> None:
    """Compiler options come as a list or as a shell's words."""
    for options in ("-DN=1 -DM=2", ["-DN=1"], ("-D", "N=1"), [Path("-DN=1")]):
        k = ft.fpga.opencl_kernel(ONE, options=options)
    six = (6, np.int64(6), np.prod((2, 3)), (np.int32(6),), [6], ft.Size([6]), np.array([6]))
    for units, group in [*((n, None) for n in six), (6, np.int64(3)), (6, np.array([3]))]:
        x = ft.zeros(6)
        k.run(x, units=units, group=group)
        assert x.tolist() == [1.0] * 6, (units, group)
    x = ft.zeros(6)
    for wrong in (6.0, "6", b"6", True, np.True_, -1, np.int8(-1), (), (6, None), ft.tensor(6), np.ones((1, 1), int)):
        with pytest.raises(ValueError, match=r"one: units=.*is not a positive integer"):
            k.run(x, units=wrong)
    for wrong in (2**70, 2**63, (2**40, 2**40)):  # some of these end the process in drivers
        with pytest.raises(ValueError, match=r"one: units=.* more than the \d+ that a launch can have"):
            k.run(x, units=wrong)
    assert x.tolist() == [0.0] * 6


@pytest.mark.skipif(HLS, reason="of OpenCL C")
def test_invalid_sources_and_options_are_refused() -> None:
    kernel = ft.fpga.opencl_kernel
    never = "#ifdef NEVER\n" + ONE + "\n#endif"
    for text in ("float f(float x) { return x; }", "", "// nothing", never):
        with pytest.raises(ValueError, match=r"the text has no kernel: .*__kernel"):
            kernel(text)
    for text in (None, 3, b"__kernel void f() {}", Path("k.cl")):
        with pytest.raises(TypeError, match=r"text=.*ft\.fpga\.kernel takes a \.cl file"):
            kernel(text)  # type: ignore[arg-type]
    for options in (3, b"-DN=1", [1], {"-DN=1"}, np.array(["-DN=1"])):
        with pytest.raises(TypeError, match=r"options=.* is no list of words"):
            kernel(ONE, options=options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"options=.* can't be cut into words .*quotation"):
        kernel(ONE, options="-DN='1")
    with pytest.raises(TypeError, match=r"name=0 \(int\) is no kernel's name"):
        kernel(ONE, 0, options=None)  # type: ignore[arg-type]


@pytest.mark.skipif(HLS, reason="HLS C++ has no work-groups")
def test_too_much_local_memory_is_refused() -> None:
    """The error names both sizes. Some drivers would end the process."""
    text = """__kernel void at(__global int *out, __local int *own, __local int *other)
    {
        own[0] = 1; other[0] = 2; out[0] = own[0] + other[0];
    }
    __kernel void itself(__global int *out) { __local int own[1 << 24]; own[out[0]] = 3; out[0] = own[0]; }"""
    there = default_backend().cl_device.local_mem_size
    at, out = ft.fpga.opencl_kernel(text, "at"), ft.zeros(1, dtype=ft.int32)
    for own, other in ((there + 1, 4), (there, 4), (4, 10**10)):
        with pytest.raises(ValueError, match=rf"at asks for \d+ bytes of a work-group's memory .* has {there}"):
            at(out, own, other)
    itself = ft.fpga.opencl_kernel(text, "itself")
    with pytest.raises(ValueError, match=rf"itself asks for 671\d+ bytes .* has {there}"):
        itself(out)
    at(out, 4, np.int64(128))
    assert out.item() == 3


def test_pairs_are_complex_numbers(tmp_path: Path) -> None:
    """float2 takes complex64 unchanged. For other dtypes the error does not suggest dropping a
    part."""
    body = "{{ for (int i = 0; i < n; i++) {{ float2 v = x[i]; x[i].{0} = v.{1}; x[i].{1} = v.{0}; }} }}".format(
        "x", "y"
    )
    flat = "{{ y[0] = 1; }}".format()
    if HLS:
        (tmp_path / "swap.cpp").write_text(
            f'struct float2 {{ float x, y; }};\nextern "C" void swap(float2 *x, int n) {body}\n'
            f'extern "C" void flat(float *y) {flat}'
        )
        swap, real = (ft.fpga.source(tmp_path / "swap.cpp", name) for name in ("swap", "flat"))
    else:
        text = f"__kernel void swap(__global float2 *x, int n) {body}\n__kernel void flat(__global float *y) {flat}"
        swap, real = (ft.fpga.opencl_kernel(text, name) for name in ("swap", "flat"))
    z = ft.tensor([1 + 2j, 3 - 4j, 5j])
    swap(z, 2)
    assert z.tolist() == [2 + 1j, -4 + 3j, 5j]
    if default_backend().host_shared:
        swap(z[1:], 2)
        assert z.tolist() == [2 + 1j, 3 - 4j, 5 + 0j]
    swap(ft.view_as_real(z), 1)
    assert z[0].item() == 1 + 2j
    for wrong in (z.to(ft.complex128), z.real.to(ft.float64)):
        with pytest.raises((TypeError, ValueError), match="takes a tensor of float32, not of"):
            swap(wrong, 1)
    with pytest.raises(TypeError, match=r"see the pairs .* y\.view\(float32\).* drops the imaginary parts"):
        real(z)


def test_pickle_and_copy(own: Any) -> None:
    axpy, (x, y, seen) = own("axpy"), operands()
    assert copy.copy(axpy) is axpy and copy.deepcopy([axpy])[0] is axpy
    other = pickle.loads(pickle.dumps(axpy))
    assert repr(other) == repr(axpy)
    other(x, np.float32(1), y, np.uint8(8), seen)
    assert y.tolist() == [1.0 + k for k in range(8)]


def test_invalid_numbers_are_refused(own: Any) -> None:
    axpy, (x, y, seen) = own("axpy"), operands()
    for a in ("1", b"1", bytearray(b"1"), memoryview(b"1"), None, 1j, [1.0], np.ones(1), np.complex64(1)):
        with pytest.raises(TypeError, match=r"axpy: argument 'a' \(float\) takes a number, not"):
            axpy(x, a, y, 8, seen)
    for n in ("8", 8.0, np.float64(8), None, b"8"):
        with pytest.raises(TypeError, match=r"axpy: argument 'n' \(int\) takes an integer, not"):
            axpy(x, 1, y, n, seen)
    axpy(x, np.True_, y, np.True_, seen)
    assert y.tolist() == [1.0] * 8 and seen.tolist() == [1, 0, 0]


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


def test_kernel_is_freed_with_its_last_reference(own: Any) -> None:
    kernel: Kernel | None = own("axpy")
    assert kernel is not None
    x, y, seen = operands()
    kernel(x, 1, y, 1, seen)
    gc.collect()  # what other tests have left
    before = len(default_backend().user_kernels)
    ft.synchronize()
    kernel = None
    assert len(default_backend().user_kernels) == before - 1
