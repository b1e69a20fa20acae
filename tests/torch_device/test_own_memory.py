"""A device whose memory the host can't access: every exchange copies."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F

import ftensor.torch
from ftensor._device import default_backend, detected_device
from ftensor.torch.fallback import run
from ftensor.torch.internals import overload
from ftensor.torch.memory import device_of_calls

from .device import agree, quiet, same  # noqa: F401


@pytest.fixture(autouse=True, scope="module")
def board() -> Iterator[None]:
    """Treats the device as if its memory were not the host's."""
    backend = default_backend()
    if not hasattr(backend, "cl_device"):
        pytest.skip("C simulation always shares the host's memory")
    if not backend.host_shared:
        yield
        return
    platform = backend.cl_device.platform
    apart = type(backend)(backend.target, platform, backend.cl_device, host_shared=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detected_device(device_of_calls()), "_backend", apart)
        yield
        apart.synchronize()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.complex64])
def test_copies_to_and_from_separate_memory(dtype: torch.dtype) -> None:
    x = torch.arange(24).reshape(2, 3, 4).to(dtype)
    y = x.to("fpga")
    assert y.untyped_storage()._ft.ptr is None
    for view in (lambda t: t, lambda t: t.transpose(0, 2)[1:], lambda t: t[:, ::2, 1]):
        assert view(y).cpu().equal(view(x))
    z = torch.zeros(4, 3, 2, dtype=torch.float64, device="fpga")
    if not dtype.is_complex:
        z.copy_(x.permute(2, 1, 0))
        assert z.cpu().equal(x.permute(2, 1, 0).double())
    y[1:].transpose(1, 2).copy_(x[:1].transpose(1, 2))
    assert y.cpu()[1].equal(x[0])
    assert y[1, 2, 3].item() == x[0, 2, 3].item()


def test_the_host_computes_on_copies() -> None:
    x = torch.arange(6.0).to("fpga")
    ftensor.torch.fallback_report().reset()
    run(overload("add_.Tensor"), x[3:], x[:3])
    assert x.cpu().tolist() == [0, 1, 2, 3, 5, 7]
    (row,) = ftensor.torch.fallback_report()
    assert (row.bytes_to_host, row.bytes_back) == (24, 24)
    y = run(overload("view"), x, [2, 3])
    y.zero_()
    assert x.cpu().tolist() == [0] * 6
    out = torch.empty(0, device="fpga")
    assert run(overload("mul.out"), x + 1, 3, out=out).cpu().tolist() == [3] * 6


def test_gradients_in_separate_memory() -> None:
    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.max_pool2d(F.conv2d(x, w, padding=1).relu(), 2).softmax(-1).square().sum()

    args = torch.randn(2, 3, 8, 8, requires_grad=True), torch.randn(4, 3, 3, 3, requires_grad=True)
    agree(program, *args, fallback=False, atol=1e-4, rtol=1e-3)


def test_saving_and_sharing() -> None:
    x = torch.arange(4.0).to("fpga")
    file = io.BytesIO()
    torch.save([x, x[1:]], file)
    file.seek(0)
    a, b = torch.load(file)
    b.zero_()
    assert a.cpu().tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="memory of its own"):
        ftensor.torch.as_cpu(x)
    with pytest.raises(ValueError, match="memory of its own"):
        ftensor.torch.from_cpu(torch.ones(3))
    assert repr(x) == "tensor([0., 1., 2., 3.], device='fpga:0')"
