"""What skeletons without lanes say of an element: its C type and hls/element.h's settings."""

from __future__ import annotations

from ...dtypes import dtype
from .. import source


def element_type(of: dtype) -> str:
    """The C type of an element in memory."""
    return source.MEMORY[of.name]


def element_defines(of: dtype) -> dict[str, object]:
    """What hls/element.h asks for."""
    return {
        "FT_E": element_type(of),
        "FT_E_HALF": int(of.name == "float16"),
        "FT_E_BFLOAT16": int(of.name == "bfloat16"),
    }


def element_helpers(of: dtype, more: list[str]) -> list[str]:
    """The files of hls/ behind it, `more` among them."""
    return ["math.h", *(["complex.h"] if of.is_complex else []), *more, "element.h"]
