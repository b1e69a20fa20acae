"""Three programs for boards: a receiver, two networks, and statistics of a table.

    python examples/programs.py receiver              # compared with torch, step by step
    python examples/programs.py networks --time       # and its time, data in the device's memory
    ftensor emulate --image images/stats -- python examples/programs.py statistics --small

Each program is written once, for torch and for ftensor: `lib` is either. docs/images.md says which
image each needs, and what a board would take.
"""

import argparse
import sys
import time

import numpy as np

import ftensor

TAPS, POINTS, SLOWER = 64, 1024, 8
# The layers of ResNet-18 after its first ones: channels, and the stride of the first block of two.
LAYERS = ((64, 1), (128, 2), (256, 2), (512, 2))


def receiver_data(small):
    """Returns a carrier in noise, the mixing tone, a low pass, a window; and the number of frames."""
    n = POINTS * SLOWER * (2 if small else 32)
    rng, t = np.random.default_rng(0), np.arange(n)
    noise = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    k = np.arange(TAPS) - (TAPS - 1) / 2
    return {
        "signal": (np.exp(2j * np.pi * 0.2305 * t) + 0.3 * noise).astype(np.complex64),
        "carrier": np.exp(-2j * np.pi * 0.23 * t).astype(np.complex64),
        "low": (np.sinc(k / SLOWER) * np.hanning(TAPS) / SLOWER).astype(np.complex64),
        "window": np.hanning(POINTS).astype(np.float32),
    }


def receiver(lib, of):
    """Mixes, filters and decimates in one step, transforms, takes the power, detects."""
    n = of["signal"].shape[0]
    mixed = (of["signal"] * of["carrier"]).reshape(1, 1, n)
    low = of["low"].reshape(1, 1, TAPS)
    slow = lib.nn.functional.conv1d(mixed, low, stride=SLOWER, padding=TAPS // 2)
    frames = slow[0, 0, : n // SLOWER].reshape(-1, POINTS)
    power = lib.fft.fft(frames * of["window"]).abs().square().mean(0)
    return {"power": power, "at": power.argmax(), "loud": power > 50 * power.mean()}


def networks_data(small):
    """Returns pixels and weights: of LeNet for 32 pictures, of ResNet-18 for one."""
    rng, size = np.random.default_rng(1), 64 if small else 224
    arrays = {}

    def weights(name, *shape):
        w = rng.standard_normal(shape) / np.prod(shape[1:]) ** 0.5
        arrays[name] = (1.4 * w).astype(np.float32)

    def layer(name, out, ins, k):
        weights(name, out, ins, k, k)
        arrays[f"{name} scale"] = rng.uniform(0.5, 1.5, out).astype(np.float32)
        arrays[f"{name} mean"] = (0.1 * rng.standard_normal(out)).astype(np.float32)

    for name, *shape in (("c1", 6, 1, 5, 5), ("c2", 16, 6, 5, 5), ("f1", 120, 400), ("f2", 84, 120)):
        weights(name, *shape)
    weights("f3", 10, 84)
    layer("first", 64, 3, 7)
    before = 64
    for k, (out, _) in enumerate(LAYERS):
        for block in range(2):
            layer(f"{k}{block}a", out, before, 3)
            layer(f"{k}{block}b", out, out, 3)
            if out != before:
                layer(f"{k} short", out, before, 1)
            before = out
    weights("classes", 1000, 512)
    arrays["digits"] = rng.random((4 if small else 32, 1, 28, 28), np.float32)
    arrays["picture"] = rng.random((1, 3, size, size), np.float32)
    return arrays


def networks(lib, of):
    """Returns LeNet's and ResNet-18's scores."""
    F = lib.nn.functional

    x = F.max_pool2d(F.relu(F.conv2d(of["digits"], of["c1"], padding=2)), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, of["c2"])), 2).flatten(1)
    digits = F.linear(F.relu(F.linear(F.relu(F.linear(x, of["f1"])), of["f2"])), of["f3"])

    def conv(x, name, step=1):
        w = of[name]
        x = F.conv2d(x, w, stride=step, padding=w.shape[2] // 2)
        scale, mean = of[f"{name} scale"], of[f"{name} mean"]
        return F.batch_norm(x, mean, scale, scale, mean)

    x = F.max_pool2d(F.relu(conv(of["picture"], "first", 2)), 3, 2, 1)
    for k, (_, step) in enumerate(LAYERS):
        for block in range(2):
            by = step if block == 0 else 1
            y = conv(F.relu(conv(x, f"{k}{block}a", by)), f"{k}{block}b")
            x = F.relu(y + (conv(x, f"{k} short", by) if f"{k} short" in of and not block else x))
    scores = F.linear(F.adaptive_avg_pool2d(x, 1).flatten(1), of["classes"])
    return {"digits": digits, "scores": scores}


def statistics_data(small):
    """Returns eight rows of numbers, each with a larger spread than the previous one, and 65 edges
    of bins."""
    n = 1 << (12 if small else 18)
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((8, n)) * np.arange(1, 9)[:, None]
    return {
        "rows": rows.astype(np.float32),
        "edges": np.linspace(-8, 8, 65, dtype=np.float32),
        "ones": np.ones(8, np.float32),
    }


def statistics(lib, of):
    """Returns order, quantile, running sum, histogram, covariance, and the weights of least
    variance."""
    x = of["rows"]
    n = x.shape[1]
    ordered = x[0].sort()[0]
    walk = x[0].cumsum(0)
    high = lib.quantile(walk, 0.9)
    # The number of elements below each edge, from the sorted numbers: no counter depends on the
    # previous one.
    below = lib.searchsorted(ordered, of["edges"]).float()
    centered = x - x.mean(1, keepdim=True)
    covariance = centered @ centered.t() / (n - 1)
    weights = lib.linalg.solve(covariance, of["ones"])
    return {
        "ordered": ordered,
        "walk": walk,
        "high": high,
        "counts": below[1:] - below[:-1],
        "covariance": covariance,
        "weights": weights / weights.sum(),
    }


PROGRAMS = {
    "receiver": (receiver_data, receiver, "radio"),
    "networks": (networks_data, networks, "cnn"),
    "statistics": (statistics_data, statistics, "stats"),
}


def compare(results, wanted):
    """Returns the names of results that differ by more than rounding errors."""
    wrong = []
    for name, tensor in results.items():
        ours, theirs = tensor.numpy(), wanted[name].numpy()
        if ours.dtype.kind in "bi":
            alike = np.array_equal(ours, theirs)
        else:
            alike = np.abs(ours - theirs).max() <= 1e-4 * np.abs(theirs).max()
        wrong += [] if alike else [name]
    return wrong


def timed(step, wait):
    """Returns the least seconds of some calls after one that compiles, since other programs use
    this machine too."""
    step()
    wait()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        step()
        wait()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    """Runs the command; returns 1 if results differ from torch's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--small", action="store_true", help="as the tests run it")
    parser.add_argument("--time", action="store_true", help="also print milliseconds of ftensor and torch")
    parser.add_argument("--alone", type=int, metavar="N", help="run it N times, without torch")
    asked = parser.parse_args()
    make, run, _ = PROGRAMS[asked.program]
    arrays = make(asked.small)
    ours = {name: ftensor.from_numpy(array) for name, array in arrays.items()}
    if asked.alone:
        for _ in range(asked.alone):
            run(ftensor, ours)
        return 0
    import torch

    theirs = {name: torch.from_numpy(array) for name, array in arrays.items()}
    with torch.inference_mode():
        wrong = compare(run(ftensor, ours), run(torch, theirs))
        print(f"{asked.program}: " + (f"{', '.join(wrong)} differ" if wrong else "torch's results"))
        if asked.time:
            own = timed(lambda: run(ftensor, ours), ftensor.fpga.synchronize)
            other = timed(lambda: run(torch, theirs), lambda: None)
            print(f"{1e3 * own:.3f} ms by ftensor here, {1e3 * other:.3f} ms by torch")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
