"""Messages that several layers raise: arguments, dtypes, shapes, exchange, devices, memory, kernels."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from ..terminal import guess
from .message import messages, names_called_op

__getattr__ = messages(__name__)


def _maker(value: object) -> str:
    makers = {"numpy": "from_numpy", "torch": "from_torch"}
    maker = makers.get(type(value).__module__.partition(".")[0], "as_tensor")
    return "from_dlpack" if maker == "as_tensor" and hasattr(value, "__dlpack__") else maker


@names_called_op
def not_a_tensor(op: str, argument: str | int, value: object) -> TypeError:
    """Error for an argument that must be a tensor."""
    class_name, maker = type(value).__name__, _maker(value)
    if maker == "as_tensor":
        class_name, maker = f"{class_name} {value!r}", "tensor"
    advice = f"ft.{maker}(x) makes one of {'a number' if maker == 'tensor' else 'it'}"
    return TypeError(f"{op}(): argument {argument!r} must be a Tensor, not {class_name}; {advice}")


class OutOfMemoryError(RuntimeError):
    """The device, or the limit of its memory pool, has no room for a buffer."""


# The last class is raised: torch's device adds one that is also torch's OutOfMemoryError.
raised_out_of_memory: list[type[OutOfMemoryError]] = [OutOfMemoryError]


class KernelNotBuilt(RuntimeError):
    """The device's image lacks a kernel that the op needs.

    `op` is the op's name. `dtypes` are names, the inputs' first, then the outputs'. `signature` is
    both in an inventory's spelling. `layout` is the skeleton and each operand's kind of layout,
    outputs first. `entry` is the kernel's identity, and `nearest` that of the most similar kernel
    of the image. `on_host` is True for a step that the image leaves to the host.
    """

    op: str = ""
    dtypes: tuple[str, ...] = ()
    signature: str = ""
    layout: str = ""
    entry: str = ""
    nearest: str | None = None
    on_host: bool = False

    def again(self) -> KernelNotBuilt:
        """Returns a copy to be raised again, without the traceback of this exception."""
        copy = KernelNotBuilt(*self.args)
        copy.__dict__.update(self.__dict__)
        return copy


def kernel_not_built(
    op: str,
    dtypes: tuple[str, ...],
    signature: str,
    layout: str,
    entry: str,
    lines: Sequence[str],
    nearest: str | None,
    options: str,
) -> KernelNotBuilt:
    """Error for a launch whose kernel no loaded image has. `lines` of an inventory request it,
    `nearest` is a similar kernel of an image, and `options` are those of `ftensor build` for the
    device."""
    op_text = f"{op} of {signature}" if signature else op
    layout_text = f" in layout {layout!r}" if layout else ""
    available = f"the nearest that it has is {nearest}" if nearest else "it has none of this op"
    to_add = "".join(f"\n  {line}" for line in lines)
    error = KernelNotBuilt(
        f"the device's image has no kernel for {op_text}{layout_text} ({entry}); {available}. "
        f"To build an image with one, add{to_add}\n"
        f"to its inventory and run: ftensor build {options} --inventory INVENTORY.toml --out FOLDER"
    )
    error.op, error.dtypes, error.signature = op, dtypes, signature
    error.layout, error.entry, error.nearest = layout, entry, nearest
    return error


def never_built(op: str, dtypes: tuple[str, ...]) -> KernelNotBuilt:
    """Error for an op that only the host can compute, with a fallback policy that forbids it."""
    error = KernelNotBuilt(f"no image has a kernel for {op}: NumPy computes it on the host")
    error.op, error.dtypes, error.signature = op, dtypes, ", ".join(dtypes)
    error.layout = "host"
    return error


def no_counterpart(function: str, dtypes: tuple[str, ...]) -> KernelNotBuilt:
    """Error for a NumPy function, or its arguments, without a corresponding op."""
    error = KernelNotBuilt(
        f"no device computes {function} as it was called; pass np.asarray(x) where NumPy is to compute on the host"
    )
    error.op, error.dtypes, error.signature = function, dtypes, ", ".join(dtypes)
    error.layout = "host"
    return error


def no_device(mapping: str, present: Sequence[str], steps: Sequence[str], mappings: Iterable[str]) -> RuntimeError:
    """Error for a mapping that no device matches; `steps` are what discovery noted and ways to get a device, `mappings`
    words of mappings."""
    available = f"the devices found are: {', '.join(present)}" if present else "no device was found"
    lines = "".join(f"\n  - {step}" for step in steps)
    return RuntimeError(
        f"no device for the mapping {mapping!r}; {available}{guess(mapping, mappings) or '.'} "
        f"What may help:{lines}\n"
        f"`ftensor doctor` looks closer"
    )


def kernel_build_failed(entry: str, device: str, log: str, source: str) -> RuntimeError:
    """Error for a kernel of ftensor that the device's compiler rejected. It is the user's fault
    only if the compiler can't read the name of the working directory, as Intel's."""
    folder = os.getcwd()
    if re.search(r'".* ', folder):
        return RuntimeError(
            f"{device} can't compile the kernel {entry}. Its compiler may not read the working directory {folder!r}, "
            f"which has a double quote and a blank behind it: run the program in another folder\n{log.strip()}"
        )
    return RuntimeError(
        f"{device} can't compile the kernel {entry}. Please report this, with the following:\n"
        f"{log.strip()}\n--- source ---\n{source}"
    )
