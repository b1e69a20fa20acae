"""Program of the tests of loops with feedback as stages: "export FOLDER" and "run", which prints
the kernels of each chain and a digest of each result. The bits don't depend on the order of a
sum."""

from __future__ import annotations

import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import ftensor as ft

conv1d = ft.nn.functional.conv1d


def costas(state: Any, x: Any) -> Any:
    phase, step = state
    y = x * (phase.cos() - 1j * phase.sin())
    error = ft.where(y.real > 0, y.imag, -y.imag)
    step = step + 0.01 * error
    return (phase + step + 0.1 * error, step), (y, error)


def receiver(x: ft.Tensor, taps: ft.Tensor, phase: ft.Tensor) -> Any:
    """A filter, a Costas loop that starts from a number and a tensor, and a decimation."""
    z = conv1d(x[None, None], taps[None, None].to(x.dtype), padding="same")[0, 0]
    (phase, step), (y, error) = ft.scan(costas, (phase, 0.25), z)
    low = conv1d(y[None, None], taps[None, None].to(x.dtype), stride=4, padding=1)[0, 0]
    return y, error * 2, phase, step, low.real.round()


def gained(x: ft.Tensor, gain: ft.Tensor) -> Any:
    """Rows after a loop, which runs across them. They are no whole beats."""

    def agc(gain: Any, x: Any) -> Any:
        y = gain * x
        return gain + 0.01 * (1 - y * y), y

    last, y = ft.scan(agc, gain * 2, (x + 1).reshape(-1))
    return y.reshape(x.shape).amax(-1), last


def counted(x: ft.Tensor, step: ft.Tensor, count: ft.Tensor) -> Any:
    """Integers: two inputs, one of which is an argument, a result that is an input, and one that is
    a state."""

    def wrapped(state: Any, xs: Any) -> Any:
        total, before = state
        x, step = xs
        total = total + step
        total = ft.where(total > 100, total - 100, total)
        return (total, x), {"total": total, "before": before, "same": step}

    last, ys = ft.scan(wrapped, (count, count), (x * 3, step))
    return ys["total"] + ys["before"], ys["same"], last


def halves(x: ft.Tensor, start: ft.Tensor) -> Any:
    """float16 states and results, in two successive loops."""

    def smooth(state: Any, x: Any) -> Any:
        state = state * 0.75 + x * 0.3
        return state, state * 0.7

    first, y = ft.scan(smooth, start, x.abs())
    second, z = ft.scan(smooth, start, y - x)
    return first, second, z


def channels(x: ft.Tensor, gain: ft.Tensor) -> Any:
    """A loop over several signals, one step for each row. It starts with a row and with a
    number."""

    def agc(state: Any, x: Any) -> Any:
        gain, power = state
        y = gain * x
        power = 0.75 * power + 0.25 * (y * y)
        return (gain + 0.01 * (1 - power), power), y

    (gain, power), y = ft.scan(agc, (gain + 1, 0.25), x * 2)
    return y - y.amax(-1, keepdim=True), gain, power


def peak(x: ft.Tensor) -> Any:
    """A loop without results of each element."""
    last, _ = ft.scan(lambda state, x: (ft.maximum(state * 0.99, x.abs()), None), 0.5, x)
    return last, x * 2


def operands(name: str) -> list[np.ndarray]:
    """Returns the arguments of a chain."""
    random = np.random.default_rng(39)
    x = random.standard_normal(1280).astype("f4")
    whole = random.integers(-3, 4, 1280)
    return {
        "receiver": [(whole + 1j * whole[::-1]).astype("c8"), np.float32([1, 2, 0.5]), np.float32(0.5)],
        "gained": [x[:1260].reshape(60, 21), np.float32(1)],
        "counted": [whole.astype("i4"), abs(whole[::-1]).astype("i4"), np.int32(7)],
        "halves": [x[:640].astype("f2"), np.float16(0.1)],
        "channels": [x.reshape(40, 32), x[:32]],
        "peak": [x[:99]],
    }[name]


CHAINS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (receiver, gained, counted, halves, channels, peak)}


def tensors(name: str) -> list[ft.Tensor]:
    return [ft.from_numpy(np.array(x)) for x in operands(name)]


def leaves(tree: Any) -> list[Any]:
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, (tuple, list)) else [tree]


def main() -> None:
    for name, chain in CHAINS.items():
        jitted = ft.jit(chain)
        if sys.argv[1] == "export":
            files = jitted.export(str(Path(sys.argv[2]) / name), *tensors(name))
            print(name, len(files.kernels), *files.apart)
            continue
        kernels = jitted.graph(*tensors(name)).kernels
        print(name, *[kernel.split()[0] for kernel in kernels])
        for result in leaves(jitted(*tensors(name))):
            ends = np.round(result.numpy().ravel()[-2:].astype("c8"), 2)
            print(" ", sha256(result.numpy().tobytes()).hexdigest(), tuple(result.shape), *ends)


if __name__ == "__main__":
    main()
