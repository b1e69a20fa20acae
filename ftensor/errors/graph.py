"""Messages about graphs, and about captured launches and their replay."""

from __future__ import annotations

import warnings
from typing import Any

from .message import Message


class GraphError(RuntimeError):
    """A function can't be traced into a graph, or a node fits no stage; the text names the node and
    the reason."""

    node: Any = None
    why = ""


value_read = Message(
    GraphError,
    "{op} reads a value while {function} is traced, and a graph has none yet ({line}); return the "
    "tensor and read it outside, or choose between values with ft.where",
)
escaped = Message(
    GraphError,
    "a tensor that {op} made in {function} is kept after the call but was not returned ({line}); return "
    "it, since a graph reuses its own memory",
)
left = Message(
    GraphError,
    "this tensor was made while a function was traced and has no memory; return it from that "
    "function, whose result has memory",
)
geometry_changed = Message(
    GraphError,
    "{function} changes the shape, the layout or the memory of an argument, or of a tensor "
    "that it finds outside (shape {before!t}, then "
    "{after!t}); a graph writes elements only: return a view or a new tensor",
)
state_read = Message(
    GraphError,
    "{op} moves the state of a generator to or from Python while {function} is traced, and later "
    "calls would not do so ({line}); do it outside, or use manual_seed with an int, or fork_rng",
)
several_devices = Message(
    GraphError, "{function} has tensors on {devices}; a graph runs on one device: move them before"
)
other_stream = Message(
    GraphError,
    "{op} uses another stream inside {function} ({line}); a graph runs on the stream that is "
    "current where it is called",
)
not_a_function = Message(TypeError, "ft.jit takes a function, not {value!k}; write @ft.jit above a def")
no_such_function = Message(
    TypeError,
    "ft.jit can't trace {name}: it is {kind}, whose body does not run when it is called; write a "
    "function that returns its tensors",
)
unhashable = Message(
    TypeError,
    "{function} got {value!k} {value!r} for {name}, which a graph can't compare between calls: pass "
    "tensors, numbers, strings, or lists, tuples and dicts of these",
)
not_a_result = Message(
    TypeError,
    "{function} returned {result!k} with tensors in it that a graph can't find; return tensors, or "
    "lists, tuples and dicts of them",
)
no_stage = Message(
    GraphError,
    "{op} is no stage of a stream in {function}: {why} ({line}); compute it outside, and export "
    "what is elementwise or folds rows",
)
no_layer = Message(
    GraphError,
    "{op} is no layer of a network in {function}: {why} ({line}); compute it outside (ftensor docs networks)",
)
no_stages = Message(GraphError, "{function} computes nothing, so there is nothing to export")
bad_name = Message(ValueError, "{name!r} is no name of a graph: take an identifier of at most {most} letters")
op_of_no_module = Message(
    GraphError,
    "{function} has the op {op}, which no import adds: `ftensor build` could not find it. Call add_rows() at the top "
    "of a module of its own, such as my_ops.py, and import that",
)
few_rows = Message(
    GraphError,
    "{function} got {rows} rows of {length} elements: export it with at least two rows, and "
    "not as many as a row is long, so that values per row differ from a row; the kernel takes any number",
)
too_deep = Message(
    GraphError,
    "the FIFOs of {function} hold {needed} bytes for rows of {length} elements, more than the "
    "{most} of a board's memory: export it for shorter rows",
)
graph_too_large = Message(
    GraphError,
    "the graph {name} does not fit a {board}, even with one lane: {shares}, of at most LUT 70%, FF 70%, DSP 65% "
    "and BRAM 80%; export fewer ops or shorter rows, or for a larger board",
)
network_too_large = Message(
    GraphError,
    "the network {name} does not fit a {board}, even with {least}: {shares}, of at most LUT 70%, FF 70%, DSP 65%, "
    "BRAM 80% and URAM 80%; {part}; export fewer layers, or for a larger board",
)
too_few_cycles = Message(
    GraphError,
    "the network {name} can't take an image in {cycles} cycles: {process} needs {least}; ask for {least} at least",
)
bad_cycles = Message(ValueError, "cycles= is a positive int, the most clock cycles for an image, not {cycles!r}")
bad_weights = Message(ValueError, 'weights= is "text" or "loaded", not {weights!r}')
bad_structure = Message(
    ValueError,
    'structure= is "dataflow" for one kernel, or "linked" for a kernel on each die of a chip, not {structure!r}',
)
no_dies = Message(
    GraphError,
    "the network {name} can't have a kernel on each die of a {board}: the chip has one die, or no value alone leads "
    'to all later layers; leave out structure="linked"',
)
no_such_layer = Message(ValueError, "{name} has no layer {layer!r}; fold= names one of {layers}")
bad_fold = Message(
    ValueError, "fold={{{layer!r}: {pair!r}}} is no fold: {why}; it is (filters, factors) in an iteration"
)
stuck = Message(
    RuntimeError,
    "the stages of the kernel {name} wait for each other, and none can go on: a FIFO is too "
    "shallow, or a stage reads what nobody writes. {fifos}",
)


def warn_many_traces(function: str, count: int, name: str, level: int) -> None:
    """Warns about a function that is traced again and again because of one value; `level` is the
    stack level of the caller."""
    warnings.warn(
        f"{function} was traced {count} times for different values of {name}: each makes a graph "
        "of its own; pass a 0-d tensor instead",
        UserWarning,
        stacklevel=level + 1,
    )


def at_line(error: Exception, op: str, line: str) -> Exception:
    """An error of a kernel of a graph, with the op and the line of the user's program."""
    error.args = (f"{error}; found in {op} at {line}",)
    return error


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
other_stream_than_captured = Message(
    RuntimeError, "{op} runs on another stream than the capture ({line}); capture the work of one stream"
)
inside = Message(RuntimeError, "a capture can't begin inside another capture or a traced function")
replay_inside = Message(RuntimeError, "a graph can't be replayed inside a capture or a traced function")
replay_twice = Message(RuntimeError, "another thread or an outer frame is replaying this graph, or a graph of its pool")
resized = Message(
    RuntimeError,
    "a tensor of {nbytes} bytes that this graph uses was resized after the capture; capture the step again",
)
pool_type = Message(
    TypeError,
    "pool is a handle of torch.fpga.graph_pool_handle or of a graph's pool(), or the id of a torch.fpga.MemPool that "
    "exists, not {pool!r}",
)
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


# Loops with feedback (`ft.scan`)
_STEP = "a step of ft.scan computes each element from the same element of its state and inputs"
scan_no_element = Message(
    GraphError, "in {function}, {op} is not elementwise ({line}); " + _STEP + ": compute it outside", "op function line"
)
scan_captured = Message(
    GraphError,
    "in {function}, {op} reads a tensor that it finds outside ({line}); pass it as a part of init or xs",
    "op function line",
)
scan_writes = Message(
    GraphError,
    "in {function}, {op} writes into a state, an input or a tensor outside ({line}); return a new value",
    "op function line",
)
scan_random = Message(GraphError, "{function} draws random numbers, which a step can't; pass them as a part of xs")
scan_boards = Message(
    RuntimeError,
    "{device} has kernels that were built ahead, and no image holds a scan of {function}; `ftensor kernels --trace "
    "PROGRAM --write FILE` writes an inventory with it, or run it on a device that compiles, such as device='cpu'",
)
scan_result = Message(
    TypeError, "{function} must return (state, result), a state like init and a result of tensors or None, not {what}"
)
scan_state = Message(
    ValueError,
    "{function} returns its state {place} as {after} of shape {after_shape!t}, and got it as {before} of shape "
    "{before_shape!t} ({line}); a state keeps dtype and shape: convert it with .to({before})",
    "function place before before_shape after after_shape line",
)
scan_shape = Message(
    ValueError,
    "init {place} has shape {shape!t}; a step of xs has shape {wanted!t}, or pass a number",
    "place shape wanted",
)
scan_lengths = Message(ValueError, "xs have {lengths!l} steps in dim 0; scan() needs one length")
scan_no_steps = Message(
    TypeError, "scan(): a tensor of xs has shape (), and steps are in dim 0; unsqueeze(0) is one step"
)
scan_arguments = Message(TypeError, "scan(): {name} must hold tensors, not {value!k}")
scan_operands = Message(GraphError, "the scan has {count} states, inputs and results; a kernel takes at most {most}")
