"""Messages about ftensor as a device of torch."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message


def torch_version(version: str, tested: Sequence[str]) -> ImportError:
    """Error for a torch version whose private interface was not tested."""
    return ImportError(
        f"ftensor.torch uses parts of torch that are not public, and was tested with torch "
        f"{', '.join(tested)}, not {version}; pip install 'torch=={tested[-1]}.*' brings that, "
        f"and ftensor without its torch device works beside any"
    )


# The torch device without torch.
no_torch = Message(
    ImportError,
    "ftensor.torch makes ftensor a device of torch, which is not installed here; pip install 'torch==2.13.*'",
)
device_index = Message(
    RuntimeError,
    "fpga:{index} does not exist: torch counts the devices of a backend in Python as one, fpga:0; "
    "ftensor.torch.set_device_mapping() says what that is",
)
cannot_pin = Message(
    RuntimeError,
    "Only dense CPU tensors can be pinned: memory of the device fpga is none of the host's; leave out pin_memory",
)
negative_dimension = Message(RuntimeError, "Trying to create tensor with negative dimension: {size!l}")
two_devices = Message(
    RuntimeError, "Expected all tensors to be on the same device, but found at least two devices, fpga:0 and {other}!"
)
no_generator = Message(
    RuntimeError,
    "there is no torch.Generator of the device fpga, since torch makes these in C++; the device "
    "draws from one generator of its own: torch.manual_seed or torch.fpga.manual_seed seeds it, "
    "torch.fpga.get_rng_state and set_rng_state keep its state",
)
not_on_the_device = Message(TypeError, "this takes a torch tensor on the device fpga, not one on {device}")
not_on_the_host = Message(TypeError, "this takes a torch tensor on the CPU, not one on {device}")
not_shared = Message(ValueError, "{device} can't share this memory: {why}; .to() copies it")


lightning_strategy = Message(
    ValueError,
    "FpgaAccelerator() was given a strategy for {device}, which would train there: leave `strategy` out, "
    'or give strategy="fpga"',
)


def lightning_precision(precision: str, device: str) -> str:
    """Returns the warning for Lightning's plugin with a precision that casts on another device."""
    return (
        f"precision={precision!r} of this strategy casts on {device} and leaves float32 on fpga: leave `strategy` "
        f'out, give strategy="fpga", or plugins=FpgaPrecision({precision!r})'
    )


def falls_back(op: str) -> str:
    """Returns the warning for an op that runs on the host because the device lacks it."""
    return (
        f"aten::{op} runs on the host, since ftensor has no kernel for it: its arguments are "
        f"brought there and its results back. ftensor.torch.fallback_report() counts this; "
        f'ftensor.set_fallback("silent") says no more of it, "error" refuses'
    )


fallback_refused = Message(
    NotImplementedError,
    "ftensor has no kernel for aten::{op}, and set_fallback() says that nothing runs on the host; "
    'set_fallback("warn") or "silent" lets it',
)
# resize_ of a torch storage in a torch version that stores it differently.
storage_resize = Message(
    NotImplementedError,
    "this storage of the device fpga can't be resized, since torch keeps it in a way that ftensor "
    "does not know; resize the tensor, or make another one",
)
negative_storage = Message(RuntimeError, "resize_ takes a size of 0 bytes or more, not {size}")
not_an_ftensor = Message(TypeError, "this takes an ftensor.Tensor, not {value!k}")
# A dtype that torch has and ftensor lacks.
no_such_dtype = Message(TypeError, "ftensor has no dtype for {dtype}; convert the tensor first")
layout = Message(
    NotImplementedError,
    "the device fpga has strided tensors only, not {layout}; ftensor has no sparse kernels: compute "
    "on the CPU, or take .to_dense() to the device",
)


def other_kind(op: str, kind: str) -> NotImplementedError:
    """Error for an op on sparse, quantized or nested tensors of the device."""
    return NotImplementedError(
        f"aten::{op}: the device fpga has no {kind} tensors; compute on the CPU, or take dense ones to the device"
    )


not_pinned = Message(
    RuntimeError,
    "a tensor on {device} is not in the host's memory and can't be pinned; x.cpu() gives one that counts as pinned, as "
    "all CPU memory does",
)
quantized = Message(
    NotImplementedError,
    "the device fpga has no quantized tensors, which a result of {dtype} would be; quantize on the CPU, or use "
    "ftensor's own quantized ops",
)
# A device other than the fpga for torch.fpga.
not_the_fpga = Message(ValueError, "Expected a fpga device, but got: {device}")
no_dtype_here = Message(NotImplementedError, "ftensor has no dtype for {dtype}")
# Lists of different lengths, or empty lists, for an op on lists.
list_lengths = Message(RuntimeError, "_foreach_{op} takes lists of one length, and at least a tensor, not {lengths}")
