"""Program of tests/flow/test_fft_stream.py on an image. It checks the first elements of sorted
rows, and prints the largest errors of transforms, filters, products and running sums."""

from __future__ import annotations

import numpy as np

import ftensor as ft

# (shape, dim): more rows than stages, fewer, and one; the longest and the shortest rows, with and
# without whole beats; along columns; units with a part of a group of short rows; Bluestein's
# algorithm, also for odd lengths.
CASES = (
    ((51, 64), -1), ((3, 8), -1), ((1, 4), -1), ((7, 4), -1), ((301, 2), -1), ((32, 7), 0),
    ((2, 3, 16), 2), ((99, 16), -1), ((51, 12), -1), ((5, 3), -1), ((11, 30), 0), ((1, 31), -1),
)  # fmt: skip
# Samples, weight, and how it is applied. Rows start inside a beat; two units share a row, which is
# decimated; a group has two filters; filters are dilated; there are more zeros than samples besides
# the taps; there are two samples at once, and samples that do not fit besides all taps.
FILTERS = (
    ((2, 3, 77), (3, 1, 5), {"padding": 4, "groups": 3}),
    ((1, 1, 70000), (1, 1, 13), {"stride": 8, "padding": 6}),
    ((2, 2, 50), (4, 1, 3), {"groups": 2, "dilation": 5}),
    ((1, 1, 4), (1, 1, 16), {"padding": 16}),
    ((3, 1, 64), (2, 1, 4), {"stride": 2, "dilation": 3}),
    ((2, 1, 96), (1, 1, 16), {"stride": 4, "padding": 3}),
)


def errors() -> list[float]:
    """Returns the errors of each transform, forward and back, relative to the largest value."""
    rng, largest = np.random.default_rng(0), []
    for shape, dim in CASES:
        x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("complex64")
        for name in ("fft", "ifft"):
            spectrum = getattr(ft.fft, name)(ft.tensor(x), dim=dim, norm="ortho").numpy()
            right = getattr(np.fft, name)(x.astype("complex128"), axis=dim, norm="ortho")
            largest.append(float(abs(spectrum - right).max() / abs(right).max()))
    x = (rng.standard_normal(97) + 1j * rng.standard_normal(97)).astype("complex64")
    apart = ft.tensor(x)[1:].reshape(3, 32)  # starts at an odd number
    right = np.fft.fft(x[1:].reshape(3, 32))
    largest.append(float(abs(ft.fft.fft(apart).numpy() - right).max() / abs(right).max()))
    # Rows with gaps that start at an even or an odd number; some share a beat with the previous
    # row.
    x = (rng.standard_normal((5, 34)) + 1j * rng.standard_normal((5, 34))).astype("complex64")
    for first in (0, 1):
        right = np.fft.fft(x[:, first : first + 32])
        rows = ft.fft.fft(ft.tensor(x)[:, first : first + 32]).numpy()
        largest.append(float(abs(rows - right).max() / abs(right).max()))
    return largest


def filtered(x: np.ndarray, w: np.ndarray, stride=1, padding=0, dilation=1, groups=1) -> np.ndarray:
    """Returns the convolution of single channels, in the dtype of both."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    own = w.shape[0] // groups
    count = (x.shape[2] - (w.shape[2] - 1) * dilation - 1) // stride + 1
    return np.stack(
        [
            sum(w[f, 0, k] * x[:, f // own, k * dilation :: stride][:, :count] for k in range(w.shape[2]))
            for f in range(w.shape[0])
        ],
        1,
    )


def filters() -> list[float]:
    """Returns the errors of each filter, real and complex, with and without an addend."""
    rng, largest = np.random.default_rng(1), []

    def numbers(of: str, *shape: int) -> np.ndarray:
        pairs = rng.standard_normal((*shape, 2)) if of == "complex64" else None
        return (rng.standard_normal(shape) if pairs is None else pairs @ [1, 1j]).astype(of)

    for of, wide in (("float32", "float64"), ("complex64", "complex128")):
        for samples, weight, laid in FILTERS:
            x, w, bias = numbers(of, *samples), numbers(of, *weight), numbers(of, weight[0])
            right = filtered(x.astype(wide), w.astype(wide), **laid)
            for more in (None, bias):
                add = None if more is None else ft.tensor(more)
                output = ft.nn.functional.conv1d(ft.tensor(x), ft.tensor(w), add, **laid).numpy()
                wanted = right if more is None else right + bias.astype(wide)[:, None]
                assert output.shape == wanted.shape
                largest.append(float(abs(output - wanted).max() / abs(wanted).max()))
    # Decimated from each position in a beat.
    x, w = numbers("complex64", 1, 1, 300), numbers("complex64", 1, 1, 13)
    for k in range(8):
        cut = ft.tensor(x)[:, :, k:]
        output = ft.nn.functional.conv1d(cut, ft.tensor(w), stride=4, padding=k).numpy()
        right = filtered(x[:, :, k:].astype("complex128"), w, 4, k)
        largest.append(float(abs(output - right).max() / abs(right).max()))
    # Columns, whose samples are more than a beat apart.
    for of in ("float32", "complex64"):
        x, w = numbers(of, 40, 24), numbers(of, 1, 1, 5)
        output = ft.nn.functional.conv1d(ft.tensor(x).t()[:, None], ft.tensor(w), padding=2).numpy()
        right = filtered(x.T[:, None], w, padding=2)
        largest.append(float(abs(output - right).max() / abs(right).max()))
    # Every second number of a row. Infinities affect only the taps that read them.
    x = numbers("float32", 300, 2)
    x[100] = np.inf
    seven = ft.tensor(np.ones((1, 1, 7), "float32"))
    output = ft.nn.functional.conv1d(ft.tensor(x).t()[:, None], seven).numpy()
    assert (np.isinf(output).sum(2) == 7).all() and np.isfinite(output).sum() == 2 * (294 - 7)
    return largest


# (a, b transposed): a tile and parts of one, terms that fill no beat, batches, one row.
PRODUCTS = (
    ((8, 64), (8, 64)),
    ((3, 4112), (5, 4112)),
    ((20, 80), (33, 80)),
    ((2, 7, 48), (2, 9, 48)),
    ((2, 1, 32), (1, 17, 32)),
)


def products() -> list[float]:
    """Returns the errors of products of matrices that are contiguous along the depth, alone and
    batched."""
    rng, largest = np.random.default_rng(3), []
    for shape, turned in PRODUCTS:
        a, b = (rng.standard_normal(s).astype("float32") for s in (shape, turned))
        right = a.astype("float64") @ b.swapaxes(-1, -2)
        product = (ft.tensor(a) @ ft.tensor(b).transpose(-1, -2)).numpy()
        largest.append(float(abs(product - right).max() / abs(right).max()))
        if a.ndim == 2:
            c = rng.standard_normal(right.shape).astype("float32")
            product = ft.addmm(ft.tensor(c), ft.tensor(a), ft.tensor(b).t(), beta=2, alpha=3).numpy()
            largest.append(float(abs(product - 2 * c - 3 * right).max() / abs(right).max()))
    return largest


def sums() -> list[float]:
    """Returns the errors of running sums along single rows: full groups and remainders, strided
    elements."""
    rng, largest = np.random.default_rng(4), []
    for of in ("float32", "complex64"):
        for n in (5, 8, 4099):
            x = rng.standard_normal((3, n)) + (1j * rng.random((3, n)) if of == "complex64" else 0)
            x = x.astype(of)
            for y, scanned in ((x, ft.tensor(x).cumsum(1)), (x[0, ::3], ft.tensor(x)[0, ::3].cumsum(0))):
                right = y.astype("complex128").cumsum(-1)
                largest.append(float(abs(scanned.numpy() - right).max() / abs(right).max()))
    return largest


def check_sorted_firsts() -> None:
    """Checks the first elements of sorted rows, along any dim: equal ones keep their order, and NaN
    is the largest."""
    rng = np.random.default_rng(2)
    for of in ("float32", "int8", "uint8"):
        for shape, dim, k in (((7, 133), 1, 64), ((90, 3), 0, 3), ((70000,), 0, 1), ((5,), 0, 5)):
            x = (rng.standard_normal(shape) * 20 + 100 * (of == "uint8")).astype(of)
            if of == "float32":
                x.reshape(-1)[:4] = np.nan, -np.inf, 0.0, -0.0
            for largest in (False, True):
                order = np.argsort(-x.astype(float) if largest else x, dim, kind="stable")
                if largest and of == "float32":  # NumPy sorts NaN last
                    last = np.isnan(np.take_along_axis(x, order, dim))
                    order = np.take_along_axis(order, np.argsort(~last, dim, kind="stable"), dim)
                right = np.take(order, range(k), dim)
                values, places = (t.numpy() for t in ft.tensor(x).topk(k, dim, largest))
                assert (places == right).all()
                assert values.tobytes() == np.take_along_axis(x, right, dim).tobytes()


if __name__ == "__main__":
    ft.set_fallback("error")
    check_sorted_firsts()
    print(max(errors() + filters() + products() + sums()))
