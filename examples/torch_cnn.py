"""A convolutional network learns handwritten digits on ftensor's device, by torch, as on the CPU.

    python examples/torch_cnn.py [--epochs N] [--batches N] [--out DIR]

The program is plain torch; only `model.to("fpga")` names the device. Convolutions, pooling, the
loss, their gradients and the optimizer run on it, and none of their ops on the host.
"""

from __future__ import annotations

from torch import nn
from training import compare


def network() -> nn.Module:
    """Returns a network from digits (n, 1, 8, 8) to logits (n, 10)."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 2 * 2, 10),
    )


if __name__ == "__main__":
    compare(network, 3e-3, "training a CNN")
