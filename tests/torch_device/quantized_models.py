"""Models in the form that `convert_pt2e` returns, built by torch alone. Scales are powers of two,
so that torch's float32 reference rounds nothing before a result is quantized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
from torch import nn
from torch.fx import GraphModule

D, A = torch.ops.quantized_decomposed, torch.ops.aten
BYTES = (0, 255, torch.uint8)
Forward = Callable[["Model", torch.Tensor], Any]


def rounded(x: torch.Tensor, scale: float, zero: int = 0, bounds: tuple[Any, ...] = BYTES) -> torch.Tensor:
    """Quantizes and dequantizes, as a converted model does between two ops."""
    return D.dequantize_per_tensor(D.quantize_per_tensor(x, scale, zero, *bounds), scale, zero, *bounds)


class Model(nn.Module):
    """A model with weights given by `weights` (shapes by name). The body takes the model and its
    input."""

    def __init__(self, body: Forward, **weights: tuple[int, ...]) -> None:
        super().__init__()
        self.body, of = body, torch.Generator().manual_seed(0)
        for name, shape in weights.items():
            self.register_buffer(name, torch.randint(-127, 128, shape, generator=of, dtype=torch.int8))
            scales = 2.0 ** torch.randint(-9, -6, (shape[0],), generator=of)
            self.register_buffer(f"{name}_scales", scales)
            self.register_buffer(f"{name}_zeros", torch.zeros(shape[0], dtype=torch.int64))
            self.register_buffer(f"{name}_bias", torch.randint(-40, 40, (shape[0],), generator=of) / 16)

    def weight(self, name: str) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the dequantized weight of a layer, and its bias."""
        get = self.get_buffer
        integers, scales, zeros = get(name), get(f"{name}_scales"), get(f"{name}_zeros")
        return D.dequantize_per_channel(integers, scales, zeros, 0, -127, 127, torch.int8), get(f"{name}_bias")

    def forward(self, x: torch.Tensor) -> Any:
        return self.body(self, x)


def converted(body: Forward, x: torch.Tensor, **weights: tuple[int, ...]) -> GraphModule:
    """Returns a model with the graph that `convert_pt2e` returns."""
    with torch.no_grad():
        module = torch.export.export(Model(body, **weights).eval(), (x,)).module()
    assert isinstance(module, GraphModule)
    return module


def residual(m: Model, x: torch.Tensor) -> torch.Tensor:
    """Returns a network of convolutions, a residual sum, max pooling before and after quantization,
    a requantized mean, and a linear layer."""
    x = rounded(x, 1 / 64, 3)
    x = rounded(A.max_pool2d(A.relu(A.conv2d(x, *m.weight("first"), [1, 1], [1, 1])), [2, 2]), 1 / 8)
    y = rounded(A.hardtanh(A.conv2d(x, *m.weight("second"), [1, 1], [1, 1], [1, 1], 4), 0.0, 6.0), 1 / 32, 9)
    x = rounded(A.relu(A.add(y, x)), 1 / 8, 2)
    x = rounded(A.max_pool2d(x, [2, 2]), 1 / 8, 2)
    x = rounded(A.dropout(A.flatten(x, 1), 0.5, False), 1 / 4, 1)
    return rounded(A.linear(x, *m.weight("last")), 1 / 2, 128)


RESIDUAL = {"first": (4, 1, 3, 3), "second": (4, 1, 3, 3), "last": (10, 16)}
