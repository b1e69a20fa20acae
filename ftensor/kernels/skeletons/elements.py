"""Elements of skeletons without lanes: C type, and the macros of hls/element.h."""

from __future__ import annotations

from ...dtypes import dtype
from .. import source


def element_type(of: dtype) -> str:
    """Returns the C type of an element in memory."""
    return source.MEMORY[of.name]


def element_defines(of: dtype) -> dict[str, object]:
    """Returns the macros that hls/element.h needs."""
    return {
        "FT_E": element_type(of),
        "FT_E_HALF": int(of.name == "float16"),
        "FT_E_BFLOAT16": int(of.name == "bfloat16"),
    }


def element_helpers(of: dtype, more: list[str]) -> list[str]:
    """Returns the files of hls/ for elements of a dtype, with `more` before element.h."""
    return ["math.h", *(["complex.h"] if of.is_complex else []), *more, "element.h"]
