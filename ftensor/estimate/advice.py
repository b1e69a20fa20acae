"""What would make a program faster on the board, according to the model."""

from __future__ import annotations

from ..kernels.board_skeleton import board_skeleton_of
from ..table import size
from .bandwidth import launches
from .model import BOUNDS
from .report import Report


def advice(r: Report) -> list[str]:
    """What would make the program faster on the board, according to the model."""
    out = []
    if r.missing:
        named = ", ".join(f"{op} ({count})" for op, count in sorted(r.missing.items()))
        out.append(
            f"Not in the inventory: {named}. The host computes these; only the copies between it "
            "and the board are counted, not its own work."
        )
    if not r.count:
        return out
    bounds = r.bounds()
    worst = max(bounds, key=lambda name: bounds[name])
    share = bounds[worst] / r.resident
    out.append(f"Mostly bound by {BOUNDS[worst]}: {share:.0%} of the time with residency.")
    dearest = max(r.lines, key=lambda line: line.kernel)
    share, first = dearest.kernel / r.resident, dearest.each.launch
    skeleton = board_skeleton_of(first.key)
    out.append(
        f"Dearest kernel: {skeleton.title(first.key)} ({skeleton.name}, "
        f"{skeleton.extent(first)}), {share:.0%} of the "
        f"time, bound by {BOUNDS[dearest.each.bound]}."
    )
    out.append(_ADVICE[worst](r))
    if r.resident < r.fetched:
        out.append(f"Residency: {r.fetched / r.resident:.3g} times faster than fetching each op.")
    return out


def _launch_advice(r: Report) -> str:
    board, longest = r.setup.board, max(r.lines, key=lambda line: line.each.kernel).each
    even = longest.moved * board.launch.value * 1e-6 / longest.kernel
    queued = launches(board, r.count, 16)
    return (
        f"A launch costs as much as a kernel that moves about {size(round(even))}: larger tensors, "
        f"fewer and fused ops. With 16 launches in flight instead of {r.in_flight} the launches "
        f"would take {queued * 1e3:.3g} ms (--in-flight 16)."
    )


def _bank_advice(r: Report) -> str:
    return (
        "Spread a kernel's operands over banks (banks of the inventory); further compute units do "
        "not help where they share a bank, since a buffer lies in one."
    )


_ADVICE = {
    "launch": _launch_advice,
    "bank": _bank_advice,
    "port": lambda r: (
        "More compute units (--units) bring more ports, as long as the banks keep up; operands "
        "with strides use a port one element at a time, so contiguous ones are faster."
    ),
    "loop": lambda r: "More compute units (--units) fold side by side, and so do more states in the kernel.",
    "fill": lambda r: (
        "Rows are short or tensors small: pipelines and bursts start anew for each; longer inner "
        "dims, or contiguous tensors, are faster."
    ),
    "link": lambda r: "Copy less between host and board: larger copies, results read once.",
}
