"""Texts that compute in several types: for each its settings, its helpers and what calls these.

OpenCL C has no namespaces, so there the names of helpers end in their type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from ..dtypes import dtype
from . import ctype, source
from .key import KernelKey

# Settings of a whole file, and those of a compute type.
OF_THE_FILE = ("FT_LANES", "FT_N", "FT_FP64", "FT_MAX_DIMS")
UNUSED = ("FT_GRID_STRIDE",)
# Helpers whose types are the same whatever is computed in, so that a file has them once.
OF_ALL_TYPES = ("unsigned.h", "float8.h")
# Words of a reduction's state, which every member defines for itself.
STATE = ("FT_S", "ft_identity", "ft_combine", "ft_choose", "ft_turn")
OWN_NAME = re.compile(r"\b(?:ft[a-z]?_\w+|FT_C)\b")
DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)


def space(key: KernelKey) -> str:
    """What a key is computed in, and what it rounds to in between, where its helpers ask that."""
    dropped = source.dropped_bits(key)
    narrow = f"_for_{key.outs[0].dtype.name}" if dropped and dropped[0] else ""
    return f"{key.compute.name}{narrow}"


def by_space(keys: Sequence[KernelKey]) -> dict[str, list[int]]:
    """The places of keys that can share helpers, by their space."""
    spaces: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        spaces.setdefault(space(key), []).append(place)
    return spaces


def renamed(text: str, of: str, dialect: str) -> str:
    """`text` with the helpers that it defines and calls made those of one space."""
    kept = _kept(dialect)
    return OWN_NAME.sub(lambda m: m[0] if m[0] in kept else f"{m[0]}_{of}", text)


@cache
def _kept(dialect: str) -> frozenset[str]:
    files = (f"dialect/{dialect}.h", *OF_ALL_TYPES)
    return frozenset(STATE).union(*(OWN_NAME.findall(source.kernel_file(n)) for n in files))


def sections(keys: Sequence[KernelKey], function: Callable[[int, KernelKey], str], dialect: str) -> Iterable[str]:
    """OpenCL C: the keys' functions, those of one space together, behind their helpers.

    `function` gives the text for a key and its place; words that it defines are dropped behind it.
    """
    for of, places in by_space(keys).items():
        mine = [keys[k] for k in places]
        heading = f"// What is computed in {of.replace('_', ' ')}."
        opening = renamed("\n".join([heading, *_helpers(mine)]), of, dialect)
        yield opening
        for place in places:
            yield renamed(function(place, keys[place]), of, dialect)
        yield dropped_words(opening)


def dropped_words(text: str) -> str:
    """Lines that forget all words that a text defines."""
    names = dict.fromkeys(DEFINED.findall(text))
    return "\n".join(_BACK if name == "pow" else f"#undef {name}" for name in names)


# The only word that has another meaning before (see hls/dialect/opencl_lanes.h).
_BACK = '#ifdef FT_POW_BY_LANE\n#pragma pop_macro("pow")\n#endif'


def _helpers(keys: Sequence[KernelKey]) -> list[str]:
    skipped = (*OF_THE_FILE, *UNUSED)
    settings = source.settings(keys[0].compute, keys[0].lanes, True, "slab")
    lines = [line for line in settings if line.split()[1] not in skipped]
    dropped = [bits for key in keys for bits in source.dropped_bits(key)][:1]
    lines += [f"#define FT_DROPPED_BITS {bits}" for bits in dropped]
    wanted = {name: None for key in keys for name in source.helper_files(key)}
    order = ("math.h", "complex.h", "locate.h", *source.HELPERS.values())
    return lines + [source.kernel_file(n) for n in order if n == "math.h" or n in wanted]


def namespace(name: str, keys: Sequence[KernelKey]) -> list[str]:
    """HLS C++: the beginning of a space's namespace, with the helpers that its keys call."""
    skipped = ("FT_LANES", "FT_N", "FT_GRID_STRIDE", "FT_MAX_DIMS")
    settings = source.settings(keys[0].compute, 1, True, "slab")
    lines = [f"// What is computed in {keys[0].compute.name}."]
    lines += [line for line in settings if line.split()[1] not in skipped]
    dropped = [bits for key in keys for bits in source.dropped_bits(key)]
    if dropped:
        lines.append(f"#define FT_DROPPED_BITS {max(dropped)}")
    wanted = {name: None for key in keys for name in source.helper_files(key)}
    order = ("complex.h", *OF_ALL_TYPES, *source.HELPERS.values())
    files = ["vitis/compute.h", "math.h", *(n for n in order if n in wanted)]
    return [*lines, f"namespace {name} {{", *(f'#include "ftensor/{n}"' for n in files)]


END_OF_SPACE = '#include "ftensor/vitis/end_compute.h"'


def namespaces(keys: Sequence[KernelKey], function: Callable[[int, KernelKey], str]) -> Iterable[str]:
    """HLS C++: as `sections`, each space in its namespace, with the helpers in their place."""
    for of, places in by_space(keys).items():
        texts = [function(place, keys[place]) for place in places]
        yield "\n".join([*namespace(f"compute_{of}", [keys[k] for k in places]), *texts, "}", END_OF_SPACE])


def is_double(compute: dtype) -> bool:
    """Whether what is computed in such a dtype is computed in doubles."""
    return ctype.scalar(compute) == "double"
