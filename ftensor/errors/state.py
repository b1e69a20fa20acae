"""Mistakes with files of tensors."""

from __future__ import annotations

from collections.abc import Sequence


def broken(path: object, why: str) -> ValueError:
    """A file that is none, or not whole."""
    return ValueError(f"{path}: this is no whole safetensors file: {why}")


def dtype_unknown(path: object, name: str, word: object) -> ValueError:
    """A tensor of a dtype that ftensor lacks."""
    return ValueError(f"{path}: tensor {name!r} has dtype {word!r}, which ftensor has not")


def header_too_long(length: int, limit: int) -> ValueError:
    """More names than the format allows."""
    return ValueError(
        f"save(): the tensors' names and the values beside them take {length} bytes; the "
        f"safetensors format allows {limit}"
    )


def not_savable(value: object, where: str) -> TypeError:
    """Something that is neither a tensor nor plain data."""
    return TypeError(
        f"save(): {where or 'the value'} is a {type(value).__name__}; tensors, numbers, strings, "
        "None, and lists, tuples and dicts (with strings or integers as keys) of them can be saved"
    )


def too_deep() -> ValueError:
    """Lists within lists without end."""
    return ValueError("save(): the value is nested too deeply, or contains itself")


def needs_torch(path: object) -> RuntimeError:
    """A file of torch's, without torch."""
    return RuntimeError(f"{path} was written by torch.save, so torch is needed to read it")


def torch_refuses(path: object, why: object) -> ValueError:
    """A file of torch's that is damaged, or holds more than plain tensors."""
    return ValueError(f"{path}: damaged, or more than torch's weights-only loader reads: {why}")


def bad_tree(path: object, why: object) -> ValueError:
    """A description of what was saved that describes nothing."""
    return ValueError(f"{path}: what ftensor notes beside the tensors is damaged: {why}")


def unreadable(path: object, head: Sequence[int]) -> ValueError:
    """A file of another kind."""
    return ValueError(
        f"{path}: neither a safetensors file nor one of torch.save; it begins with {bytes(head)!r}"
    )
