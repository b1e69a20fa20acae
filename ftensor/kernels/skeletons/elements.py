"""Elements of skeletons without lanes: C type, and the macros of hls/element.h."""

from __future__ import annotations

from ...dtypes import dtype
from .. import source


def element_type(dtype: dtype) -> str:
    """Returns the C type of an element in memory."""
    return source.MEMORY[dtype.name]


def element_defines(dtype: dtype) -> dict[str, object]:
    """Returns the macros that hls/element.h needs."""
    return {
        "FT_E": element_type(dtype),
        "FT_E_HALF": int(dtype.name == "float16"),
        "FT_E_BFLOAT16": int(dtype.name == "bfloat16"),
    }


def element_helpers(dtype: dtype, more: list[str]) -> list[str]:
    """Returns the files of hls/ for elements of a dtype, with `more` before element.h."""
    return ["math.h", *(["complex.h"] if dtype.is_complex else []), *more, "element.h"]
