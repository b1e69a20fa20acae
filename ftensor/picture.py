"""Figures by matplotlib without a window, with colours for colour-blind readers."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import commands as errors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour of each bound of a launch (`estimate.model.BOUNDS`), from Okabe and Ito's palette.
COLOURS = {
    "port": "#0072B2",
    "bank": "#56B4E9",
    "loop": "#E69F00",
    "fill": "#F0E442",
    "launch": "#999999",
    "link": "#CC79A7",
}
PLAIN, FULL = "#0072B2", "#D55E00"
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "ftensor",
}


def figure(width: float, height: float) -> Figure:
    """Returns an empty figure, sizes in inches; raises PictureError without matplotlib."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise errors.no_matplotlib(error) from None
    with matplotlib.rc_context(_STYLE):
        return Figure((width, height), layout="constrained")


def styled() -> Any:
    """Returns a context manager that styles axes, for the code that creates them."""
    import matplotlib

    return matplotlib.rc_context(_STYLE)


def check(path: str | Path) -> None:
    """Raises PictureError if the path's suffix is unsupported or its folder does not exist."""
    suffix, known = Path(path).suffix[1:], sorted(figure(1, 1).canvas.get_supported_filetypes())
    if suffix not in known:
        raise errors.no_format(path, ", ".join(known))
    if not Path(path).absolute().parent.is_dir():
        raise errors.not_written(path, "there is no such folder")


def save(figure: Figure, path: str | Path) -> None:
    """Writes a figure as SVG, PNG or PDF, by the path's suffix; raises PictureError on failure."""
    check(path)
    path = Path(path)
    dated: Mapping[str, Any] = {"Date": None} if path.suffix == ".svg" else {}
    try:
        with styled():
            figure.savefig(path, dpi=120, metadata=dict(dated))
    except OSError as error:
        raise errors.not_written(path, error.strerror or error) from error


def as_svg(figure: Figure) -> str:
    """Returns a figure as SVG text."""
    text = StringIO()
    with styled():
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def shares(axes: Axes, values: Mapping[str, float], title: str) -> None:
    """Draws shares (1.0 is 100 %) as labelled horizontal bars; over 100 % in another colour."""
    names = list(values)
    colours = [FULL if part > 1 else PLAIN for part in values.values()]
    axes.barh(names, [100 * part for part in values.values()], color=colours)
    for k, part in enumerate(values.values()):
        axes.annotate(f"{part:.1%}", (100 * part, k), (3, 0), textcoords="offset points", va="center")
    axes.set(title=title, xlabel="% of what the platform leaves to kernels")
    axes.set_xlim(0, 1.25 * max(100, *(100 * part for part in values.values())))
    axes.invert_yaxis()
