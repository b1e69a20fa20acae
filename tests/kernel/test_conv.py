"""Convolutions on every device: by direct kernels, and by both other methods."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor.execute import conv as execute  # noqa: E402
from ftensor.execute import conv_plan  # noqa: E402
from ftensor.ops.gradients import spatial as gradients  # noqa: E402
from ftensor.ops.nn.spatial import conv  # noqa: E402

from ..oracle import from_element_9, ours, same  # noqa: E402
from .processors import processors  # noqa: E402


def check(n: int, size: int, filters: int, groups: int, dtype: torch.dtype, stride: int) -> None:
    """Checks a convolution of integers, whose sums are exact in every dtype here."""
    torch.manual_seed(0)
    draw = torch.randint
    x = draw(-2, 3, (3, 2 * groups, *(size,) * n)).to(dtype)
    weight = draw(-2, 3, (filters, 2, *(3, 2, 3)[:n])).to(dtype)
    bias = draw(-9, 9, (filters,)).to(dtype)
    theirs = getattr(torch, f"conv{n}d")(x, weight, bias, stride, 1, 2, groups)
    operands = [ours(t) for t in (x, weight, bias)]
    mine = getattr(ft, f"conv{n}d")(*operands, stride, 1, 2, groups)
    same(mine, theirs, exact=True)


DTYPES, SIZES = (torch.float16, torch.float32, torch.int64), ((1, 40), (2, 12), (3, 7))


@pytest.mark.parametrize(
    ("n", "size", "dtype"),
    [
        pytest.param(*size, dtype, marks=[pytest.mark.core] if j == k else [])
        for j, size in enumerate(SIZES)
        for k, dtype in enumerate(DTYPES)
    ],
)
def test_all_methods_agree(monkeypatch: pytest.MonkeyPatch, n: int, size: int, dtype: torch.dtype) -> None:
    check(n, size, 6, 2, dtype, 2)
    monkeypatch.setattr(conv, "has_kernel", lambda x, taps: False)
    check(n, size, 6, 2, dtype, 2)
    monkeypatch.setattr(conv, "TERMS", 0)
    # Blocks of a few rows, of one sample, and of two.
    for block in (50, 2000, 4500):
        monkeypatch.setattr(conv, "BLOCK", block)
        monkeypatch.setattr(conv, "FILTERS", 1)
        check(n, size, 6, 2, dtype, 2)


def test_many_products_use_im2col(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conv, "has_kernel", lambda x, taps: False)
    check(2, 33, 16, 1, torch.float32, 1)


# Tiles along rows and over planes, and tiles moved back if the input is read in place. Depthwise
# convolutions, few filters, and more terms than are summed at once. Phases of a stride, and results
# between them.
CASES = {
    "rows": ((2, 3, 9, 64), (10, 3, 3, 3), {"padding": 1}),
    "planes": ((3, 30, 13, 7), (9, 30, 3, 3), {"padding": (1, 2)}),
    "where it lies": ((2, 20, 6, 7), (33, 20, 1, 1), {}),
    "where it lies, windows": ((2, 2, 15, 40), (5, 2, 3, 1), {"dilation": 2}),
    "small": ((2, 6, 3, 3), (8, 6, 1, 1), {}),
    "depthwise": ((1, 12, 20, 11), (12, 1, 5, 5), {"padding": 2, "groups": 12}),
    "groups": ((1, 12, 8, 11), (8, 3, 3, 3), {"groups": 4, "stride": (2, 3)}),
    "phases": ((2, 5, 21, 30), (7, 5, 5, 4), {"stride": (3, 2), "padding": 2}),
    "some phases": ((1, 4, 17, 16), (6, 4, 2, 1), {"stride": 4, "dilation": 2}),
}


def close(mine: ft.Tensor, theirs: torch.Tensor) -> None:
    """Asserts sums of up to 270 products in another order. A wrong element differs by more."""
    same(mine, theirs, rtol=1e-5, atol=1e-4)


def on_processors(name: str, *operands: torch.Tensor, **more: Any) -> torch.Tensor:
    """Returns torch's result after comparing ftensor's with the launches of each processor."""
    theirs = getattr(torch, name)(*operands, **more)
    for processor in processors():
        with processor:
            close(getattr(ft, name)(*[ours(t) for t in operands], **more), theirs)
    return theirs


@pytest.mark.core
@pytest.mark.parametrize("case", CASES)
def test_tiles_and_planes(case: str) -> None:
    shape, kernel, more = CASES[case]
    torch.manual_seed(0)
    x, weight, bias = torch.randn(shape), torch.randn(kernel), torch.randn(kernel[0])
    theirs = torch.conv2d(x, weight, bias, **more)
    for processor in processors():
        with processor:
            close(ft.conv2d(ours(x), ours(weight), ours(bias), **more), theirs)
    for layout in (x.transpose(2, 3).contiguous().transpose(2, 3), x.flip(1)):
        close(ft.conv2d(ours(layout), ours(weight), **more), torch.conv2d(layout, weight, **more))


# Tiles of one row, of several rows, of parts of rows, and remainders. More steps than are summed at
# once, more filters than are computed together, fewer filters than a panel has.
SMALL = {
    "whole tiles": ((3, 5, 8, 8), (16, 5, 3, 3), {"padding": 1}),
    "rows of 4": ((5, 24, 4, 4), (10, 24, 3, 3), {"padding": 1}),
    "pieces": ((4, 3, 7, 7), (53, 3, 3, 3), {"padding": 1}),
    "strides": ((4, 4, 13, 11), (6, 4, 3, 3), {"padding": 1, "stride": (2, 3)}),
    "dilation": ((4, 4, 12, 9), (10, 2, 3, 2), {"padding": 2, "dilation": (2, 3), "groups": 2}),
    "no padding": ((3, 2, 6, 9), (4, 2, 3, 2), {}),
    "1-d": ((8, 6, 21), (7, 6, 5), {"padding": 2}),
    "3-d": ((4, 3, 4, 5, 6), (8, 3, 3, 3, 3), {"padding": 1}),
    "depthwise": ((2, 6, 20, 13), (6, 1, 3, 3), {"padding": 1, "groups": 6}),
    "two filters each": ((2, 3, 19, 11), (6, 1, 5, 3), {"stride": (1, 2), "groups": 3}),
    "one filter": ((4, 20, 9, 4), (1, 20, 3, 3), {"padding": 2, "dilation": 2}),
    "depthwise, 3-d": ((3, 2, 5, 4, 9), (2, 1, 3, 2, 3), {"stride": (2, 1, 3), "groups": 2}),
}


CORE = {"rows of 4", "pieces", "strides", "3-d", "depthwise", "two filters each"}


# Few samples of small planes, which share vectors.
BESIDE = {
    "2-d": ((4, 33, 2, 3), (40, 33, 3, 3), {"padding": 1}),
    "phases": ((2, 5, 7, 8), (9, 5, 3, 2), {"stride": (2, 3), "padding": 1}),
    "1-d": ((5, 6, 9), (12, 3, 3), {"padding": 2, "groups": 2, "dilation": 2}),
    "between": ((3, 6, 4, 3), (6, 7, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
}


@pytest.mark.parametrize("case", BESIDE)
def test_samples_share_vectors(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only devices that compile on request do this. Other layouts of the input are compared,
    too."""
    asked = []
    monkeypatch.setattr(execute, "direct", lambda *args: None)
    monkeypatch.setattr(execute, "batch_vectors_are_cheaper", lambda *args: asked.append(args) or True)
    shape, kernel, more = BESIDE[case]
    torch.manual_seed(0)
    x, weight = torch.randn(shape), torch.randn(kernel)
    name = f"conv{'_transpose' if case == 'between' else ''}{x.ndim - 2}d"
    bias = torch.randn(7 if case == "between" else kernel[0])
    on_processors(name, x, weight, bias, **more)
    on_processors(name, x.transpose(0, 1).contiguous().transpose(0, 1), weight, bias, **more)
    assert bool(asked) == ft.tensor(0)._storage.backend.target.specializes


@pytest.mark.parametrize("case", [pytest.param(c, marks=[pytest.mark.core] if c in CORE else []) for c in SMALL])
def test_small_planes_are_read_in_place(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conv_plan, "direct_is_cheaper", lambda *args: True)
    shape, kernel, more = SMALL[case]
    torch.manual_seed(0)
    x, weight, bias = torch.randn(shape), torch.randn(kernel), torch.randn(kernel[0])
    name = f"conv{x.ndim - 2}d"
    of, theirs = getattr(ft, name), on_processors(name, x, weight, bias, **more)
    last = x.transpose(1, 2).contiguous().transpose(1, 2)
    close(of(ours(last), ours(weight), **more), getattr(torch, name)(x, weight, **more))
    if x.ndim == 4:
        last = x.to(memory_format=torch.channels_last)
        close(of(ours(last), ours(weight), **more), torch.conv2d(last, weight, **more))
    if more.get("stride", 1) == 1:
        turned = f"conv_transpose{x.ndim - 2}d"
        grad = torch.randn(theirs.shape)
        theirs = getattr(torch, turned)(grad, weight, **more)
        close(getattr(ft, turned)(ours(grad), ours(weight), **more), theirs)


# Widths near whole vectors of 4, 8 and 16 elements.
@pytest.mark.parametrize(
    ("width", "direct"),
    [
        pytest.param(n, direct, marks=[pytest.mark.core] if n == 9 else [])
        for n in (3, 5, 8, 9, 13, 16, 17, 18, 33)
        for direct in (True, False)
    ],
)
def test_unaligned_operands(width: int, direct: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conv_plan, "direct_is_cheaper", lambda *args: direct)
    torch.manual_seed(0)
    x, bias = torch.randn(2, 4, 9, width), torch.randn(8)
    for channels, more in ((4, {"padding": 1}), (2, {"stride": 2, "groups": 2}), (1, {"groups": 4})):
        weight = torch.randn(8, channels, 3, 3)
        theirs = torch.conv2d(x, weight, bias, **more)
        for step in (1, 2, 3):
            operands = [from_element_9(t, step) for t in (x, weight, bias)]
            close(ft.conv2d(*operands, **more), theirs)


@pytest.mark.core
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_transposed(stride: int) -> None:
    """A stride beyond the kernel leaves results that are only the bias."""
    torch.manual_seed(0)
    x, weight, bias = torch.randn(2, 6, 9, 10), torch.randn(6, 4, 2, 3), torch.randn(8)
    more = {"stride": stride, "groups": 2, "dilation": stride}
    theirs = torch.conv_transpose2d(x, weight, bias, **more)
    close(ft.conv_transpose2d(ours(x), ours(weight), ours(bias), **more), theirs)
    theirs = torch.conv_transpose2d(x, weight, bias, stride=stride, groups=2)
    close(ft.conv_transpose2d(ours(x), ours(weight), ours(bias), stride=stride, groups=2), theirs)


def test_transposed_with_several_panels_and_channel_blocks() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(2, 30, 5, 6), torch.randn(30, 19, 3, 3)
    for kind in (torch.float32, torch.float16):
        theirs = torch.conv_transpose2d(x.to(kind).float(), weight.to(kind).float())
        mine = ft.conv_transpose2d(ours(x.to(kind)), ours(weight.to(kind)))
        close(mine, theirs) if kind is torch.float32 else same(mine.float(), theirs, rtol=2e-3, atol=2e-3)


# A kernel whose last dim is 1, with a stride in another dim: the results of a phase are whole rows
# with gaps. Results without input elements are the bias alone, in some phases or in all.
APART = {
    "rows apart": ((2, 3, 4, 40), (3, 4, 5, 1), {"stride": (3, 1)}),
    "no taps": ((8, 4, 2), (4, 5, 1), {"stride": 2, "padding": 1}),
}


@pytest.mark.parametrize("case", APART)
def test_transposed_with_gaps_between_results(case: str) -> None:
    shape, kernel, more = APART[case]
    torch.manual_seed(0)
    x, weight, bias = torch.randn(shape), torch.randn(kernel), torch.randn(kernel[1])
    name = f"conv_transpose{x.ndim - 2}d"
    theirs = getattr(torch, name)(x, weight, bias, **more)
    close(getattr(ft, name)(ours(x), ours(weight), ours(bias), **more), theirs)


def test_stride_beyond_the_input() -> None:
    x, weight = torch.randn(1, 2, 5, 5), torch.randn(3, 2, 2, 2)
    for stride in (2**31, (1, 2**62)):
        theirs = torch.conv2d(x, weight, stride=stride)
        close(ft.conv2d(ours(x), ours(weight), stride=stride), theirs)


def test_channels_last_operands_give_channels_last() -> None:
    """As in torch, it is enough if either the input or the weight is channels_last."""
    last = torch.channels_last
    x, weight = torch.randn(2, 8, 9, 10), torch.randn(6, 8, 3, 3)
    for a, b in ((x.to(memory_format=last), weight), (x, weight.to(memory_format=last))):
        close(ft.conv2d(ours(a), ours(b), padding=1), torch.conv2d(a, b, padding=1))


def test_batches_are_packed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPUs split batches of many bytes; other devices split counts beyond 32 bits."""
    monkeypatch.setattr(execute, "NEAR_BYTES", 1 << 13)
    monkeypatch.setattr(execute, "COUNTED", 3000)
    x, weight = torch.randn(7, 8, 12, 9), torch.randn(6, 8, 3, 3)
    close(ft.conv2d(ours(x), ours(weight), padding=1), torch.conv2d(x, weight, padding=1))
    back = torch.randn(8, 3, 2, 2)
    theirs = torch.conv_transpose2d(x, back, stride=2)
    close(ft.conv_transpose2d(ours(x), ours(back), stride=2), theirs)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int8, torch.uint8])
def test_other_dtypes(dtype: torch.dtype) -> None:
    x, weight = (torch.randint(-2, 3, shape).to(dtype) for shape in ((2, 4, 9, 11), (6, 4, 3, 3)))
    theirs = torch.conv2d(x, weight, stride=2, padding=1)
    same(ft.conv2d(ours(x), ours(weight), stride=2, padding=1), theirs, exact=True)


def test_convolutions_of_empty_tensors() -> None:
    x, weight = torch.randn(0, 3, 8, 8), torch.randn(4, 3, 3, 3)
    same(ft.conv2d(ours(x), ours(weight)), torch.conv2d(x, weight))
    # Without channels torch creates no filters, either.
    x, weight = torch.randn(2, 0, 5), torch.randn(3, 0, 2)
    same(ft.conv1d(ours(x), ours(weight)), torch.conv1d(x, weight))
    for shape, kernel, name in (
        ((2, 2, 0), (3, 2, 2), "conv1d"),
        ((2, 2, 5), (3, 2, 0), "conv1d"),
        ((2, 2, 0), (2, 3, 2), "conv_transpose1d"),
        ((2, 2, 5), (2, 0, 2), "conv_transpose1d"),
    ):
        for lib in (torch, ft):
            more = {"padding": 1} if name == "conv1d" else {}
            with pytest.raises(RuntimeError):
                getattr(lib, name)(lib.ones(shape), lib.ones(kernel), **more)


def test_gradients_of_empty_tensors_are_zeros() -> None:
    """Either the batch has no samples, or the results have no elements."""
    weight, where = torch.randn(4, 3, 3), ((1,), (0,), (1,))
    x, grad = torch.randn(0, 3, 8), torch.randn(0, 4, 6)
    asked = [True, True, False]
    theirs = torch.ops.aten.convolution_backward(grad, x, weight, None, *where, False, (0,), 1, asked)
    same(gradients.input_gradient(ours(grad), (0, 3, 8), ours(weight), *where, False, 1), theirs[0])
    gradient, _ = gradients.weight_gradient(ours(grad), ours(x), (4, 3, 3), *where, 1)
    same(gradient, theirs[1])
