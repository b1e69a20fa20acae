"""pyopencl's buffers, contexts and queues. Devices without OpenCL buffers refuse them."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.runtime.stream import DeviceStream

OPENCL = default_backend().has_opencl_queues
opencl = pytest.mark.skipif(not OPENCL, reason="this device has no OpenCL buffers")
RAMP = """
__kernel void ramp(__global float *x, int rounds)
{
    const int i = get_global_id(0);
    for (int k = 0; k < rounds; k++) x[i] = x[i] * 0.5f + k;
    x[i] = i;
}
"""


@pytest.fixture
def stream() -> Any:
    """Makes a new stream, so that the default stream stays as other tests expect it."""
    with ft.fpga.stream(ft.fpga.Stream()) as made:
        yield made


@pytest.fixture(scope="module")
def ramp() -> Any:
    import pyopencl as cl

    program = cl.Program(default_backend().context, RAMP).build()
    return cl.Kernel(program, "ramp")


def buffer(values: Any, flags: int = 1) -> Any:
    import pyopencl as cl

    return cl.Buffer(default_backend().context, flags | cl.mem_flags.COPY_HOST_PTR, hostbuf=np.asarray(values))


@opencl
def test_buffer_becomes_a_tensor_without_a_copy() -> None:
    import pyopencl as cl

    mine = buffer(np.arange(16, dtype=np.float32))
    x = ft.from_buffer(mine, (2, 3), ft.float32, strides=(6, 2), offset=4)
    assert x.tolist() == [[1, 3, 5], [7, 9, 11]]
    assert x.buffer is mine and x.buffer_offset == 4
    x += 1
    ft.synchronize()
    seen = np.empty(16, np.float32)
    cl.enqueue_copy(default_backend().default_stream.queue, seen, mine)
    assert seen.tolist() == [0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 13, 14, 15]
    assert ft.from_buffer(mine, 0, "int16").shape == (0,)


@opencl
def test_kernels_and_ops_are_in_order_without_a_wait(stream: Any, ramp: Any) -> None:
    queue = stream.opencl_queue
    x = ft.zeros(300)
    ramp(queue, (300,), None, x.buffer, np.int32(3000))
    y = x + 1
    ramp(queue, (300,), None, x.buffer, np.int32(3000))
    assert (x[1:] + y[:-1]).tolist() == [2.0 * k for k in range(1, 300)]
    ramp(queue, (300,), None, y.buffer, np.int32(3000))
    stream.synchronize()  # waits for the kernel, which ftensor did not enqueue
    assert y.numpy()[-1] == 299
    assert not stream.idle() and any(stream.query() for _ in range(100_000))


@opencl
def test_external_stream_uses_the_programs_queue(ramp: Any) -> None:
    import pyopencl as cl

    queue = cl.CommandQueue(default_backend().context)
    with ft.fpga.stream(ft.fpga.ExternalStream(queue)) as mine:
        assert isinstance(mine, DeviceStream) and mine.opencl_queue is queue
        x = ft.zeros(64)
        ramp(queue, (64,), None, x.buffer, np.int32(2000))
        assert (x * 2).sum().item() == 64 * 63
    context = cl.Context([default_backend().cl_device])
    foreign = cl.CommandQueue(context)
    unordered = cl.CommandQueue(
        default_backend().context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    )
    for queue, error, said in (
        (foreign, ValueError, "use_context"),
        (unordered, ValueError, "out of order"),
        ("queue", TypeError, "CommandQueue, not str"),
    ):
        with pytest.raises(error, match=said):
            ft.fpga.ExternalStream(queue)


@opencl
def test_tables_of_a_shared_default_stream_are_reused(stream: Any) -> None:
    seen = stream.opencl_queue and stream.launched
    ft.ones(3) + 1
    stream.synchronize()
    assert stream.count_finished() == stream.launched > seen


@opencl
def test_memory_outlives_the_users_buffer_object() -> None:
    mine = buffer(np.arange(4, dtype=np.int32))
    x = ft.from_buffer(mine, 4, ft.int32)
    mine.release()
    with pytest.raises(ValueError, match="was released"):
        ft.from_buffer(mine, 4, ft.int32)
    del mine
    assert x.sum().item() == 6
    taken = ft.arange(5.0).buffer
    gc.collect()
    others = [ft.full((5,), 9.0) for _ in range(4)]
    if default_backend().host_shared:
        assert ft.from_buffer(taken, 5, ft.float32).tolist() == [0, 1, 2, 3, 4]
    assert len(others) == 4


@opencl
def test_unusable_buffers_are_refused() -> None:
    import pyopencl as cl

    flags, context = cl.mem_flags, default_backend().context
    numbers = np.zeros(4, np.float32)
    mine = buffer(numbers)
    elsewhere = cl.Context([default_backend().cl_device])
    foreign = cl.Buffer(elsewhere, flags.READ_WRITE, 16)
    closed = cl.Buffer(context, flags.READ_WRITE | flags.HOST_NO_ACCESS, 16)
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: ft.from_buffer(foreign, 4, ft.float32), ValueError, "use_context"),
        (lambda: ft.from_buffer(buffer(numbers, flags.WRITE_ONLY), 4, ft.float32), ValueError, "WRITE_ONLY"),
        (lambda: ft.from_buffer(mine, 5, ft.float32), ValueError, r"has 16 bytes; shape \(5,\).* need 20"),
        (lambda: ft.from_buffer(mine, (2, 2), ft.float32, strides=(3, 1)), ValueError, "need 20"),
        (lambda: ft.from_buffer(mine, 2**62, ft.float32), ValueError, "16 bytes"),
        (lambda: ft.from_buffer(mine, 4, ft.float32, offset=4), ValueError, "need 20"),
        (lambda: ft.from_buffer(mine, 2, ft.float32, offset=2), ValueError, "offset 2 .* no multiple of the 4"),
        (lambda: ft.from_buffer(mine, -1, ft.float32), ValueError, "negative"),
        (lambda: ft.from_buffer(mine, (2, 2), ft.float32, strides=(1,)), ValueError, "differ in length"),
        (lambda: ft.from_buffer(mine, (2.0,), ft.float32), TypeError, "shape must be integers"),  # type: ignore
        (lambda: ft.from_buffer(mine, 4, "float31"), TypeError, "float31"),  # type: ignore[arg-type]
        (lambda: ft.from_buffer(numbers, 4, ft.float32), TypeError, "not ndarray"),  # type: ignore[arg-type]
    ]
    if default_backend().host_shared:
        cases.append((lambda: ft.from_buffer(closed, 4, ft.float32), ValueError, "HOST_NO_ACCESS"))
    for call, error, said in cases:
        with pytest.raises(error, match=said):
            call()
    constant = ft.from_buffer(buffer(numbers, flags.READ_ONLY), 4, ft.float32)
    assert (constant + 1).tolist() == [1, 1, 1, 1]
    with pytest.raises((RuntimeError, ValueError), match="read-only"):
        constant.add_(1)


@opencl
def test_unusable_context_is_refused() -> None:
    import pyopencl as cl

    assert ft.fpga.use_context(default_backend().context) == ft.empty(0).device
    with pytest.raises(RuntimeError, match="another context already"):
        ft.fpga.use_context(cl.Context([default_backend().cl_device]))
    with pytest.raises(TypeError, match="not str"):
        ft.fpga.use_context("context")  # type: ignore[arg-type]


PROGRAM = """
import ftensor as ft
ft.fpga.is_available()  # before pyopencl asks its loader for platforms
import pyopencl as cl
name = {name!r}
(wanted,) = [d for p in cl.get_platforms() for d in p.get_devices() if d.name.strip() == name][:1]
context = cl.Context([wanted])
device = ft.fpga.use_context(context)
mine = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=bytearray(b"abcd"))
x = ft.from_buffer(mine, 4, ft.uint8)
print(device, x.max().item(), ft.ones(3).buffer.context == context)
"""


@opencl
def test_device_uses_the_programs_context() -> None:
    program = PROGRAM.format(name=default_backend().cl_device.name.strip())
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout) == (0, "fpga:0 100 True\n"), run.stderr


@pytest.mark.skipif(OPENCL, reason="this device has OpenCL buffers")
def test_devices_without_opencl_buffers_refuse() -> None:
    for call in (lambda: ft.ones(2).buffer, lambda: ft.fpga.current_stream().opencl_queue):
        with pytest.raises(RuntimeError, match="without OpenCL buffers"):
            call()
