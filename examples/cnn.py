"""Handwritten digits classified by a small convolutional network, on ftensor's device.

    python examples/cnn.py [--epochs N]

torch trains the network on the first 1000 of scikit-learn's 1797 digits (8 x 8 pixels) in a few
seconds. ftensor takes the weights and runs it on the other 797: convolutions, pooling, a linear
layer and softmax, forward only. Both libraries' probabilities are compared.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits

import ftensor as ft

KNOWN = 1000


def network(f: Any, x: Any, p: dict[str, Any]) -> Any:
    """Returns probabilities (n, 10) of digits (n, 1, 8, 8); `f` is one library's `nn.functional`."""
    x = f.relu(f.conv2d(x, p["first"], p["first_bias"], padding="same"))
    x = f.max_pool2d(x, 2)
    x = f.relu(f.conv2d(x, p["second"], p["second_bias"], padding=1))
    x = f.adaptive_avg_pool2d(x, 2)
    return f.softmax(f.linear(x.flatten(1), p["last"], p["last_bias"]), -1)


def trained(images: torch.Tensor, names: torch.Tensor, epochs: int) -> dict[str, torch.Tensor]:
    """Returns the network's weights after `epochs` rounds over the images, from a fixed seed."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the batches are small
    shapes = {"first": (16, 1, 3, 3), "second": (32, 16, 3, 3), "last": (10, 128)}
    weights = {}
    for name, shape in shapes.items():
        weights[name] = torch.randn(shape) / torch.tensor(shape[1:]).prod().sqrt()
        weights[f"{name}_bias"] = torch.zeros(shape[0])
    for w in weights.values():
        w.requires_grad_()
    optimizer = torch.optim.Adam(weights.values(), lr=0.01)
    for _ in range(epochs):
        for some in torch.randperm(len(images)).split(100):
            optimizer.zero_grad()
            output = network(torch.nn.functional, images[some], weights)
            torch.nn.functional.nll_loss(output.clamp_min(1e-9).log(), names[some]).backward()
            optimizer.step()
    return {name: w.detach() for name, w in weights.items()}


def main() -> None:
    """Trains, runs on both libraries, and prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=15, help="rounds of training (15)")
    epochs = parser.parse_args().epochs
    digits = load_digits()
    images = torch.from_numpy((digits.images / 16).astype(np.float32)).unsqueeze(1)
    names = torch.from_numpy(digits.target)
    weights = trained(images[:KNOWN], names[:KNOWN], epochs)
    on_device = {name: ft.from_torch(w) for name, w in weights.items()}

    mine = network(ft.nn.functional, ft.from_torch(images[KNOWN:].contiguous()), on_device).numpy()
    theirs = network(torch.nn.functional, images[KNOWN:], weights).numpy()
    right = (mine.argmax(1) == digits.target[KNOWN:]).mean()
    print(f"ftensor's device: {ft.fpga.get_device_name()}")
    print(f"accuracy on {len(mine)} digits: {right:.3f}")
    print(f"largest difference to torch's probabilities: {abs(mine - theirs).max():.1e}")


if __name__ == "__main__":
    main()
