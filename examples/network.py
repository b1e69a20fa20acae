"""A small network learns handwritten digits, becomes int8, and runs as one kernel of an FPGA image.

    python examples/network.py [--board NAME] [--device fpga|cpu] [--epochs N] [--out DIR] [--no-build]

torch trains a CNN on scikit-learn's digits, on ftensor's device of torch or on the CPU. Weights and
activations become 8-bit integers, and `ft.quantized` computes the same network. `export` makes it
one dataflow kernel for a board, with a folding for each layer. `ftensor build` compiles the kernel
with g++, and `ftensor emulate` runs it on Xilinx's runtime with a software device (without that,
the C simulation does). The program prints the accuracy of each form, which is the same for eager
ops and for the kernel, and the images per second of this CPU and of the model of the board. It
needs torch and scikit-learn, and about half a minute. The picture of the layers needs matplotlib.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ftensor as ft
from ftensor.boards import find

TRAINED = 1297  # of 1797 digits; the others are for the test
SMALL = {"first": (8, 1, 3, 3), "second": (16, 8, 3, 3), "last": (10, 64)}
Data = dict[str, np.ndarray]


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Returns pictures (1797, 1, 8, 8) of uint8, and their labels."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return (found.images[:, None] * 15).astype(np.uint8), found.target


def trained(pictures: np.ndarray, labels: np.ndarray, device: str, epochs: int) -> Data:
    """Returns the weights and biases that torch learns, and the largest results of the layers."""
    import torch
    from torch import nn

    if device == "fpga":
        import ftensor.torch  # noqa: F401 - adds the device
    torch.manual_seed(0)
    (c1, _, _, _), (c2, _, _, _), (o, k) = SMALL.values()
    layers = [
        nn.Sequential(nn.Conv2d(1, c1, 3, padding=1), nn.ReLU()),
        nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(c1, c2, 3, padding=1), nn.ReLU()),
        nn.Sequential(nn.MaxPool2d(2), nn.Flatten(), nn.Linear(k, o)),
    ]
    model = nn.Sequential(*layers).to(device)
    x = torch.from_numpy(pictures[:TRAINED] / np.float32(255)).to(device)
    y = torch.from_numpy(labels[:TRAINED]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(epochs):
        for part in torch.randperm(TRAINED).split(64):
            at = part.to(device)
            loss = nn.functional.cross_entropy(model(x[at]), y[at])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    data: Data = {}
    with torch.no_grad():
        at = x
        for name, layer in zip(SMALL, layers, strict=True):
            weighted = next(m for m in layer if hasattr(m, "weight"))
            at = layer(at)
            data |= {f"{name} weight": weighted.weight.cpu().numpy(), f"{name} bias": weighted.bias.cpu().numpy()}
            data[f"{name} range"] = np.array([at.min().item(), at.max().item()], np.float32)
    return data


def quantized(data: Data) -> Data:
    """Returns int8 weights with a scale for each filter, and the scales of the results."""
    found: Data = {}
    for name in SMALL:
        weight = data[f"{name} weight"]
        scales = np.abs(weight.reshape(len(weight), -1)).max(1) / 127
        each = scales.reshape(-1, *[1] * (weight.ndim - 1))
        found[f"{name} weight"] = np.rint(weight / each).astype(np.int8)
        found[f"{name} scales"], found[f"{name} bias"] = scales.astype(np.float32), data[f"{name} bias"]
        low, high = (float(end) for end in data[f"{name} range"])
        found[f"{name} scale"] = np.float32((high - min(low, 0)) / 255)
        found[f"{name} zero"] = np.int64(np.rint(-min(low, 0) / float(found[f"{name} scale"])))
    return found


def network(data: Data) -> Callable[[ft.Tensor], ft.Tensor]:
    """Returns the network of int8 weights, from uint8 pictures to uint8 scores."""
    q, pool = ft.quantized, ft.nn.functional.max_pool2d

    def settings(name: str, scale: float) -> dict[str, Any]:
        tensors = {"weight": "weight", "bias": "bias", "weight_scale": "scales"}
        given: dict[str, Any] = {word: ft.from_numpy(data[f"{name} {of}"]) for word, of in tensors.items()}
        return given | {"scale": float(data[f"{name} scale"]), "input_scale": scale}

    first = settings("first", 1 / 255)
    second = settings("second", float(data["first scale"]))
    last = settings("last", float(data["second scale"])) | {"zero_point": int(data["last zero"])}

    def net(pictures: ft.Tensor) -> ft.Tensor:
        x = pool(q.conv2d_relu(pictures, padding=1, **first), 2)
        x = pool(q.conv2d_relu(x, padding=1, **second), 2)
        return q.linear(x.flatten(1), **last)

    return net


def rate(call: Callable[[], object], count: int, seconds: float = 0.5) -> float:
    """Returns images per second of the fastest call within `seconds`."""
    call()
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        ft.fpga.synchronize()
        best = min(best, time.perf_counter() - begin)
    return count / best


def torch_rate(data: Data, pictures: np.ndarray) -> float:
    """Returns images per second of the float32 network in torch on this CPU."""
    import torch
    from torch.nn import functional

    of = {name: torch.from_numpy(value) for name, value in data.items()}
    x = torch.from_numpy(pictures / np.float32(255))

    def call() -> object:
        with torch.inference_mode():
            y = x
            for name in ("first", "second"):
                y = functional.conv2d(y, of[f"{name} weight"], of[f"{name} bias"], padding=1)
                y = functional.max_pool2d(functional.relu(y), 2)
            return functional.linear(y.flatten(1), of["last weight"], of["last bias"])

    return rate(call, len(pictures))


def run_on_image(folder: Path, inventory: Path) -> tuple[str, np.ndarray]:
    """Builds the image, runs this program's network in it, and returns the device and the scores."""
    from ftensor.emulation.environment import available

    made, me = folder / "image", [sys.executable, __file__, "--scores", str(folder)]
    ftensor = [sys.executable, "-m", "ftensor"]
    env = {**os.environ, "FTENSOR_FALLBACK": "error"}
    words = ["build", "--inventory", str(inventory), "--target", "csim", "--out", str(made)]
    subprocess.run([*ftensor, *words], check=True, env=env, stdout=subprocess.DEVNULL)
    image = made / "network.xclbin"
    if available():  # returns why XRT can't be emulated
        where = "the C simulation"
        subprocess.run(me, check=True, env={**env, "FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": str(image)})
    else:
        where = "XRT with the software device"
        env.pop("FTENSOR_DEVICE", None)
        subprocess.run([*ftensor, "emulate", "--image", str(image), "--", *me], check=True, env=env)
    return where, np.load(folder / "scores.npy")


def scores(folder: Path) -> None:
    """Writes the scores of the test pictures, computed by one launch of the image's kernel."""
    net, pictures = ft.jit(network(dict(np.load(folder / "network.npz")))), digits()[0][TRAINED:]
    x = ft.from_numpy(pictures)
    (kernel,) = net.graph(x).kernels
    assert kernel.startswith("network "), kernel
    np.save(folder / "scores.npy", np.array(net(x)))


def draw(report: str, path: Path) -> None:
    """Draws the cycles of each layer."""
    from matplotlib.figure import Figure

    lines = [re.split(r"\s{2,}", line.strip()) for line in report.splitlines()]
    layers = {line[0]: line for line in lines if re.fullmatch(r"\w+_\d+", line[0])}
    cycles = {name: next(int(n) for n in cycles_in(line)) for name, line in layers.items()}
    figure = Figure((7, 0.5 * len(cycles) + 1), layout="constrained")
    axes = figure.subplots()
    bars = axes.barh(list(cycles), list(cycles.values()))
    axes.bar_label(bars, [f"{n:,}" for n in cycles.values()], padding=3)
    axes.set(title=report.splitlines()[0], xlabel="cycles an image", xlim=(0, 1.2 * max(cycles.values())))
    axes.invert_yaxis()
    figure.savefig(path)
    print(f"picture: {path}")


def cycles_in(line: list[str]) -> list[str]:
    """Returns the numbers in a report's line after the layer's name, shape and folding."""
    found = [re.fullmatch(r"([\d,]+)(?: \*)?", word) for word in line[2:]]
    return [match[1].replace(",", "") for match in found if match]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--board", default="kv260", help="a board of `ftensor estimate` (default: %(default)s)")
    parser.add_argument(
        "--device", choices=("cpu", "fpga"), default="fpga", help="where torch trains (default: %(default)s)"
    )
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--out", type=Path, default=Path("out/network"))
    parser.add_argument("--no-build", action="store_true", help="builds no image and runs none")
    parser.add_argument("--scores", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.scores is not None:
        scores(given.scores)
        return
    given.out.mkdir(parents=True, exist_ok=True)
    pictures, labels = digits()
    learned = trained(pictures, labels, given.device, given.epochs)
    data = quantized(learned)
    np.savez(given.out / "network.npz", **data)  # type: ignore[arg-type]

    test, wanted = pictures[TRAINED:], labels[TRAINED:]
    x, eager = ft.from_numpy(test), network(data)
    net = ft.jit(eager)
    found = np.array(eager(x))
    print(f"accuracy of int8 on {len(test)} digits: eager {np.mean(found.argmax(1) == wanted):.1%}")
    files = net.export(str(given.out / "network"), x, target=given.board)
    print(f"\n{files.report}\n")
    if not given.no_build:
        where, on_image = run_on_image(given.out, files.inventory)
        same = "the same scores" if (on_image == found).all() else "OTHER SCORES"
        print(f"{where}: accuracy {np.mean(on_image.argmax(1) == wanted):.1%}, {same}")

    board = find(given.board)
    cycles = int(re.search(r"([\d,]+) cycles an image", files.report)[1].replace(",", ""))  # type: ignore[index]
    kernel = len(test) * cycles / (board.clock.value * 1e6)
    rates = {
        "torch, float32, this CPU": torch_rate(learned, test),
        "ftensor, int8, eager, this CPU": rate(lambda: eager(x), len(test)),
        "ftensor, int8, jit, this CPU": rate(lambda: net(x), len(test)),
        f"{board.title} by the model": len(test) / kernel,
        f"{board.title} by the model, with a launch for {len(test)} images": len(test)
        / (kernel + board.launch.value * 1e-6),
    }
    print("\nimages per second:")
    for name, value in rates.items():
        print(f"  {value:>12,.0f}  {name}")
    try:
        draw(files.report, given.out / "layers.svg")
    except ImportError:
        print("no picture of the layers: matplotlib is not installed")


if __name__ == "__main__":
    main()
