"""Inputs at the limits of an op: no elements, no dims, NaN, unusual layouts; as in torch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import ftensor as ft

from ..oracle import agree, agree_on, cases, ours, torch

INF, NAN = float("inf"), float("nan")
F = "nn.functional."


@pytest.mark.parametrize(
    ("case", "computed"),
    cases(
        """
        topk(L.tensor(3.), 0)
        topk(L.tensor(3.), 1)
        ! topk(L.tensor(3.), 2)
        ! unique(L.tensor(3.), dim=0)
        ! unique_consecutive(L.tensor(3.), dim=-1)
        index_select(L.arange(6).reshape(2, 3).to(L.uint32), 1, L.tensor([2, 0]))
        index_select(L.arange(6).reshape(2, 3).to(L.uint64), 0, L.tensor([1]))
        ! index_put(L.ones(1, 4), (L.tensor([0]),), L.zeros(1, 1, 4))
        ! index_put(L.ones(1, 4), (L.tensor([0]),), L.zeros(1, 1, 4), accumulate=True)
        index_put(L.ones(1, 4), (L.tensor([0]),), L.zeros(1, 4))
        index_put(L.ones(1, 4), (L.tensor([0]),), L.zeros(4), accumulate=True)
        nansum(L.tensor([[NAN, 1.5], [2.0, NAN]]))
        nansum(L.tensor([[NAN, 1.5], [2.0, NAN]]), 0)
        nn.functional.scaled_dot_product_attention(*[L.ones(2, 3).half()] * 3, L.arange(6.).reshape(2, 3)[:, :2])
        nn.functional.scaled_dot_product_attention(*[L.ones(2, 3).double()] * 3, L.arange(4.).reshape(2, 2))
        ! nn.functional.scaled_dot_product_attention(*[L.ones(2, 3).half()] * 3, L.ones(2, 2).double())
        cov(L.zeros(0, 3))
        corrcoef(L.zeros(0, 0))
        ! trapezoid(L.tensor(1.))
        ! cumulative_trapezoid(L.tensor(1.), dx=2)
        trapezoid(L.tensor([1., 2., INF]))
        trapezoid(L.tensor([INF, 2., 3.]), dx=-.5)
        trapezoid(L.tensor([1., INF, 3.]), dx=2)
        trapezoid(L.tensor([200, 1, 100], dtype=L.uint8))
        trapezoid(L.ones(3, 0), dim=0)
        any(L.tensor([[0, 3], [0, 0]], dtype=L.uint8), 1, out=L.empty(2, dtype=L.bool))
        all(L.tensor([[0, 3], [2, 255]], dtype=L.int32), 1, out=L.empty(0, dtype=L.uint8))
        all(L.tensor([0, 3], dtype=L.uint8), out=L.empty((), dtype=L.bool))
        median(L.zeros(0, dtype=L.int8))
        median(L.zeros(0, dtype=L.int16))
        median(L.zeros(0, dtype=L.int32))
        median(L.zeros(0, dtype=L.bool))
        fft.rfftfreq(-1)
        fft.rfftfreq(-3)
        ! fft.rfftfreq(-4)
        ! fft.fftfreq(-1)
        where(L.tensor([True, False]), L.ones(2, dtype=L.float16), 2**31 - 1)
        where(L.tensor([True, False]), -1e39, L.ones(2, dtype=L.bfloat16))
        ! where(L.tensor([True, False]), L.ones(2, dtype=L.int8), 300)
        F.hardtanh(L.arange(4, dtype=L.uint8), -.5, 1)
        ! F.hardtanh(L.arange(4, dtype=L.uint8), -1, 1)
        F.lp_pool1d(L.arange(12.).reshape(1, 2, 6) - 7, INF, 3, 2, True)
        F.lp_pool2d(L.arange(36.).reshape(1, 6, 6) - 7, -INF, (2, 3))
        F.instance_norm(L.ones(0, 3, 4))
        F.instance_norm(L.ones(2, 0, 4))
        F.batch_norm(L.ones(2, 0, 4), None, None, training=True)
        ! F.batch_norm(L.ones(1, 3), None, None, training=True)
        bmm(L.ones(0, 2, 3, dtype=L.bool), L.ones(0, 3, 4, dtype=L.bool))
        bmm(L.ones(2, 2, 0, dtype=L.bool), L.ones(2, 0, 4, dtype=L.bool))
        mm(L.ones(2, 0, dtype=L.bool), L.ones(0, 4, dtype=L.bool))
        ! mm(L.ones(2, 1, dtype=L.bool), L.ones(1, 4, dtype=L.bool))
        F.scaled_dot_product_attention(L.ones(2, 4, 3, 5), L.ones(2, 0, 3, 5), L.ones(2, 0, 3, 5))
        F.scaled_dot_product_attention(*[L.ones(2, 0, 3, 5)] * 3, enable_gqa=True)
        F.scaled_dot_product_attention(L.ones(2, 3, 0), L.ones(2, 4, 0), L.ones(2, 4, 5))
        ! cdist(L.ones(2, 3), L.ones(2, 3), 2, "other")
        ! cdist(L.ones(2, 3), L.ones(2, 3, dtype=L.float64))
        ! cdist(L.ones(2, 3), 3.0)
        ! F.cross_entropy(L.ones(3, 5), L.ones(3))
        ! F.cross_entropy(L.ones(3, 5), L.ones(4))
        ! F.cross_entropy(L.ones(3, 5), L.ones(3, 1))
        ! F.cross_entropy(L.ones(5), L.ones(4))
        ! F.cross_entropy(L.ones(3, 5, 2), L.ones(3, 5))
        ! F.cross_entropy(L.ones(3, 5), L.ones(3, 5), ignore_index=1)
        ! F.cross_entropy(L.tensor(1.), L.tensor(0))
        F.pad(L.arange(60.).reshape(1, 3, 4, 5), (0, 0, 1, -5), "reflect")
        F.pad(L.arange(60.).reshape(1, 3, 4, 5), (0, 0, 1, -5), "replicate")
        ! F.pad(L.arange(60.).reshape(1, 3, 4, 5), (0, 0, 1, -6), "replicate")
        full((), 1e30, dtype=L.float16)
        full((1, 1), 10**18, dtype=L.float16)
        full((1,), -1e39, dtype=L.bfloat16)
        full((), 1e30, dtype=L.float8_e5m2)
        full((), 460., dtype=L.float8_e4m3fn)
        ! full((2,), 1e30, dtype=L.float16)
        ! full((), 1e39, dtype=L.float32)
        ! full((), 10**30, dtype=L.float16)
        ! full((), 300, dtype=L.uint8)
        full((2,), 1e5 + 1j, dtype=L.complex32)
        ! full((1,), 1e5 + 1j, dtype=L.complex32)
        scalar_tensor(1e39, dtype=L.bfloat16)
        full_like(L.ones(1, dtype=L.float16), 1e30)
        ones((), dtype=L.float16).new_full((1,), -1e30)
        ! ones(2, dtype=L.float16).fill_(1e30)
        ones(3, dtype=L.uint8).fill_(-255)
        ones(3, dtype=L.uint8).fill_(-0.)
        ! ones(3, dtype=L.uint8).fill_(-.5)
        ! ones(3, dtype=L.uint64).fill_(-1.5)
        ! full((), -1.5, dtype=L.uint8)
        ! F.threshold(L.arange(4, dtype=L.uint8), .5, -1.5)
        ! F.threshold(L.arange(4, dtype=L.uint8), -1.5, 1)
        F.threshold(L.arange(4, dtype=L.uint8), 1, -1)
        ! ones(2, dtype=L.uint8).masked_fill(L.tensor([True, False]), -1.5)
        ! addcmul(*[L.ones(3, dtype=L.uint8)] * 3, value=-1.5)
        linspace(-1, 3., 3, dtype=L.uint8)
        ! linspace(-1.5, 3., 3, dtype=L.uint8)
        F.batch_norm(L.ones(2, 3), L.ones(3), L.ones(3), eps=0)
        ! F.batch_norm(L.ones(2, 3), L.ones(3), L.ones(3), eps=-.1)
        ! F.batch_norm(L.ones(2, 3), None, None, training=True, eps=0)
        F.instance_norm(L.arange(24.).reshape(2, 3, 4) // 8, eps=0)
        native_batch_norm(L.full((2, 3), 7.), None, None, None, None, True, .1, 0)[2]
        select_scatter(L.arange(48.).reshape(6, 8)[::2, 1::3], L.zeros(3), 1, 0)
        slice_scatter(L.arange(48.).reshape(6, 8)[::2, 1::3], L.zeros(1, 3), 0, 1, 2)
        diagonal_scatter(L.arange(48.).reshape(6, 8)[::2, 1::3], L.zeros(3))
        diagonal_scatter(L.ones(3).expand(3, 3), L.zeros(3))
        as_strided_scatter(L.arange(48.).reshape(6, 8)[::2, 1::3], L.zeros(2), (2,), (3,))
        as_strided_scatter(L.arange(48.)[9:], L.zeros(2), (2,), (3,), 0)
        as_strided_scatter(L.arange(48.)[9:], L.zeros(2), (2,), (3,), 10)
        histogram(L.arange(6.), L.arange(12.)[::3])
        renorm(L.arange(12.).reshape(3, 4).t(), 2, 0, 5.)
        _softmax_backward_data(L.ones(2, 3, 4).mT, L.ones(2, 3, 4).mT, -1, L.float32)
        F.one_hot(L.arange(6).reshape(2, 3).t())
        F.nll_loss(L.ones(2, 3, 2, 4), L.ones(2, 4, 2, dtype=L.int64).mT, reduction="none")
        F.channel_shuffle(L.ones(2, 4, 3, 4).to(memory_format=L.channels_last), 2)
        """
    ),
)
def test_edge_cases_agree_with_torch(case: str, computed: bool) -> None:
    assert agree_on_case(case) is computed


def agree_on_case(case: str) -> bool:
    """Returns whether both libraries compute an expression, and asserts that they agree."""

    def run(lib: Any) -> Any:
        names = {"L": lib, "F": lib.nn.functional, "INF": INF, "NAN": NAN}
        return eval(case if case.startswith("F.") else f"L.{case}", names)

    return agree(lambda: run(ft), lambda: run(torch))


@pytest.mark.parametrize("counts", [(0, -5), (-2, -3), (0, -1, -1, 0), (0, 0, -4, 0), (-6, 1)])
def test_strides_of_negative_padding_are_torchs(counts: tuple[int, ...]) -> None:
    for x in layouts((1, 3, 4, 5)):
        if agree_on(F + "pad", x, counts, how={"strides": True}):  # also of empty tensors
            padded = torch.nn.functional.pad(x.clone(), counts)
            assert ft.nn.functional.pad(ours(x), counts).stride() == padded.stride()


@pytest.mark.parametrize("padding", [(0, 0, 1, -5), (0, 0, -5, 1), (0, -5), (2, -7), (0, 0, -2, -2)])
def test_circular_padding_of_empty_tensors(padding: tuple[int, ...]) -> None:
    agree_on(F + "pad", torch.arange(60.0).reshape(1, 3, 4, 5)[..., : len(padding) * 3, :], padding, mode="circular")


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_strides_of_padding_are_torchs(mode: str) -> None:
    for shape in ((2, 3, 4, 5), (2, 3, 4)):
        for x in layouts(shape):
            agree_on(F + "pad", x, (1, 0, -1, 2), mode, how={"strides": True})


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_padding_of_long_rows(mode: str) -> None:
    """An index of whole rows would be large, so only the edges are gathered."""
    for x in layouts((2, 9000, 3)):
        for counts in ((2, 1, 500, 3), (0, 0, 0, 40), (1, 0, 7, -20), (0, 1, -7, 0)):
            agree_on(F + "pad", x[None], counts, mode, how={"strides": True})


def test_bin_edges_of_a_histogram_are_a_copy() -> None:
    bins = ft.arange(4.0)
    ft.histogram(ft.ones(2), bins).bin_edges.zero_()
    assert bins.tolist() == [0, 1, 2, 3]


def test_copy_to_another_device_keeps_strides() -> None:
    x = ft.arange(24).reshape(2, 3, 4)
    for t in (x.permute(2, 0, 1), x[:, ::2].mT, x[:1].expand(2, 3, 4), x[:, :0]):
        moved = t.to("cpu")
        assert moved.device != t.device
        assert moved.stride() == moved.to(t.device).stride() == t.clone().stride()
        assert moved.tolist() == t.tolist()


INDEX, TABLE, AT = torch.tensor([0, 1, 2, 4]), torch.arange(15.0).reshape(5, 3), [0, 2]


@pytest.mark.parametrize(
    ("index", "table", "offsets", "named"),
    [
        (INDEX, TABLE, [1, 2], {}),
        (INDEX, TABLE, [0, 5], {}),
        (INDEX, TABLE, [0.0, 2.0], {}),
        (INDEX, TABLE[0], AT, {}),
        (INDEX + 3, TABLE, AT, {}),
        (INDEX - 1, TABLE, AT, {}),
        (INDEX, TABLE, AT, {"padding_idx": 7}),
        (INDEX, TABLE, AT, {"mode": "max", "sparse": True}),
        (INDEX, TABLE, AT, {"mode": "sum", "per_sample_weights": torch.ones(4).double()}),
        (INDEX, TABLE, AT, {"mode": "sum", "include_last_offset": True}),
    ],
)
def test_embedding_bag(index: Any, table: Any, offsets: Any, named: Any) -> None:
    agree_on(F + "embedding_bag", index, table, torch.tensor(offsets), **named)


def test_embedding_bag_index_dtypes() -> None:
    dtypes = torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool, torch.float32
    for of, other in itertools.product(dtypes, dtypes):
        index, starts = torch.tensor([0, 1, 1, 0]).to(of), torch.tensor([0, 1]).to(other)
        agree_on(F + "embedding_bag", index, TABLE, starts)
        agree_on(F + "embedding_bag", index, TABLE.clone(), starts, 1.0)
        if of is not torch.bool:
            agree_on(F + "embedding_bag", index.reshape(2, 2), TABLE)


def test_embedding_bag_of_no_bags() -> None:
    assert agree_on(F + "embedding_bag", INDEX, TABLE, torch.zeros(0, dtype=torch.int64))


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("corners", [False, True])
def test_grid_sample_of_nan(mode: str, padding: str, corners: bool) -> None:
    odd = [[NAN, 0.1, 0.3], [0.1, NAN, -0.2], [NAN] * 3, [INF, 0.1, 0.2], [-INF, 0.5, NAN]]
    far = [[7.3, -9.1, 2.2], [-30.7, 0.4, 5.0], [1e30, 0.3, 0.1]]
    for n in (2, 3)[: 1 if mode == "bicubic" else 2]:
        image = torch.arange(4.0**n).reshape(1, 1, *(4,) * n)
        grid = torch.tensor(odd + far)[:, :n].reshape(1, *(1,) * (n - 1), -1, n)
        agree_on(F + "grid_sample", image, grid, mode, padding, corners)


def layouts(shape: tuple[int, ...]) -> Iterator[Any]:
    """Yields a tensor of a shape in every memory order, with gaps, and expanded."""
    count = torch.Size(shape).numel()
    values = torch.sin(torch.arange(float(count)) * 7).reshape(shape)
    for order in itertools.permutations(range(len(shape))):
        back = [order.index(d) for d in range(len(shape))]
        yield values.permute(order).contiguous().permute(back)
    wide = torch.zeros([2 * n for n in shape])[(slice(None, None, 2),) * len(shape)]
    yield wide.copy_(values)
    yield values[:1].expand(shape)
    yield values[..., :1].expand(shape)


IMAGES = [(2, 3, 4, 5), (2, 3, 4, 1), (2, 1, 4, 5), (1, 3, 4, 5)]
LINES = [(2, 3, 4), (2, 3, 1), (1, 3, 4)]


@pytest.mark.parametrize(
    ("name", "args", "named", "shapes"),
    [
        ("unique", (), {"dim": 1}, LINES),
        ("unique_consecutive", (), {"dim": 2}, LINES),
        (F + "batch_norm", (None, None, None, None, True), {}, LINES + IMAGES),
        (F + "instance_norm", (), {}, [(2, 3, 4), (2, 3, 4, 5)]),
        (F + "group_norm", (1,), {}, IMAGES),
        (F + "max_pool1d", (1,), {"return_indices": True}, LINES),
        (F + "avg_pool1d", (1,), {}, LINES),
        (F + "adaptive_avg_pool1d", (2,), {}, LINES),
        (F + "adaptive_max_pool1d", (1,), {}, LINES),
        (F + "adaptive_max_pool2d", ((2, 1),), {"return_indices": True}, IMAGES),
        (F + "adaptive_avg_pool2d", (1,), {}, IMAGES),
        (F + "adaptive_avg_pool3d", ((2, 1, 1),), {}, [(2, 3, 4, 2, 2)]),
        (F + "max_pool2d", (1,), {}, IMAGES),
        (F + "avg_pool2d", (1,), {}, IMAGES),
        (F + "interpolate", (), {"size": (2, 1), "mode": "area"}, IMAGES),
        (F + "interpolate", (), {"size": (1, 1), "mode": "bilinear"}, IMAGES),
        (F + "interpolate", (), {"size": 3, "mode": "area"}, LINES),
        ("channel_shuffle", (1,), {}, IMAGES),
        ("pixel_shuffle", (1,), {}, IMAGES),
        ("pixel_unshuffle", (1,), {}, IMAGES),
    ],
)
def test_strides_of_results_are_torchs(name: str, args: Any, named: Any, shapes: Any) -> None:
    for shape in shapes:
        for x in layouts(shape):
            near = {"rtol": 1e-4, "atol": 1e-4}
            agree_on(name, x, *args, how={"strides": True, **near}, **named)


def test_strides_of_rms_norm_are_torchs() -> None:
    for x in layouts((2, 3, 4)):
        agree_on(F + "rms_norm", x, (4,), how={"strides": True})


def test_grid_of_any_layout() -> None:
    for grid in layouts((2, 3, 2, 2)):
        agree_on(F + "grid_sample", torch.ones(2, 1, 4, 5), grid, align_corners=False, how={"strides": True})


@pytest.mark.parametrize("name", ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"])
def test_shuffle_by_one_is_a_copy(name: str) -> None:
    x = ft.ones(1, 4, 2, 2)
    getattr(ft, name)(x, 1).zero_()
    assert x.sum().item() == 16


@pytest.mark.parametrize(("shape", "strides"), [((0, 1, 2), (2, 2, 1)), ((2, 0, 1), (1, 1, 1)), ((3, 1), (1, 3))])
@pytest.mark.parametrize(
    "case",
    ["x * 2", "2 - x", "x > 1", "x**2", "x**1.7", "2**x", "x.clamp(0, 1)", "x.clamp_min(1)", "x.clamp(max=1)",
     "x.lerp(x, 0.5)"],
)  # fmt: skip
def test_a_number_orders_dims_of_size_1_where_it_is_an_operand_in_torch(
    case: str, shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    mine, theirs = (eval(case, {"x": m.ones(9).as_strided(shape, strides)}) for m in (ft, torch))
    assert mine.stride() == theirs.stride()
