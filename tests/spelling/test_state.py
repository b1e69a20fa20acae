"""Tensors in files, in pickles and in deep copies."""

from __future__ import annotations

import copy
import io
import json
import math
import os
import pickle
import random
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor import dtypes

from ..fuzz_files import trial
from ..oracle import torch

ALL = dtypes.ALL


def written(value: Any) -> bytes:
    file = io.BytesIO()
    ft.save(value, file)
    return file.getvalue()


def read(data: bytes) -> Any:
    return ft.load(io.BytesIO(data))


@pytest.mark.parametrize("of", ALL, ids=str)
def test_tensors_of_each_dtype_round_trip(of: ft.dtype, tmp_path: Path) -> None:
    t = ft.arange(6).reshape(2, 3).to(of).t()
    bits = of.bits
    ft.save([t, t[:0], t[0, 0]], tmp_path / "t.safetensors")
    whole, empty, one = ft.load(tmp_path / "t.safetensors")
    assert whole.dtype is of and ft.equal(whole.view(bits), t.contiguous().view(bits))
    assert whole.is_contiguous()
    assert empty.shape == (0, 2) and one.shape == () and one.dtype is of
    assert list(tmp_path.iterdir()) == [tmp_path / "t.safetensors"]


def test_nested_values_keep_their_structure() -> None:
    t = ft.arange(3)
    value = {"a": {"b": t}, "a.b": t + 1, 3: [None, True, 1, 2.5, "x", (t,)]}
    state = read(written(value))
    assert list(state) == ["a", "a.b", 3]
    assert state[3][:5] == [None, True, 1, 2.5, "x"] and type(state[3][5]) is tuple
    assert ft.equal(state["a"]["b"], t) and ft.equal(state["a.b"], t + 1)


def test_exchange_with_safetensors() -> None:
    other = pytest.importorskip("safetensors.torch", reason="the format's own library")
    t = {"x": torch.arange(6.0).reshape(2, 3), "y": torch.tensor([1, 2]).bfloat16()}
    mine = {name: ft.from_torch(x) for name, x in t.items()}
    theirs = other.load(written(mine))
    assert all(torch.equal(theirs[name], t[name]) for name in t)
    back = read(other.save(t))
    assert all(torch.equal(back[name].to_torch(), t[name]) for name in t)


def test_torchs_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    weight = torch.arange(6.0).reshape(2, 3).requires_grad_()
    torch.save({"weight": torch.nn.Parameter(weight), "step": 3}, path)
    state = ft.load(path)
    assert state["step"] == 3 and torch.equal(state["weight"].to_torch(), weight.detach())


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"w": torch.arange(6.0).view(2, 3), "b": torch.ones(2, dtype=torch.bfloat16)},
        lambda: {"t": torch.arange(4), "view": torch.arange(6.0).view(2, 3).t()},
    ],
    ids=["dict", "views"],
)
def test_torchs_files_from_before_1_6_are_read(make: Any) -> None:
    file, want = io.BytesIO(), make()
    torch.save(want, file, _use_new_zipfile_serialization=False)
    got = read(file.getvalue())
    assert list(got) == list(want)
    for name, t in want.items():
        assert torch.equal(got[name].to_torch(), t) and got[name].stride() == t.stride()
    with pytest.raises(ValueError, match="weights-only"):
        read(file.getvalue()[:-9])


def test_numpy_files_are_named_in_the_error(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    np.savez(tmp_path / "b.npz", a=np.arange(3))
    with pytest.raises(ValueError, match=r"a\.npy is an array that NumPy saved.*ft\.from_numpy\(numpy\.load\(path\)\)"):
        ft.load(tmp_path / "a.npy")
    with pytest.raises(ValueError, match=r"b\.npz is an archive of arrays that NumPy saved.*numpy\.load\(path\)"):
        ft.load(tmp_path / "b.npz")


def test_no_code_in_a_file_is_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "trap",)

    torch.save(Trap(), tmp_path / "bad.pt")
    torch.save(Trap(), tmp_path / "legacy.pt", _use_new_zipfile_serialization=False)
    for name in ("bad.pt", "legacy.pt"):
        with pytest.raises(ValueError, match="weights-only"):
            ft.load(tmp_path / name)
    (tmp_path / "bad.pickle").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match="neither"):
        ft.load(tmp_path / "bad.pickle")
    assert not (tmp_path / "trap").exists()


def test_error_names_a_value_that_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"layers\.1 is a set"):
        ft.save({"layers": [1, {2}]}, tmp_path / "t")
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself"):
        ft.save(endless, tmp_path / "t")
    absent = tmp_path / "absent" / "t"
    with pytest.raises(FileNotFoundError) as missing:
        ft.save(ft.ones(2), absent)
    assert missing.value.filename == str(absent)
    assert not list(tmp_path.iterdir())


def test_damaged_files_are_refused() -> None:
    """A truncated, changed or crafted file raises a ValueError, or has consistent content."""
    whole = written({"a": ft.arange(4), "b": [ft.ones(2, 3)]})
    for end in range(0, len(whole), 7):
        with pytest.raises(ValueError, match="file"):
            read(whole[:end])
    problems = [trial(random.Random(f"files:{n}")) for n in range(300)]
    assert not any(problems), next(filter(None, problems))


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2**62, 8], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        {"dtype": "F4", "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [0, 2**62, 2**62], "data_offsets": [0, 0]},
        {"dtype": "F32", "shape": [2]},
        [],
        "F32",
    ],
)
def test_false_headers_are_refused(entry: Any) -> None:
    text = json.dumps({"a": entry}).encode()
    with pytest.raises(ValueError, match="the file"):
        read(len(text).to_bytes(8, "little") + text + bytes(8))


def test_duplicate_names_are_refused() -> None:
    entry = '"a":{"dtype":"F32","shape":[1],"data_offsets":[%d,%d]}'
    text = f"{{{entry % (0, 4)},{entry % (4, 8)}}}".encode()
    with pytest.raises(ValueError, match="'a' is there more than once"):
        read(len(text).to_bytes(8, "little") + text + bytes(8))


@pytest.mark.parametrize(
    ("tree", "shape", "why"),
    [
        ({"complex": "a"}, [1000], "not float32"),
        ({"complex": "a"}, [], "not float32"),
        ({"other": [{"tensor": "a"}]}, [2], "other"),
        ([{"tensor": "a"}], [2], "without a kind"),
        ({"list": []}, [2], "no place for a"),
        ({"list": [{"tensor": "a"}] * 2}, [2], "'a'"),
        ({"dict": [["k", {"tensor": "a"}], ["k", 1]]}, [2], "keys"),
        ({"tensor": "b"}, [2], "'b'"),
    ],
)
def test_false_metadata_is_refused(tree: Any, shape: list[int], why: str) -> None:
    size = 4 * math.prod(shape)
    entry = {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}
    header = {"__metadata__": {"ftensor": json.dumps(tree)}, "a": entry}
    text = json.dumps(header).encode()
    with pytest.raises(ValueError, match=f"damaged.*{why}"):
        read(len(text).to_bytes(8, "little") + text + bytes(size))


@pytest.mark.parametrize("value", [{"__metadata__": 1}, [{"__metadata__": 1}]])
def test_every_name_round_trips(value: Any) -> None:
    """This includes the name that the format reserves."""
    inner = value if isinstance(value, dict) else value[0]
    inner["__metadata__"] = ft.arange(3)
    inner["__metadata___"] = ft.ones(1)
    state = read(written(value))
    state = state if isinstance(value, dict) else state[0]
    assert state["__metadata__"].tolist() == [0, 1, 2] and state["__metadata___"].item() == 1


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_shared_memory_stays_shared(again: Any) -> None:
    base = ft.arange(12.0).reshape(3, 4)
    row, turned = base[1], base.t()
    copied, its_row, its_turn = again((base, row, turned))
    its_row.zero_()
    assert copied.tolist()[1] == [0.0] * 4 and its_turn.stride() == (1, 4)
    assert its_turn[0, 1].item() == 0.0 and base[1, 0].item() == 4.0


def test_copies_keep_dtypes_and_own_their_memory() -> None:
    array = np.arange(4.0)
    original = ft.from_numpy(array)
    for copied in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        array[0] = 7.0
        assert copied.tolist() == [0.0, 1.0, 2.0, 3.0]
        array[0] = 0.0
    for of in ALL:
        t = pickle.loads(pickle.dumps(ft.ones(2, dtype=of)[1:]))
        assert t.dtype is of and t.tolist() == ft.ones(1, dtype=of).tolist()


def test_pickle_of_protocol_5_has_out_of_band_memory() -> None:
    original = ft.arange(4096.0)
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps((original, original[8:]), 5, buffer_callback=buffers.append)
    (buffer,) = buffers
    assert len(text) < 1000 and buffer.raw().nbytes == original.nbytes
    sent = np.array(buffer.raw())  # as another process would get it
    if original.data_ptr():  # the host shares the device's memory, so nothing was copied
        assert np.shares_memory(np.asarray(buffer.raw()), original.numpy())
    whole, part = pickle.loads(text, buffers=[sent.data])
    if original.data_ptr():
        assert whole.data_ptr() == sent.ctypes.data
    part.zero_()
    assert whole.sum().item() == sum(range(8)) and original[8].item() == 8
    fixed, _ = pickle.loads(text, buffers=[sent.tobytes()])  # read-only memory
    fixed += 1
    assert fixed[0].item() == 1 and pickle.loads(pickle.dumps(original, 5))[9].item() == 9


def test_links_and_pipes_are_kept(tmp_path: Path) -> None:
    x = ft.arange(4)
    file, link, pipe = tmp_path / "x", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(file)
    ft.save(x, link)
    assert link.is_symlink()
    assert ft.load(file).tolist() == ft.load(link).tolist() == x.tolist()
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        ft.save(x, pipe)
        assert os.read(end, 1 << 16) == file.read_bytes()
    finally:
        os.close(end)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
