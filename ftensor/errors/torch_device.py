"""Messages about ftensor as a device of torch."""

from __future__ import annotations

from collections.abc import Sequence


def torch_version(found: str, tested: Sequence[str]) -> ImportError:
    """Another torch than those whose private interface was tested."""
    return ImportError(
        f"ftensor.torch uses parts of torch that are not public, and was tested with torch "
        f"{', '.join(tested)}, not {found}; pip install 'ftensor[torch]' brings that version, and "
        f"ftensor without its torch device works beside any"
    )


def no_torch() -> ImportError:
    """The torch device without torch."""
    return ImportError(
        "ftensor.torch makes ftensor a device of torch, which is not installed here; "
        "pip install 'ftensor[torch]'"
    )


def device_index(index: int) -> RuntimeError:
    """fpga:1 and above."""
    return RuntimeError(
        f"fpga:{index} does not exist: torch counts the devices of a backend in Python as one, "
        f"fpga:0; ftensor.torch.set_device_mapping() says what that is"
    )


def cannot_pin() -> RuntimeError:
    """pin_memory=True for memory of the device."""
    return RuntimeError("Only dense CPU tensors can be pinned")


def negative_dimension(size: Sequence[int]) -> RuntimeError:
    """A size below zero."""
    return RuntimeError(f"Trying to create tensor with negative dimension: {list(size)}")


def two_devices(other: object) -> RuntimeError:
    """Tensors of the device and of another one."""
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, "
        f"fpga:0 and {other}!"
    )


def no_generator() -> RuntimeError:
    """A generator of the device."""
    return RuntimeError(
        "there is no torch.Generator of the device fpga, since torch makes these in C++; the "
        "device draws from one generator of its own: torch.manual_seed or torch.fpga.manual_seed "
        "seeds it, torch.fpga.get_rng_state and set_rng_state keep its state"
    )


def not_on_the_device(device: object) -> TypeError:
    """A tensor of another device where one of the device is needed."""
    return TypeError(f"this takes a torch tensor on the device fpga, not one on {device}")


def not_on_the_host(device: object) -> TypeError:
    """A tensor of another device where one of the host is needed."""
    return TypeError(f"this takes a torch tensor on the CPU, not one on {device}")


def not_shared(device: object, why: str) -> ValueError:
    """An alias between host and device where there is none."""
    return ValueError(f"{device} can't share this memory: {why}; .to() copies it")


def falls_back(op: str) -> str:
    """A warning: an op that the device lacks runs on the host."""
    return (
        f"aten::{op} runs on the host, since ftensor has no kernel for it: its arguments are "
        f"brought there and its results back. ftensor.torch.fallback_report() counts this; "
        f'ftensor.set_fallback("silent") says no more of it, "error" refuses'
    )


def fallback_refused(op: str) -> NotImplementedError:
    """An op that the device lacks, where the policy is "error"."""
    return NotImplementedError(
        f"ftensor has no kernel for aten::{op}, and set_fallback() says that nothing runs on the "
        f'host; set_fallback("warn") or "silent" lets it'
    )


def storage_resize() -> NotImplementedError:
    """resize_ of a torch storage."""
    return NotImplementedError(
        "a storage of the device fpga can't be resized: torch does that in C++ with the "
        "device's allocator; resize the tensor, or make another one"
    )


def not_an_ftensor(value: object) -> TypeError:
    """from_ftensor of something else."""
    return TypeError(f"this takes an ftensor.Tensor, not {type(value).__name__}")


def no_such_dtype(dtype: object) -> TypeError:
    """A dtype that torch has and ftensor lacks."""
    return TypeError(f"ftensor has no dtype for {dtype}; convert the tensor first")


def layout(found: object) -> NotImplementedError:
    """A tensor that is not strided."""
    return NotImplementedError(
        f"the device fpga has strided tensors only, not {found}; ftensor has no sparse kernels"
    )


def not_the_fpga(device: object) -> ValueError:
    """Another device than the fpga for torch.fpga."""
    return ValueError(f"Expected a fpga device, but got: {device}")


def no_dtype_here(dtype: object) -> NotImplementedError:
    """A kernel of ftensor's on a dtype that it lacks: the host takes the op."""
    return NotImplementedError(f"ftensor has no dtype for {dtype}")
