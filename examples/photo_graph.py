"""A photograph developed row by row: eager, as a graph, by NumPy and by torch.

    python examples/photo_graph.py [--out DIR] [--image NAME] [--export DIR] [--once]

Rows of bytes come in and go out, as from a camera that scans line by line: gamma, white balance, a
colour matrix, the exposure of each row by its own mean, a tone curve, edges between neighbouring
rows. With ft.jit this is few kernels on this machine, and one of stages on a board, where only
bytes go through memory. `--export` writes that kernel's graph file, inventory and source.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image
from timing import medians

import ftensor as ft

GAMMA = 2.2
BALANCE = (1.06, 1.0, 1.12)  # gains of red, green and blue
# From the sensor's colours to the screen's. Each row sums to 1, so that grey stays grey.
MATRIX = ((1.24, -0.16, -0.08), (-0.12, 1.22, -0.10), (-0.04, -0.22, 1.26))
WEIGHTS = (0.2126, 0.7152, 0.0722)  # weights of red, green and blue in brightness (ITU-R BT.709)
KEY = 0.22  # the target brightness of a row's mean
FLOOR = 0.05  # keeps nearly black rows from being raised to grey


def develop(xp: Any, planes: Sequence[Any], above: Any, below: Any) -> tuple[Any, ...]:
    """Returns a developed picture from its planes red, green and blue (h, w), as bytes.

    `xp` is ftensor, torch or numpy. `above` and `below` are the neighbouring green rows of each
    row. The results are the three planes and the edges (h, w), as bytes, and each row's mean
    brightness (h,).
    """
    light = [gain * (cast(xp, plane, "float32") / 255) ** GAMMA for plane, gain in zip(planes, BALANCE)]
    red, green, blue = light
    seen = WEIGHTS[0] * red + WEIGHTS[1] * green + WEIGHTS[2] * blue
    mean = seen.mean(-1)
    exposure = ((KEY + FLOOR) / (mean + FLOOR)) ** 0.5
    curve = exposure[:, None] * (1 + seen) / (1 + exposure[:, None] * seen)
    screen = [as_bytes(xp, curve * (row[0] * red + row[1] * green + row[2] * blue)) for row in MATRIX]
    edge = abs(cast(xp, below, "float32") - cast(xp, above, "float32"))
    return (*screen, cast(xp, edge, "uint8"), mean)


def as_bytes(xp: Any, light: Any) -> Any:
    """Returns light, clamped to 0..1, as bytes for a screen."""
    return cast(xp, (255 * light.clip(0, 1) ** (1 / GAMMA)).round(), "uint8")


def cast(xp: Any, values: Any, name: str) -> Any:
    """Returns values in another dtype."""
    dtype = getattr(xp, name)
    return values.astype(dtype) if xp is np else values.to(dtype)


@ft.jit
def developed(planes: Sequence[ft.Tensor], above: ft.Tensor, below: ft.Tensor) -> tuple[Any, ...]:
    """Runs `develop` as a graph."""
    return develop(ft, planes, above, below)


def rows_of(photo: np.ndarray) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Returns the arguments of `develop` for a photograph (h, w, 3): h - 2 rows, and the
    neighbouring green rows."""
    planes = [np.ascontiguousarray(photo[..., k]) for k in range(3)]
    green = planes[1]
    return [plane[1:-1] for plane in planes], green[:-2], green[2:]


def by_ftensor(function: Any, photo: np.ndarray) -> list[np.ndarray]:
    """Runs a function of ftensor's tensors, from arrays to arrays."""
    planes, above, below = rows_of(photo)
    pictures = function([ft.from_numpy(p) for p in planes], ft.from_numpy(above), ft.from_numpy(below))
    return [one.numpy() for one in pictures]


def by_numpy(photo: np.ndarray) -> list[np.ndarray]:
    """Runs `develop` by NumPy."""
    return list(develop(np, *rows_of(photo)))


def by_torch(photo: np.ndarray) -> list[np.ndarray]:
    """Runs `develop` by torch on the CPU."""
    import torch

    planes, above, below = rows_of(photo)
    to = torch.from_numpy
    return [one.numpy() for one in develop(torch, [to(p) for p in planes], to(above), to(below))]


def has_torch() -> bool:
    """True if torch is installed."""
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def compared(ways: dict[str, list[np.ndarray]]) -> None:
    """Prints the differences of all pictures from the graph's; ends the program if one differs."""
    graph = ways.pop("graph")
    for name, pictures in ways.items():
        apart = [np.abs(a.astype(np.float64) - b).max() for a, b in zip(pictures, graph)]
        # Libraries round powers and sums differently in the last bit: at most one level of 255.
        if max(apart[:3]) > 1 or apart[3] > 0 or apart[4] > 1e-5:
            raise SystemExit(f"the graph's picture is {max(apart)} away from that of {name}")
        same = "the same bytes" if max(apart[:4]) == 0 else "within one of 255 levels"
        print(f"graph and {name}: {same}")


def main() -> None:
    """Develops the photograph in each way, compares pictures and times, writes the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the pictures")
    parser.add_argument("--image", choices=("china.jpg", "flower.jpg"), default="china.jpg")
    parser.add_argument("--export", type=Path, help="folder for the files of the graph")
    parser.add_argument("--once", action="store_true", help="the graph alone, and no times")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    photo = np.array(load_sample_image(options.image))
    print(f"photograph: {options.image}, {photo.shape[1]} x {photo.shape[0]} pixels")
    device = ft.fpga.get_device_name()
    print(f"ftensor's device: {device} (kernels are made when first needed, and kept)")
    if options.export is not None:
        options.export.mkdir(parents=True, exist_ok=True)
        planes, above, below = rows_of(photo)
        arguments = [ft.from_numpy(p) for p in planes], ft.from_numpy(above), ft.from_numpy(below)
        files = developed.export(str(options.export / "developed"), *arguments)
        print(f"graph: {files.graph}, entry {files.entry}")
    ways = {"graph": lambda: by_ftensor(developed, photo), "NumPy": lambda: by_numpy(photo)}
    if not options.once:
        ways["eager"] = lambda: by_ftensor(lambda *arguments: develop(ft, *arguments), photo)
        if has_torch():
            ways["torch"] = lambda: by_torch(photo)
    pictures = {name: way() for name, way in ways.items()}
    screen = np.stack(pictures["graph"][:3], -1)
    edges = np.repeat(pictures["graph"][3][..., None], 3, -1)
    compared(pictures)
    if not options.once:
        print(medians(ways))
    path = options.out / "developed.png"
    Image.fromarray(np.hstack([photo[1:-1], screen, edges])).save(path)
    print(f"picture: {path}")


if __name__ == "__main__":
    main()
