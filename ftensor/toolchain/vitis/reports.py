"""Reads v++'s reports on a kernel and on the linked design; omits fields that are missing.

There are three kinds of files: `<kernel>_csynth.xml` of Vitis HLS (estimates of latency, initiation
interval and resources), Vivado's timing summary (worst slack after routing), and the kernels'
utilization after routing. Details differ between versions, so the parsers search for fields
anywhere in a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

# The summary's columns, with their names in different versions of the tools.
RESOURCES: Mapping[str, tuple[str, ...]] = {
    "LUT": ("LUT",),
    "FF": ("FF", "REG"),
    "DSP": ("DSP", "DSP48E", "DSP58"),
    "BRAM": ("BRAM_18K", "BRAM"),
    "URAM": ("URAM",),
}
LARGEST = 64 << 20  # bytes; larger reports are ignored


@dataclass(frozen=True)
class Synthesis:
    """Estimates of Vitis HLS for a kernel; None if unknown (a variable trip count)."""

    latency: tuple[int | None, int | None] = (None, None)  # cycles: best, worst
    interval: int | None = None  # the worst initiation interval of its pipelined loops
    clock_ns: float | None = None  # the estimated clock period
    resources: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Timing:
    """The worst slacks of the routed design in ns; a negative slack misses the clock."""

    setup: float  # WNS
    hold: float | None = None  # WHS
    failing: int = 0  # endpoints that miss the setup time

    @property
    def met(self) -> bool:
        """True if the design meets its clock."""
        return self.setup >= 0 and (self.hold is None or self.hold >= 0)


def synthesis(text: str) -> Synthesis | None:
    """Parses a csynth.xml file; returns None for any other text."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return None
    if root.find(".//PerformanceEstimates") is None and root.find(".//AreaEstimates") is None:
        return None
    overall = root.find(".//SummaryOfOverallLatency")
    worst = max((n for n in map(_whole, _element_texts(root, "PipelineII")) if n is not None), default=None)
    if worst is None and overall is not None:
        worst = _whole(overall.findtext("PipelineInitiationInterval"))
    used = root.find(".//AreaEstimates/Resources")
    return Synthesis(
        latency=(None, None)
        if overall is None
        else (_whole(overall.findtext("Best-caseLatency")), _whole(overall.findtext("Worst-caseLatency"))),
        interval=worst,
        clock_ns=_number(next(_element_texts(root, "EstimatedClockPeriod"), None)),
        resources=None if used is None else _resources({e.tag: e.text or "" for e in used}),
    )


def timing(text: str) -> Timing | None:
    """Parses Vivado's `report_timing_summary`; returns None if the text has no summary."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        titles = re.split(r"\s{2,}", line.strip())
        if "WNS(ns)" not in titles:
            continue
        for row in lines[at + 1 : at + 6]:
            cells = row.split()
            if len(cells) < len(titles) or set(cells[0]) == {"-"}:
                continue
            values = dict(zip(titles, cells))
            setup = _number(values["WNS(ns)"])
            if setup is not None:
                failing = _whole(values.get("TNS Failing Endpoints")) or 0
                return Timing(setup, _number(values.get("WHS(ns)")), failing)
    return None


def utilization(text: str) -> dict[str, dict[str, int]]:
    """Returns the resources by kernel name from Vivado's kernel table; empty if there is no
    table."""
    kernels: dict[str, dict[str, int]] = {}
    titles: list[str] = []
    for line in text.splitlines():
        if not line.lstrip().startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] == "Name" and "LUT" in cells:
            titles = cells
        elif titles and len(cells) == len(titles):
            kernels.setdefault(cells[0], _resources(dict(zip(titles, cells))))
    return kernels


def kernel_report(name: str, folders: Iterable[Path]) -> Synthesis | None:
    """Returns the newest synthesis report of a kernel below the folders, or None."""
    for path in _newest(folders, f"{name}_csynth.xml"):
        if (report := synthesis(_read(path))) is not None:
            return report
    return None


def link_timing(folders: Iterable[Path]) -> Timing | None:
    """Returns the timing of the linked design, from a report after routing if there is one."""
    paths = _newest(folders, "*timing_summary*.rpt")
    routed = [path for path in paths if "rout" in path.name]  # "routed", "postroute_physopted"
    for path in routed + paths:
        if (report := timing(_read(path))) is not None:
            return report
    return None


def link_utilization(folders: Iterable[Path]) -> dict[str, dict[str, int]]:
    """Returns the resources of the routed kernels; empty if there is no report."""
    for path in _newest(folders, "*kernel_util*.rpt"):
        if report := utilization(_read(path)):
            return report
    return {}


def _newest(folders: Iterable[Path], pattern: str) -> list[Path]:
    paths = [path for folder in folders for path in folder.rglob(pattern) if path.is_file()]
    return sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True)


def _read(path: Path) -> str:
    if path.stat().st_size > LARGEST:
        return ""
    return path.read_text(errors="replace")


def _element_texts(root: ElementTree.Element, tag: str) -> Iterator[str]:
    return (element.text for element in root.iter(tag) if element.text)


def _resources(raw: Mapping[str, str]) -> dict[str, int]:
    resources = {}
    for column, names in RESOURCES.items():
        for name in names:
            value = _whole(raw.get(name))
            if value is not None:
                resources[column] = value
                break
    return resources


def _whole(text: str | None) -> int | None:
    """Returns the integer at the start of a cell ("4543 [ 0.41%]"); None for "undef", "?", "-"."""
    match = re.match(r"\s*(-?\d+)(\.\d*)?(?![\w.])", text or "")
    return int(match[1]) if match else None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None
