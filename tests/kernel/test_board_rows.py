"""softmax and layer norm as boards compute them, with rows kept on the chip; compared with
torch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor._device import default_backend  # noqa: E402
from ftensor.execute.sort import is_board as on_board  # noqa: E402
from ftensor.kernels.skeletons.whole_rows import WholeRowsKey  # noqa: E402
from ftensor.runtime.launch_cache import is_available  # noqa: E402
from ftensor.toolchain import trace  # noqa: E402

from ..oracle import ours, same  # noqa: E402

# Rows of whole beats or not, shorter than a beat, of as many elements as there are states, and
# longer; several rows that share a beat.
SHAPES = ((9, 1), (3, 5), (5, 64), (7, 8), (3, 4, 196), (2, 4096), (33, 71))
EACH = [pytest.param(s, marks=[pytest.mark.core] if s == (33, 71) else []) for s in SHAPES]
LOOSE = {"rtol": 2e-6, "atol": 2e-6}
F, T = ft.nn.functional, torch.nn.functional


def rows(shape: tuple[int, ...]) -> torch.Tensor:
    torch.manual_seed(len(shape))
    return torch.randn(shape) * 3


def near(result: Any, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(torch.from_numpy(result.numpy()), wanted, **LOOSE)


@pytest.mark.parametrize("shape", EACH)
def test_softmax(shape: tuple[int, ...]) -> None:
    x = rows(shape)
    near(F.softmax(ours(x), -1), T.softmax(x, -1))
    near(F.log_softmax(ours(x), -1), T.log_softmax(x, -1))


@pytest.mark.parametrize("shape", EACH)
def test_layer_norm(shape: tuple[int, ...]) -> None:
    """With and without weight and bias. The statistics are compared, too."""
    x, n = rows(shape), shape[-1]
    for affine in ((None, None), (torch.randn(n), None), (torch.randn(n), torch.randn(n))):
        mine = [None if y is None else ours(y) for y in affine]
        results = ft.native_layer_norm(ours(x), (n,), *mine, 1e-5)
        for one, wanted in zip(results, torch.native_layer_norm(x, (n,), *affine, 1e-5), strict=True):
            near(one, wanted)


def test_rows_with_nan_and_infinity() -> None:
    inf = float("inf")
    x = torch.tensor([[1.0, float("nan"), 2.0], [-inf] * 3, [inf, 1.0, 2.0], [-inf, 1.0, 2.0]])
    same(F.softmax(ours(x), 1).isnan(), T.softmax(x, 1).isnan(), exact=True)


def test_a_slice_and_two_dims() -> None:
    """Rows that begin inside a beat, and rows of several dims."""
    x = rows((5, 6, 7))
    near(F.softmax(ours(x)[1:], 2), T.softmax(x[1:], 2))
    near(F.layer_norm(ours(x)[2:], (6, 7)), T.layer_norm(x[2:], (6, 7)))


def test_board_uses_one_launch() -> None:
    """Rows that are longer, have gaps, or have another dtype use several."""
    if not on_board(ft.zeros(1)) or not is_available(default_backend(), WholeRowsKey(ft.float32)):
        pytest.skip("no board, or an image without a kernel for it")

    def entries(call: Any) -> list[str]:
        with trace.recording(1) as seen:
            call()
        return [launch.key.entry for launch in seen.launches]

    x, one = ft.ones(3, 20), ["ft_whole_rows_float32"]
    assert entries(lambda: F.softmax(x, 1)) == one
    assert entries(lambda: F.layer_norm(x, (20,), x[0])) == one
    for other in (ft.ones(1, 4097), ft.ones(20, 3).t(), x.half()):
        assert one[0] not in entries(lambda other=other: F.softmax(other, 1))
