"""Published measurements of ports, banks, links and launches, and the model's estimates of them.

Whole designs are in designs.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..boards import find
from .model import DEFAULT, Parameters, bank_rate, launch_overhead, port_rate, transfer_seconds

# The logs of axi_burst_performance divide by 1024^3 and print GB/sec.
GIB = 1024**3 / 1e9


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure and the model's, in the same unit.

    `role` is "check" if the model does not use the figure, and "set" if the figure determines a
    parameter.
    """

    quantity: str
    unit: str
    published: float
    model: float
    role: str
    source: str

    @property
    def relative_error(self) -> float:
        """The model's relative error."""
        return self.model / self.published - 1


_BURST = "axi_burst_performance, U200, 300 MHz, 16 MB"
# (width, burst, outstanding, write, GiB/s as logged)
_BURSTS = (
    (512, 4, 4, False, 3.92988),
    (512, 16, 4, False, 13.1114),
    (512, 32, 4, False, 16.8218),
    (512, 4, 32, False, 16.8222),
    (512, 32, 32, False, 16.8219),
    (512, 4, 4, True, 5.1399),
    (512, 16, 4, True, 11.7942),
    (512, 32, 4, True, 14.6941),
    (512, 4, 32, True, 8.93979),
    (512, 16, 32, True, 14.3008),
    (512, 32, 32, True, 15.1586),
    (256, 4, 4, False, 2.02206),
    (256, 16, 4, False, 6.80909),
    (256, 32, 4, False, 8.59958),
    (256, 32, 32, False, 8.93942),
    (256, 4, 4, True, 2.66919),
    (256, 16, 4, True, 6.62449),
    (256, 32, 4, True, 7.59737),
    (256, 4, 32, True, 4.47013),
    (256, 16, 32, True, 7.1518),
    (256, 32, 32, True, 7.94597),
)

# (bytes of a buffer, MB/s to the board, MB/s from the board)
_SMALL_COPIES = (
    (256, 19.97, 20.08),
    (512, 37.38, 39.63),
    (1024, 68.55, 76.46),
    (4096, 294.7, 313.5),
    (16384, 1169.0, 1115.0),
)


def published_figures(p: Parameters = DEFAULT) -> tuple[PublishedFigure, ...]:
    """Returns the published figures with which the model is compared."""
    u200, u250, u280, u50 = (find(name) for name in ("u200", "u250", "u280", "u50"))
    entries = []
    for width, burst, outstanding, write, logged in _BURSTS:
        rate = port_rate(u200, width, burst, outstanding, 300, write, p)
        what = f"{width}-bit port {'writes' if write else 'reads'}, "
        what += f"bursts of {burst}, {outstanding} outstanding"
        # The gap between write bursts comes from these three rows.
        role = "set" if write and width == 256 and outstanding == 32 else "check"
        entries.append(PublishedFigure(what, "GB/s", logged * GIB, rate, role, _BURST))
    # One bank is read and another is written, at Vitis HLS's default of 16 beats.
    both = sum(port_rate(u200, 512, 16, 16, 300, write, p) for write in (False, True))
    slower = 2 * port_rate(u200, 512, 16, 16, 300, True, p)
    entries.append(
        PublishedFigure(
            "U200, one bank copied to another",
            "GB/s",
            30.72,
            min(both, slower),
            "check",
            "kernel_global_bandwidth, U200",
        )
    )
    hbm = "hbm_bandwidth, log of a {}"
    entries += [
        PublishedFigure(
            "U280 HBM, 8 vaddmul units on 32 banks", "GB/s", 421.3, 32 * bank_rate(u280, p), "set", hbm.format("U280")
        ),
        PublishedFigure(
            "U50 HBM, 3 vaddmul units on 12 banks", "GB/s", 158.3, 12 * bank_rate(u50, p), "check", hbm.format("U50")
        ),
        PublishedFigure(
            "U50 HBM, vadd on 3 banks", "GB/s", 39.23, 3 * bank_rate(u50, p), "check", "hbm_large_buffers, log of a U50"
        ),
        PublishedFigure(
            "U280 HBM, STREAM copy, 32 kernels", "GB/s", 377.0, 32 * bank_rate(u280, p), "check", "HPCC_FPGA"
        ),
    ]
    link = "host_global_bandwidth, log of a U200"
    in_1m, out_1m = (1048576 / transfer_seconds(u200.link, 1048576, to) / 1e9 for to in (True, False))
    small = transfer_seconds(u200.link, 64, True) * 1e6
    for nbytes, logged_in, logged_out in _SMALL_COPIES:
        for to_board, logged in ((True, logged_in), (False, logged_out)):
            what = f"{nbytes} bytes {'host to board' if to_board else 'board to host'}, many queued"
            rate = nbytes / transfer_seconds(u200.link, nbytes, to_board) / 1e6
            entries.append(PublishedFigure(what, "MB/s", logged, rate, "check", link))
    entries += [
        PublishedFigure("host to board, 512 MB", "GB/s", 7.452, u200.link.to_board.value, "set", link),
        PublishedFigure("board to host, 512 MB", "GB/s", 12.13, u200.link.to_host.value, "set", link),
        PublishedFigure("64-byte buffer to the board", "us", 13.6, small, "set", link),
        PublishedFigure("host to board, 64 buffers of 1 MB", "GB/s", 6.620, in_1m, "check", link),
        PublishedFigure("board to host, 64 buffers of 1 MB", "GB/s", 10.07, out_1m, "check", link),
        PublishedFigure(
            "host to board, large",
            "GB/s",
            8.871,
            u200.link.to_board.value,
            "check",
            "xbutil validate in Vitis tutorial XD099, mean of three banks",
        ),
    ]
    iops = "iops_test_xrt, log of a U250"
    for count, logged, role in (
        (10, 84.0336, "check"),
        (100, 270.27, "check"),
        (10000, 316.937, "check"),
        (1000000, 359.184, "set"),
    ):
        rate = count / launch_overhead(u250, count, count) / 1e3
        entries.append(PublishedFigure(f"launches, {count} queued", "k/s", logged, rate, role, iops))
    return tuple(entries)
