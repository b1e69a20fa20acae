"""A tensor's display in notebooks: its properties, and a picture of its values."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest

import ftensor as ft
from ftensor import _printing

Image = pytest.importorskip("PIL.Image")


def facts(x: ft.Tensor) -> dict[str, str]:
    return dict(re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", x._repr_html_()))


def pixels(x: ft.Tensor) -> np.ndarray:
    match = re.search(r'base64,([\w+/=]+)"', x._repr_html_())
    assert match
    with Image.open(io.BytesIO(base64.b64decode(match[1]))) as image:
        return np.asarray(image.convert("RGB"))


def curve(x: ft.Tensor) -> tuple[str, list[float]]:
    """Returns (moves and lines, heights on the screen) of a vector's picture."""
    match = re.search(r'<path d="(.*?)"', x._repr_html_())
    assert match
    points = re.findall(r"([ML])[\d.]+ ([\d.]+)", match[1])
    return "".join(word for word, _ in points), [float(y) for _, y in points]


def test_notebook_shows_shape_dtype_and_device() -> None:
    x = ft.zeros(3, 4, dtype=ft.bfloat16)
    assert facts(x) == {"shape": "(3, 4)", "dtype": "ftensor.bfloat16", "device": str(x.device), "memory": "24 B"}
    assert facts(ft.zeros(200, 3))["picture"] == "every 4 x 1 elements"
    assert facts(ft.zeros(200, dtype=ft.complex64))["picture"] == "magnitudes"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2", "int64", "uint16"])
def test_matrix_is_drawn_as_an_image(dtype: str) -> None:
    """The largest value is yellow and the smallest dark, each at its position, also for views."""
    x = ft.tensor([[0, 1, 2], [4, 8, 3]], dtype=ft.float32).to(getattr(ft, dtype)).t()
    seen = pixels(x)
    assert seen.shape == (3, 2, 3)
    assert tuple(seen[1, 1]) == tuple(_printing._ANCHORS[-1])
    assert tuple(seen[0, 0]) == tuple(_printing._ANCHORS[0])
    assert "from 0 to 8" in x._repr_html_()


def test_nonfinite_values_are_red_and_not_part_of_the_scale() -> None:
    x = ft.tensor([[0.0, float("nan")], [float("inf"), 2.0]])
    seen = pixels(x)
    assert [tuple(seen[k]) for k in ((0, 1), (1, 0))] == [_printing._NOT_FINITE] * 2
    assert "from 0 to 2" in x._repr_html_()
    assert "from 0 to 0" in ft.full((2,), float("nan"))._repr_html_()


def test_vector_is_a_curve_with_gaps() -> None:
    words, heights = curve(ft.tensor([1.0, 3.0, float("nan"), 2.0, 1.0]))
    assert words == "MLML"
    assert heights[0] == heights[3] > heights[2] > heights[1]  # larger values are higher
    words, _ = curve(ft.tensor([3 + 4j, 5j, 1]))
    assert words == "MLL"


def test_large_tensor_is_subsampled() -> None:
    x = ft.arange(1_000_001)
    words, heights = curve(x)
    assert len(words) <= _printing.POINTS and heights == sorted(heights, reverse=True)
    assert pixels(x[:1_000_000].reshape(1000, 1000)).shape == (63, 63, 3)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (2, 2, 2)])
def test_other_tensors_show_their_text(shape: tuple[int, ...]) -> None:
    x = ft.zeros(shape)
    assert f"<pre>{x!r}</pre>" in x._repr_html_()
