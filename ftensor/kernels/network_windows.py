"""Processes that make the windows of a network's layers (hls/vitis/network_windows.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .network import Flow, NetworkLayer
from .network_depths import Process
from .workload import PIPELINE_DEPTH, LocalMemory

if TYPE_CHECKING:
    from .network_processes import Processes


def windows(of: Processes, layer: NetworkLayer, k: int, name: str, fifo: int) -> int:
    """Adds the process of a layer's windows, which shift through registers. Returns its FIFO."""
    flow = of.flow(fifo)
    (kh, kw), (sh, sw), (ph, pw) = layer.kernel, layer.stride, layer.padding
    parts, wide = flow.channels // flow.wide, flow.wide
    pixel = (flow.channels,) if parts == 1 else (parts, wide)
    sizes = (flow.height, flow.width, *pixel, kh, kw, ph, pw, sh, sw, of.outside(layer))
    result, taps = layer.result(flow), kh * kw

    def needs(n: int) -> np.ndarray:
        y, x = np.arange(result.height)[:, None, None] * sh, np.arange(result.width)[:, None] * sw
        pixels = (y - ph + kh - 1) * flow.width + x - pw + kw - 1
        beats_read = (pixels * parts + np.arange(1, parts + 1)).ravel() + np.arange(n)[:, None] * flow.beats
        return np.minimum(beats_read.ravel(), n * flow.beats)

    memories = [LocalMemory(flow.width * parts, flow.bits * wide, kh - 1)] if kh > 1 else []
    if parts > 1 and kw > 1:
        memories.append(LocalMemory(parts, flow.bits * wide, kh * (kw - 1)))
    process = Process(
        f"{name}_windows",
        "windows" if parts == 1 else "channel_windows",
        sizes,
        flow.beats,
        k,
        operators=((("compare", "int32"), 2 * (kh + kw)), (("choose", of.dtype_name), taps * wide)),
        memories=tuple(memories),
        needs=(needs,),
    )
    windows = Flow(result.height, result.width, taps * flow.channels, taps * wide, flow.bits)
    return of.add(process, (fifo,), (windows,))[0]


def window_rows(of: Processes, layer: NetworkLayer, k: int, name: str, fifo: int) -> int:
    """Adds the process of windows that are read from a ring buffer of rows. Returns its FIFO."""
    flow = of.flow(fifo)
    (kh, kw), (sh, sw), (ph, pw) = layer.kernel, layer.stride, layer.padding
    result, pixel = layer.result(flow), flow.channels // flow.wide
    high, height = result.height, flow.height
    first = min(kh - ph, height)
    last = min((high - 1) * sh + first, height)  # rows read before the last step
    come = max(sh if high > 1 else 0, height - last + first)
    ring = 1 << (max(kh + sh, height + first - ((high - 1) * sh - ph)) - 1).bit_length()
    leave = result.width * kh * kw * pixel
    step = max(leave, come * flow.width * pixel)
    taps = kh * kw * flow.channels

    def needs(n: int) -> np.ndarray:
        beats_read, held, image = [], first, 0
        for row in range(n * high):
            y = row % high
            ends = y == high - 1
            wanted = image + height + first if ends else image + min((y + 1) * sh + first, height)
            wanted = min(wanted, n * height)
            come_in = np.minimum(np.arange(1, leave + 1), (wanted - held) * flow.width * pixel)
            beats_read.append(held * flow.width * pixel + come_in)
            held, image = wanted, image + height * ends
        return np.concatenate(beats_read)

    sizes = (height, flow.width, flow.channels, flow.wide, kh, kw, ph, pw, sh, sw, of.outside(layer), ring, come)
    process = Process(
        f"{name}_windows",
        "window_rows",
        sizes,
        high * (step + PIPELINE_DEPTH),  # the pipeline drains after each row of results
        k,
        operators=((("compare", "int32"), 12), (("choose", of.dtype_name), flow.wide), (("mul", "int32"), 2)),
        memories=(LocalMemory(ring * flow.width * pixel, flow.bits * flow.wide),),
        needs=(needs,),
        burst=come * flow.width * pixel,
    )
    return of.add(process, (fifo,), (Flow(high, result.width, taps, flow.wide, flow.bits),))[0]
