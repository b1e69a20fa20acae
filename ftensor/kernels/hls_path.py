"""Where the kernel sources lie: inside the package when installed, beside it in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def hls_root() -> Path:
    """The folder that holds `dialect/`, `skeleton/` and `math.h`.

    A wheel carries it as `ftensor/hls`. A checkout, also when installed as editable, has it at the
    top level. The installed place is looked at first: in site-packages a neighbour named `hls`
    would belong to someone else.
    """
    package = Path(__file__).resolve().parent.parent
    places = (package / "hls", package.parent / "hls")
    for place in places:
        if (place / "dialect").is_dir():
            return place
    raise AssertionError(
        f"ftensor's kernel sources are in neither {places[0]} nor {places[1]}: "
        "this installation is incomplete, install ftensor again"
    )
