"""How a tensor looks in a notebook: what it is, and a small picture of one or two dims."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

# A picture has at most so many points, or pixels a side, and is drawn so many screen pixels wide.
POINTS, SIDE, WIDTH, HEIGHT = 200, 64, 240, 80
# From the smallest value to the largest; what is not finite is red.
_ANCHORS = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)])
_NOT_FINITE = (220, 40, 40)
_STYLE = "display:inline-block;vertical-align:top;margin-right:1em"

Values = np.ndarray[Any, Any]


def every(size: int, most: int) -> int:
    """The step at which `size` elements are at most `most`."""
    return max(1, -(-size // most))


def tensor_html(facts: Sequence[tuple[str, object]], text: str, values: Values | None) -> str:
    """A table of `facts` beside a picture of `values`, or beside `text` where there are none.

    `values` are real numbers or complex ones, whose magnitudes are drawn, with one or two dims.
    """
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(str(v))}</td></tr>" for k, v in facts)
    if values is None:
        shown = f"<pre>{escape(text)}</pre>"
    else:
        values = np.abs(values) if values.dtype.kind == "c" else values.astype(np.float64)
        finite = values[np.isfinite(values)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
        drawn = _line(values, low, high) if values.ndim == 1 else _pixels(values, low, high)
        shown = f"{drawn}<div>from {low:.4g} to {high:.4g}</div>"
    return f'<div><table style="{_STYLE}">{rows}</table><div style="{_STYLE}">{shown}</div></div>'


def _line(values: Values, low: float, high: float) -> str:
    """A curve as SVG, in the colour of the text around it; with gaps for what is not finite."""
    x = np.linspace(2, WIDTH - 2, len(values))
    with np.errstate(invalid="ignore"):
        y = HEIGHT - 4 - (values - low) / ((high - low) or 1) * (HEIGHT - 8)
    there = np.isfinite(y)
    path = "".join(f"{'L' if k and there[k - 1] else 'M'}{x[k]:.1f} {y[k]:.1f}" for k in np.flatnonzero(there))
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<path d="{path}" fill="none" stroke="currentColor"/></svg>'
    )


def _pixels(values: Values, low: float, high: float) -> str:
    """A PNG with a pixel for each value."""
    with np.errstate(invalid="ignore"):
        place = (values - low) / ((high - low) or 1) * (len(_ANCHORS) - 1)
    there = np.isfinite(place)
    known = np.where(there, place, 0)
    steps = range(len(_ANCHORS))
    pixels = np.stack([np.interp(known, steps, channel) for channel in _ANCHORS.T], -1)
    pixels[~there] = _NOT_FINITE
    data = base64.b64encode(png(pixels.astype(np.uint8))).decode()
    scale = max(1, 2 * SIDE // max(values.shape))
    height, width = (n * scale for n in values.shape)
    return (
        f'<img width="{width}" height="{height}" style="image-rendering:pixelated" '
        f'alt="picture of the values" src="data:image/png;base64,{data}">'
    )


def png(pixels: Values) -> bytes:
    """The file of an image (height, width, 3) of bytes (PNG specification, 8-bit truecolour)."""

    def chunk(name: bytes, data: bytes) -> bytes:
        checked = name + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts
