"""Text of tensors for `print` and HTML for notebooks."""

from __future__ import annotations

import base64
import contextlib
import itertools
import math
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from numbers import Integral
from typing import Any

import numpy as np

from . import errors
from .dtypes import bool as bool_
from .dtypes import complex64, complex128, dtype, float64, get_default_dtype, int64

Slices = tuple[slice, ...]


@dataclass(frozen=True)
class _Options:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
_options = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets how tensors print. An argument of None keeps its value, except `sci_mode`, for which it
    means automatic.

    `precision`: digits after the point. `threshold`: a tensor of more elements is summarised to
    `edgeitems` at each end of each dim. `linewidth`: columns. `profile`: "default", "short" or
    "full" sets these four; other arguments override it. `sci_mode`: always (True) or never (False)
    scientific notation.
    """
    global _options
    options: dict[str, Any] = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    for name in ("precision", "edgeitems"):
        value = options[name]
        if value is not None and (not isinstance(value, Integral) or value < 0):
            raise errors.print_count(name, value)
    if profile is not None and profile not in _PROFILES:
        raise errors.print_profile(profile, tuple(_PROFILES))
    changed = {name: value for name, value in options.items() if value is not None}
    basis = _PROFILES[profile] if profile is not None else {}
    _options = replace(_options, **{**basis, **changed, "sci_mode": sci_mode})


def get_printoptions() -> dict[str, Any]:
    """Returns the current options as keyword arguments for `set_printoptions`."""
    return asdict(_options)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Context manager that applies `set_printoptions(**options)`."""
    global _options
    before = _options
    set_printoptions(**options)
    try:
        yield
    finally:
        _options = before


def needs_summary(numel: int) -> bool:
    """True if a tensor of `numel` elements is summarised to its edges."""
    return numel > _options.threshold


def summary_blocks(shape: Sequence[int]) -> tuple[tuple[int, ...], list[tuple[Slices, Slices]]]:
    """Returns the shape of a large tensor's summary and the blocks that it consists of.

    A block is (slices of the tensor, slices of the summary). Only these blocks need to be copied
    from the device.
    """
    edge = _options.edgeitems
    pieces: list[list[tuple[slice, slice]]] = []
    summary: list[int] = []
    for size in shape:
        if size <= 2 * edge:
            pieces.append([(slice(0, size), slice(0, size))])
            summary.append(size)
            continue
        head, tail = slice(0, edge), slice(size - edge, size)
        pieces.append([(head, head), (tail, slice(edge, 2 * edge))] if edge else [])
        summary.append(2 * edge)
    blocks = [
        (tuple(source for source, _ in block), tuple(target for _, target in block))
        for block in itertools.product(*pieces)
    ]
    return tuple(summary), blocks


def tensor_str(
    array: np.ndarray[Any, Any],
    dtype: dtype,
    device: str | None = None,
    *,
    shape: Sequence[int] | None = None,
    name: str = "tensor",
) -> str:
    """Returns the repr of a tensor.

    `array` holds all values, or the summary of a tensor of `shape` (see `summary_blocks`). It may
    lack dims of size 1, because NumPy allows fewer dims. Values of a bfloat16 tensor are float32.
    `device` is printed unless it is None, `name` is the class name in front.
    """
    options = _options
    shape = array.shape if shape is None else tuple(shape)
    if array.shape == shape and needs_summary(array.size):
        array = _summarised(array)
    indent = len(name) + 1
    text = "[]" if 0 in shape else _values(array, shape, indent, options)
    return _with_suffixes(f"{name}({text}", _suffixes(shape, dtype, device, options), indent, options)


def _summarised(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    summary_shape, blocks = summary_blocks(array.shape)
    summary = np.empty(summary_shape, array.dtype)
    for source, target in blocks:
        summary[target] = array[source]
    return summary


def _suffixes(shape: tuple[int, ...], dtype: dtype, device: str | None, options: _Options) -> Iterator[str]:
    """Yields device, size and dtype where the printed values don't imply them."""
    default = get_default_dtype()
    if device is not None:
        yield f"device='{device}'"
    if 0 in shape:
        if len(shape) != 1:
            yield f"size={shape}"
        implied = {default}
    else:
        if options.edgeitems == 0:
            yield f"size={shape}"
        implied = {default, complex128 if default is float64 else complex64, int64, bool_}
    if dtype not in implied:
        yield f"dtype={dtype}"


def _with_suffixes(text: str, suffixes: Iterator[str], indent: int, options: _Options) -> str:
    # Breaks lines where torch does, so that the texts only differ in the package's name: counts
    # "ftensor." as "torch.", and no closing bracket after the first suffix.
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        length = len(suffix.replace("ftensor.", "torch."))
        if column + length + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + length
        else:
            text += ", " + suffix
            column += length + 2
    return text + ")"


def _values(array: np.ndarray[Any, Any], shape: tuple[int, ...], indent: int, options: _Options) -> str:
    number_format = _complex_format if array.dtype.kind == "c" else _real_format
    cell, width = number_format(array, options)
    sizes = list(array.shape)
    if len(sizes) < len(shape):
        left = iter(array.shape)
        sizes = [1 if size == 1 else next(left) for size in shape]
    elided = [size > shown for size, shown in zip(shape, sizes, strict=True)]

    def nested(values: list[Any], dim: int, indent: int) -> str:
        rest = len(sizes) - dim
        if rest == 0:
            return cell(values[0])
        if rest == 1:
            items = [cell(value) for value in values]
            dots = " ..." if options.edgeitems else "..."
            per_line = max(1, math.floor((options.linewidth - indent) / (width + 2)))
        else:
            each = len(values) // sizes[dim] if sizes[dim] else 0
            parts = [values[k * each : (k + 1) * each] for k in range(sizes[dim])]
            items = [nested(part, dim + 1, indent + 1) for part in parts]
            dots = "..."
            per_line = 1
        if elided[dim]:
            items.insert(options.edgeitems, dots)
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        # One more empty line for each dim that ends here.
        newline = "," + "\n" * max(1, rest - 1) + " " * (indent + 1)
        return "[" + newline.join(lines) + "]"

    return nested(array.ravel().tolist(), 0, indent)


def _real_format(values: np.ndarray[Any, Any], options: _Options) -> tuple[Callable[[Any], str], int]:
    """Returns (function that formats a number, width), so that columns of `values` are aligned."""
    if values.dtype.kind != "f":
        width = max((len(str(value)) for value in values.ravel().tolist()), default=1)
        return (lambda value: str(value).rjust(width)), width

    finite = values[np.isfinite(values) & (values != 0)].tolist()
    all_integers = all(value.is_integer() for value in finite)
    scientific = _is_scientific(finite, options)
    if scientific:
        spec = f".{options.precision}e"
    else:
        spec = ".0f" if all_integers else f".{options.precision}f"
    point = "." if all_integers and not scientific else ""
    # Ignores zeros, nan and inf, which may therefore be wider than the column, as in torch.
    width = max((len(format(value, spec) + point) for value in finite), default=1)

    def text(value: float) -> str:
        return (format(value, spec) + (point if math.isfinite(value) else "")).rjust(width)

    return text, width


def _complex_format(values: np.ndarray[Any, Any], options: _Options) -> tuple[Callable[[Any], str], int]:
    real, real_width = _real_format(values.real, options)
    imag, imag_width = _real_format(values.imag, options)

    def text(value: complex) -> str:
        imag_text = imag(value.imag).lstrip() + "j"
        return real(value.real) + ("" if imag_text[0] == "-" else "+") + imag_text

    return text, real_width + imag_width + 1


def _is_scientific(finite: list[float], options: _Options) -> bool:
    if not finite:
        return False
    if options.sci_mode is not None:
        return options.sci_mode
    low, high = min(map(abs, finite)), max(map(abs, finite))
    return high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4


# Limits of a picture: points of a curve, pixels per side; size on screen in pixels.
POINTS, SIDE, WIDTH, HEIGHT = 200, 64, 240, 80
# Colours from the smallest to the largest value; values that are not finite are red.
_ANCHORS = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)])
_NOT_FINITE = (220, 40, 40)
_STYLE = "display:inline-block;vertical-align:top;margin-right:1em"

Values = np.ndarray[Any, Any]


def every(size: int, most: int) -> int:
    """Returns the smallest step that reduces `size` elements to at most `most`."""
    return max(1, -(-size // most))


def tensor_html(facts: Sequence[tuple[str, object]], text: str, values: Values | None) -> str:
    """Returns HTML: a table of `facts` next to a picture of `values`, or `text` if that is None.

    `values` has one or two dims. The picture of complex numbers shows their magnitudes.
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
    """Returns a curve as SVG in the surrounding text's colour, with gaps for non-finite values."""
    x = np.linspace(2, WIDTH - 2, len(values))
    with np.errstate(invalid="ignore"):
        y = HEIGHT - 4 - (values - low) / ((high - low) or 1) * (HEIGHT - 8)
    finite = np.isfinite(y)
    path = "".join(f"{'L' if k and finite[k - 1] else 'M'}{x[k]:.1f} {y[k]:.1f}" for k in np.flatnonzero(finite))
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<path d="{path}" fill="none" stroke="currentColor"/></svg>'
    )


def _pixels(values: Values, low: float, high: float) -> str:
    """Returns an HTML image (inline PNG) with a pixel for each value."""
    with np.errstate(invalid="ignore"):
        place = (values - low) / ((high - low) or 1) * (len(_ANCHORS) - 1)
    finite = np.isfinite(place)
    filled = np.where(finite, place, 0)
    steps = range(len(_ANCHORS))
    pixels = np.stack([np.interp(filled, steps, channel) for channel in _ANCHORS.T], -1)
    pixels[~finite] = _NOT_FINITE
    data = base64.b64encode(png(pixels.astype(np.uint8))).decode()
    scale = max(1, 2 * SIDE // max(values.shape))
    height, width = (n * scale for n in values.shape)
    return (
        f'<img width="{width}" height="{height}" style="image-rendering:pixelated" '
        f'alt="picture of the values" src="data:image/png;base64,{data}">'
    )


def png(pixels: Values) -> bytes:
    """Returns a PNG file (8-bit truecolour) of a uint8 array (height, width, 3)."""

    def chunk(name: bytes, data: bytes) -> bytes:
        checked = name + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts
