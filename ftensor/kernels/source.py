"""What program texts are put together from: files of hls/, settings, the helpers they call."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import cache

from ..dtypes import dtype
from . import ctype
from .hls_path import hls_root
from .key import KernelKey
from .parameters import indices

MAX_DIMS = 32
# How many bits of float32's fraction the narrow floating dtypes lack.
DROPPED_BITS = {"float16": 13, "bfloat16": 16}
# The helper files beside math.h and complex.h, by the prefix of what they define, in the order in
# which a program has them.
HELPERS = {
    "ftb_": "binary.h",
    "ftx_": "special.h",
    "ftk_": "bessel.h",
    "ftg_": "gamma.h",
    "fto_": "polynomial.h",
    "FT_POSITION": "position.h",
    "ftr_": "random.h",
    "ftr_count_": "counts.h",
}
_WIDE_UNSIGNED = ("uint32", "uint64")


INCLUDED = re.compile(r'^#include "(.+)"$', re.M)


@cache
def kernel_file(name: str) -> str:
    """A file of hls/, with the files beside it that it includes in their place."""
    text = (hls_root() / name).read_text().replace("#pragma once\n", "")
    folder = posixpath.dirname(name)
    return INCLUDED.sub(lambda match: kernel_file(posixpath.normpath(posixpath.join(folder, match[1]))), text)


def inlined(text: str) -> str:
    """A text of HLS C++ with the headers of ftensor, which it includes, in their place."""
    return INCLUDED.sub(lambda match: kernel_file(match[1].removeprefix("ftensor/")), text)


@cache
def constant(name: str, word: str) -> int:
    """The number that a file of hls/ gives a constant, so that nobody has to write it again."""
    match = re.search(rf"^static const int {word} = (\d+);", (hls_root() / name).read_text(), re.M)
    assert match is not None, f"hls/{name} has no constant {word}"
    return int(match[1])


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
        f"#define FT_SIGNED {int(real not in ctype.UNSIGNED)}",
        f"#define FT_BITS_PER_VALUE {8 * compute.to_real().itemsize}",
        f"#define FT_MAX_DIMS {MAX_DIMS}",
    ]
    return lines + (["#define FT_COMPLEX 1"] if compute.is_complex else [])


def positional(body: Sequence[str], lets: Sequence[tuple[str, str]]) -> bool:
    """Whether an op goes by where an element is, so that only whole runs of memory serve it."""
    return any("FT_POSITION" in text for text in (*body, *(text for _, text in lets)))


def helper_files(key: KernelKey) -> list[str]:
    """The further helper files that the expressions call, by their prefixes."""
    text = _expressions(key)
    ports = key.outs + key.ins
    names = ["complex.h"] if key.compute.is_complex or "ft_c" in text else []
    names += ["locate.h"] if indices(key) else []
    names += ["unsigned.h"] if any(p.dtype.name in _WIDE_UNSIGNED for p in key.outs) else []
    names += ["float8.h"] if any(p.dtype.bare == "8" for p in ports) else []
    return names + [name for prefix, name in HELPERS.items() if prefix in text]


def port_settings(key: KernelKey) -> list[str]:
    """What the dialect is told about what lies in memory, where that is something unusual."""
    unsigned = any(p.dtype.name in _WIDE_UNSIGNED for p in key.outs + key.ins)
    return ["#define FT_WIDE_UNSIGNED 1"] if unsigned else []


def dropped_bits(key: KernelKey) -> list[int]:
    """What a narrow output rounds away between steps, where the helpers ask for it; else []."""
    text = _expressions(key)
    if "ftb_" not in text and "ftr_" not in text:
        return []
    return [DROPPED_BITS.get(key.outs[0].dtype.name, 0) if key.outs else 0]


def _expressions(key: KernelKey) -> str:
    text = " ".join(key.body) + " ".join(t for _, t in key.lets)
    if key.reduction is not None:
        text += key.reduction.lift + key.reduction.combine
    return text
