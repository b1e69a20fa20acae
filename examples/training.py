"""Helpers of both training examples: the digits, an epoch, and a comparison of two devices.

A network is trained from the same start, on the same batches, on the CPU and on the device "fpga".
Epochs alternate between the two, so that other load of the machine affects both.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw
from sklearn.datasets import load_digits

import ftensor as ft
import ftensor.torch

BATCH = 128
KNOWN = 1536  # training digits; the other 261 are classified at the end
DEVICES = ("cpu", "fpga")
COLOURS = {"cpu": "darkorange", "fpga": "navy"}


@dataclass
class Training:
    """A model on a device, with its training data and its history."""

    device: str
    model: torch.nn.Module
    images: torch.Tensor
    names: torch.Tensor
    optimizer: torch.optim.Optimizer
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def epoch(self, order: torch.Tensor, batches: int | None) -> None:
        """Trains on all digits in an order, one batch at a time. On the device, no op may fall back
        to the host."""
        before = ft.get_fallback()
        ft.set_fallback("error")
        start = time.perf_counter()
        losses = []
        for batch in order.to(self.device).split(BATCH)[:batches]:
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(self.images[batch]), self.names[batch])
            loss.backward()
            self.optimizer.step()
            losses.append(loss.detach())
        # The losses are read at the end, since reading one waits for the device.
        self.losses += torch.stack(losses).tolist()
        self.seconds.append(time.perf_counter() - start)
        ft.set_fallback(before)

    def accuracy(self) -> float:
        """Returns the share of the unseen digits that are classified correctly."""
        with torch.no_grad():
            predicted = self.model(self.images[KNOWN:]).argmax(1)
        return (predicted == self.names[KNOWN:]).float().mean().item()


def start(make: Callable[[], torch.nn.Module], rate: float, device: str) -> Training:
    """Returns the model on a device, with weights that are the same everywhere."""
    digits = load_digits()
    images = torch.from_numpy((digits.images / 16).astype(np.float32)).unsqueeze(1).to(device)
    names = torch.from_numpy(digits.target).to(device)
    torch.manual_seed(0)
    model = make().to(device)
    # One call for all parameters, instead of several for each.
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
    return Training(device, model, images, names, optimizer)


def curves(trainings: list[Training], title: str) -> Image.Image:
    """Draws the losses, batch by batch: the CPU's as a broad line, the device's as a thin line
    inside it."""
    width, height, left, top, bottom = 720, 400, 60, 50, 40
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    count = max(len(t.losses) for t in trainings)
    highest = max(max(t.losses) for t in trainings) * 1.05
    across, down = width - left - 20, height - top - bottom

    def at(batch: float, loss: float) -> tuple[float, float]:
        return left + across * batch / max(count - 1, 1), top + down * (1 - loss / highest)

    draw.text((left, 8), title, fill="black")
    for k in range(5):
        x, y = at(0, highest * k / 4)
        draw.line((x, y, width - 20, y), fill="lightgrey")
        draw.text((8, y - 6), f"{highest * k / 4:.2f}", fill="black")
    draw.text((left, height - 24), f"loss of {count} batches of {BATCH} digits", fill="black")
    for k, t in enumerate(trainings):
        points = [at(i, loss) for i, loss in enumerate(t.losses)]
        colour, line = COLOURS[t.device], 7 - 5 * k
        draw.line(points, fill=colour, width=line)
        draw.line((left + 90 * k, 32, left + 90 * k + 30, 32), fill=colour, width=line)
        draw.text((left + 90 * k + 36, 26), t.device, fill="black")
    return image


def compare(make: Callable[[], torch.nn.Module], rate: float, title: str) -> None:
    """Trains on both devices, prints how the losses and times compare, and draws both curves."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--epochs", type=int, default=6, help="rounds over the digits (6)")
    parser.add_argument("--batches", type=int, help="batches of each round (all 12)")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"ftensor's device: {ft.fpga.get_device_name()}")
    trainings = [start(make, rate, device) for device in DEVICES]
    shuffle = torch.Generator().manual_seed(1)
    for _ in range(options.epochs):
        order = torch.randperm(KNOWN, generator=shuffle)
        for training in trainings:
            training.epoch(order, options.batches)
    ftensor.torch.fallback_report().reset()
    there, here = trainings
    first = len(there.losses) // options.epochs
    gaps = [abs(a - b) for a, b in zip(there.losses, here.losses)]
    print("batch  loss on the CPU  loss on fpga")
    for k in range(first):
        print(f"{k + 1:5}  {there.losses[k]:15.6f}  {here.losses[k]:12.6f}")
    print(f"largest difference over the first epoch: {max(gaps[:first]):.1e}")
    print(f"largest difference over {options.epochs} epochs: {max(gaps):.1e}")
    for training in trainings:
        print(f"accuracy on {training.device}: {training.accuracy():.3f}")
    print(f"on the host, outside of the training: {ftensor.torch.fallback_report()}")
    # The first epoch compiles kernels, or loads them.
    times = [statistics.median(t.seconds[1:] or t.seconds) for t in trainings]
    ratio = times[1] / times[0]
    there_ms, here_ms = [f"{t * 1e3:.0f} ms" for t in times]
    print(f"an epoch: {there_ms} on the CPU, {here_ms} on fpga, {ratio:.2f} times as long")
    path = options.out / f"{title.split()[-1].lower()}.png"
    curves(trainings, f"{title}, on {ft.fpga.get_device_name()}").save(path)
    print(f"picture: {path}")
