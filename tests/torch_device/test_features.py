"""What a torch user does with a device, one feature after another, against the CPU."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import threading

import pytest
import torch

import ftensor as ft
import ftensor.torch
from ftensor.torch.memory import TO_FT

from .device import agree, quiet, same  # noqa: F401

DTYPES = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128, torch.bool,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_go_there_and_back(dtype: torch.dtype) -> None:
    x = torch.arange(-6, 6).reshape(3, 4).to(dtype)
    y = x.to("fpga")
    assert y.device == torch.device("fpga", 0) and y.is_fpga
    assert y.cpu().equal(x)
    assert y.t()[1:].cpu().equal(x.t()[1:])
    assert y.to(torch.float32).cpu().equal(x.to(torch.float32)) or dtype.is_complex


@pytest.mark.parametrize("dtype", list(TO_FT), ids=str)
def test_every_dtype_has_memory(dtype: torch.dtype) -> None:
    x = torch.tensor([[1.0, 0.0], [2.0, 3.0]]).to(dtype)
    y = torch.empty(2, 2, dtype=dtype, device="fpga")
    y.copy_(x)
    assert y.dtype is dtype and y.clone().t().cpu().float().equal(x.float().t())


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (2, 3, 4, 5)])
def test_shapes(shape: tuple[int, ...]) -> None:
    agree(lambda x: (x + 1, x.sum(), x.clone()), torch.randn(shape))


def test_conversions_between_devices() -> None:
    x = torch.randn(3, 4)
    assert x.to("fpga", torch.float64).cpu().equal(x.double())
    assert x.to("fpga").to("cpu", torch.int32).equal(x.int())
    y = torch.zeros(2, 3, 4, device="fpga", dtype=torch.int64)
    y.copy_(x)
    assert y.cpu().equal(torch.zeros(2, 3, 4, dtype=torch.int64).copy_(x))
    z = torch.zeros(4, 6)
    z[:, ::2].copy_(x.to("fpga").t())
    assert z[:, ::2].equal(x.t())


def test_channels_last_stays() -> None:
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    y = x.to("fpga")
    assert y.stride() == x.stride() and y.cpu().stride() == x.stride()
    assert y.is_contiguous(memory_format=torch.channels_last)
    made = torch.empty(2, 3, 4, 5, device="fpga", memory_format=torch.channels_last)
    assert made.stride() == x.stride()


def test_views_share_memory() -> None:
    def views(x: torch.Tensor) -> list[torch.Tensor]:
        a = x.view(3, 8)
        b = a.t()[2:6]
        c = x.unfold(1, 2, 1)
        b.mul_(2)
        c[0].zero_()
        x.select(0, 1).add_(x[0])
        x[..., 1:].neg_()
        return [x, a, b, c, x.unsqueeze(0).expand(2, -1, -1, -1), x.diagonal(), x.permute(2, 0, 1)]

    agree(views, torch.randn(2, 3, 4))


def test_a_view_knows_its_base() -> None:
    x = torch.zeros(4, device="fpga")
    y = x[1:]
    assert y._base is x and y.data_ptr() == x.data_ptr() + 4
    assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    y += 1
    assert x._version == y._version == 1
    del x
    gc.collect()
    assert y.cpu().tolist() == [1, 1, 1]


def test_in_place_and_out() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        out = torch.empty(0, device=x.device)
        torch.add(x, y, out=out)
        torch.mul(x, 2, out=x[:])
        x.clamp_(-1, 1)
        x[0] = 5
        x[x > 1] = 0
        y.fill_(3).sub_(x)
        kept, order = torch.empty(0, device=x.device), torch.empty(0, device=x.device).long()
        torch.sort(x, out=(kept, order))
        return [out, x, y, kept, order]

    agree(program, torch.randn(3, 4), torch.randn(3, 4))


@pytest.mark.parametrize("devices", [("fpga", "fpga"), ("cpu", "fpga"), ("fpga", "cpu")])
def test_a_copy_into_no_elements_must_fit(devices: tuple[str, str]) -> None:
    source, place = devices
    for shape, of in (((0, 4), (6,)), ((0, 4), (2, 4)), ((2, 0), (2, 3))):
        with pytest.raises(RuntimeError, match="size"):
            torch.zeros(shape, device=place).copy_(torch.zeros(of, device=source))
    torch.zeros(0, 4, device=place).copy_(torch.zeros(4, device=source))


def test_resizing() -> None:
    x = torch.arange(4.0, device="fpga")
    x.resize_(2, 4)
    assert x[0].cpu().tolist() == [0, 1, 2, 3] and x.shape == (2, 4)
    x.resize_(3)
    assert x.cpu().tolist() == [0, 1, 2]
    x.set_()
    assert x.numel() == 0
    x.set_(torch.ones(3, device="fpga"))
    assert x.cpu().tolist() == [1, 1, 1]


def test_gradients() -> None:
    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x @ w).tanh().mul(x[:, :1]).softmax(-1).log().sum()

    agree(program, torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True))


def test_gradients_of_views_and_in_place_ops() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y[0].mul_(y[1].detach().clone())
        y.t()[1:].add_(x.t()[1:] ** 2)
        return y.exp().sum()

    agree(program, torch.randn(3, 4, requires_grad=True))


def test_double_backward_and_hooks() -> None:
    seen = []
    x = torch.randn(4)
    found = []
    for device in ("cpu", "fpga"):
        leaf = x.detach().to(device).requires_grad_()
        leaf.register_hook(lambda g: seen.append(g.device.type))
        (grad,) = torch.autograd.grad((leaf**3).sum(), leaf, create_graph=True)
        grad.sum().backward()
        found.append(leaf.grad)
    same(found[1], found[0])
    assert seen == ["cpu", "cpu", "fpga", "fpga"]


def test_checkpointing() -> None:
    from torch.utils.checkpoint import checkpoint

    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return checkpoint(lambda a: (a @ w).tanh(), x, use_reentrant=False).sum()

    agree(program, torch.randn(3, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True))


def test_transforms() -> None:
    from torch.func import grad, jvp, vmap

    def program(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        def f(a: torch.Tensor) -> torch.Tensor:
            return (a.sin() * a).sum()

        return [grad(f)(x), vmap(grad(f))(x), *jvp(f, (x,), (y,))]

    agree(program, torch.randn(3, 4), torch.randn(3, 4))


def test_complex_and_lazy_conjugates() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        return [
            x.conj() @ y, x.conj() + y, x.conj().imag.clone(), torch.view_as_real(x * 2),
            x.conj().clone(), x.mH.contiguous(), x.abs(), (x.conj() * x).real.clone(),
        ]  # fmt: skip

    x, y = torch.randn(2, 3, 3, dtype=torch.complex64)
    agree(program, x, y)


def test_zero_dim_host_tensors_join() -> None:
    x = torch.randn(3)
    assert (x.to("fpga") * torch.tensor(2.0)).cpu().equal(x * 2)
    with pytest.raises(RuntimeError, match="same device"):
        x.to("fpga") + torch.ones(3)


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


def test_threads() -> None:
    wanted = torch.randn(8, 8)
    failed = []

    def work(seed: int) -> None:
        x = wanted.to("fpga").requires_grad_()
        for _ in range(10):
            ((x @ x).tanh() * seed).sum().backward()
        leaf = wanted.clone().requires_grad_()
        for _ in range(10):
            ((leaf @ leaf).tanh() * seed).sum().backward()
        if not torch.allclose(x.grad.cpu(), leaf.grad, atol=1e-4):
            failed.append(seed)

    threads = [threading.Thread(target=work, args=(k + 1,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_backward_pass_runs_in_the_thread_that_asks_for_it() -> None:
    seen: list[int] = []
    x = torch.ones(3, device="fpga", requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: seen.append(threading.get_ident()))
    y.sum().backward()
    assert seen == [threading.get_ident()]


@pytest.mark.parametrize("turn", range(5))
def test_a_forward_on_another_stream(turn: int) -> None:
    x, w = torch.randn(64, 64), torch.randn(64, 64) / 8
    a, b = x.to("fpga").requires_grad_(), w.to("fpga").requires_grad_()
    side = torch.fpga.Stream()
    with torch.fpga.stream(side):
        y = a
        for _ in range(5):
            y = (y @ b).tanh()
        loss = y.sum()
    loss.backward()
    x.requires_grad_()
    w.requires_grad_()
    y = x
    for _ in range(5):
        y = (y @ w).tanh()
    y.sum().backward()
    same([a.grad, b.grad], [x.grad, w.grad], atol=1e-3, rtol=1e-3)


def test_memory_is_given_back() -> None:
    def held() -> int:
        gc.collect()
        torch.fpga.synchronize()
        return torch.fpga.memory_allocated()

    def train() -> int:
        x = torch.randn(1000, device="fpga", requires_grad=True)
        for _ in range(3):
            (x.view(10, 100).tanh() * 2).sum().backward()
        return held()

    train()  # launches keep their geometry
    before = held()
    assert train() >= before + 8000
    assert held() == before


def test_what_cannot_be() -> None:
    with pytest.raises(RuntimeError, match="fpga:1"):
        torch.empty(2, device="fpga:1")
    with pytest.raises(NotImplementedError, match="resized"):
        torch.ones(2, device="fpga").untyped_storage().resize_(100)
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
