"""A key and a dialect make a program text: the dialect's words, the helpers, a skeleton's holes."""

from __future__ import annotations

from functools import cache

from ..dtypes import dtype
from . import ctype, reduction
from .hls_path import hls_root
from .holes import holes, indices, parameters
from .key import KernelKey

MAX_DIMS = 32
# How many bits of float32's fraction the narrow floating dtypes lack.
DROPPED_BITS = {"float16": 13, "bfloat16": 16}


@cache
def _text(name: str) -> str:
    return (hls_root() / name).read_text()


def kernel_types(key: KernelKey) -> tuple[str, ...]:
    """What a backend is told of the whole parameter list, the skeleton's own included."""
    return tuple(what for what, _, _ in parameters(key)) + (
        ("int",) if key.skeleton == "map" else ("*",)
    )


def program(key: KernelKey, dialect: str, *, float64: bool, grid: str) -> str:
    """The self-contained text of the kernel `key` in a dialect."""
    head = "\n".join(_settings(key.compute, key.lanes, float64, grid))
    return "\n".join(
        [
            head,
            _text(f"dialect/{dialect}.h"),
            _text("math.h"),
            _helpers(key),
            reduction.state_words(key) if key.reduction is not None else "",
            *(f"#define {name} {_joined(body)}" for name, body in holes(key).items()),
            _text(f"skeleton/{key.skeleton}.h"),
        ]
    )


def _settings(compute: dtype, lanes: int, float64: bool, grid: str) -> list[str]:
    """What the dialect and the helpers are told about a kernel."""
    real = ctype.scalar(compute)
    lines = [
        f"#define FT_LANES {lanes}",
        f"#define FT_N {lanes if lanes > 1 else ''}",
        f"#define FT_FP64 {int(float64)}",
        f"#define FT_GRID_STRIDE {int(grid == 'stride')}",
        f"#define FT_T {real}",
        f"#define FT_MT {ctype.MASK[real]}",
        f"#define FT_FLOATING {int(real in ('float', 'double'))}",
        f"#define FT_DOUBLE {int(real == 'double')}",
        f"#define FT_SIGNED {int(real != 'uchar')}",
        f"#define FT_BITS_PER_VALUE {8 * compute.to_real().itemsize}",
        f"#define FT_MAX_DIMS {MAX_DIMS}",
    ]
    return lines + (["#define FT_COMPLEX 1"] if compute.is_complex else [])


def fixed_program(entry: str, skeleton: str, dialect: str, compute: dtype, *, float64: bool) -> str:
    """The text of a kernel that has no holes but its name."""
    parts = _settings(compute, 1, float64, "slab")
    parts += [_text(f"dialect/{dialect}.h"), f"#define FT_NAME {entry}"]
    return "\n".join([*parts, _text(f"skeleton/{skeleton}.h")])


def _helpers(key: KernelKey) -> str:
    """The further helper files that the expressions call, by their prefixes."""
    text = " ".join(key.body) + " ".join(t for _, t in key.lets)
    if key.reduction is not None:
        text += key.reduction.lift + key.reduction.combine
    out = []
    if key.compute.is_complex or "ft_c" in text:
        out.append(_text("complex.h"))
    if "ftb_" in text:
        dropped = DROPPED_BITS.get(key.outs[0].dtype.name, 0) if key.outs else 0
        out += [f"#define FT_DROPPED_BITS {dropped}", _text("binary.h")]
    if "ftx_" in text:
        out.append(_text("special.h"))
    if indices(key):
        out.append(_text("locate.h"))
    if "FT_POSITION" in text:
        assert key.skeleton == "map", key
        out.append(_text("position.h"))
    return "\n".join(out)


def _joined(lines: list[str]) -> str:
    return " \\\n    ".join(lines)
