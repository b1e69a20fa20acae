"""Networks of docs/figures.md. torch computes in float32, ftensor in int8 where a program says
so."""

from __future__ import annotations

from typing import Any

import numpy as np
from board_program import Data, Program, normal, same


def _weights(name: str, *shape: int) -> Data:
    return {f"{name} weight": np.random.default_rng(sum(shape)).integers(-127, 128, shape).astype(np.int8)}


def lenet() -> Program:
    shapes = {"c1": (6, 1, 5, 5), "c2": (16, 6, 5, 5), "f1": (120, 400), "f2": (84, 120), "f3": (10, 84)}
    data: Data = {"x": np.random.default_rng(0).integers(0, 256, (64, 1, 28, 28)).astype(np.uint8)}
    for name, shape in shapes.items():
        data |= _weights(name, *shape)
        data[f"{name} float"] = data[f"{name} weight"].astype(np.float32) * np.float32(0.002)

    def floats(lib: Any, of: dict[str, Any]) -> Any:
        f = lib.nn.functional
        x = f.max_pool2d(f.relu(f.conv2d(of["x"].to(lib.float32), of["c1 float"], padding=2)), 2)
        x = f.max_pool2d(f.relu(f.conv2d(x, of["c2 float"])), 2).flatten(1)
        for name in ("f1", "f2"):
            x = f.relu(f.linear(x, of[f"{name} float"]))
        return f.linear(x, of["f3 float"])

    def bytes_(lib: Any, of: dict[str, Any]) -> Any:
        q, pool, more = lib.quantized, lib.nn.functional.max_pool2d, {"input_scale": 0.1, "weight_scale": 0.002}
        x = pool(q.conv2d_relu(of["x"], of["c1 weight"], padding=2, scale=0.1, **more), 2)
        x = pool(q.conv2d_relu(x, of["c2 weight"], scale=0.1, **more), 2).flatten(1)
        for name in ("f1", "f2"):
            x = q.linear_relu(x, of[f"{name} weight"], scale=0.1, **more)
        return q.linear(x, of["f3 weight"], scale=0.1, zero_point=128, **more)

    return Program(data, ("x",), floats, bytes_)


def keywords() -> Program:
    """A depthwise separable network for keyword spotting: 64 channels of 24 x 5, four pairs of
    layers."""
    shapes: dict[str, tuple[int, ...]] = {"c": (64, 1, 10, 4), "f": (12, 64 * 24 * 5)}
    for k in range(4):
        shapes |= {f"d{k}": (64, 1, 3, 3), f"p{k}": (64, 64, 1, 1)}
    data: Data = {"x": np.random.default_rng(0).integers(0, 256, (64, 1, 49, 10)).astype(np.uint8)}
    for name, shape in shapes.items():
        data |= _weights(name, *shape)
        data[f"{name} float"] = data[f"{name} weight"].astype(np.float32) * np.float32(0.002)
    first = {"padding": (4, 1), "stride": 2}

    def floats(lib: Any, of: dict[str, Any]) -> Any:
        f = lib.nn.functional
        x = f.relu(f.conv2d(of["x"].to(lib.float32), of["c float"], **first))
        for k in range(4):
            x = f.relu(f.conv2d(x, of[f"d{k} float"], padding=1, groups=64))
            x = f.relu(f.conv2d(x, of[f"p{k} float"]))
        return f.linear(x.flatten(1), of["f float"])

    def bytes_(lib: Any, of: dict[str, Any]) -> Any:
        q, more = lib.quantized, {"input_scale": 0.1, "weight_scale": 0.002, "scale": 0.1}
        x = q.conv2d_relu(of["x"], of["c weight"], **first, **more)
        for k in range(4):
            x = q.conv2d_relu(x, of[f"d{k} weight"], padding=1, groups=64, **more)
            x = q.conv2d_relu(x, of[f"p{k} weight"], **more)
        return q.linear(x.flatten(1), of["f weight"], zero_point=128, **more)

    return Program(data, ("x",), floats, bytes_)


def digits() -> Program:
    """The network of examples/cnn.py without its softmax."""
    from sklearn.datasets import load_digits

    pixels = load_digits().images[1000:, None]
    data: Data = {"x": (pixels * 15).astype(np.uint8)}
    for name, shape in {"c1": (16, 1, 3, 3), "c2": (32, 16, 3, 3), "f": (10, 128)}.items():
        data |= _weights(name, *shape)
        data[f"{name} float"] = data[f"{name} weight"].astype(np.float32) * np.float32(0.002)

    def floats(lib: Any, of: dict[str, Any]) -> Any:
        f = lib.nn.functional
        x = f.max_pool2d(f.relu(f.conv2d(of["x"].to(lib.float32), of["c1 float"], padding=1)), 2)
        x = f.adaptive_avg_pool2d(f.relu(f.conv2d(x, of["c2 float"], padding=1)), 2)
        return f.linear(x.flatten(1), of["f float"])

    def bytes_(lib: Any, of: dict[str, Any]) -> Any:
        q, more = lib.quantized, {"input_scale": 0.1, "weight_scale": 0.002, "scale": 0.1}
        x = lib.nn.functional.max_pool2d(q.conv2d_relu(of["x"], of["c1 weight"], padding=1, **more), 2)
        x = q.adaptive_avg_pool2d(q.conv2d_relu(x, of["c2 weight"], padding=1, **more), 2)
        return q.linear(x.flatten(1), of["f weight"], zero_point=128, **more)

    return Program(data, ("x",), floats, bytes_)


def resnet() -> Program:
    shapes: dict[str, tuple[int, ...]] = {"first": (64, 3, 7, 7), "last": (1000, 512)}
    blocks, c = [], 64
    for stage in range(4):
        for block in range(2):
            name, o, stride = f"{stage}{block}", 64 << stage, 2 if stage and not block else 1
            shapes |= {f"{name}a": (o, c, 3, 3), f"{name}b": (o, o, 3, 3)}
            shapes |= {f"{name}s": (o, c, 1, 1)} if o != c else {}
            blocks.append((name, stride))
            c = o
    data: Data = {"x": np.random.default_rng(0).integers(0, 256, (1, 3, 224, 224)).astype(np.uint8)}
    for name, shape in shapes.items():
        data |= _weights(name, *shape)
        data[f"{name} float"] = data[f"{name} weight"].astype(np.float32) * np.float32(0.001)

    def floats(lib: Any, of: dict[str, Any]) -> Any:
        f = lib.nn.functional
        x = f.relu(f.conv2d(of["x"].to(lib.float32), of["first float"], stride=2, padding=3))
        x = f.max_pool2d(x, 3, 2, 1)
        for name, stride in blocks:
            y = f.relu(f.conv2d(x, of[f"{name}a float"], stride=stride, padding=1))
            y = f.conv2d(y, of[f"{name}b float"], padding=1)
            x = f.relu(y + (f.conv2d(x, of[f"{name}s float"], stride=stride) if f"{name}s" in shapes else x))
        return f.linear(f.adaptive_avg_pool2d(x, 1).flatten(1), of["last float"])

    def bytes_(lib: Any, of: dict[str, Any]) -> Any:
        q, more = lib.quantized, {"input_scale": 0.05, "weight_scale": 0.002, "scale": 0.05}
        sum_ = {"scale": 0.07, "zero_point": 0, "input_scale": 0.05, "other_scale": 0.05}
        x = q.conv2d_relu(of["x"], of["first weight"], stride=2, padding=3, **more)
        x = lib.nn.functional.max_pool2d(x, 3, 2, 1)
        for name, stride in blocks:
            y = q.conv2d_relu(x, of[f"{name}a weight"], stride=stride, padding=1, **more)
            y = q.conv2d(y, of[f"{name}b weight"], padding=1, **more)
            x = q.conv2d(x, of[f"{name}s weight"], stride=stride, **more) if f"{name}s" in shapes else x
            x = q.relu(q.add(y, x, **sum_))
        return q.linear(q.adaptive_avg_pool2d(x, 1).flatten(1), of["last weight"], **more)

    return Program(data, ("x",), floats, bytes_)


def transformer() -> Program:
    width, heads, tokens, layers = 256, 4, 128, 2
    sizes = {"q": (width, width), "k": (width, width), "v": (width, width), "o": (width, width)}
    sizes |= {"up": (4 * width, width), "down": (width, 4 * width)}
    data: Data = {"x": normal(1, tokens, width)}
    for layer in range(layers):
        data |= {f"{name}{layer}": normal(*size) / np.float32(size[1] ** 0.5) for name, size in sizes.items()}
        data[f"norm{layer}"] = np.ones(width, np.float32)

    def function(lib: Any, of: dict[str, Any]) -> Any:
        f, x = lib.nn.functional, of["x"]
        for layer in range(layers):
            norm = of[f"norm{layer}"]
            h = f.layer_norm(x, (width,), norm, norm)
            q, k, v = [
                f.linear(h, of[f"{name}{layer}"]).reshape(1, tokens, heads, -1).transpose(1, 2) for name in "qkv"
            ]
            s = f.softmax(q @ k.transpose(2, 3) / 8, dim=3)
            x = x + f.linear((s @ v).transpose(1, 2).reshape(1, tokens, width), of[f"o{layer}"])
            h = f.layer_norm(x, (width,), norm, norm)
            x = x + f.linear(f.gelu(f.linear(h, of[f"up{layer}"])), of[f"down{layer}"])
        return x

    return same(data, function, ("x",))
