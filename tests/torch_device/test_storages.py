"""Resized storages, tensors that are not dense or are pinned, files, and out-of-memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import ftensor as ft
import ftensor.torch

from .device import agree, quiet  # noqa: F401


def test_resizing_a_storage_affects_all_its_tensors() -> None:
    """Fully sharded training frees parameters between their uses in this way."""
    x = torch.arange(6.0, device="fpga")
    view, storage, f = x.view(2, 3), x.untyped_storage(), ftensor.torch.to_ftensor(x)
    assert x.cpu().tolist() == [0, 1, 2, 3, 4, 5]  # the host's view of the memory is kept
    storage.resize_(0)
    assert (storage.nbytes(), storage.data_ptr(), x.shape) == (0, 0, (6,))
    storage.resize_(24)
    x.copy_(torch.arange(6.0))
    assert view.sum(1).tolist() == [3, 12] and view.cpu().tolist() == [[0, 1, 2], [3, 4, 5]]
    storage.resize_(40)
    assert torch.empty(0, device="fpga").set_(storage)[:6].tolist() == [0, 1, 2, 3, 4, 5]
    storage.resize_(12)
    assert torch.empty(0, device="fpga").set_(storage).tolist() == [0, 1, 2]
    assert f.tolist() == [0, 1, 2, 3, 4, 5]  # an ftensor tensor keeps the memory it was made of
    assert ftensor.torch.from_ftensor(f).tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="0 bytes or more, not -1"):
        storage.resize_(-1)


DENSE = torch.eye(2)
PARTS = torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([1.0])
REFUSED: dict[str, tuple[str, Callable[[torch.Tensor], Any]]] = {
    "coo": ("sparse", lambda x: x.to_sparse()),
    "csr": ("sparse", lambda x: x.to_sparse_csr()),
    "moved": ("sparse", lambda x: DENSE.to_sparse().to("fpga")),
    "made": ("sparse", lambda x: torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2), device="fpga")),
    "csr made": ("sparse", lambda x: torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), device="fpga")),
    "csr made without a size": ("sparse", lambda x: torch.sparse_csr_tensor([0, 1], [0], [1.0], device="fpga")),
    "csr of parts": ("sparse", lambda x: torch.sparse_csr_tensor(*[part.to("fpga") for part in PARTS])),
    "csc made": ("sparse", lambda x: torch.sparse_csc_tensor(*PARTS, (1, 1), device="fpga")),
    "bsr made": ("sparse", lambda x: torch.sparse_bsr_tensor(*PARTS[:2], x[:1, :1, None], (1, 1), device="fpga")),
    "bsc made": ("sparse", lambda x: torch.sparse_bsc_tensor(*PARTS[:2], x[:1, :1, None], (1, 1), device="fpga")),
    "compressed": ("sparse", lambda x: torch.sparse_compressed_tensor(*PARTS, layout=torch.sparse_csr, device="fpga")),
    "csr moved": ("sparse", lambda x: DENSE.to_sparse_csr().to("fpga")),
    "empty": ("sparse", lambda x: torch.empty(2, layout=torch.sparse_coo, device="fpga")),
    "product": ("sparse", lambda x: torch.sparse.mm(DENSE.to_sparse(), x)),
    "masked": ("sparse", lambda x: x.sparse_mask(DENSE.to_sparse())),
    "mkldnn": ("strided", lambda x: x.to_mkldnn()),
    "quantized": ("quantized", lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)),
    "quantized moved": ("quantized", lambda x: torch.quantize_per_tensor(x.cpu(), 0.1, 0, torch.qint8).to("fpga")),
    "nested": ("nested", lambda x: repr(torch.nested.nested_tensor([x[0], x[1]]))),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_tensors_that_are_not_dense_are_refused(name: str) -> None:
    kind, call = REFUSED[name]
    with pytest.raises(NotImplementedError, match=f"the device fpga has .*{kind}"):
        call(DENSE.to("fpga"))


def test_pinned_memory() -> None:
    """All CPU memory is equal for the device, and the device's own memory is not pinned."""
    for x in (torch.empty(2, pin_memory=True), torch.tensor([1.0], pin_memory=True), torch.ones(2).pin_memory()):
        assert x.is_pinned() and x.device.type == "cpu"
        x.resize_(1000).fill_(2)
        assert x.to("fpga", non_blocking=True).sum().item() == 2000
    here = torch.ones(2, device="fpga")
    assert not here.is_pinned()
    with pytest.raises(RuntimeError, match="nly dense CPU tensors can be pinned"):
        torch.zeros(2, device="fpga", pin_memory=True)
    with pytest.raises(RuntimeError, match=r"on fpga:0 .* can't be pinned; x.cpu\(\) gives one"):
        here.pin_memory()


def test_out_of_memory_is_an_error_of_torch_and_ftensor() -> None:
    for kind in (torch.OutOfMemoryError, ft.OutOfMemoryError):
        with pytest.raises(kind, match="has no room for"):
            torch.empty(1 << 60, dtype=torch.uint8, device="fpga")
        with pytest.raises(kind, match="has no room for"):
            torch.ones(2, device="fpga").expand(1 << 50, 2).clone()


def test_safetensors(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    whole = {"x": torch.arange(6.0).view(2, 3), "n": torch.tensor(3)}
    file = tmp_path / "whole.safetensors"
    safetensors.save_file({name: t.to("fpga") for name, t in whole.items()}, file)
    for device in ("fpga", torch.device("fpga", 0)):
        found = safetensors.load_file(file, device=device)
        assert {name: (t.device.type, t.tolist()) for name, t in found.items()} == {
            name: ("fpga", t.tolist()) for name, t in whole.items()
        }
    with safetensors.safe_open(file, "pt", device="fpga:0") as opened:
        part = opened.get_slice("x")[:, 1:]
        assert sorted(opened.keys()) == ["n", "x"] and part.device.type == "fpga"
        assert part.tolist() == [[1, 2], [4, 5]] and opened.get_tensor("n").device.type == "fpga"
    with pytest.raises(RuntimeError, match="fpga:1 does not exist"):
        safetensors.load_file(file, device="fpga:1")
    layer = torch.nn.Linear(3, 2).to("fpga")
    safetensors.save_model(layer, str(file))
    safetensors.load_model(layer, str(file), device="fpga")
    assert layer.weight.device.type == "fpga"
    assert {t.device.type for t in safetensors.load_file(file).values()} == {"cpu"}


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_mode_with_out(dim: int) -> None:
    def call(x: torch.Tensor) -> Any:
        out = torch.empty(0, device=x.device), torch.empty(0, dtype=torch.int64, device=x.device)
        return torch.mode(x, dim, out=out)[0], out[0]

    agree(call, torch.tensor([[1.0, 2, 2], [3, 3, 1]]), fallback=False)
