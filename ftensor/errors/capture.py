"""Messages about captured launches and their replay."""

from __future__ import annotations

from .message import Message

reads = Message(
    RuntimeError,
    "{op} reads or writes values on the host during a capture, and a replay would not ({line}); read them after the "
    "replay, or choose with torch.where",
)
uploads = Message(
    RuntimeError,
    "{op} copies values from the host during a capture, and a replay would not ({line}); make the tensor before the "
    "capture, and copy_ into it",
)
host_ops = Message(
    RuntimeError,
    "the host computes {op} during a capture, and a replay would not ({line}); call it outside the capture",
)
reads_option = Message(ValueError, "reads is 'refuse' or 'keep', not {reads!r}")
graphed_argument = Message(
    TypeError, "make_graphed_callables takes sample arguments that are tensors on the device, not {x!r}"
)
seeds = Message(
    RuntimeError,
    "{op} reads or sets the state of a random generator during a capture, and a replay would not ({line}); do so "
    "before the replay",
)
other_stream = Message(
    RuntimeError, "{op} runs on another stream than the capture ({line}); capture the work of one stream"
)
inside = Message(RuntimeError, "a capture can't begin inside another capture or a traced function")
replay_inside = Message(RuntimeError, "a graph can't be replayed inside a capture or a traced function")
replay_twice = Message(RuntimeError, "another thread or an outer frame is replaying this graph, or a graph of its pool")
built_ahead = Message(
    RuntimeError, "the kernels of {device} come from images, and their launches can't be captured; run the step itself"
)
resized = Message(
    RuntimeError,
    "a tensor of {nbytes} bytes that this graph uses was resized after the capture; capture the step again",
)
pool_type = Message(TypeError, "pool is a handle of torch.fpga.graph_pool_handle or of a graph's pool(), not {pool!r}")
empty = Message(RuntimeError, "this graph holds no capture; capture with torch.fpga.graph(g) first")
captured_already = Message(RuntimeError, "this graph holds a capture; reset() it first")
no_stream = Message(RuntimeError, "torch.fpga.graph captures on the current stream; leave `stream` out")
hyperparameters = Message(
    RuntimeError,
    "{optimizer}'s {name} was {before} at the capture and is {now}, but a replay repeats the captured number; capture "
    "again, or pass a tensor where torch takes one",
)
counts_on_host = Message(
    RuntimeError,
    "{optimizer} counts its steps on the host, and a replay would repeat the captured count; create it with fused=True "
    "or capturable=True",
)
no_state = Message(
    RuntimeError,
    "{optimizer} makes its first step during the capture, which differs from later steps; run the step once before",
)
unknown_optimizer = Message(
    RuntimeError,
    "{optimizer} may compute numbers on the host, which a replay would repeat; use {known!c}, or capturable=True",
)


def index(error: Exception, call: str, line: str) -> Exception:
    """Returns the error of an index, with the captured call and its line."""
    return type(error)(f"{error}; found in a replay of {call} at {line}")
