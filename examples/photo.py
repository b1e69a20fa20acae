"""A photograph's edges and tones, by pointwise operations and reductions on ftensor's device.

    python examples/photo.py [--out DIR] [--image china.jpg|flower.jpg]

Edges are Sobel's: two 3 x 3 derivatives from shifted slices, combined by hypot. The tone mapping is
Reinhard's global operator ("Photographic Tone Reproduction for Digital Images", 2002, formulas 1, 2
and 4): brightness relative to the logarithmic mean, compressed so that shadows open up and
highlights stay.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from sklearn.datasets import load_sample_image
from timing import compare

import ftensor as ft

KEY = 0.36  # the brightness to which the logarithmic mean is mapped
SMALLEST = 1e-4  # keeps the logarithm finite for black pixels
WEIGHTS = (0.2126, 0.7152, 0.0722)  # weights of red, green and blue in brightness (ITU-R BT.709)

EDGES = "white where brightness changes most, black where it does not"
TONES = "shadows open up, highlights stay"


# Below, `xp` is ftensor or numpy. Both have the same functions under the same names, so one text is
# compared.
def to_linear(xp: Any, values: Any) -> Any:
    """Converts sRGB values in 0..1 to linear light (IEC 61966-2-1)."""
    return xp.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def from_linear(xp: Any, light: Any) -> Any:
    """Inverts `to_linear`."""
    return xp.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def brightness(light: Any) -> Any:
    """Returns the luminance (h, w) of a picture in linear light (h, w, 3)."""
    red, green, blue = WEIGHTS
    return red * light[:, :, 0] + green * light[:, :, 1] + blue * light[:, :, 2]


def edges(xp: Any, grey: Any) -> Any:
    """Returns the strength of the edges in (h, w), scaled to 0..1: (h - 2, w - 2)."""
    above, below = grey[:-2], grey[2:]
    across = grey[:, 2:] - grey[:, :-2]
    down = below - above
    gx = across[:-2] + 2 * across[1:-1] + across[2:]
    gy = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    strength = xp.hypot(gx, gy)
    return strength / strength.max()


def tone_map(xp: Any, light: Any) -> Any:
    """Returns linear light (h, w, 3) compressed to 0..1."""
    seen = brightness(light)
    typical = xp.exp(xp.log(seen + SMALLEST).mean())
    scaled = seen * (KEY / typical)
    white = scaled.max()
    mapped = scaled * (1 + scaled / (white * white)) / (1 + scaled)
    return (light * (mapped / (seen + SMALLEST))[:, :, None]).clip(0, 1)


def develop(xp: Any, values: Any) -> tuple[Any, Any]:
    """Returns the edges and the tone-mapped picture, both 0..255, of sRGB values 0..255 (h, w, 3)."""
    values = values / 255
    grey = values.mean(2)
    light = to_linear(xp, values)
    mapped = from_linear(xp, tone_map(xp, light))
    return edges(xp, grey) * 255, mapped * 255


def on_device(photo: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Runs `develop` on ftensor's device: bytes in, bytes out. Intermediate values stay there."""
    results = develop(ft, ft.tensor(photo).to(ft.float32))
    first, second = (result.round().to(ft.uint8).numpy() for result in results)
    return first, second


def by_numpy(photo: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the same by NumPy alone."""
    first, second = (r.round().astype(np.uint8) for r in develop(np, photo.astype(np.float32)))
    return first, second


def before_and_after(before: np.ndarray, after: np.ndarray, titles: tuple[str, str]) -> Image.Image:
    """Returns two pictures side by side, each with its title."""
    height, width = before.shape[:2]
    image = Image.new("RGB", (2 * width + 12, height + 24), "white")
    for place, (pixels, title) in enumerate(zip((before, after), titles)):
        x = place * (width + 12)
        image.paste(Image.fromarray(pixels), (x, 24))
        ImageDraw.Draw(image).text((x + 4, 6), title, fill="black")
    return image


def main() -> None:
    """Develops the photograph, compares with NumPy, and writes before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the pictures")
    parser.add_argument("--image", choices=("china.jpg", "flower.jpg"), default="china.jpg")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    photo = np.array(load_sample_image(options.image))
    height, width = photo.shape[:2]
    print(f"photograph: {options.image}, {width} x {height} pixels")
    device = ft.fpga.get_device_name()
    print(f"ftensor's device: {device} (kernels are made when first needed, and kept)")
    edges, mapped = on_device(photo)
    # Devices round logarithms and powers differently in the last bit: at most one level of 255.
    references = by_numpy(photo)
    for mine, theirs in zip((edges, mapped), references):
        apart = np.abs(mine.astype(np.int16) - theirs.astype(np.int16)).max()
        if apart > 1:
            raise SystemExit(f"the device's picture is {apart} of 255 levels away from NumPy's")
    print("edges and tones: ftensor's are within one of 255 levels of NumPy's")
    print(compare("edges and tones", lambda: on_device(photo), lambda: by_numpy(photo)))
    outside = np.pad(edges, 1)  # back to the photograph's size, since the border has no neighbours
    for name, after, titles in (
        ("edges", outside, (options.image, f"edges by ftensor on {device}: {EDGES}")),
        ("tones", mapped, (options.image, f"tones by ftensor on {device}: {TONES}")),
    ):
        path = options.out / f"{name}.png"
        before_and_after(photo, after, titles).save(path)
        print(f"picture: {path}")


if __name__ == "__main__":
    main()
