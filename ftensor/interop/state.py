"""State dicts and pickles: tensors in files, also of torch and safetensors."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from pickle import PickleBuffer
from typing import Any, BinaryIO

import numpy as np

from .. import dtypes
from .._device import DeviceLike, backend_of, resolve
from .._tensor import Tensor, method
from ..dtypes import dtype, uint8
from ..errors import OutOfMemoryError
from ..errors import creation as errors_creation
from ..execute.output import new
from ..execute.pointwise import copy
from ..iterator.shape import Ints, contiguous_strides
from ..runtime.pool import Storage
from .dlpack import from_torch
from .host import adopt, export

_ALIGNMENT = 16  # bytes of the largest element


def _all_of(storage: Storage) -> Tensor:
    """Returns a uint8 tensor of all bytes of a storage."""
    return Tensor._make(storage, uint8, (storage.nbytes,), (1,))


def storage_from_bytes(content: Any) -> Storage:
    """Returns a storage with the bytes of a buffer object, on the device of new tensors.

    Uses writable, aligned memory in place if the device computes in host memory.
    """
    array = np.frombuffer(content, np.uint8)
    device = resolve(None)
    if array.flags.writeable and array.size:
        address = array.__array_interface__["data"][0]
        if address % _ALIGNMENT == 0:  # aligned for every dtype
            shared = adopt(backend_of(device), device, address, array.size, 1, array, non_blocking=True)
            if shared is not None:
                return shared
    storage = new((array.size,), uint8, device)._storage
    if array.size:
        backend_of(device).upload(storage, 0, array)
    return storage


def rebuild_tensor(storage: Storage, dtype: dtype, shape: Ints, strides: Ints, offset: int) -> Tensor:
    """Returns a tensor over a storage; `offset` and `strides` in elements."""
    return Tensor._make(storage, dtype, shape, strides, offset)


def _reduced_storage(storage: Storage, protocol: int) -> tuple[Any, ...]:
    array: Any = export(_all_of(storage))[0] if storage.nbytes else np.empty(0, np.uint8)
    return storage_from_bytes, (PickleBuffer(array) if protocol >= 5 else array.tobytes(),)


# copyreg does not pass the protocol to its functions.
setattr(Storage, "__reduce_ex__", _reduced_storage)  # noqa: B010


@method("__reduce__")
def reduced(self: Tensor) -> tuple[Any, ...]:
    return rebuild_tensor, (self._storage, self._dtype, self._shape, self._strides, self._offset)


@method("__deepcopy__")
def deepcopied(self: Tensor, memo: dict[int, Any]) -> Tensor:
    storage = memo.get(id(self._storage))
    if storage is None:
        source = self._storage
        buffer = new((source.nbytes,), uint8, source.device)
        copy(_all_of(source), buffer)
        storage = memo[id(source)] = buffer._storage
    duplicate = Tensor._make(storage, self._dtype, self._shape, self._strides, self._offset)
    memo[id(self)] = duplicate
    return duplicate


# safetensors' dtype names. complex32 and complex128, which it lacks, are saved as pairs of reals.
WORDS = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "uint16": "U16", "int32": "I32",
    "uint32": "U32", "int64": "I64", "uint64": "U64", "float16": "F16", "bfloat16": "BF16",
    "float32": "F32", "float64": "F64", "complex64": "C64", "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}  # fmt: skip
NAMES = {word: name for name, word in WORDS.items()}
# The format's limit of a header in bytes.
HEADER_LIMIT = 100_000_000
MAX_DIMS = 64  # torch's limit


@dataclass(frozen=True)
class FileTensor:
    """Header entry of a tensor: name, dtype name, shape, byte offsets of its start and end."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


def write(file: BinaryIO, tensors: Mapping[str, tuple[str, tuple[int, ...], Any]], notes: dict[str, str]) -> None:
    """Writes (dtype name, shape, C-contiguous bytes) of each tensor, and `notes` as metadata."""
    header: dict[str, Any] = {"__metadata__": notes} if notes else {}
    at = 0
    for name, (element, shape, data) in tensors.items():
        size = memoryview(data).nbytes
        offsets = [at, at + size]
        header[name] = {"dtype": WORDS[element], "shape": list(shape), "data_offsets": offsets}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # aligns elements to 8 bytes
    if len(text) > HEADER_LIMIT:
        raise errors_creation.header_too_long(len(text), HEADER_LIMIT)
    file.write(len(text).to_bytes(8, "little") + text)
    for _, _, data in tensors.values():
        file.write(data)


def read_header(
    data: memoryview, sizes: Mapping[str, int], path: object
) -> tuple[list[FileTensor], dict[str, str], int]:
    """Returns (tensors sorted by offset, metadata, byte offset of the first element).

    `sizes` maps dtype names to bytes per element. Raises ValueError for an incomplete or
    inconsistent file.
    """
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(HEADER_LIMIT, len(data) - 8):
        raise errors_creation.broken(path, "it is too short for its header")
    try:
        # Decodes UTF-8 only; `json.loads` would also accept UTF-16 and UTF-32.
        text = str(data[8 : 8 + length], "utf-8")
        header = json.loads(text, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        raise errors_creation.broken(path, f"its header is no valid JSON ({error})") from None
    if not isinstance(header, dict):
        raise errors_creation.broken(path, "its header is no JSON object")
    notes = header.pop("__metadata__", {})
    if not isinstance(notes, dict) or not all(isinstance(v, str) for v in notes.values()):
        raise errors_creation.broken(path, "its __metadata__ is no text")
    begin = 8 + length
    entries = sorted(_entries(header, sizes, path), key=lambda t: (t.start, t.end))
    ends = [0, *[t.end for t in entries]]
    for t, end in zip(entries, ends):
        if t.start != end:
            why = f"{t.name!r} begins at byte {t.start}, the tensor before it ends at {end}"
            raise errors_creation.broken(path, why)
    if ends[-1] != len(data) - begin:
        why = f"its tensors have {ends[-1]} bytes, {len(data) - begin} are there"
        raise errors_creation.broken(path, why)
    return entries, notes, begin


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns JSON pairs as a dict; raises ValueError for a duplicate name, which `json` allows."""
    by_name = dict(pairs)
    if len(by_name) < len(pairs):
        twin = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twin!r} is there more than once")
    return by_name


def _entries(header: dict[str, Any], sizes: Mapping[str, int], path: object) -> Iterator[FileTensor]:
    for name, entry in header.items():
        try:
            word, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
            numbers = [*shape, start, end]
            fine = all(type(n) is int and 0 <= n < 1 << 63 for n in numbers)
        except (TypeError, KeyError, ValueError):
            fine = False
        if not fine:
            raise errors_creation.broken(path, f"its entry for {name!r} describes no tensor: {entry!r:.200}")
        of = NAMES.get(word, "") if isinstance(word, str) else ""
        if of not in sizes:
            raise errors_creation.dtype_unknown(path, name, word)
        # Counts 0 as 1: even a tensor without elements has strides, which are products of sizes.
        if len(shape) > MAX_DIMS or prod(max(n, 1) for n in shape) * sizes[of] >= 1 << 63:
            raise errors_creation.broken(path, f"{name!r} has an impossible shape, {shape!r:.200}")
        size = prod(shape) * sizes[of]
        if size != end - start:
            problem = f"{name!r} of shape {shape!r:.200} has {end - start} bytes instead of {size}"
            raise errors_creation.broken(path, problem)
        yield FileTensor(name, of, tuple(shape), start, end)


# Metadata key of the nesting of the saved object; a plain dict of tensors has none.
NOTE = "ftensor"
_DTYPES = {d.name: d for d in dtypes.ALL}
_SIZES = {name: d.itemsize for name, d in _DTYPES.items() if name in WORDS}
ZIP = b"PK\x03\x04"
# Start of a torch.save file before torch 1.6: a pickle of protocol 2 with this magic number.
LEGACY = b"\x80\x02\x8a\x0a" + 0x1950A86A20F9469CFC6C.to_bytes(10, "little") + b"."
NPY = b"\x93NUMPY"


def save(obj: Any, f: str | os.PathLike[str] | BinaryIO) -> None:
    """Writes tensors to a file (a path, or an object with `write`) in the safetensors format.

    `obj` is a tensor, or lists, tuples and dicts of tensors, numbers, strings and None. Other
    readers of the format see a dict of tensors as a dict. Every tensor is written completely and
    contiguously: views that share memory are separate after loading. A file is replaced only when
    everything is written; a pipe or a device such as /dev/null is written directly. Raises TypeError
    for anything else.
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
            raise errors_creation.contents_too_deep() from None
    content = {name: _bytes_of(t) for name, t in tensors.items()}
    if not isinstance(f, (str, os.PathLike)):
        write(f, content, notes)
        return
    path = Path(os.path.realpath(f))  # a link stays
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            write(file, content, notes)
        return
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            write(file, content, notes)
        part.replace(path)
    except OSError as error:
        if error.filename == str(part):
            error.filename = os.fspath(f)
        raise
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def _bytes_of(t: Tensor) -> tuple[str, tuple[int, ...], Any]:
    data = np.ascontiguousarray(t._host()).reshape(-1).view(np.uint8).data
    if t._dtype.name in _SIZES:
        return t._dtype.name, t._shape, data
    return t._dtype.to_real().name, (*t._shape, 2), data  # the format lacks this complex dtype


def _as_complex(pairs: Tensor) -> Tensor:
    """Returns loaded (real, imaginary) pairs as a complex tensor; ValueError for other tensors."""
    if pairs._dtype.name not in ("float16", "float64") or pairs._shape[-1:] != (2,):
        kind = f"{pairs._dtype.name} of shape {pairs._shape}"
        raise ValueError(f"complex numbers are pairs of float16 or float64, not {kind}")
    shape = pairs._shape[:-1]
    strides = contiguous_strides(shape)
    return Tensor._make(pairs._storage, pairs._dtype.to_complex(), shape, strides)


def _tree(value: Any, tensors: dict[str, Tensor], path: str) -> Any:
    """Returns a JSON tree from which `_value` restores `value`.

    Adds the tensors in `value` to `tensors`, named by their position. Raises TypeError for a value
    that can't be saved.
    """
    if isinstance(value, Tensor):
        name = path or "tensor"
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
                raise errors_creation.not_savable(key, f"a key of {path or 'the dict'}")
            pairs.append([key, _tree(part, tensors, f"{path}.{key}" if path else str(key))])
        return {"dict": pairs}
    if type(value) in (list, tuple):
        items = [_tree(part, tensors, f"{path}.{i}" if path else str(i)) for i, part in enumerate(value)]
        return {type(value).__name__: items}
    raise errors_creation.not_savable(value, path)


def load(f: str | os.PathLike[str] | BinaryIO, *, map_location: DeviceLike | None = None) -> Any:
    """Returns the object that `save` wrote, or the dict of tensors of any safetensors file, on
    `map_location` (by default the device of new tensors). No code of the file is run.

    torch's weights-only loader reads files of `torch.save`, including the format before torch 1.6,
    if torch is installed. Raises ValueError for an incomplete file or one of another format.
    """
    if isinstance(f, (str, os.PathLike)):
        data = Path(f).read_bytes()
    else:
        data = f.read()
    path = f if isinstance(f, (str, os.PathLike)) else getattr(f, "name", "the file")
    device = resolve(map_location)
    if data[8:9] != b"{":
        if data.startswith(NPY) or _is_npz(data):
            raise errors_creation.of_numpy(path, "array" if data.startswith(NPY) else "archive of arrays")
        if data.startswith((ZIP, LEGACY)):
            return _of_torch(data, path, device)
        raise errors_creation.unreadable(path, data[:8])
    view = memoryview(data)
    entries, notes, begin = read_header(view, _SIZES, path)
    tensors = {}
    for t in entries:
        tensor = new(t.shape, _DTYPES[t.dtype], device)
        content = np.frombuffer(view[begin + t.start : begin + t.end], np.uint8)
        if content.size:
            backend_of(device).upload(tensor._storage, 0, content.view(tensor._dtype.numpy))
        tensors[t.name] = tensor
    if NOTE not in notes:
        return tensors
    left = dict(tensors)
    try:
        value = _value(json.loads(notes[NOTE]), left)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise errors_creation.bad_tree(path, repr(error)) from None
    if left:
        raise errors_creation.bad_tree(path, f"it has no place for {', '.join(left):.200}")
    return value


def _value(tree: Any, left: dict[str, Tensor]) -> Any:
    """Returns the value of a tree from `_tree`; removes its tensors from `left`.

    Raises KeyError, TypeError or ValueError for an invalid tree.
    """
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
    items = [_value(part, left) for part in content]
    return tuple(items) if kind == "tuple" else items


def _is_npz(data: bytes) -> bool:
    """True if `data` is a zip file whose members are all NumPy arrays."""
    if not data.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            names = file.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):  # torch's loader raises
        return False
    return bool(names) and all(name.endswith(".npy") for name in names)


def _of_torch(data: bytes, path: object, device: Any) -> Any:
    """Returns the content of a `torch.save` file with ftensor tensors, in the same nesting."""
    try:
        import torch
    except ImportError:
        raise errors_creation.needs_torch(path) from None
    try:
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
        value = _from_torch(content, device)
    except OutOfMemoryError:  # not the file's fault
        raise
    # torch's loader is a small pickle machine that trusts its file. A damaged file raises
    # IndexError, KeyError, TypeError, AssertionError, EOFError and others.
    except Exception as error:  # noqa: BLE001 - any error means an unreadable file
        why = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise errors_creation.torch_refuses(path, why) from None
    return value


def _from_torch(value: Any, device: Any) -> Any:
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        return from_torch(value.detach()).to(device)
    if isinstance(value, dict):
        return {key: _from_torch(part, device) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_from_torch(part, device) for part in value)
    return value
