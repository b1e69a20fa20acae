"""The safetensors format: a JSON header that says where each tensor's bytes lie, and the bytes.

As its page specifies it (github.com/huggingface/safetensors, "Format"): 8 bytes with the header's
length, the header, then the elements, row-major and little endian, without gaps.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

from ..errors import state as errors_state

# The format's words for dtypes, and what it lacks as pairs of real numbers.
WORDS = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "uint16": "U16", "int32": "I32",
    "uint32": "U32", "int64": "I64", "uint64": "U64", "float16": "F16", "bfloat16": "BF16",
    "float32": "F32", "float64": "F64", "complex64": "C64", "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}  # fmt: skip
NAMES = {word: name for name, word in WORDS.items()}
# What the format allows a header to be at most, in bytes.
HEADER_LIMIT = 100_000_000
MOST_DIMS = 64  # torch's


@dataclass(frozen=True)
class Held:
    """A tensor in a file: its dtype's name, its shape and where its bytes begin and end."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


def write(file: BinaryIO, tensors: Mapping[str, tuple[str, tuple[int, ...], Any]], notes: dict[str, str]) -> None:
    """Write (dtype's name, shape, C-contiguous bytes) of each tensor, and text beside them."""
    header: dict[str, Any] = {"__metadata__": notes} if notes else {}
    at = 0
    for name, (of, shape, data) in tensors.items():
        size = memoryview(data).nbytes
        offsets = [at, at + size]
        header[name] = {"dtype": WORDS[of], "shape": list(shape), "data_offsets": offsets}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # elements begin on a boundary of 8
    if len(text) > HEADER_LIMIT:
        raise errors_state.header_too_long(len(text), HEADER_LIMIT)
    file.write(len(text).to_bytes(8, "little") + text)
    for _, _, data in tensors.values():
        file.write(data)


def read_header(data: memoryview, sizes: Mapping[str, int], path: object) -> tuple[list[Held], dict[str, str], int]:
    """(the tensors, the text beside them, where elements begin); `sizes` has each dtype's bytes.

    ValueError for anything that is not a whole and consistent file.
    """
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(HEADER_LIMIT, len(data) - 8):
        raise errors_state.broken(path, "it is too short for its header")
    try:
        # UTF-8 alone, which `json` would not insist on.
        text = str(data[8 : 8 + length], "utf-8")
        header = json.loads(text, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        raise errors_state.broken(path, f"its header is no valid JSON ({error})") from None
    if not isinstance(header, dict):
        raise errors_state.broken(path, "its header is no JSON object")
    notes = header.pop("__metadata__", {})
    if not isinstance(notes, dict) or not all(isinstance(v, str) for v in notes.values()):
        raise errors_state.broken(path, "its __metadata__ is no text")
    begin = 8 + length
    held = sorted(_entries(header, sizes, path), key=lambda t: (t.start, t.end))
    ends = [0, *[t.end for t in held]]
    for t, end in zip(held, ends):
        if t.start != end:
            why = f"{t.name!r} begins at byte {t.start}, the tensor before it ends at {end}"
            raise errors_state.broken(path, why)
    if ends[-1] != len(data) - begin:
        why = f"its tensors have {ends[-1]} bytes, {len(data) - begin} are there"
        raise errors_state.broken(path, why)
    return held, notes, begin


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of two values of one name, `json` would forget the first."""
    by_name = dict(pairs)
    if len(by_name) < len(pairs):
        twin = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twin!r} is there more than once")
    return by_name


def _entries(header: dict[str, Any], sizes: Mapping[str, int], path: object) -> Iterator[Held]:
    for name, entry in header.items():
        try:
            word, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
            numbers = [*shape, start, end]
            fine = all(type(n) is int and 0 <= n < 1 << 63 for n in numbers)
        except (TypeError, KeyError, ValueError):
            fine = False
        if not fine:
            raise errors_state.broken(path, f"its entry for {name!r} describes no tensor: {entry!r:.200}")
        of = NAMES.get(word, "") if isinstance(word, str) else ""
        if of not in sizes:
            raise errors_state.dtype_unknown(path, name, word)
        # Also where a 0 among the sizes makes it no bytes: strides are products of the others.
        if len(shape) > MOST_DIMS or prod(max(n, 1) for n in shape) * sizes[of] >= 1 << 63:
            raise errors_state.broken(path, f"{name!r} has an impossible shape, {shape!r:.200}")
        size = prod(shape) * sizes[of]
        if size != end - start:
            problem = f"{name!r} of shape {shape!r:.200} has {end - start} bytes instead of {size}"
            raise errors_state.broken(path, problem)
        yield Held(name, of, tuple(shape), start, end)
