"""A small transformer learns handwritten digits on ftensor's device, by torch, as on the CPU.

    python examples/torch_transformer.py [--epochs N] [--batches N] [--out DIR]

The eight rows of a digit are its tokens. Attention, layer norms, GELU, the table of positions, the
loss, their gradients and the optimizer run on the device, and none of their ops on the host.
"""

from __future__ import annotations

import torch
from torch import nn
from training import compare

ROWS, WIDTH = 8, 32


class Reader(nn.Module):
    """A network from digits (n, 1, 8, 8) to logits (n, 10): two layers of attention between rows."""

    def __init__(self) -> None:
        super().__init__()
        self.row = nn.Linear(8, WIDTH)
        self.place = nn.Embedding(ROWS, WIDTH)
        self.register_buffer("places", torch.arange(ROWS))
        layer = nn.TransformerEncoderLayer(
            WIDTH, 4, 2 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(WIDTH)
        self.name = nn.Linear(WIDTH, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = self.row(x.flatten(0, 1)) + self.place(self.places)
        return self.name(self.norm(self.layers(rows)).mean(1))


if __name__ == "__main__":
    compare(Reader, 3e-3, "training a transformer")
