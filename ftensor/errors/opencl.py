"""Messages about exchange with pyopencl."""

from __future__ import annotations

from .message import Message

OPEN = (
    "call ft.fpga.use_context(context) before the first tensor, or make buffers and queues in "
    "ft.fpga.current_stream().opencl_queue.context"
)

not_a_buffer = Message(
    TypeError, "from_buffer() needs a pyopencl.Buffer, not {value!k}; from_numpy() takes arrays, frombuffer() bytes"
)
bad_dtype = Message(TypeError, "from_buffer(): dtype must be a dtype such as ft.float32, not {value!r}")
released = Message(ValueError, "the buffer was released; make the tensor before buffer.release(), it keeps the memory")
write_only = Message(ValueError, "the buffer was made with WRITE_ONLY, so no kernel may read it; use READ_WRITE")
no_host_access = Message(
    ValueError,
    "the buffer was made with HOST_NO_ACCESS, HOST_READ_ONLY or HOST_WRITE_ONLY, and this device "
    "computes in the host's memory; make it without these flags",
)
unaligned = Message(
    ValueError, "the buffer begins at {address:#x}, which is no multiple of the {dtype} size; copy it into a new buffer"
)
not_integers = Message(TypeError, "from_buffer(): {name} must be integers, not {values!t}")
negative = Message(ValueError, "from_buffer(): {name} must not be negative: {values!t}")
other_rank = Message(ValueError, "from_buffer(): strides {strides!t} and shape {shape!t} differ in length")
part_of_element = Message(
    ValueError,
    "from_buffer(): offset {offset} (bytes) is no multiple of the {itemsize} bytes of {dtype}",
    "offset dtype itemsize",
)
too_small = Message(
    ValueError,
    "the buffer has {nbytes} bytes; shape {shape!t}, strides {strides!t} and offset {offset} need {needed}",
    "nbytes needed shape strides offset",
)
no_context = Message(ValueError, "the context of the buffer is gone ({error}); keep it as long as its buffers; " + OPEN)
other_context = Message(ValueError, "the context of {devices} is not that of an open device of ftensor; " + OPEN)
no_opencl = Message(RuntimeError, "{device} is used without OpenCL buffers; ft.set_device_mapping('cpu') has them")
not_a_context = Message(TypeError, "use_context() needs a pyopencl.Context, not {value!k}")
several_devices = Message(
    ValueError, "the context has the devices {devices}; make one of a single device: cl.Context([device])"
)
open_already = Message(
    RuntimeError,
    "{device} is open with another context already; call use_context() before the first tensor, or "
    "take the context of ft.fpga.current_stream().opencl_queue",
)
not_mapped = Message(
    ValueError,
    "the context is of {device}, and ftensor's devices are {devices}; ft.set_device_mapping() changes these, "
    "ftensor devices lists all",
)
not_a_queue = Message(TypeError, "ExternalStream() needs a pyopencl.CommandQueue, not {value!k}")
out_of_order = Message(
    ValueError, "the queue runs commands out of order; make one without OUT_OF_ORDER_EXEC_MODE_ENABLE"
)
