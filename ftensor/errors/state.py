"""Mistakes with files of tensors."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message

broken = Message(ValueError, "{path}: this is no whole safetensors file: {why}")
dtype_unknown = Message(ValueError, "{path}: tensor {name!r} has dtype {word!r}, which ftensor has not")
header_too_long = Message(
    ValueError,
    "save(): the tensors' names and the values beside them take {length} bytes; the safetensors format allows {limit}",
)


def not_savable(value: object, where: str) -> TypeError:
    """Something that is neither a tensor nor plain data."""
    return TypeError(
        f"save(): {where or 'the value'} is a {type(value).__name__}; tensors, numbers, strings, "
        "None, and lists, tuples and dicts (with strings or integers as keys) of them can be saved"
    )


too_deep = Message(ValueError, "save(): the value is nested too deeply, or contains itself")
# A file of torch's, without torch
needs_torch = Message(RuntimeError, "{path} was written by torch.save, so torch is needed to read it")
# A file of torch's that is damaged, or holds more than plain tensors
torch_refuses = Message(ValueError, "{path}: damaged, or more than torch's weights-only loader reads: {why}")
bad_tree = Message(ValueError, "{path}: what ftensor notes beside the tensors is damaged: {why}")


def unreadable(path: object, head: Sequence[int]) -> ValueError:
    """A file of another kind."""
    return ValueError(f"{path}: neither a safetensors file nor one of torch.save; it begins with {bytes(head)!r}")
