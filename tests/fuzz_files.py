"""Files of tensors, mutated and crafted: `ft.load` reads each or refuses it with a ValueError.

A trial takes a safetensors file (plain, or with ftensor's metadata for lists, dicts and complex
numbers) or a file of torch.save. It changes bytes, or truncates, repeats or moves parts; or it
writes a header with false sizes, offsets, names, dtypes and metadata. The tensors read must be
inside the file: no tensor is larger than its storage, and no storage larger than the file. Each
tensor's bytes of a safetensors file occur in it.

Which files are read is not tested, since a changed byte of an element or a name makes another valid
file. OutOfMemoryError is right if a file of torch's holds an expanded tensor.
"""

from __future__ import annotations

import base64
import functools
import io
import json
import random
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

import torch

import ftensor as ft
from ftensor.interop.state import NAMES

NUMBERS = (0, 1, 2, 3, 4, 8, 16, 24, 2**31, 2**32, 2**61, 2**62, 2**63 - 1, 2**63, 2**64, 10**400)
ODD = (*NUMBERS, -1, -8, 1.5, True, None, "2", [], {})
TORCH = (b"PK", b"\x80\x02")  # how files of torch.save start, and those from before torch 1.6
TREES = ("tensor", "complex", "dict", "list", "tuple", "other")


def trial(draw: random.Random) -> str:
    """Tests one file. Returns "" if it is read or refused correctly, otherwise the mistake."""
    kind = draw.choice(("crafted", "safetensors", "torch", "torch"))
    if kind == "crafted":
        data = crafted(draw)
    else:
        data = mutated(draw, draw.choice(whole(kind)))
    problem = wrong(data)
    if not problem:
        return ""
    text = base64.b64encode(data).decode()
    lines = ["import base64, io, ftensor", f"data = base64.b64decode({text!r})"]
    return "\n".join([problem, *lines, "print(ftensor.load(io.BytesIO(data)))"])


def wrong(data: bytes) -> str:
    """Returns the mistake in reading a file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = ft.load(io.BytesIO(data))
    except ValueError:
        return ""
    except ft.OutOfMemoryError:
        return "" if data[:2] in TORCH else "a safetensors file asks for memory beyond it"
    except BaseException as error:  # noqa: BLE001 - that it is another one is what is looked for
        return f"load raises {type(error).__name__}: {error}"
    for t in tensors(loaded):
        storage = t._storage.nbytes
        last = sum((n - 1) * s for n, s in zip(t.shape, t.stride()))
        if t.numel() and (t.storage_offset() + last + 1) * t.element_size() > storage:
            return f"{t.dtype} of shape {tuple(t.shape)} ends beyond its storage of {storage} bytes"
        if storage > len(data):
            return f"a storage of {storage} bytes from a file of {len(data)}"
        if data[:2] not in TORCH and t.flatten().view(ft.uint8).numpy().tobytes() not in data:
            return f"{t.dtype} of shape {tuple(t.shape)} holds what the file does not"
    return ""


def tensors(value: Any) -> Iterator[ft.Tensor]:
    """Yields all tensors of a loaded value."""
    if isinstance(value, ft.Tensor):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from tensors(part)


@functools.cache
def whole(kind: str) -> tuple[bytes, ...]:
    """Returns unchanged files."""
    files = []
    if kind == "safetensors":
        t = ft.arange(6.0).reshape(2, 3)
        plain = {"a": t, "b": t.to(ft.bool), "empty": t[:0], "c": t.to(ft.complex64)}
        nested = {"a": [t, (t[0], 2, None)], 1: {"z": t.to(ft.complex128), "__metadata__": t[0, 0]}}
        for value in (plain, nested):
            file = io.BytesIO()
            ft.save(value, file)
            files.append(file.getvalue())
    else:
        x = torch.arange(12.0).reshape(3, 4)
        values = ({"w": x, "t": x.t()[1:], "n": 3}, [torch.nn.Parameter(x), (x.long(), "s", None)])
        for saved in values:
            for old in (False, True):
                file = io.BytesIO()
                torch.save(saved, file, _use_new_zipfile_serialization=not old)
                files.append(file.getvalue())
    return tuple(files)


def mutated(draw: random.Random, data: bytes) -> bytes:
    """Returns a file with bytes changed, truncated, repeated or moved; for an archive, in one of
    its parts."""
    if data[:2] == b"PK" and draw.random() < 0.7:
        file = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as parts, zipfile.ZipFile(file, "w") as archive:
            names = parts.namelist()
            chosen = draw.choice([n for n in names if n.endswith("pkl")] + names)
            for name in names:
                content = parts.read(name)
                if name != chosen:
                    archive.writestr(name, content)
                elif draw.random() < 0.9:
                    archive.writestr(name, mutated_bytes(draw, content))
        return file.getvalue()
    return mutated_bytes(draw, data)


def mutated_bytes(draw: random.Random, data: bytes) -> bytes:
    content = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(content) + 1)
        how = draw.choice(("byte", "byte", "bit", "cut", "drop", "again"))
        if how == "byte" and at < len(content):
            content[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        elif how == "bit" and at < len(content):
            content[at] ^= 1 << draw.randrange(8)
        elif how == "cut":
            del content[at:]
        elif how == "drop":
            del content[at : at + draw.choice((1, 4, 8))]
        else:
            content[at:at] = content[at : at + draw.choice((1, 8, 40))]
    return bytes(content)


def crafted(draw: random.Random) -> bytes:
    """Returns a safetensors file with an arbitrary header, which is often nearly valid."""
    entries, at = [], 0
    for i in range(draw.randint(0, 4)):
        word = draw.choice(("F32", "F64", "F16", "BOOL", "I8", *NAMES, "F4", 7))
        shape = draw.choice(([], [2], [1, 2], [0], [2, 2], [3, 2], [0, 2**62, 2**62], [1] * 65))
        size = {"F32": 4, "F64": 8, "F16": 2, "I16": 2, "I32": 4, "I64": 8}.get(str(word), 1)
        for n in shape:
            size *= n
        entry: Any = {"dtype": word, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
        if draw.random() < 0.15:
            place = draw.choice(("dtype", "shape", "data_offsets"))
            if draw.random() < 0.3 or not entry[place] or place == "dtype":
                entry[place] = draw.choice(ODD)
            else:
                entry[place][draw.randrange(len(entry[place]))] = draw.choice(ODD)
        name = draw.choice((str(i), str(i), str(i), "0", "", "__metadata__", "\ud800"))
        entries.append((name, entry if draw.random() < 0.97 else draw.choice(ODD)))
    names = [name for name, _ in entries] or ["0"]
    if draw.random() < 0.6:
        notes = draw.choice(({}, [], {"ftensor": 1}, *[{"ftensor": json.dumps(tree(draw, names))}] * 9))
        entries.append(("__metadata__", notes))
    text = "{" + ",".join(f"{json.dumps(k)}:{json.dumps(v)}" for k, v in entries) + "}"
    header = text.encode(draw.choice(("utf-8",) * 30 + ("utf-16",)))
    length = len(header) if draw.random() < 0.95 else draw.choice(NUMBERS[:-2])
    more = draw.choice((0,) * 8 + (-1, 1, 8))
    content = draw.randbytes(min(max(at + more, 0), 4096))
    return length.to_bytes(8, "little") + header + content


def tree(draw: random.Random, names: list[str], depth: int = 0) -> Any:
    """Returns ftensor's metadata on the nesting of tensors, or similar data."""
    kind = draw.choice(TREES[:2] if depth > 2 else TREES)
    if draw.random() < 0.1:
        return draw.choice(ODD)
    if kind in ("tensor", "complex"):
        return {kind: names.pop() if names and draw.random() < 0.9 else "lost"}
    parts = [tree(draw, names, depth + 1) for _ in range(draw.randint(0, 3))]
    return {kind: [[draw.choice(("a", 1, i)), p] for i, p in enumerate(parts)] if kind == "dict" else parts}
