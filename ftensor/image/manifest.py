"""The manifest of an image: entries, kernels, and the mapping of launch arguments to kernels'."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ..errors import image as errors
from ..errors.image import ImageError, bad_manifest, changed_manifest, in_file, manifest_version

FORMAT, VERSION = "ftensor-image", 4
# The oldest version that is read. Images without steps on the host, which version 4 added, are written as it.
BEFORE_HOST = 3
# The structure of kernels joined by streams; and the suffix of the function that starts such a
# kernel in the library of a C simulation.
LINKED, JOINED = "linked", "_joined"
# Valid argument types: a pointer, or a C scalar.
WORDS = ("*", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double")
# The types of values allowed for a field's annotation.
_TYPES: dict[Any, Any] = {"str": str, "int": int, "float": (int, float)}
Record = TypeVar("Record")


@dataclass(frozen=True)
class ArgumentRecord:
    """A kernel argument: `what` is "*" or a C scalar type, `bank` the memory bank of a pointer."""

    name: str
    what: str
    c: str
    bank: str = ""


@dataclass(frozen=True)
class MemberRecord:
    """The computation of one opcode; `entry` is the identity that launches look up. If one launch
    starts several kernels, "/" and a name of the part follow the identity."""

    entry: str
    opcode: int
    op: str
    outs: tuple[str, ...]
    ins: tuple[str, ...]
    kinds: str
    compute: str
    call: str  # in the form of `toolchain.group.call_tokens`
    params: tuple[str, ...] = ()  # the op's scalar parameters, such as "alpha"
    # Compute units divide rows in multiples of the first number; the other numbers are, for each
    # pointer, the bytes of that many rows, 0 for an operand that all units share. Empty if the
    # kernel has no rows.
    rows: tuple[int, ...] = ()

    @property
    def part(self) -> str:
        """The part in a launch of several kernels; "" for the first or only one."""
        return self.entry.partition("/")[2]


@dataclass(frozen=True)
class StageRecord:
    """A kernel that is one stage of a larger kernel and runs concurrently with the other stages:
    its name, and the subset of arguments that it takes."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class KernelRecord:
    """One kernel of an image, with `units` compute units. The kernel of a graph may consist of
    `stages`; the channels between them hold up to `held` of the launch's `n` rows (0: less than
    one). A kernel without members is free-running: it only has stream ports."""

    name: str
    skeleton: str
    structure: str
    lanes: int
    units: int
    sha256: str
    arguments: tuple[ArgumentRecord, ...]
    members: tuple[MemberRecord, ...]
    stages: tuple[StageRecord, ...] = ()
    held: int = 0


@dataclass(frozen=True)
class HostRecord:
    """A step that was left to the host when the kernels were chosen: op, dtypes as "outs(ins)", and
    layout, as in `KernelNotBuilt`."""

    op: str
    dtypes: str
    layout: str


@dataclass(frozen=True)
class Manifest:
    """The description of an image. `target` is csim, hw, hw_emu, intel or intel-emulator. The steps
    in `host` fall back to the host under every policy."""

    name: str
    target: str
    platform: str
    uuid: str
    file: str
    kernels: tuple[KernelRecord, ...]
    created: str = ""
    tools: Mapping[str, str] = field(default_factory=dict)
    clock_mhz: float = 0.0
    inventory_sha256: str = ""
    host: tuple[HostRecord, ...] = ()

    @cached_property
    def _entries(self) -> dict[str, tuple[KernelRecord, MemberRecord]]:
        return {m.entry: (k, m) for k in self.kernels for m in k.members}

    def find(self, entry: str) -> tuple[KernelRecord, MemberRecord] | None:
        """Returns the kernel and the member of an entry, or None."""
        return self._entries.get(entry)

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries that launches may look up."""
        return tuple(entry for entry, (_, member) in self._entries.items() if not member.part)

    def kernels_of(self, entry: str) -> tuple[tuple[KernelRecord, MemberRecord], ...]:
        """Returns the kernels that an entry starts together, beginning with the result of
        `find`."""
        first = self._entries[entry]
        others = [pair for e, pair in self._entries.items() if e.startswith(f"{entry}/")]
        return (first, *others)

    def to_json(self) -> str:
        """Returns the manifest as JSON, with a digest of its contents."""
        return self._json

    @cached_property
    def _json(self) -> str:  # cached, since an image of thousands of entries takes seconds
        data = _fields_of(self)
        if not self.host:
            del data["host"]
        for kernel in data["kernels"]:
            if not kernel["stages"]:
                del kernel["stages"], kernel["held"]
            for member in kernel["members"]:
                if not member["rows"]:
                    del member["rows"]
        head = {"format": FORMAT, "version": VERSION if self.host else BEFORE_HOST, "digest": manifest_digest(data)}
        return json.dumps({**head, **data}, indent=1) + "\n"

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Reads a manifest file. Raises ImageError if it is malformed, OSError if it is absent."""
        try:
            return cls.from_json(path.read_text())
        except UnicodeDecodeError as error:
            raise in_file(path, bad_manifest(f"it is no text: {error}")) from error
        except ImageError as error:
            raise in_file(path, error) from error

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Parses a manifest. Raises ImageError if it is malformed or of another version."""
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise bad_manifest(f"it is not JSON: {error}") from error
        if not isinstance(raw, dict) or raw.pop("format", None) != FORMAT:
            raise bad_manifest(f'it does not say "format": "{FORMAT}"')
        version = raw.pop("version", None)
        if version not in (BEFORE_HOST, VERSION):
            raise manifest_version(version, VERSION)
        if raw.pop("digest", None) != manifest_digest(raw):
            raise changed_manifest()
        try:
            kernels = tuple(_kernel(k) for k in raw.pop("kernels"))
            host = tuple(_checked(HostRecord(**step)) for step in raw.pop("host", ()))
            manifest = _checked(cls(kernels=kernels, host=host, **raw))
            if manifest.file != Path(manifest.file).name or "\0" in manifest.file:
                raise ValueError(f"file is {manifest.file!r}, which is no name of a file beside it")
            return manifest
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise bad_manifest(f"a field is missing, wrong or one too many: {error}") from error


def _fields_of(record: Any) -> dict[str, Any]:
    """Returns the fields of a record as a dict, like `dataclasses.asdict`, but without copies of
    the values."""
    values = {name: getattr(record, name) for name in record.__dataclass_fields__}
    for name, value in values.items():
        if isinstance(value, tuple) and value and hasattr(value[0], "__dataclass_fields__"):
            values[name] = [_fields_of(one) for one in value]
    return values


def manifest_digest(data: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of a manifest's contents, independent of its layout.

    Only the opcode identifies a kernel's computation, so an edited opcode would give wrong results.
    """
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _checked(record: Record) -> Record:
    """Returns the record. Raises TypeError if the file gave a field a wrong type: launchers are
    generated from the fields, so no other type may pass."""
    for f in fields(record):  # type: ignore[arg-type]
        value = getattr(record, f.name)
        if not isinstance(value, _TYPES.get(f.type, object)):
            raise TypeError(f"{f.name} is {value!r}")
    return record


def _kernel(raw: dict[str, Any]) -> KernelRecord:
    arguments_ = tuple(_checked(ArgumentRecord(**a)) for a in raw.pop("arguments"))
    members = tuple(
        _checked(MemberRecord(**m | {k: tuple(m.get(k, ())) for k in ("outs", "ins", "params", "rows")}))
        for m in raw.pop("members")
    )
    stages = tuple(_checked(StageRecord(**s | {"arguments": tuple(s["arguments"])})) for s in raw.pop("stages", ()))
    for a in arguments_:
        if a.what not in WORDS:
            raise ValueError(f"{a.name} is {a.what!r}, no word for an argument")
    record = _checked(KernelRecord(arguments=arguments_, members=members, stages=stages, **raw))
    if record.units < 1:
        raise ValueError(f"{record.name} has {record.units} units")
    names = {a.name for a in arguments_}
    for stage in stages:
        if unknown := sorted(set(stage.arguments) - names):
            raise ValueError(f"{stage.name} takes {unknown}, which {record.name} does not")
    tokens = len(record.arguments) - 2
    for m in members:
        if not all(type(n) is int and n >= 0 for n in m.rows) or m.rows[:1] == (0,):
            raise ValueError(f"{m.entry} divides rows by {m.rows}")
        if len(m.call.split()) != tokens:
            raise ValueError(f"{m.entry} passes {m.call!r} to a kernel of {tokens} arguments")
    return record


_FLOAT, _DOUBLE, _LONG = struct.Struct("<fi"), struct.Struct("<d"), struct.Struct("<q")
_TOP = 1 << 63


def float_bits(value: float) -> int:
    """Returns a float's 32 bits as a long. Values beyond a float's range become infinite, as in
    C."""
    try:
        packed = _FLOAT.pack(value, 0)
    except OverflowError:
        packed = _FLOAT.pack(math.copysign(math.inf, value), 0)
    return _LONG.unpack(packed)[0]


def double_bits(value: float) -> int:
    """Returns a double's 64 bits as a long."""
    return _LONG.unpack(_DOUBLE.pack(value))[0]


def signed(value: int) -> int:
    """Converts an integer of at most 64 bits to a long."""
    value = int(value)
    return value - (1 << 64) if value >= _TOP else value


SCOPE = {"float_bits": float_bits, "double_bits": double_bits, "signed": signed}
_CONVERSIONS = {"f": "float_bits", "d": "double_bits", "q": "signed"}
_INTEGERS = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"}
# The argument types that each conversion accepts.
_TAKES = {"f": {"float"}, "d": {"double"}, "q": _INTEGERS}


def expressions(path: object, record: KernelRecord, member: MemberRecord, params: Sequence[str]) -> list[str]:
    """Returns an expression over a0, a1, ... for each argument of the kernel, except the last two.

    Raises ImageError if the manifest uses arguments that the launch does not have.
    """
    tokens = member.call.split()
    kinds = [argument.what for argument in record.arguments[:-2]]
    texts = []
    for token, kind in zip(tokens, kinds, strict=True):
        text = _expression(token, kind, params)
        if text is None:
            raise errors.launch_differs(path, member.entry, member.call, len(params))
        texts.append(text)
    return texts


def _expression(token: str, kind: str, params: Sequence[str]) -> str | None:
    """Returns the expression of one token, or None if the launch has no such argument."""
    head, digits = (token[0], token[1:]) if token[0] in "@fdq=" else ("", token)
    number = digits[1:] if head == "=" and digits[:1] == "-" else digits
    if not (number.isascii() and number.isdecimal()) or len(number) > 19:
        return None
    if head == "=":
        return str(int(digits)) if kind != "*" else None
    k = int(digits)
    if k >= len(params):
        return None
    param_kind = params[k]
    if head in _CONVERSIONS:
        return f"{_CONVERSIONS[head]}(a{k})" if param_kind in _TAKES[head] and kind == "long" else None
    is_compatible = param_kind == kind or (head == "" and param_kind in _INTEGERS and kind in _INTEGERS)
    return f"a{k}" if is_compatible and (head == "" or param_kind == "*") else None


def compiled(name: str, lines: Sequence[str], scope: dict[str, Any]) -> Any:
    """Returns the function `launch` that the lines define."""
    exec(compile("\n".join(lines), f"<launch {name}>", "exec"), scope)
    # The function holds the scope. If the scope also held the function, only the garbage collector
    # would free objects in it, such as a driver's kernel.
    return scope.pop("launch")
