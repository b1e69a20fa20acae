"""The output of `ftensor estimate`: launches, totals, advice; or JSON."""

from __future__ import annotations

from typing import Any

from ..kernels.network import NetworkKey
from ..kernels.skeleton import board_skeleton_of
from ..kernels.workload import KernelLaunch
from ..terminal import counted, size, table
from ..toolchain.area.cores import NAMES
from ..toolchain.area.fit import area, board_shares, shares_text
from ..toolchain.folding import SHARE
from .model import BOUNDS, clock_by_area, launch_overhead
from .published import CAREFUL, error_band, published_figures
from .report import ProgramEstimate


def advice(r: ProgramEstimate) -> list[str]:
    """Returns advice for a faster program on the board, according to the model."""
    out = []
    if r.missing:
        named = ", ".join(f"{op} ({count})" for op, count in sorted(r.missing.items()))
        out.append(
            f"Not in the {'inventory' if r.image.from_inventory else 'image'}: {named}. The host computes these; "
            "only the copies between it and the board are counted, not its own work."
        )
    if r.bank_copies:
        several = sum(r.bank_copies.values())
        out.append(
            f"Kernels in different memory banks exchange tensors: {counted(several, 'copy')} through the "
            'host. One bank for all kernels (banks = "' + r.config.board.memories()[0] + '" in the inventory) avoids '
            f"them, for at most {r.config.board.masters.value:g} ports."
        )
    if not r.count:
        return out
    bounds = r.bounds()
    worst = max(bounds, key=lambda name: bounds[name])
    share = bounds[worst] / r.resident_seconds
    out.append(f"Mostly bound by {BOUNDS[worst]}: {share:.0%} of the time with residency.")
    dearest = max(r.lines, key=lambda line: line.kernel)
    share, first = dearest.kernel / r.resident_seconds, dearest.estimate.launch
    skeleton = board_skeleton_of(first.key)
    out.append(
        f"Dearest kernel: {skeleton.title(first.key)} ({skeleton.name}, "
        f"{skeleton.extent(first)}), {share:.0%} of the "
        f"time, bound by {BOUNDS[dearest.estimate.bound]}."
    )
    out.append(_ADVICE[worst](r))
    if r.resident_seconds < r.refetch_seconds:
        out.append(f"Residency: {r.refetch_seconds / r.resident_seconds:.3g} times faster than fetching each op.")
    return out


def _launch_advice(r: ProgramEstimate) -> str:
    board, longest = r.config.board, max(r.lines, key=lambda line: line.estimate.kernel).estimate
    even = longest.moved_bytes * board.launch.value * 1e-6 / longest.kernel
    queued = launch_overhead(board, r.count, 16)
    replayed = ""
    if board.arguments.value:
        replayed = f" Replayed from a capture (torch.fpga.graph) they would take {r.replayed_launch * 1e3:.3g} ms."
    return (
        f"A launch costs as much as a kernel that moves about {size(round(even))}: larger tensors, "
        f"fewer and fused ops. With 16 launches in flight instead of {r.in_flight} the launches "
        f"would take {queued * 1e3:.3g} ms (--in-flight 16).{replayed}"
    )


def _loop_advice(r: ProgramEstimate) -> str:
    slowest = max((line for line in r.lines if line.estimate.bound == "loop"), key=lambda line: line.kernel)
    if isinstance(slowest.estimate.launch.key, NetworkKey):
        return "A network has one compute unit; its layers have the largest folds that fit beside the other kernels."
    return "More compute units (--units) fold side by side, and so do more states in the kernel."


_ADVICE = {
    "launch": _launch_advice,
    "bank": lambda r: (
        "Spread a kernel's operands over banks (banks of the inventory); further compute units do "
        "not help where they share a bank, because a buffer is in one bank."
    ),
    "port": lambda r: (
        "More compute units (--units) bring more ports, as long as the banks keep up; operands "
        "with strides use a port one element at a time, so contiguous ones are faster."
    ),
    "loop": _loop_advice,
    "fill": lambda r: (
        "Rows are short or tensors small: pipelines and bursts start anew for each; longer inner "
        "dims, or contiguous tensors, are faster."
    ),
    "link": lambda r: "Copy less between host and board: larger copies, results read once.",
}


HEADING = "A model's estimate, not measured on hardware."


def text(r: ProgramEstimate, most: int = 24) -> str:
    """Returns the report as text."""
    out = [HEADING, *_assumptions(r), ""]
    head: tuple[object, ...] = (
        "op", "kernel", "operands", "size", "units", "launches", "cycles each", "bytes each",
        "kernel us", "GB/s", "resident ms", "bound", "fetched ms", "bound",
    )  # fmt: skip
    cells: list[tuple[object, ...]] = [head]
    each = r.launch / r.count if r.count else 0.0
    for line in r.lines[:most]:
        e = line.estimate
        resident = line.kernel + each * line.count
        bounds = {stays: _bound_label(r, e.largest_part(each, stays)) for stays in (True, False)}
        cells.append(
            (
                *launch_labels(e.launch),
                e.launch.units,
                line.count,
                round(e.cycles),
                size(e.moved_bytes),
                three_digits(e.kernel * 1e6),
                three_digits(e.moved_bytes / e.kernel / 1e9),
                three_digits(resident * 1e3),
                bounds[True],
                three_digits((resident + line.link_seconds) * 1e3),
                bounds[False],
            )
        )
    out.append(table(cells, indent=""))
    if len(r.lines) > most:
        more = counted(len(r.lines) - most, "more kind")
        out.append(f"... and {more} of launches (all of them in --json)")
    up, down = r.copied_bytes
    total = [
        ("", "resident", "fetched"),
        ("kernels", r.kernels, r.kernels),
        ("launches", r.launch, r.launch),
        ("geometries (once for each shape)", r.geometry_seconds, r.geometry_seconds),
        (r.config.board.link.name, r.copies, r.link_seconds),
        *([("ops on the host: their copies", r.fallback, "")] if r.missing else []),
        *([("copies between banks", r.bank_copy_seconds, "")] if r.bank_copies else []),
        ("total", r.resident_seconds, r.refetch_seconds),
    ]
    shown = [tuple(three_digits(x * 1e3) if isinstance(x, float) else x for x in row) for row in total]
    out += [
        "",
        f"In all, {counted(r.count, 'launch')}, in milliseconds (estimated):",
        table(shown),
        f"resident: data stays on the board; the program itself copies {size(up)} in and {size(down)} out.",
        "fetched: every op's inputs come from the host and its outputs go back.",
        *clock_lines(r),
        "",
        *area_lines(r),
        *advice(r),
    ]
    return "\n".join(out)


def area_lines(r: ProgramEstimate) -> list[str]:
    """Returns the kernels' shares of the board, and the kernels that do not fit it."""
    image, title = r.image, r.config.board.title
    if not image.left_out:
        return [f"Area of its {counted(len(image.fitting.groups), 'kernel')}: {image.fitting} (ftensor docs area)."]
    named = ", ".join(f"{group.name} ({image.shares(group)})" for group in image.left_out)
    verb = "does" if len(image.requested.groups) == 1 else "do"
    return [
        f"Its {counted(len(image.requested.groups), 'kernel')} {verb} not fit the {title}: {image.requested}.",
        f"No room for {named}. A graph or network takes at most {shares_text(SHARE)}.",
        f"Estimated with the {counted(len(image.fitting.groups), 'kernel')} that fit: {image.fitting}.",
    ]


def clock_lines(r: ProgramEstimate) -> list[str]:
    """Returns the resident time at a careful clock, at the clock by area, and with the error band."""
    clocks = {CAREFUL: "", area_clock(r): " (what designs of its area reach without a floorplan)"}
    low, high = (r.resident_seconds + (factor - 1) * r.kernels for factor in error_band())
    return [
        *(
            f"resident at {clock:.0f} MHz{note}: {three_digits(r.resident_at(clock) * 1e3)} ms."
            for clock, note in clocks.items()
            if clock < r.config.clock
        ),
        f"resident by published kernels, which take {error_band()[0]:.2f} to {error_band()[1]:.2f} times the model's "
        f"time: {three_digits(low * 1e3)} to {three_digits(high * 1e3)} ms (ftensor estimate --published).",
    ]


def area_clock(r: ProgramEstimate) -> float:
    """Returns the clock in MHz that designs of the image's area reach without a floorplan."""
    return clock_by_area(r.config.board.clock.value, max(r.image.fitting.shares.values(), default=0.0))


def launch_labels(launch: KernelLaunch) -> tuple[str, str, str, str]:
    """Returns a launch's op, skeleton, operands and size."""
    skeleton, key = board_skeleton_of(launch.key), launch.key
    return skeleton.title(key), skeleton.name, skeleton.operands(key), skeleton.extent(launch)


def _bound_label(r: ProgramEstimate, bound: str) -> str:
    name = r.config.board.link.name
    return name.split()[0] if bound == "link" else bound


def three_digits(value: float) -> float | str:
    """Formats three significant digits, as a right-aligned table cell."""
    return _Cell(f"{value:.3g}" if 0 < value < 1000 else f"{value:.0f}")


class _Cell(float):
    """A number that prints as the given text."""

    def __new__(cls, shown: str) -> _Cell:
        cell = super().__new__(cls, shown)
        cell.shown = shown
        return cell

    shown: str

    def __str__(self) -> str:
        return self.shown


def _assumptions(r: ProgramEstimate) -> list[str]:
    s, p = r.config, r.config.parameters
    board = s.board
    checks = [abs(row.relative_error) for row in published_figures(p) if row.role == "check"]
    middle = sorted(checks)[len(checks) // 2]
    return [
        f"Board: {board.title}, kernels at {s.clock:g} MHz, {board.banks.value:g} x {board.memory} "
        f"at {board.bank_rate.value:g} GB/s, {board.link.name}.",
        f"Assumed: every loop reaches its initiation interval and {s.clock:g} MHz; ports of "
        f"{board.port.value:g} bits, {p.outstanding} bursts (at most {p.outstanding_bytes} bytes) "
        f"outstanding, {p.latency:.0f} ns to the memory; "
        f"banks sustain {p.bank_efficiency:.0%} of their peak; "
        f"{board.launch.value:g} us a launch ({r.in_flight} in flight), {board.issue.value:g} us "
        "between queued ones. Products of matrices where they lie (gemm_direct) read "
        + ("whole vectors." if p.widened else "one element at a time (see --widened)."),
        f"Against {len(checks)} published measurements the bandwidth model is off by "
        f"{middle:.0%} (median), {max(checks):.0%} at worst (ftensor docs performance-model).",
    ]


def as_json(r: ProgramEstimate) -> dict[str, Any]:
    """Returns the report in JSON types; times in seconds, sizes in bytes."""
    board, p = r.config.board, r.config.parameters
    return {
        "note": HEADING,
        "board": {
            "name": board.name,
            "title": board.title,
            "figures": {k: {"value": f.value, "source": f.source} for k, f in board.figures().items()},
        },
        "assumptions": {
            "clock_mhz": r.config.clock,
            "banks": r.config.banks,
            "latency_ns": p.latency,
            "write_gap_cycles": p.write_gap,
            "bank_efficiency": p.bank_efficiency,
            "burst_bytes": p.burst_bytes,
            "outstanding": p.outstanding,
            "outstanding_bytes": p.outstanding_bytes,
            "widened": p.widened,
            "in_flight": r.in_flight,
        },
        "launches": [
            {
                "op": op,
                "entry": e.launch.key.entry,
                "skeleton": skeleton,
                "operands": operands,
                "size": extent,
                "lanes": e.launch.key.lanes,
                "units": e.launch.units,
                "count": line.count,
                "loops": [{"name": x.name, "trips": x.trips, "entries": x.entries, "ii": x.interval} for x in e.loops],
                "cycles": {"all": e.cycles, "fill": e.fill, "loop": e.loop, "port": e.port, "bank": e.bank},
                "bytes": e.moved_bytes,
                "bytes_to_board": sum(e.to_board),
                "bytes_to_host": sum(e.to_host),
                "kernel_s": e.kernel,
                "crossing_s": e.link_seconds,
                "bound": e.largest_part(r.launch / r.count, True),
                "bound_fetched": e.largest_part(r.launch / r.count, False),
            }
            for line in r.lines
            for e in (line.estimate,)
            for op, skeleton, operands, extent in (launch_labels(e.launch),)
        ],
        "not_in_inventory": dict(r.missing),
        "area": {
            "shares": r.image.requested.shares,
            "fits": not r.image.left_out,
            "kernels": [
                {
                    "name": group.name,
                    "lanes": group.lanes,
                    "units": group.units,
                    "shares": dict(zip(NAMES, board_shares(area(group).whole, board))),
                    "placed": group in r.image.fitting.groups,
                }
                for group in r.image.requested.groups
            ],
        },
        "copies": {"to_board": r.copied_bytes[0], "to_host": r.copied_bytes[1], "s": r.copies},
        "total": {
            "launches": r.count,
            "kernels_s": r.kernels,
            "launches_s": r.launch,
            "launches_replayed_s": r.replayed_launch,
            "geometries_s": r.geometry_seconds,
            "fallback_copies_s": r.fallback,
            "bank_copies": sum(r.bank_copies.values()),
            "bank_copies_s": r.bank_copy_seconds,
            "resident_s": r.resident_seconds,
            "resident_200_mhz_s": r.resident_at(min(CAREFUL, r.config.clock)),
            "area_clock_mhz": area_clock(r),
            "resident_area_clock_s": r.resident_at(min(area_clock(r), r.config.clock)),
            "resident_band_s": [r.resident_seconds + (factor - 1) * r.kernels for factor in error_band()],
            "fetched_s": r.refetch_seconds,
        },
        "advice": advice(r),
    }
