"""Messages about exchange with pyopencl."""

from __future__ import annotations

from .message import messages

__getattr__ = messages(__name__)


OPEN = (
    "call ft.fpga.use_context(context) before the first tensor, or make buffers and queues in "
    "ft.fpga.current_stream().opencl_queue.context"
)
