"""The table at the end of a build."""

from __future__ import annotations

from collections import Counter

from ...terminal import counted, size, table
from ..make import Built
from ..vitis import reports
from .progress import clock
from .run import Outcome
from .workspace import Workspace

NOTHING = "-"


def lines(built: Built, folders: Workspace, seconds: float) -> list[str]:
    """Returns a row for each kernel, with the figures of v++'s reports if there are any; then
    totals."""
    report_folders = (folders.reports, folders.work)
    by_kernel = {
        g.name: reports.kernel_report(g.name, [place / g.name for place in report_folders]) for g in built.groups
    }
    routed = reports.link_utilization([place / "link" for place in report_folders])
    estimated = any(report is not None for report in by_kernel.values())
    titles = ["kernel", "members", "units", "result", "seconds"]
    if estimated or routed:
        titles += ["latency", "II", "clock ns", *reports.RESOURCES]
    rows: list[list[object]] = [list(titles)]
    for group, outcome in zip(built.groups, built.outcomes):
        row: list[object] = [group.name, len(group.members), group.units, *_result(outcome)]
        if len(titles) > len(row):
            row += _figures(by_kernel[group.name], routed.get(group.name))
        rows.append(row)
    text = table(rows, indent="").splitlines()
    if routed:
        text.append("Resources are those after routing, of all compute units of a kernel.")
    elif estimated:
        text.append("Latency (cycles), II and resources are the HLS estimates of one compute unit.")
    return [*text, *_timing(folders), "", *_totals(built, seconds)]


def as_json(built: Built, folders: Workspace, seconds: float) -> dict[str, object]:
    """Returns the summary as a record: seconds, clocks in ns, sizes in bytes; None is unknown."""
    report_folders = (folders.reports, folders.work)
    routed = reports.link_utilization([place / "link" for place in report_folders])
    timing = reports.link_timing([place / "link" for place in report_folders])
    kernels = []
    for group, outcome in zip(built.groups, built.outcomes):
        record: dict[str, object] = {"name": group.name, "members": len(group.members), "units": group.units}
        record |= {"result": outcome.result, "seconds": outcome.seconds, "log": list(outcome.tail)}
        report = reports.kernel_report(group.name, [place / group.name for place in report_folders])
        if report is not None:
            record |= {"latency": report.latency, "interval": report.interval, "clock_ns": report.clock_ns}
        if used := routed.get(group.name) or (report.resources if report is not None else None):
            record["resources"] = dict(used)
        kernels.append(record)
    done: dict[str, object] = {"kernels": kernels, "seconds": seconds, "failed": len(built.failures)}
    if timing is not None:
        done["timing"] = {"setup_ns": timing.setup, "hold_ns": timing.hold, "met": timing.met}
    if built.image is not None and built.manifest is not None:
        done |= {"image": str(built.image), "bytes": built.image.stat().st_size, "uuid": str(built.manifest.uuid)}
        done["entries"] = len(built.manifest.entries)
    return done


def _result(outcome: Outcome) -> list[object]:
    return [outcome.result, f"{outcome.seconds:.1f}" if outcome.seconds else NOTHING]


def _figures(report: reports.Synthesis | None, routed: dict[str, int] | None) -> list[object]:
    used = routed or (report.resources if report is not None else None) or {}
    resources = [_or_nothing(used.get(name)) for name in reports.RESOURCES]
    if report is None:
        return [NOTHING] * 3 + resources
    speed = [_range(report.latency), _or_nothing(report.interval), _or_nothing(report.clock_ns)]
    return speed + resources


def _range(ends: tuple[int | None, int | None]) -> str:
    low, high = ends
    if low is None and high is None:
        return "varies"
    if low == high:
        return str(low)
    return f"{NOTHING if low is None else low}..{'' if high is None else high}"


def _or_nothing(value: float | None) -> object:
    return NOTHING if value is None else value


def _timing(folders: Workspace) -> list[str]:
    timing = reports.link_timing([folders.reports / "link", folders.work / "link"])
    if timing is None:
        return []
    text = f"Timing: worst slack {timing.setup:.3f} ns"
    if timing.hold is not None:
        text += f", hold {timing.hold:.3f} ns"
    if timing.met:
        return [f"{text}: met."]
    return [
        f"{text}: NOT met, at {counted(timing.failing, 'endpoint')}; the image runs at a lower "
        "clock, if at all. Fewer compute units, smaller groups or a lower --clock help."
    ]


def _totals(built: Built, seconds: float) -> list[str]:
    counts = Counter(outcome.result for outcome in built.outcomes)
    parts = [f"{counts['compiled']} compiled", f"{counts['reused']} reused"]
    if built.failures:
        parts.append(f"{len(built.failures)} failed")
    text = f"{counted(len(built.outcomes), 'kernel')}: {', '.join(parts)}; {clock(seconds)}."
    if built.image is None or built.manifest is None:
        return [text]
    return [
        text,
        f"{built.image}: {size(built.image.stat().st_size)}, "
        f"{counted(len(built.manifest.entries), 'entry')}, UUID {built.manifest.uuid}",
    ]
