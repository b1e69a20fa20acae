"""The environment of a program: accelerator, seeds, streams, data loaders, the profiler,
messages."""

from __future__ import annotations

import copy
import gc
import importlib
import pickle
import subprocess
import sys
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from .device import quiet, same  # noqa: F401


def test_generator_of_the_device_is_refused() -> None:
    for call in (
        lambda: torch.Generator("fpga"),
        lambda: torch.Generator(device="fpga:0"),
        lambda: torch.Generator(torch.device("fpga")),
    ):
        with pytest.raises(RuntimeError, match=r"torch\.manual_seed"):
            call()


def test_generators_of_other_devices_are_torchs() -> None:
    g = torch.Generator().manual_seed(3)
    assert isinstance(g, torch.Generator) and isinstance(torch.default_generator, torch.Generator)
    assert type(g) is torch._C.Generator and not isinstance(3, torch.Generator)
    assert pickle.loads(pickle.dumps(g)).get_state().equal(g.get_state())
    assert pickle.loads(pickle.dumps(torch.Generator)) is torch.Generator
    assert torch.randn(2, generator=g).shape == (2,)

    class Own(torch.Generator):
        pass

    assert isinstance(Own(), Own) and not isinstance(g, Own)


def test_device_index_out_of_range_is_refused() -> None:
    x = torch.ones(2, device="fpga")
    for call in (
        lambda: x.to("fpga:1"),
        lambda: torch.ones(2).to("fpga:1"),
        lambda: x.fpga(1),
        lambda: torch.accelerator.set_device_index(1),
        lambda: torch.UntypedStorage(4, device="fpga:1"),
        lambda: torch.serialization.default_restore_location(x.cpu().untyped_storage(), "fpga:1"),
        lambda: torch.fpga.get_device_properties(1),
    ):
        with pytest.raises(RuntimeError, match=r"fpga:1 does not exist"):
            call()


def test_the_accelerator() -> None:
    x = torch.ones(100, device="fpga")
    accelerator = torch.accelerator
    gc.collect()  # what other tests have left
    accelerator.empty_cache()
    accelerator.empty_host_cache()
    accelerator.reset_peak_memory_stats()
    accelerator.reset_accumulated_memory_stats()
    assert accelerator.memory_allocated() == torch.fpga.memory_allocated() >= x.nbytes
    assert accelerator.memory_stats()["allocated_bytes.all.current"] >= x.nbytes
    free, total = accelerator.get_memory_info()
    assert 0 <= free <= total == torch.fpga.get_device_properties().total_memory
    accelerator.set_stream(accelerator.current_stream())


def test_capability_of_the_accelerator() -> None:
    supported = torch.accelerator.get_device_capability()["supported_dtypes"]
    assert {torch.float32, torch.bfloat16, torch.complex64} <= supported
    for dtype in supported:
        assert torch.zeros(2, device="fpga").to(dtype).dtype is dtype
    assert torch.quint8 not in supported


def test_modules_of_torch_cuda() -> None:
    for name in ("amp", "graphs", "memory", "random", "streams"):
        ours = importlib.import_module(f"torch.fpga.{name}")
        assert ours is getattr(torch.fpga, name)
        for each in ours.__all__:
            assert hasattr(getattr(torch.cuda, name), each.replace("FPGA", "CUDA")), each
            assert name == "amp" or getattr(torch.fpga, each) is getattr(ours, each)
    x = torch.ones(2, 2, device="fpga")
    with torch.fpga.amp.autocast(dtype=torch.bfloat16):
        assert (x @ x).dtype is torch.bfloat16
    assert torch.fpga.amp.GradScaler().scale(x.sum()).device.type == "fpga"
    with torch.fpga.device_of(x), torch.fpga.device_of(torch.ones(1)), torch.fpga.device_of(x.untyped_storage()):
        assert torch.fpga.current_device() == 0


def test_nested_statistics() -> None:
    x = torch.ones(100, device="fpga")
    gc.collect()  # what other tests have left
    nested = torch.fpga.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == torch.fpga.memory_allocated() >= x.nbytes
    assert nested["num_ooms"] == torch.fpga.memory_stats()["num_ooms"]


def test_memory_fraction() -> None:
    gc.collect()  # what other tests have left would make room later
    torch.fpga.empty_cache()
    total = torch.fpga.mem_get_info()[1]
    assert torch.fpga.get_per_process_memory_fraction() == 1
    kept = torch.ones(1 << 20, device="fpga")
    freed = torch.ones(1 << 20, device="fpga")
    del freed  # goes to the cache, beyond the limit set in the next line
    try:
        torch.fpga.set_per_process_memory_fraction((torch.fpga.memory_allocated() + (1 << 18)) / total)
        with pytest.raises(torch.OutOfMemoryError, match="the limit is"):
            torch.ones(1 << 20, device="fpga")
        assert torch.fpga.mem_get_info()[1] == total
        torch.fpga.set_per_process_memory_fraction(1.0)
        assert torch.ones(1 << 20, device="fpga")[-1] == kept[-1]
    finally:
        torch.fpga.set_per_process_memory_fraction(1.0)
    for wrong, error in ((1, TypeError), (1.5, ValueError), (-0.1, ValueError), (float("nan"), ValueError)):
        with pytest.raises(error, match="fraction"):
            torch.fpga.set_per_process_memory_fraction(wrong)


def test_aot_inductor_is_refused_with_an_alternative(tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 2).to("fpga")
    x = torch.ones(3, 4, device="fpga")
    with pytest.raises(Exception, match=r"AOTInductor can't package.*torch\.export\.save"):
        torch._inductor.aot_compile(torch.export.export(model, (x,)).module(), (x,))
    torch.export.save(torch.export.export(model, (x,)), tmp_path / "program.pt2")
    same(torch.export.load(tmp_path / "program.pt2").module()(x), model(x).cpu())


def test_flex_attention() -> None:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    inputs = torch.randn(3, 1, 1, 8, 4).unbind()
    ours = [x.to("fpga").requires_grad_() for x in inputs]
    mask = create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 8, 8, device="fpga")
    out = flex_attention(*ours, score_mod=lambda s, b, h, i, j: s * 2, block_mask=mask)
    out.sum().backward()
    theirs = [x.requires_grad_() for x in inputs]
    scores = theirs[0] @ theirs[1].mT  # scaled by 1/2, times 2
    right = scores.masked_fill(~torch.ones(8, 8).tril().bool(), -torch.inf).softmax(-1) @ theirs[2]
    right.sum().backward()
    same(out, right, atol=1e-5, rtol=1e-5)
    for a, b in zip(ours, theirs):
        same(a.grad, b.grad, atol=1e-5, rtol=1e-5)


def test_uninitialized_memory_of_deterministic_programs() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.empty(3, device="fpga").isnan().all()
        assert torch.empty(3, dtype=torch.int8, device="fpga").cpu().tolist() == [127] * 3
        grown = torch.ones(2, device="fpga").resize_(4).cpu()
        assert grown[:2].tolist() == [1, 1] and grown[2:].isnan().all()
    finally:
        torch.use_deterministic_algorithms(False)


def test_streams_and_events() -> None:
    x = torch.randn(32, 32, device="fpga")
    side, main = torch.fpga.Stream(), torch.fpga.current_stream()
    start, end = torch.fpga.Event(enable_timing=True), torch.fpga.Event(enable_timing=True)
    side.wait_stream(main)
    with side:
        assert torch.fpga.current_stream() is side
        start.record(side)
        y = x @ x
        end.record(side)
    assert torch.fpga.current_stream() is main
    main.wait_stream(side)
    y.record_stream(main)
    end.synchronize()
    assert start.elapsed_time(end) >= 0
    same(y, x.cpu() @ x.cpu(), atol=1e-3, rtol=1e-3)


def test_cpu_and_device_seeds_are_separate() -> None:
    torch.fpga.manual_seed_all(3)
    assert torch.fpga.initial_seed() == 3
    with torch.random.fork_rng(device_type="fpga"):
        first = torch.rand(3, device="fpga")
    assert first.equal(torch.rand(3, device="fpga"))


def test_the_default_device() -> None:
    torch.set_default_device("fpga")
    try:
        assert torch.tensor([1.0]).is_fpga and torch.nn.Linear(2, 2).weight.is_fpga
        (batch,) = next(iter(DataLoader(TensorDataset(torch.randn(6, 2)), batch_size=3)))
        assert batch.is_fpga
    finally:
        torch.set_default_device(None)


@pytest.mark.parametrize("pin", [False, True])
def test_data_loader_with_a_worker_process(pin: bool) -> None:
    torch.ones(2, device="fpga").sum().item()  # the device is open before the fork
    data = TensorDataset(torch.arange(12.0).reshape(6, 2))
    loader = DataLoader(data, 3, num_workers=1, pin_memory=pin, multiprocessing_context="fork")
    batches = torch.cat([batch.to("fpga", non_blocking=True) for (batch,) in loader])
    assert batches.cpu().equal(data.tensors[0])


def test_tensor_is_sent_to_another_process() -> None:
    x = torch.arange(4.0, device="fpga")
    y = pickle.loads(ForkingPickler.dumps(x[1:]))
    assert y.is_fpga and y.cpu().tolist() == [1, 2, 3]
    y.zero_()
    assert x.cpu().tolist() == [0, 1, 2, 3]


SENT = """
import torch, ftensor.torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset

def child(x, p, view, queue):
    view += 1  # the same memory as x
    queue.put((x.device.type, x.tolist(), type(p).__name__, p.requires_grad, view.tolist()))

if __name__ == "__main__":
    x, p = torch.arange(4.0, device="fpga"), torch.nn.Parameter(torch.ones(2, device="fpga"))
    context = mp.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(x, p, x.view(2, 2).t(), queue))
    process.start()
    found = queue.get()
    process.join()
    assert found == ("fpga", [1, 2, 3, 4], "Parameter", True, [[1, 3], [2, 4]]), found
    loader = DataLoader(TensorDataset(x), 2, num_workers=1, multiprocessing_context="spawn")
    assert [b.tolist() for (b,) in loader] == [[0, 1], [2, 3]]
"""


@pytest.mark.long
def test_tensors_for_spawned_processes(tmp_path: Path) -> None:
    """The child reads what was written before it started, and views share their memory."""
    program = tmp_path / "sent.py"
    program.write_text(SENT)
    subprocess.run([sys.executable, program], check=True, timeout=300)


def test_dlpack_of_the_device() -> None:
    x = torch.arange(6.0, device="fpga")[1:]
    for back in (torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)), torch.from_dlpack(x)):
        back += 1
    assert back.is_fpga and x.tolist() == [3, 4, 5, 6, 7]
    assert np.from_dlpack(x).tolist() == [3, 4, 5, 6, 7]
    with pytest.raises(BufferError, match="require gradient"):
        x.clone().requires_grad_().__dlpack__()


def test_the_profiler_names_the_ops() -> None:
    x = torch.randn(4, 4, device="fpga")
    with torch.profiler.profile(record_shapes=True, profile_memory=True) as profile:
        (x @ x).relu().sum()
    assert {"aten::mm", "aten::relu", "aten::sum"} <= {e.key for e in profile.key_averages()}


PRINTED = [
    torch.arange(3000.0).reshape(50, 60),
    torch.tensor(3.5),
    torch.empty(2, 0),
    torch.tensor([True, False]),
    torch.tensor([1e10, 1e-3]),
    torch.tensor([float("nan"), -1.0]),
    torch.randn(2, dtype=torch.complex64).conj(),
    torch.randn(2).bfloat16(),
    torch.randn(3, requires_grad=True),
]


@pytest.mark.parametrize("t", PRINTED, ids=range(len(PRINTED)))
def test_printing(t: torch.Tensor) -> None:
    text = repr(t.detach().to("fpga").requires_grad_(t.requires_grad))
    assert "device='fpga:0'" in text
    spare = str.maketrans("", "", ", \n")
    assert text.replace("device='fpga:0'", "").translate(spare) == repr(t).translate(spare)


def test_copies_of_parameters_and_optimizers() -> None:
    p = torch.nn.Parameter(torch.ones(3, device="fpga"))
    optimizer = torch.optim.Adam([p])
    p.sum().backward()
    optimizer.step()
    twin = copy.deepcopy(p)
    assert twin.is_fpga and twin.requires_grad and isinstance(twin, torch.nn.Parameter)
    state = pickle.loads(pickle.dumps(optimizer.state_dict()))
    optimizer.load_state_dict(state)
    assert optimizer.state[p]["exp_avg"].is_fpga


def test_messages_about_devices() -> None:
    x, host = torch.ones(3, device="fpga"), torch.ones(3)
    for call in (
        lambda: x + host,
        lambda: host.add_(x),
        lambda: torch.cat([x, host]),
        lambda: x.dot(host),
        lambda: torch.nn.Linear(3, 2).to("fpga")(host),
        lambda: x[None].gather(1, host[None].long()),
        lambda: torch.equal(x, host),
        lambda: torch.equal(host, x),
    ):
        with pytest.raises(RuntimeError, match="same device"):
            call()
    with pytest.raises(TypeError, match=r"Tensor\.cpu"):
        x.numpy()
