"""A key and a dialect make a program text: the dialect's words, the helpers, a skeleton's holes."""

from __future__ import annotations

import posixpath
import re
from functools import cache

from ..dtypes import dtype
from . import ctype, reduction
from .hls_path import hls_root
from .holes import holes, indices, parameters
from .key import KernelKey

MAX_DIMS = 32
# How many bits of float32's fraction the narrow floating dtypes lack.
DROPPED_BITS = {"float16": 13, "bfloat16": 16}


INCLUDED = re.compile(r'^#include "(.+)"$', re.M)


@cache
def kernel_file(name: str) -> str:
    """A file of hls/, with the files beside it that it includes in their place."""
    text = (hls_root() / name).read_text().replace("#pragma once\n", "")
    folder = posixpath.dirname(name)
    return INCLUDED.sub(
        lambda found: kernel_file(posixpath.normpath(posixpath.join(folder, found[1]))), text
    )


def kernel_types(key: KernelKey) -> tuple[str, ...]:
    """What a backend is told of the whole parameter list, the skeleton's own included."""
    return tuple(what for what, _, _ in parameters(key)) + (
        ("int",) if key.skeleton == "map" else ("*",)
    )


def program(key: KernelKey, dialect: str, *, float64: bool, grid: str) -> str:
    """The self-contained text of the kernel `key` in a dialect."""
    head = "\n".join(settings(key.compute, key.lanes, float64, grid))
    return "\n".join(
        [
            head,
            kernel_file(f"dialect/{dialect}.h"),
            kernel_file("math.h"),
            _helpers(key),
            reduction.state_words(key) if key.reduction is not None else "",
            *(f"#define {name} {_joined(body)}" for name, body in holes(key).items()),
            kernel_file(f"skeleton/{key.skeleton}.h"),
        ]
    )


def settings(compute: dtype, lanes: int, float64: bool, grid: str) -> list[str]:
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
    parts = settings(compute, 1, float64, "slab")
    parts += [kernel_file(f"dialect/{dialect}.h"), f"#define FT_NAME {entry}"]
    return "\n".join([*parts, kernel_file(f"skeleton/{skeleton}.h")])


def _helpers(key: KernelKey) -> str:
    out = [kernel_file(name) for name in helper_files(key)]
    return "\n".join([*(f"#define FT_DROPPED_BITS {d}" for d in dropped_bits(key)), *out])


def helper_files(key: KernelKey) -> list[str]:
    """The further helper files that the expressions call, by their prefixes."""
    text = _expressions(key)
    asked = {
        "complex.h": key.compute.is_complex or "ft_c" in text,
        "binary.h": "ftb_" in text,
        "special.h": "ftx_" in text,
        "locate.h": bool(indices(key)),
        "position.h": "FT_POSITION" in text,
    }
    assert not asked["position.h"] or key.skeleton == "map", key
    return [name for name, wanted in asked.items() if wanted]


def dropped_bits(key: KernelKey) -> list[int]:
    """What a narrow output rounds away between steps, where the helpers ask for it; else []."""
    if "ftb_" not in _expressions(key):
        return []
    return [DROPPED_BITS.get(key.outs[0].dtype.name, 0) if key.outs else 0]


def _expressions(key: KernelKey) -> str:
    text = " ".join(key.body) + " ".join(t for _, t in key.lets)
    if key.reduction is not None:
        text += key.reduction.lift + key.reduction.combine
    return text


def _joined(lines: list[str]) -> str:
    return " \\\n    ".join(lines)
