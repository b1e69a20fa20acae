"""v++'s configuration files: compute units, banks and streams of an image ([connectivity])."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import image as errors
from ..errors.image import unreadable
from ..image.contents import Bank, ComputeUnit, KernelDescription

SECTION = "connectivity"
GIB = 1 << 30
# Bytes of one bank of each kind of memory, as on common boards.
BANK_SIZES = {"DDR": 16 * GIB, "HBM": GIB // 2, "PLRAM": GIB // 8192, "HOST": 16 * GIB}
_NAME = re.compile(r"[A-Za-z_]\w*")
_MEMORY = re.compile(r"(\w+?)(?:\[(\d+)(?::(\d+))?\])?")
MOST_BANKS = 64  # of a range
_PORT = "m_axi_"  # HLS' prefix of a port that a bundle names
_BUNDLE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+HLS[ \t]+INTERFACE\b(.*)$", re.MULTILINE | re.IGNORECASE)
_SETTING = re.compile(r"(\w+)\s*=\s*(\w+)")


@dataclass(frozen=True)
class StreamLink:
    """A stream between two compute units. `depth` is 0 if the file does not set it."""

    source: str
    source_port: str
    target: str
    target_port: str
    depth: int = 0


@dataclass(frozen=True)
class Connectivity:
    """The section [connectivity]: (kernel, units) of `nk`, (unit, port, banks) of `sp`, and the streams."""

    units: tuple[tuple[str, tuple[str, ...]], ...] = ()
    memories: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    streams: tuple[StreamLink, ...] = ()

    def banks(self, kernels: Sequence[KernelDescription]) -> tuple[Bank, ...]:
        """Returns the memories of the kernels, first the one of arguments without `sp`, with sizes as on
        common boards; none if there is no `sp`."""
        names = {bank for _, _, banks in self.memories for bank in banks}
        kinds_there = {name.partition("[")[0] for name in names}
        default = "HBM[0]" if "HBM" in kinds_there and "DDR" not in kinds_there else "DDR[0]"
        if names and any(a.is_pointer and not a.banks for k in kernels for a in k.arguments):
            names.add(default)
        order = sorted(names, key=lambda n: (n != default, n.partition("[")[0], int(re.sub(r"\D", "", n) or 0)))
        kinds = [(name, name.partition("[")[0]) for name in order]
        types = {"HBM": "HBM", "HOST": "HOST"}
        return tuple(Bank(name, BANK_SIZES.get(kind, 16 * GIB), type=types.get(kind, "DDR4")) for name, kind in kinds)

    def kernels(self, kernels: Sequence[KernelDescription], bundles: dict[str, str]) -> tuple[KernelDescription, ...]:
        """Returns the kernels with their units and banks. `bundles` has the port of each argument
        that a pragma places, as "kernel.argument".

        Raises ImageError for kernels, units and arguments that are not there.
        """
        counts = dict(self.units)
        for name in counts:
            if name not in {k.name for k in kernels}:
                raise errors.bad_config(f"nk={name}: there is no such kernel")
        named = [replace(k, units=_units(k.name, counts)) for k in kernels]
        by_unit = {unit.name: k for k in named for unit in k.units}
        banks: dict[tuple[str, str], list[str]] = {}
        for unit, port, reached in self.memories:
            if unit not in by_unit:
                raise errors.bad_config(f"sp={unit}.{port}: there is no such compute unit")
            kernel = by_unit[unit]
            arguments = [
                a.name for a in kernel.arguments if a.is_pointer and _reaches(kernel.name, a.name, port, bundles)
            ]
            if not arguments:
                raise errors.bad_config(f"sp={unit}.{port}: kernel {kernel.name!r} has no such pointer")
            for argument in arguments:
                banks.setdefault((kernel.name, argument), []).extend(reached)
        return tuple(
            replace(
                k,
                arguments=tuple(
                    replace(a, banks=tuple(dict.fromkeys(banks.get((k.name, a.name), a.banks)))) for a in k.arguments
                ),
            )
            for k in named
        )


NOTHING = Connectivity()


def _units(kernel: str, counts: dict[str, tuple[str, ...]]) -> tuple[ComputeUnit, ...]:
    return tuple(map(ComputeUnit, counts.get(kernel, (f"{kernel}_1",))))


def _reaches(kernel: str, argument: str, port: str, bundles: dict[str, str]) -> bool:
    """True if `port` names the argument, or its port. HLS appends _r to names that VHDL or Verilog
    reserve, such as `out`."""
    if port in (argument, f"{argument}_r"):
        return True
    return port.lower().removeprefix(_PORT) == bundles.get(f"{kernel}.{argument}", "gmem").lower() and (
        port.lower().startswith(_PORT)
    )


def bundles_of(text: str, kernels: Sequence[KernelDescription]) -> dict[str, str]:
    """Returns the bundle of each argument, as "kernel.argument", by the INTERFACE pragmas of a
    source."""
    found: dict[str, str] = {}
    for kernel in kernels:
        begin = re.search(rf"\b{re.escape(kernel.name)}\s*\(", text)
        for pragma in _BUNDLE.finditer(text, begin.end() if begin else 0):
            said = dict(_SETTING.findall(pragma[1]))
            if "port" in said and "bundle" in said:
                found.setdefault(f"{kernel.name}.{said['port']}", said["bundle"])
    return found


def read(paths: Sequence[str | Path]) -> Connectivity:
    """Returns the [connectivity] of v++'s configuration files; raises ImageError for lines that
    have another form. Other sections do not change a simulation."""
    units: list[tuple[str, tuple[str, ...]]] = []
    memories: list[tuple[str, str, tuple[str, ...]]] = []
    streams: list[StreamLink] = []
    for path in paths:
        for place, name, value in _lines(Path(path)):
            if name == "nk":
                units.append(_counted(value, place))
            elif name == "sp":
                memories.append(_placed(value, place))
            elif name in ("stream_connect", "sc"):
                streams.append(_joined(value, place))
    return Connectivity(tuple(units), tuple(memories), tuple(streams))


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yields the place, name and value of each line of [connectivity]."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise unreadable(path, getattr(e, "strerror", None) or e) from None
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = re.split(r"(?:^|\s)[#;]", line)[0].strip()
        if line.startswith("["):
            section = line.strip("[] \t")
        name, equals, value = (word.strip() for word in line.partition("="))
        name = name.removeprefix(f"{SECTION}.")
        if equals and section in (SECTION, ""):
            yield f"{path}:{number}", name, value


def _counted(value: str, place: str) -> tuple[str, tuple[str, ...]]:
    kernel, _, rest = value.partition(":")
    count, _, names = rest.partition(":")
    if not count.isdigit() or not 0 < int(count) <= 128 or not _NAME.fullmatch(kernel):
        raise errors.bad_config(f"{place}: nk={value!r} is not KERNEL:COUNT[:UNIT.UNIT], with a count of 1 to 128")
    units = tuple(re.split(r"[.,]", names)) if names else tuple(f"{kernel}_{k + 1}" for k in range(int(count)))
    if len(units) != int(count) or not all(map(_NAME.fullmatch, units)):
        raise errors.bad_config(f"{place}: nk={value!r} does not name {count} units")
    return kernel, units


def _placed(value: str, place: str) -> tuple[str, str, tuple[str, ...]]:
    name, _, memory = value.partition(":")
    unit, _, port = name.partition(".")
    match = _MEMORY.fullmatch(memory.partition(":")[0] if "[" not in memory else memory[: memory.find("]") + 1])
    if match is None or not _NAME.fullmatch(unit) or not _NAME.fullmatch(port):
        raise errors.bad_config(f"{place}: sp={value!r} is not UNIT.ARGUMENT:MEMORY[FIRST:LAST]")
    if match[2] is None:
        return unit, port, (memory,)
    first, last = int(match[2]), int(match[3] or match[2])
    if not first <= last < first + MOST_BANKS:
        raise errors.bad_config(f"{place}: sp={value!r} has a range from {first} to {last}")
    return unit, port, tuple(f"{match[1]}[{k}]" for k in range(first, last + 1))


def _joined(value: str, place: str) -> StreamLink:
    ends = [part.partition(".") for part in value.split(":")[:2]]
    depth = value.split(":")[2:] or ["0"]
    if len(ends) < 2 or not all(_NAME.fullmatch(w) for u, _, p in ends for w in (u, p)) or not depth[0].isdigit():
        raise errors.bad_config(f"{place}: stream_connect={value!r} is not UNIT.PORT:UNIT.PORT[:DEPTH]")
    (source, _, source_port), (target, _, target_port) = ends
    return StreamLink(source, source_port, target, target_port, int(depth[0]))
