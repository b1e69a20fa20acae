"""Handwritten digits classified by their nearest neighbour, on ftensor's device.

    python examples/digits.py [--out DIR] [--once]

scikit-learn bundles 1797 digits of 8 x 8 pixels with their labels. Each of the last 797 gets the
label of the closest of the first 1000. Distances are computed in two ways: from the definition by
broadcasting, and by a matrix product. Pixels are integers from 0 to 16, so every sum is exact in
float32: both ways, NumPy and every device give equal distances.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from sklearn.datasets import load_digits
from timing import compare

import ftensor as ft

KNOWN = 1000
CHUNK = 200  # digits at a time: the differences to all known ones take CHUNK * KNOWN * 64 numbers


# Both functions only use methods that tensors and NumPy arrays share, so that one text is compared.
def by_broadcasting(a: Any, b: Any) -> Any:
    """Returns the squared distances between the rows of `a` (n, k) and of `b` (m, k): (n, m)."""
    difference = a[:, None, :] - b[None, :, :]
    return (difference * difference).sum(2)


def by_matmul(a: Any, b: Any) -> Any:
    """Returns the same by |a - b|^2 = |a|^2 - 2 a.b + |b|^2."""
    return (a * a).sum(1)[:, None] - 2 * (a @ b.T) + (b * b).sum(1)


Distances = Callable[[Any, Any], Any]


def nearest(distances: Distances, tests: Any, known: Any) -> list[Any]:
    """Returns for each row of `tests` the index of the closest row of `known`, a chunk at a time."""
    rows = range(0, len(tests), CHUNK)
    return [distances(tests[i : i + CHUNK], known).argmin(1) for i in rows]


def name_on_device(distances: Distances, tests: np.ndarray, known: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Returns the labels found on ftensor's device, from NumPy arrays to a NumPy array."""
    indices = nearest(distances, ft.tensor(tests), ft.tensor(known))
    return ft.tensor(names)[ft.cat(indices)].numpy()


def name_by_numpy(distances: Distances, tests: np.ndarray, known: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Returns the same by NumPy alone."""
    return names[np.concatenate(nearest(distances, tests, known))]


def picture(digits: np.ndarray, predicted: np.ndarray, truth: np.ndarray, device: str) -> Image.Image:
    """Returns a grid of digits with the labels found. Wrong ones come first, in red with the true
    label.

    `digits` is (n, 64). Right ones follow until eight rows are full.
    """
    columns, cell, scale, top = 20, 48, 4, 62
    order = np.argsort(predicted == truth, kind="stable")[: columns * 8]
    height = top + -(-len(order) // columns) * (cell + 14)
    image = Image.new("RGB", (columns * cell, height), "white")
    draw = ImageDraw.Draw(image)
    wrong = int((predicted != truth).sum())
    draw.text((8, 6), f"Handwritten digits, named by ftensor on {device}", fill="black")
    draw.rectangle((8, 25, 20, 37), outline="red", width=3)
    text = f"wrong, all {wrong} of {len(truth)}: the name found, and what the digit is"
    draw.text((28, 25), text, fill="red")
    draw.rectangle((8, 44, 20, 56), outline="seagreen")
    text = f"right, {len(order) - wrong} shown of {len(truth) - wrong}: the name found"
    draw.text((28, 44), text, fill="seagreen")
    for place, index in enumerate(order):
        x, y = place % columns * cell, top + place // columns * (cell + 14)
        ink = (255 - digits[index].reshape(8, 8) * (255 / 16)).astype(np.uint8)
        size = (8 * scale, 8 * scale)
        image.paste(Image.fromarray(ink).resize(size, Image.Resampling.NEAREST), (x + 8, y + 8))
        right = predicted[index] == truth[index]
        colour = "seagreen" if right else "red"
        draw.rectangle((x + 5, y + 5, x + 42, y + 42), outline=colour, width=1 if right else 3)
        text = f"{predicted[index]}" if right else f"{predicted[index]}, is {truth[index]}"
        draw.text((x + cell // 2, y + cell + 3), text, fill=colour, anchor="mm")
    return image


def main() -> None:
    """Classifies the digits in both ways, checks the labels, and reports."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the results")
    parser.add_argument("--once", action="store_true", help="measure no times")
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)

    data = load_digits()
    pixels, names = data.data.astype(np.float32), data.target
    known, tests, truth = pixels[:KNOWN], pixels[KNOWN:], names[KNOWN:]
    print(f"digits: {len(tests)} to name, {KNOWN} known, 8 x 8 pixels")
    device = ft.fpga.get_device_name()
    print(f"ftensor's device: {device} (kernels are made when first needed, and kept)")

    chunk, others = ft.tensor(tests[:CHUNK]), ft.tensor(known)
    if not ft.equal(by_broadcasting(chunk, others), by_matmul(chunk, others)):
        raise SystemExit("broadcasting and matmul give different distances")

    predicted = names[:0]
    for distances in (by_broadcasting, by_matmul):
        arguments = (distances, tests, known, names[:KNOWN])
        predicted = name_on_device(*arguments)
        if not np.array_equal(predicted, name_by_numpy(*arguments)):
            raise SystemExit(f"{distances.__name__} on the device differs from NumPy's")
        title = distances.__name__.replace("by_", "")
        print(f"by {title}: ftensor and NumPy give all {len(predicted)} digits the same names")
        if not options.once:
            work = (partial(name_on_device, *arguments), partial(name_by_numpy, *arguments))
            print(compare(title, *work))

    right = (ft.tensor(predicted) == ft.tensor(truth)).sum().item()
    print(f"accuracy: {right / len(truth):.3f}, as {right} of ftensor's {len(truth)} names are true")
    np.save(out / "names.npy", predicted)
    path = out / "digits.png"
    picture(tests, predicted, truth, device).save(path)
    print(f"picture: {path}")


if __name__ == "__main__":
    main()
