"""Uses of a device besides computing: saved modules, exchange, memory."""

from __future__ import annotations

import copy
import gc
import io
import pickle

import pytest
import torch

import ftensor as ft
import ftensor.torch

from .device import agree, quiet, same  # noqa: F401


def test_modules_save_load_and_copy() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    there = copy.deepcopy(model).to("fpga")
    x = torch.randn(5, 4)
    same(there(x.to("fpga")), model(x))
    file = io.BytesIO()
    torch.save(there.state_dict(), file)
    for place in ("fpga", "cpu", None):
        file.seek(0)
        state = torch.load(file, map_location=place)
        assert all(t.device.type == (place or "fpga") for t in state.values())
        assert all(t.cpu().equal(model.state_dict()[n]) for n, t in state.items())
    twin = copy.deepcopy(there)
    twin[0].weight.data.zero_()
    assert there[0].weight.cpu().equal(model[0].weight)
    t = pickle.loads(pickle.dumps(x.to("fpga")[1:]))
    assert t.device.type == "fpga" and t.cpu().equal(x[1:])


def test_shared_storages_stay_shared_when_loaded() -> None:
    x = torch.arange(6.0, device="fpga")
    file = io.BytesIO()
    torch.save([x, x[2:4]], file)
    file.seek(0)
    a, b = torch.load(file)
    b.zero_()
    assert a.cpu().tolist() == [0, 1, 0, 0, 4, 5]


def test_printing() -> None:
    x = torch.arange(4.0)
    assert repr(x.to("fpga")) == "tensor([0., 1., 2., 3.], device='fpga:0')"
    assert f"{x[2].to('fpga'):.2f}" == "2.00"


def test_exchange_with_ftensor() -> None:
    f = ft.arange(6, dtype=ft.float32)
    x = ftensor.torch.from_ftensor(f)
    y = ftensor.torch.from_ftensor(f[1:])
    x.add_(1)
    assert f.tolist() == [1, 2, 3, 4, 5, 6] and y.cpu().tolist() == [2, 3, 4, 5, 6]
    assert x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    assert x.untyped_storage()._cdata == y.untyped_storage()._cdata
    g = ftensor.torch.to_ftensor(x.view(2, 3).t())
    g.mul_(2)
    assert x.cpu().tolist() == [2, 4, 6, 8, 10, 12]
    assert ftensor.torch.from_ftensor(g).untyped_storage()._cdata == x.untyped_storage()._cdata


def test_host_and_device_share_memory() -> None:
    if not ft.fpga.get_device_properties().platform.startswith("Intel"):
        pytest.skip("the device has memory of its own")
    x = torch.arange(4.0)
    y = ftensor.torch.from_cpu(x)
    y += 1
    assert x.tolist() == [1, 2, 3, 4]
    x[0] = 9
    assert y.cpu().tolist() == [9, 2, 3, 4]
    z = ftensor.torch.as_cpu(y[1:])
    z.zero_()
    assert y.cpu().tolist() == [9, 0, 0, 0]


def test_memory_is_released() -> None:
    def held() -> int:
        gc.collect()
        torch.fpga.synchronize()
        return torch.fpga.memory_allocated()

    def train() -> int:
        x = torch.randn(1000, device="fpga", requires_grad=True)
        for _ in range(3):
            (x.view(10, 100).tanh() * 2).sum().backward()
        return held()

    train()  # launches keep their geometry buffers
    before = held()
    assert train() >= before + 8000
    assert held() == before


def test_unsupported_uses_are_refused() -> None:
    with pytest.raises(RuntimeError, match="fpga:1"):
        torch.empty(2, device="fpga:1")
    with pytest.raises(RuntimeError):
        torch.empty(2, device="fpga", pin_memory=True)
    with pytest.raises(RuntimeError, match="negative dimension"):
        torch.empty(-2, device="fpga")


def test_module_of_the_device() -> None:
    assert torch.fpga.is_available() and torch.fpga.device_count() == 1
    assert torch.fpga.current_device() == 0 and torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("fpga")
    torch.accelerator.synchronize()
    with torch.fpga.device(0), torch.device("fpga"):
        assert torch.ones(2).device.type == "fpga"
    event = torch.fpga.Event()
    event.record(torch.fpga.current_stream())
    event.synchronize()
    assert event.query()
    state = torch.fpga.get_rng_state()
    torch.fpga.set_rng_state(state)
    assert torch.fpga.get_device_properties().name == torch.fpga.get_device_name()
