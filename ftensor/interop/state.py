"""Tensors in files: `save` and `load`, by the safetensors format, which runs no code at loading."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .. import dtypes
from .._device import DeviceLike, backend_of, resolve
from .._tensor import Tensor
from ..errors import OutOfMemoryError
from ..errors import state as errors_state
from ..execute.memory import new
from ..iterator.stride import contiguous_strides
from . import safetensors
from .torch import from_torch

# Where the file's text tells how tensors were put together, unless they were a plain dict.
NOTE = "ftensor"
_DTYPES = {d.name: d for d in vars(dtypes).values() if isinstance(d, dtypes.dtype)}
_SIZES = {name: d.itemsize for name, d in _DTYPES.items() if name in safetensors.WORDS}
ZIP = b"PK\x03\x04"


def save(obj: Any, f: str | os.PathLike[str] | BinaryIO) -> None:
    """Write tensors to a file (a path, or an object with `write`) in the safetensors format.

    `obj` is a tensor, or lists, tuples and dicts of tensors, numbers, strings and None. A dict of
    tensors is what other readers of the format see as such. Every tensor is written whole and
    contiguous: views that share memory are apart when they are loaded. A path is replaced only when
    everything is written. TypeError for anything else.
    """
    tensors: dict[str, Tensor] = {}
    plain = isinstance(obj, dict) and all(
        isinstance(k, str) and isinstance(v, Tensor) and k != "__metadata__" and v._dtype.name in _SIZES
        for k, v in obj.items()
    )
    if plain:
        tensors, notes = obj, {}
    else:
        try:
            notes = {NOTE: json.dumps(_tree(obj, tensors, ""))}
        except RecursionError:
            raise errors_state.too_deep() from None
    content = {name: _bytes_of(t) for name, t in tensors.items()}
    if not isinstance(f, (str, os.PathLike)):
        safetensors.write(f, content, notes)
        return
    path = Path(f)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            safetensors.write(file, content, notes)
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _bytes_of(t: Tensor) -> tuple[str, tuple[int, ...], Any]:
    data = np.ascontiguousarray(t._host()).reshape(-1).view(np.uint8).data
    if t._dtype.name in _SIZES:
        return t._dtype.name, t._shape, data
    return t._dtype.to_real().name, (*t._shape, 2), data  # the format lacks this complex dtype


def _as_complex(pairs: Tensor) -> Tensor:
    """Pairs of numbers, just loaded, as what they are the parts of; ValueError for others."""
    if pairs._dtype.name not in ("float16", "float64") or pairs._shape[-1:] != (2,):
        kind = f"{pairs._dtype.name} of shape {pairs._shape}"
        raise ValueError(f"complex numbers are pairs of float16 or float64, not {kind}")
    shape = pairs._shape[:-1]
    strides = contiguous_strides(shape)
    return Tensor._make(pairs._storage, pairs._dtype.to_complex(), shape, strides)


def _tree(value: Any, tensors: dict[str, Tensor], where: str) -> Any:
    """What `_value` makes the same value of; tensors are collected under the names of their
    places."""
    if isinstance(value, Tensor):
        name = where or "tensor"
        while name in tensors or name == "__metadata__":  # {"a": {"b": x}, "a.b": y}
            name += "_"
        tensors[name] = value
        return {"tensor" if value._dtype.name in _SIZES else "complex": name}
    if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
        return value
    if isinstance(value, dict):
        pairs = []
        for key, part in value.items():
            if type(key) not in (str, int):
                raise errors_state.not_savable(key, f"a key of {where or 'the dict'}")
            pairs.append([key, _tree(part, tensors, f"{where}.{key}" if where else str(key))])
        return {"dict": pairs}
    if type(value) in (list, tuple):
        parts = [_tree(part, tensors, f"{where}.{i}" if where else str(i)) for i, part in enumerate(value)]
        return {type(value).__name__: parts}
    raise errors_state.not_savable(value, where)


def load(f: str | os.PathLike[str] | BinaryIO, *, map_location: DeviceLike | None = None) -> Any:
    """What `save` wrote, or the dict of tensors of any safetensors file, on `map_location` (the
    device of new tensors unless it is given). No code of the file is run.

    A file of `torch.save` is read by torch's weights-only loader, where torch is installed.
    ValueError for a file that is not whole or of another kind.
    """
    if isinstance(f, (str, os.PathLike)):
        data = Path(f).read_bytes()
    else:
        data = f.read()
    path = f if isinstance(f, (str, os.PathLike)) else getattr(f, "name", "the file")
    where = resolve(map_location)
    if data[8:9] != b"{":
        if data[:4] == ZIP:
            return _of_torch(data, path, where)
        raise errors_state.unreadable(path, data[:8])
    view = memoryview(data)
    held, notes, begin = safetensors.read_header(view, _SIZES, path)
    tensors = {}
    for t in held:
        tensor = new(t.shape, _DTYPES[t.dtype], where)
        content = np.frombuffer(view[begin + t.start : begin + t.end], np.uint8)
        if content.size:
            backend_of(where).upload(tensor._storage, 0, content.view(tensor._dtype.numpy))
        tensors[t.name] = tensor
    if NOTE not in notes:
        return tensors
    left = dict(tensors)
    try:
        value = _value(json.loads(notes[NOTE]), left)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise errors_state.bad_tree(path, repr(error)) from None
    if left:
        raise errors_state.bad_tree(path, f"it has no place for {', '.join(left):.200}")
    return value


def _value(tree: Any, left: dict[str, Tensor]) -> Any:
    """The value that a tree tells of; each tensor is taken out of `left`. What `_tree` does not
    make is a KeyError, TypeError or ValueError."""
    if not isinstance(tree, dict):
        if isinstance(tree, list):
            raise TypeError(f"a list without a kind: {tree!r:.200}")
        return tree
    ((kind, content),) = tree.items()
    if kind == "tensor":
        return left.pop(content)
    if kind == "complex":
        return _as_complex(left.pop(content))
    if kind == "dict":
        pairs = {key: _value(part, left) for key, part in content}
        if len(pairs) < len(content) or not all(type(key) in (str, int) for key in pairs):
            raise ValueError(f"the keys of a dict: {list(pairs)!r:.200}")
        return pairs
    if kind not in ("list", "tuple") or not isinstance(content, list):
        raise TypeError(f"no kind of value: {kind!r:.200}")
    parts = [_value(part, left) for part in content]
    return tuple(parts) if kind == "tuple" else parts


def _of_torch(data: bytes, path: object, where: Any) -> Any:
    """The tensors in a file of `torch.save`, nested as they are there."""
    import io

    try:
        import torch
    except ImportError:
        raise errors_state.needs_torch(path) from None
    try:
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        value = _from_torch(content, where)
    except OutOfMemoryError:  # the file is whole
        raise
    # torch's loader is a small pickle machine that trusts its file: of a damaged one come
    # IndexError, KeyError, TypeError, AssertionError, EOFError and others.
    except Exception as error:  # noqa: BLE001 - whatever it is, the file is not read
        why = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise errors_state.torch_refuses(path, why) from None
    return value


def _from_torch(value: Any, where: Any) -> Any:
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        return from_torch(value.detach()).to(where)
    if isinstance(value, dict):
        return {key: _from_torch(part, where) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_from_torch(part, where) for part in value)
    return value
