"""Spatial ops without samples in torch's database, and their errors, against torch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor._device import default_backend  # noqa: E402

from ..oracle import agree_on, lookup, ours  # noqa: E402

SIZES = (9, 7, 6)
LOOSE = {"rtol": 2e-5, "atol": 2e-5}


def image(n: int, channels: int = 4, dtype: torch.dtype = torch.float32) -> Any:
    """Returns a batch of two, with n spatial dims."""
    torch.manual_seed(n)
    return torch.randn(2, channels, *SIZES[:n]).to(dtype)


def test_short_complex_sums_use_double_where_cheap() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(2, 3, 8, 9, dtype=torch.complex64), torch.randn(2, 3, 2, 5) * (3 + 4j)
    exact = torch.conv2d(x.to(torch.complex128), weight.to(torch.complex128))
    result = ft.conv2d(ours(x), ours(weight)).to_torch()
    spared = default_backend().target.spares_double
    torch.testing.assert_close(result, exact.to(x.dtype), rtol=1.3e-7 if spared else 1e-5, atol=0)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("prefix", ["", "nn.functional."])
def test_convolutions_under_both_names(n: int, prefix: str) -> None:
    x, bias = image(n), torch.randn(6)
    weight = torch.randn(6, 2, *(3, 2, 2)[:n])
    how = LOOSE
    agree_on(f"{prefix}conv{n}d", x, weight, bias, 2, "valid", 2, 2, how=how)
    agree_on(f"{prefix}conv{n}d", x[0], weight, padding="same", groups=2, how=how)
    weight = torch.randn(4, 3, *(3, 2, 2)[:n])
    agree_on(f"{prefix}conv_transpose{n}d", x, weight, bias, 3, 2, 1, 2, 2, how=how)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_max_pool_with_indices(n: int) -> None:
    x = image(n)
    for name in (f"max_pool{n}d_with_indices", f"max_pool{n}d"):
        more = {} if name.endswith("indices") else {"return_indices": True}
        agree_on(f"nn.functional.{name}", x, 3, 2, 1, 2, True, **more)
        agree_on(f"nn.functional.{name}", x[0], 2, **more)
    agree_on(f"max_pool{n}d", x, 3, 2, 1)


def test_max_pool_of_minus_infinity() -> None:
    x = torch.full((1, 4, 5), float("-inf"))
    assert agree_on("nn.functional.max_pool2d", x, 3, 1, 1, return_indices=True)
    assert agree_on("nn.functional.max_pool2d", x, 3, 2, 1, 2, return_indices=True)
    assert not agree_on("nn.functional.max_pool2d", x, 3, 2, 2, 2)
    assert not agree_on("nn.functional.max_pool1d", x[0], 3, 2, 2, 2)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("p", [1, 2, 3.0])
def test_lp_pool(n: int, p: float) -> None:
    agree_on(f"nn.functional.lp_pool{n}d", image(n), p, 3, 2, how=LOOSE)
    agree_on(f"nn.functional.lp_pool{n}d", image(n), p, 2, ceil_mode=True, how=LOOSE)


def test_avg_pool_alias() -> None:
    agree_on("avg_pool1d", image(1), 3, 2, 1, True, False)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 4, 6, 8])
def test_adaptive_pools(n: int, size: int) -> None:
    x = image(n)
    for name in (f"adaptive_max_pool{n}d", f"adaptive_max_pool{n}d_with_indices"):
        more = {} if name.endswith("indices") else {"return_indices": True}
        agree_on(f"nn.functional.{name}", x, size, **more)
    agree_on(f"nn.functional.adaptive_avg_pool{n}d", x[0], (None,) * (n - 1) + (size,), how=LOOSE)
    if n == 1:
        agree_on("adaptive_max_pool1d", x, size)
        agree_on("adaptive_avg_pool1d", x, size, how=LOOSE)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_fractional_max_pool(n: int, size: int) -> None:
    x, samples = image(n), torch.rand(2, 4, n)
    for name in (f"fractional_max_pool{n}d", f"fractional_max_pool{n}d_with_indices"):
        name = f"nn.functional.{name}"
        more = {"return_indices": True, "_random_samples": samples}
        agree_on(name, x, 2, size, **more)
        agree_on(name, x, (3, 1, 2)[:n], output_ratio=(0.4,) * n, **more)
        agree_on(name, x[0], 2, size, **{**more, "_random_samples": samples[:1]})
        assert not agree_on(name, x, 2, 9, **more)
        assert not agree_on(name, x, 2, **more)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_max_unpool(n: int) -> None:
    values, indices = lookup(torch.nn.functional, f"max_pool{n}d")(image(n), 2, return_indices=True)
    name = f"nn.functional.max_unpool{n}d"
    agree_on(name, values, indices, 2)
    agree_on(name, values, indices, 2, output_size=SIZES[:n])
    assert not agree_on(name, values, indices, 2, output_size=(20,) * n)
    assert not agree_on(name, values, indices + 999, 2)
    assert not agree_on(name, values, indices.int(), 2)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_fold(batch: tuple[int, ...]) -> None:
    x = torch.randn(*batch, 3, 9, 7)
    sizes = {"kernel_size": (3, 2), "dilation": (1, 2), "padding": (2, 1), "stride": (2, 1)}
    columns = torch.nn.functional.unfold(x, **sizes)
    agree_on("nn.functional.unfold", x, **sizes)
    agree_on("nn.functional.fold", columns, (9, 7), **sizes, how=LOOSE)
    assert not agree_on("nn.functional.fold", columns, (9, 9), **sizes)
    assert not agree_on("nn.functional.unfold", x, 20)


@pytest.mark.parametrize("name", ["upsample", "upsample_nearest", "upsample_bilinear", "interpolate"])
def test_interpolation_modes(name: str) -> None:
    agree_on(f"nn.functional.{name}", image(2), (5, 13), how=LOOSE)
    agree_on(f"nn.functional.{name}", image(2), scale_factor=1.7, how=LOOSE)
    assert not agree_on(f"nn.functional.{name}", image(2), 3, 2.0)
    assert not agree_on(f"nn.functional.{name}", image(2), (3, 3, 3))
    assert not agree_on(f"nn.functional.{name}", image(2))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("size", [(3, 13), (20, 2)])
def test_antialiased_interpolation(mode: str, size: Any) -> None:
    x, options = image(2), {"mode": mode, "antialias": True}
    agree_on("nn.functional.interpolate", x, size, **options, how=LOOSE)
    agree_on("nn.functional.interpolate", (x * 40 + 99).clamp(0, 255).byte(), size, **options)


def test_bicubic_interpolation_of_bytes() -> None:
    x = (torch.arange(96) * 101 % 251).byte().reshape(2, 3, 4, 4)
    assert agree_on("nn.functional.interpolate", x, 7, mode="bicubic")


@pytest.mark.parametrize(
    "odd",
    [
        {"mode": "linear"},
        {"mode": "trilinear"},
        {"mode": "cubic"},
        {"align_corners": True},
        {"antialias": True},
        {"mode": "lanczos"},
        {"recompute_scale_factor": True},
    ],
)
def test_invalid_interpolations_are_refused(odd: dict[str, Any]) -> None:
    assert not agree_on("nn.functional.interpolate", image(2), 5, **odd)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("corners", [False, True])
def test_grid_sample_and_affine_grid(n: int, corners: bool) -> None:
    theta = torch.randn(2, n, n + 1)
    size = (2, 4, 1, *SIZES[1:n])
    name = "nn.functional.affine_grid"
    agree_on(name, theta, size, corners, how=LOOSE)
    agree_on("affine_grid_generator", theta, size, corners, how=LOOSE)
    grid = torch.nn.functional.affine_grid(theta, size, corners)
    for padding in range(3):
        for mode in range(2 + (n == 2)):
            agree_on("grid_sampler", image(n), grid, mode, padding, corners, how=LOOSE)
    assert not agree_on(name, theta, (2, 4, 5))
    assert not agree_on(name, theta, (0, *size[1:]))
    assert not agree_on(name, theta.int(), size)
    assert not agree_on(name, theta[:, 1:], size)
    name = "nn.functional.grid_sample"
    assert not agree_on(name, image(n), grid[:1])
    assert not agree_on(name, image(n), grid, "cubic")
    assert not agree_on(name, image(n), grid, padding_mode="all")
    assert not agree_on(name, image(n), grid.double())


ODD = [
    ("conv2d", {"padding": "all"}),
    ("conv2d", {"padding": "same", "stride": 2}),
    ("conv2d", {"stride": (1, 2, 3)}),
    ("conv2d", {"stride": "a"}),
    ("conv2d", {"dilation": 9}),
    ("conv2d", {"groups": 3}),
    ("conv2d", {"bias": torch.ones(3)}),
    ("conv_transpose2d", {"output_padding": 2}),
    ("conv_transpose2d", {"padding": 9}),
    ("conv_transpose2d", {"groups": 3}),
]


@pytest.mark.parametrize(("name", "odd"), ODD)
def test_invalid_convolutions_are_refused(name: str, odd: dict[str, Any]) -> None:
    assert not agree_on(name, image(2), torch.randn(4, 4, 3, 2), **odd)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int32, torch.uint8])
def test_dtypes_of_convolutions(dtype: torch.dtype) -> None:
    weight = torch.ones(4, 4, 2, 2).to(dtype)
    agree_on("conv2d", image(2, dtype=dtype), weight)
    agree_on("conv_transpose2d", image(2, dtype=dtype), weight)


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0), (0, 0)])
def test_fractional_max_pool_without_results(sizes: tuple[int, int]) -> None:
    x = torch.rand(1, 2, 4, 4)
    expected = torch.nn.functional.fractional_max_pool2d_with_indices(x, 2, output_size=sizes)
    results = ft.nn.functional.fractional_max_pool2d_with_indices(ft.from_torch(x), 2, output_size=sizes)
    assert [tuple(r.shape) for r in results] == [tuple(e.shape) for e in expected]
    with pytest.raises(RuntimeError, match=r"output_size must not be negative, but is \(-1, 1\)"):
        ft.nn.functional.fractional_max_pool2d(ft.from_torch(x), 2, output_size=(-1, 1))
