"""`ft.device`, the default device of new tensors, and `ft.fpga`."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftensor as ft

devices = sys.modules["ftensor._device"]  # ft.device is the class


def run_output(code: str) -> str:
    """Returns the output of code in a new interpreter with this ftensor."""
    env = {**os.environ, "PYTHONPATH": str(Path(ft.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ft.device


@given(st.sampled_from(("fpga", "cpu")), st.none() | st.integers(0, 99))
def test_device_round_trips_through_its_forms(kind, index):
    device = ft.device(kind, index)
    assert (device.type, device.index) == (kind, index)
    for same in (
        ft.device(str(device)),
        ft.device(device),
        eval(repr(device), {"device": ft.device}),
        pickle.loads(pickle.dumps(device)),
    ):
        assert same == device
        assert hash(same) == hash(device)
    assert device != ft.device("cpu" if kind == "fpga" else "fpga", index)
    assert device != ft.device(kind, 100)
    assert device != str(device)


# The first example has to import torch, which keeps device indices in 8 bits (hence two digits).
@settings(deadline=None)
@given(st.from_regex(r"(fpga|cpu|xpu|)(:[-+ 0-9]{0,2}){0,2}", fullmatch=True))
def test_device_strings_are_valid_where_torchs_are(text):
    torch = pytest.importorskip("torch")
    try:
        expected = torch.device(text.replace("xpu", "not").replace("fpga", "cuda")).index
    except RuntimeError:
        with pytest.raises(RuntimeError, match="names no device"):
            ft.device(text)
    else:
        assert ft.device(text).index == expected


def test_invalid_devices_are_refused():
    for wrong in (None, 1.5, True, ["fpga"]):
        with pytest.raises(TypeError):
            ft.device(wrong)
    for arguments in (("cuda",), ("fpga", -1), (-1,), ("fpga:0", 1)):
        with pytest.raises(RuntimeError):
            ft.device(*arguments)
    with pytest.raises(TypeError):
        ft.device("fpga", "0")
    with pytest.raises(AttributeError):
        ft.device("fpga").index = 3
    assert ft.device(2) == ft.device("fpga:2")


def test_default_device():
    first = ft.device("fpga", 0)
    assert devices.current_device() == devices.resolve("fpga") == first
    assert devices.resolve("cpu:0") == ft.device("cpu")
    with ft.device("cpu") as outer:
        assert devices.current_device() == outer
        with ft.device("fpga"):
            assert devices.current_device() == first
        assert devices.current_device() == outer
    ft.set_default_device("cpu")
    try:
        assert ft.get_default_device() == ft.device("cpu")
        seen = []
        other = threading.Thread(target=lambda: seen.append(devices.current_device()))
        other.start()
        other.join()
        assert seen == [first]
    finally:
        ft.set_default_device(None)
    assert devices.current_device() == first


def test_device_index_out_of_range_is_an_error():
    count = ft.fpga.device_count()
    for use in (devices.resolve, devices.backend_of, ft.fpga.set_device, ft.fpga.get_device_name):
        with pytest.raises(RuntimeError, match=f"no device fpga:{count}"):
            use(f"fpga:{count}")
    with pytest.raises(RuntimeError, match="no device cpu:1"):
        devices.resolve("cpu:1")
    with pytest.raises(ValueError, match="'cpu'"):
        ft.fpga.synchronize("cpu")


@pytest.fixture
def everything():
    """Maps every device to an fpga:N, and restores the mapping."""
    before = ft.get_device_mapping()
    ft.set_device_mapping("explicit")
    yield ft.fpga.device_count()
    ft.set_device_mapping(before)


def test_tensors_from_before_a_mapping_are_on_the_same_device():
    """An index then means the same device as before."""
    x = ft.ones(2)
    before = ft.get_device_mapping()
    ft.set_device_mapping("explicit")
    ft.set_device_mapping(before)
    y = ft.ones(2)
    assert x.device is y.device and (x @ y).item() == 2


def test_mapping_without_matches_changes_nothing(everything):
    with pytest.raises(RuntimeError, match="no device for the mapping 'no such thing'"):
        ft.set_device_mapping("no such thing")
    assert ft.get_device_mapping() == "explicit"
    assert ft.fpga.device_count() == everything


def test_current_device_is_per_thread(everything):
    last = everything - 1
    with ft.fpga.device(last):
        assert ft.fpga.current_device() == last
        assert devices.current_device() == ft.device("fpga", last)
        with ft.fpga.device(-1), ft.fpga.device(None):
            assert ft.fpga.current_device() == last
        seen = []
        other = threading.Thread(target=lambda: seen.append(ft.fpga.current_device()))
        other.start()
        other.join()
        assert seen == [0]
        ft.set_device_mapping("explicit")  # an index of another mapping has no meaning
        assert ft.fpga.current_device() == 0
    assert ft.fpga.current_device() == 0


# ft.fpga


def test_streams_and_their_contexts():
    default = ft.fpga.current_stream()
    assert default is ft.fpga.default_stream()
    mine = ft.fpga.Stream(priority=-1)
    assert mine.priority == -1
    with ft.fpga.stream(mine) as entered:
        assert entered is mine
        assert ft.fpga.current_stream() is mine
        with ft.fpga.stream(None):
            assert ft.fpga.current_stream() is mine
        seen = []
        other = threading.Thread(target=lambda: seen.append(ft.fpga.current_stream()))
        other.start()
        other.join()
        assert seen == [default]
    assert ft.fpga.current_stream() is default
    start, end = ft.fpga.Event(enable_timing=True), ft.fpga.Event(enable_timing=True)
    start.record(mine)
    end.record(mine)
    ft.fpga.synchronize()
    assert start.elapsed_time(end) >= 0


def test_memory_is_counted():
    backend = devices.backend_of("fpga")
    gc.collect()  # what other tests have left
    ft.fpga.empty_cache()  # a free block might be larger
    before = ft.fpga.memory_allocated()
    storage = backend.allocate(1 << 20)
    assert ft.fpga.memory_allocated() - before == 1 << 20
    assert ft.fpga.memory_reserved() >= ft.fpga.memory_allocated()
    ft.fpga.reset_peak_memory_stats()
    del storage
    assert ft.fpga.memory_allocated() == before
    assert ft.fpga.max_memory_allocated() == before + (1 << 20)
    ft.fpga.empty_cache()
    stats = ft.fpga.memory_stats()
    assert stats["allocated_bytes.all.current"] == before
    assert ft.fpga.memory_reserved() < ft.fpga.max_memory_reserved()
    properties = ft.fpga.get_device_properties()
    assert properties.name == ft.fpga.get_device_name("fpga:0")
    assert 0 < properties.max_allocation <= properties.total_memory


def test_memory_queries_open_no_device():
    code = (
        "import ftensor as ft; ft.fpga.synchronize(); ft.fpga.empty_cache();"
        "print(ft.fpga.memory_allocated(), ft.fpga.memory_stats(), ft.fpga.is_available());"
        "from ftensor.runtime.discovery import find; print(any(f.opened for f in find()))"
    )
    assert run_output(code) == "0 {} True\nFalse"


def test_image_without_a_board_is_an_error():
    """Otherwise a program for a board would run on the host unnoticed."""
    program = "import ftensor as ft\nprint(ft.ones(2).sum().item())\n"
    root = str(Path(ft.__file__).parent.parent)
    environment = {**os.environ, "FTENSOR_IMAGE": "some.xclbin", "PYTHONPATH": root}
    for mapping, warned in (("auto", True), ("cpu", False)):
        environment["FTENSOR_DEVICE"] = mapping
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        if "ImageError" in done.stderr:
            pytest.skip("needs a machine where 'auto' is a device that compiles")
        assert done.stdout == "2.0\n"
        assert ("<string>:2: UserWarning: FTENSOR_IMAGE" in done.stderr) is warned
