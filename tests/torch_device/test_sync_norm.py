"""Parts of SyncBatchNorm, which torch has only for accelerators, against batch normalization."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import ftensor.torch

from .device import quiet  # noqa: F401


@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-5), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("affine", [True, False])
def test_statistics_of_two_processes_combine(dtype: torch.dtype, close: float, affine: bool) -> None:
    """The processes have different numbers of samples. This test exchanges their statistics."""
    torch.manual_seed(0)
    x, grad = (torch.randn(5, 3, 4).to(dtype) for _ in range(2))
    norm = nn.BatchNorm1d(3, affine=affine)
    if affine:
        nn.init.normal_(norm.weight)
    wanting = x.float().requires_grad_()
    wanted = norm(wanting)
    wanted.backward(grad.float())
    ftensor.torch.fallback_report().reset()
    running = [torch.zeros(3, device="fpga"), torch.ones(3, device="fpga")]
    weight, bias = (None if t is None else t.detach().to("fpga") for t in (norm.weight, norm.bias))
    parts, grads = (t.to("fpga").split([2, 3]) for t in (x, grad))
    stats = [torch.batch_norm_stats(p, norm.eps) for p in parts]
    assert stats[0][0].dtype == torch.float32
    counts = torch.tensor([8.0, 12.0], device="fpga")
    means, rstds = (torch.stack(s) for s in zip(*stats))
    mean, rstd = torch.batch_norm_gather_stats_with_counts(parts[0], means, rstds, *running, 0.1, norm.eps, counts)
    actual = [torch.batch_norm_elemt(p, weight, bias, mean, rstd, norm.eps) for p in parts]
    torch.testing.assert_close(torch.cat(actual).cpu().float(), wanted.detach(), rtol=close, atol=close)
    for a, b in zip(running, (norm.running_mean, norm.running_var)):
        torch.testing.assert_close(a.cpu(), b)
    sums = [torch.batch_norm_backward_reduce(g, p, mean, rstd, weight, True, True, True) for g, p in zip(grads, parts)]
    dy, along, dw, db = (sum(s) for s in zip(*sums))
    whole = [
        torch.batch_norm_backward_elemt(g, p, mean, rstd, weight, dy, along, counts.int()) for g, p in zip(grads, parts)
    ]
    assert whole[0].dtype == dtype
    torch.testing.assert_close(torch.cat(whole).cpu().float(), wanting.grad, rtol=close, atol=close)
    if affine:
        torch.testing.assert_close(dw.cpu(), norm.weight.grad, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(db.cpu(), norm.bias.grad, rtol=1e-4, atol=1e-4)
    assert not ftensor.torch.fallback_report()


def test_equal_parts_and_running_statistics() -> None:
    x = torch.randn(4, 3, 2)
    results = []
    for device in ("cpu", "fpga"):
        running = [torch.zeros(3, device=device), torch.ones(3, device=device)]
        results.append([t.cpu() for t in (*torch.batch_norm_update_stats(x.to(device), *running, 0.1), *running)])
    torch.testing.assert_close(*results)
    here = x.to("fpga")
    mean, rstd = (t[None] for t in torch.batch_norm_stats(here, 1e-5))
    moved = [torch.zeros(3, device="fpga"), torch.ones(3, device="fpga")]
    found = torch.batch_norm_gather_stats(here, mean, rstd, *moved, 0.1, 1e-5, 8)
    torch.testing.assert_close([t.cpu() for t in found], [mean[0].cpu(), rstd[0].cpu()])
    torch.testing.assert_close([t.cpu() for t in moved], results[0][2:])


@pytest.mark.filterwarnings("ignore")
def test_quantization_aware_training() -> None:
    """torch's per-channel observers need the host, whose C++ resizes their buffers."""
    from torch.ao import quantization

    results = []
    for device in ("cpu", "fpga"):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3)).train()
        net.qconfig = quantization.get_default_qat_qconfig("x86")
        net = quantization.prepare_qat(net).to(device)
        x = torch.randn(2, 1, 4, 4).to(device)
        for _ in range(2):
            y = net(x)
        y.square().sum().backward()
        kept = {k: t for k, t in net.state_dict().items() if "fake_quant" in k}
        results.append([t.detach().cpu() for t in (y, *kept.values(), *[p.grad for p in net.parameters()])])
    torch.testing.assert_close(*results)
