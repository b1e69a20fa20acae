"""Streams between users' kernels, as v++ connects them (stream_connect): a function for each compute
unit that takes its streams from the library, and threads for kernels without a control port."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import image as errors
from ..image.contents import BYTES, ArgumentDescription, KernelDescription
from ..image.manifest import JOINED
from ..kernels.source import kernel_file
from . import stream_ends
from .connectivity import Connectivity, bundles_of

PORT = "hls::stream"  # the type of an argument that a stream connects


@dataclass(frozen=True)
class StreamFifo:
    """A stream from an argument of a unit to an argument of another one; `number` identifies it."""

    number: int
    name: str
    depth: int


@dataclass(frozen=True)
class Linked:
    """The kernels of an image with their units, the links at their ends, and the kernels without a
    control port."""

    kernels: tuple[KernelDescription, ...]
    found: Mapping[tuple[str, str], StreamFifo]
    writers: frozenset[tuple[str, str]]
    free: frozenset[str]

    def is_linked(self, kernel: KernelDescription) -> bool:
        """True if a stream of a unit of the kernel is connected."""
        return any((unit.name, a.name) in self.found for unit in kernel.units for a in kernel.arguments)


def linked(connectivity: Connectivity, kernels: Sequence[KernelDescription], texts: Sequence[str]) -> Linked:
    """Returns how the kernels of sources are connected; raises ImageError as `links` and
    `Connectivity.kernels` do."""
    bundles: dict[str, str] = {}
    for source in texts:
        bundles |= bundles_of(source, kernels)
    placed = connectivity.kernels(kernels, bundles)
    found, writers = links(connectivity, placed)
    free = {k.name for k in placed for source in texts if free_running(source, k)}
    return Linked(placed, found, frozenset(writers), frozenset(free))


def links(
    connectivity: Connectivity, kernels: Sequence[KernelDescription]
) -> tuple[dict[tuple[str, str], StreamFifo], set[tuple[str, str]]]:
    """Returns the link at each (unit, argument), and the ends that write.

    Raises ImageError for units and arguments that are not there, and for an end in two streams.
    """
    by_unit = {unit.name: k for k in kernels for unit in k.units}
    found: dict[tuple[str, str], StreamFifo] = {}
    sources = set()
    for number, stream in enumerate(connectivity.streams):
        link = StreamFifo(number, f"{stream.source}.{stream.source_port}", stream.depth)
        for unit, port, writes in (
            (stream.source, stream.source_port, True),
            (stream.target, stream.target_port, False),
        ):
            if unit not in by_unit:
                raise errors.bad_config(f"stream_connect={unit}.{port}: there is no such compute unit")
            names = [a.name for a in by_unit[unit].arguments if a.is_stream and port in (a.name, f"{a.name}_r")]
            if not names:
                raise errors.bad_config(f"stream_connect={unit}.{port}: the kernel has no such stream")
            if (unit, names[0]) in found:
                raise errors.bad_config(f"stream_connect={unit}.{port}: it is an end of two streams")
            found[unit, names[0]] = link
            if writes:
                sources.add((unit, names[0]))
    return found, sources


def free_running(source: str, kernel: KernelDescription) -> bool:
    """True if a pragma says that a kernel has no control port."""
    begin = re.search(rf"\b{re.escape(kernel.name)}\s*\(", source)
    pragma = r"^[ \t]*#[ \t]*pragma[ \t]+HLS[ \t]+INTERFACE\b.*\bap_ctrl_none\b"
    found = re.compile(pragma, re.MULTILINE | re.IGNORECASE).search(source, begin.end() if begin else 0)
    following = re.compile(r'^\s*(?:extern\s+"C"\s+)?void\s+\w+\s*\(', re.MULTILINE)
    other = following.search(source, begin.end()) if begin else None
    return found is not None and (other is None or found.start() < other.start())


def text(kernels: Sequence[KernelDescription], linked: Linked) -> str:
    """Returns the functions of the units of a file's kernels that have links."""
    parts: list[str] = []
    for kernel in kernels:
        for unit in kernel.units:
            if any((unit.name, a.name) in linked.found for a in kernel.arguments):
                parts += _streams(kernel, unit.name, linked)
                parts.append(_unit(kernel, unit.name, linked))
    return kernel_file("standin/stream_links.h") + "".join(parts) if parts else ""


def _type(kernel: KernelDescription, k: int) -> str:
    return f"ft_ends::parameters<decltype({kernel.name})>::at<{k}>"


def _streams(kernel: KernelDescription, unit: str, linked: Linked) -> list[str]:
    """Returns, for each stream that the unit writes, the function that returns it; for the others
    its declaration."""
    parts = []
    for k, a in enumerate(kernel.arguments):
        if (link := linked.found.get((unit, a.name))) is None:
            continue
        head = f'extern "C" __attribute__((visibility("hidden"))) void *ft_link_{link.number}(const char *type)'
        if (unit, a.name) not in linked.writers:
            parts.append(f"{head};\n")
            continue
        of = f"ft_links::link<{_type(kernel, k)}>"
        parts.append(
            f'{head}\n{{\n    static void *const one = {of}::made("{link.name}", {link.depth}, type);\n'
            f'    {of}::checked("{link.name}", type);\n    return one;\n}}\n'
        )
    return parts


def _unit(kernel: KernelDescription, unit: str, linked: Linked) -> str:
    parameters: list[str] = []
    ends: list[str] = []
    values: list[str] = []
    for k, a in enumerate(kernel.arguments):
        link = linked.found.get((unit, a.name))
        if link is not None:
            of = f"ft_links::link<{_type(kernel, k)}>::T"
            reached = f"(hls::stream<{of}> *)ft_link_{link.number}(typeid({of}).name())"
            values.append(f"*({_type(kernel, k)} *)({reached})")
        elif a.is_stream:
            parameters += [f"void *{a.name}", f"unsigned long {BYTES}{a.name}"]
            ends.append(stream_ends.end_of(kernel, k))
            values.append(f"ft_end_{k}.stream")
        else:
            parameters.append(f"{_type(kernel, k)} {a.name}")
            values.append(a.name)
    call = f"    {kernel.name}({', '.join(values)});\n"
    if kernel.name in linked.free and not parameters:
        runs = f'static const ft_links::free_running ft_runs_{unit}("{unit}", ft_run_{unit});\n'
        return f"static void ft_run_{unit}()\n{{\n{call}}}\n{runs}"
    launch = f'    const ft_links::launch ft_launch("{unit}");\n'
    head = f'extern "C" int {unit}{JOINED}({", ".join(parameters)})'
    stopped = "} catch (const ft_threads::Stopped &) {\n    return 1;\n}\n"
    return f"{head}\ntry {{\n{launch}{''.join(ends)}{call}    return 0;\n{stopped}"


def _described(a: ArgumentDescription, linked: bool, others_linked: bool) -> tuple[ArgumentDescription, ...]:
    if linked:
        return (replace(a, c=PORT),)
    if a.is_stream and others_linked:  # a tensor is its end
        return replace(a, c="void *", size=8), ArgumentDescription(f"{BYTES}{a.name}", "unsigned long", 8)
    return (a,)


def described(linked: Linked) -> tuple[KernelDescription, ...]:
    """Returns the kernels as XRT sees them: connected streams are ports, which no host sets."""
    result = []
    for kernel in linked.kernels:
        names = {a.name for a in kernel.arguments for unit in kernel.units if (unit.name, a.name) in linked.found}
        rows = tuple(row for a in kernel.arguments for row in _described(a, a.name in names, bool(names)))
        free = names and kernel.name in linked.free and not any(a.is_pointer for a in rows)
        result.append(replace(kernel, arguments=rows, control="AP_CTRL_NONE" if free else kernel.control))
    return tuple(result)
