"""Overlays: an image's kernels, registers, clocks and sensors, as PYNQ shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ftensor as ft
from ftensor.cli import main
from ftensor.runtime import sensors
from ftensor.runtime.targets import csim_compiler

from .emulation_host import emulate, output

pytestmark = pytest.mark.skipif(csim_compiler() is None, reason="needs a C++ compiler")

SOURCE = """
extern "C" void scale(const float *x, float *y, float by, int n)
{
    for (int i = 0; i < n; i++) y[i] = by * x[i];
}
extern "C" void tick(int *count) { count[0]++; }
"""
PROGRAM = """
import sys
import ftensor as ft
overlay = ft.fpga.Overlay(sys.argv[1])
x, y = ft.fpga.allocate(4, "f4"), ft.fpga.allocate(4, "f4")
x[:] = ft.arange(4.0)
overlay.scale.start(x, y, 3, 4).wait()
print(y.tolist(), overlay.scale.register_map.CTRL.AP_DONE, overlay.sensors().simulated)
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overlay")
    (folder / "own.cpp").write_text(SOURCE)
    assert main(["image", "pack", str(folder / "own.cpp"), str(folder / "own.xclbin")]) == 0
    return folder / "own.xclbin"


@pytest.fixture
def overlay(image: Path) -> Iterator[ft.fpga.Overlay]:
    before = ft.get_device_mapping()
    ft.set_device_mapping("csim")
    yield ft.fpga.Overlay(image)
    ft.set_device_mapping(before)


def test_kernels_are_attributes_by_kernel_and_unit(overlay: Any, image: Path) -> None:
    assert {"scale", "scale_1", "tick", "tick_1", "clocks"} <= set(dir(overlay))
    assert overlay.scale_1 is overlay.scale and overlay.path == str(image) and len(overlay.uuid) == 36
    assert overlay.scale.signature == "scale(const float *x, float *y, float by, int n)"
    unit = overlay.ip_dict["scale_1"]
    assert unit["type"] == "scale" and unit["registers"]["x"] == {
        "address_offset": 0x10, "size": 64, "type": "const float *"
    }  # fmt: skip
    assert set(overlay.clocks.values()) == {300.0}
    x, y = ft.arange(4.0), ft.zeros(4)
    overlay.scale.call(x, y, 2, 4)
    assert y.tolist() == [0, 2, 4, 6]


def test_registers_keep_arguments_and_start_the_kernel(overlay: Any) -> None:
    scale = overlay.scale
    registers = scale.register_map
    x, y = ft.arange(4.0), ft.zeros(4)
    with pytest.raises(ValueError, match="registers x, y, by, n are not set"):
        registers.CTRL.AP_START = 1
    registers.x, registers.y, registers.by, registers.n = x, y, 0.5, 3
    assert scale.read(0) == 0b1100 and y.tolist() == [0, 0, 0, 0]
    registers.CTRL.AP_START = 1
    scale.wait()
    assert y.tolist() == [0, 0.5, 1, 0] and scale.read(0) == 0b1110
    offset = overlay.ip_dict["scale_1"]["registers"]["n"]["address_offset"]
    scale.write(offset, 4)
    assert scale.read(offset) == registers.n == 4
    scale.write(0, 1)
    assert y.tolist() == [0, 0.5, 1, 1.5]
    assert "n = Register(value=4" in repr(registers) and "AP_DONE=1" in repr(registers)
    count = ft.zeros(1, dtype=ft.int32)
    overlay.tick.register_map.count = count
    for _ in range(3):
        overlay.tick.register_map.CTRL.AP_START = 1
    assert count.item() == 3


def test_values_too_large_for_a_register_are_refused(overlay: Any) -> None:
    registers = overlay.scale.register_map
    for name, value, error, said in (
        ("n", 2.5, TypeError, "takes an integer"),
        ("n", 2**40, ValueError, "its range"),
        ("x", ft.zeros(4).double(), TypeError, "float32, not of float64"),
        ("x", 4096, TypeError, "takes a tensor"),
        ("length", 4, AttributeError, "no register 'length'; it has x, y, by, n"),
    ):
        with pytest.raises(error, match=said):
            setattr(registers, name, value)
    assert registers.n is None
    for call, error, said in (
        (lambda: registers.length, AttributeError, "no register 'length'"),
        (lambda: registers.CTRL.AP_STOP, AttributeError, "CTRL.AP_STOP"),
        (lambda: setattr(registers.CTRL, "AUTO_RESTART", 1), AttributeError, "AUTO_RESTART"),
        (lambda: overlay.scale.write(0x8, 1), ValueError, "no register at 0x8; it has CTRL at 0x0, x at 0x10"),
        (lambda: overlay.scale.write("n", 1), TypeError, "offset in bytes, not 'n'; register_map"),
        (lambda: overlay.fir, AttributeError, "no kernel or compute unit 'fir'; it has scale"),
        (lambda: ft.fpga.Overlay("absent.xclbin"), FileNotFoundError, "absent.xclbin"),
        (lambda: ft.fpga.allocate(3, "u5"), TypeError, "dtype"),
    ):
        with pytest.raises(error, match=said):
            call()


def test_overlay_runs_on_the_software_device(image: Path) -> None:
    (image.parent / "host.py").write_text(PROGRAM)
    shown = output(emulate("python", image.parent / "host.py", str(image)))
    assert "[0.0, 3.0, 6.0, 9.0] 1 True" in shown


TOOL = """#!/bin/sh
for word in "$@"; do
    if [ "$before" = -o ]; then file=$word; fi
    if [ "$before" = -d ]; then device=$word; fi
    before=$word
done
if [ -n "$device" ]; then cp "{0}/$device.json" "$file"; else cp "{0}/list.json" "$file"; fi
"""
ELECTRICAL = {
    "power_rails": [
        {"id": "12v_aux", "voltage": {"volts": "12.170", "is_present": "true"},
         "current": {"amps": "0.512", "is_present": "true"}},
        {"id": "vcc1v2", "voltage": {"volts": "1.2", "is_present": "true"},
         "current": {"amps": "0.000", "is_present": "false"}},
        {"id": "mgt_vtt", "voltage": {"volts": "0.000", "is_present": "false"},
         "current": {"amps": "0.000", "is_present": "false"}},
    ],
    "power_consumption_watts": "23.421561", "power_consumption_max_watts": "N/A",
    "power_consumption_warning": "false",
}  # fmt: skip
THERMALS = [
    {"location_id": "pcb_top_front", "temp_C": "0", "is_present": "false"},
    {"location_id": "fpga0", "temp_C": "61", "is_present": "true"},
]


def test_sensors_of_a_board_agree_with_xrts_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "xrt-smi"
    tool.write_text(TOOL.format(tmp_path))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    listed = {"system": {"host": {"devices": [{"bdf": "0000:17:00.1"}, {"bdf": "0000:65:00.1"}]}}}
    (tmp_path / "list.json").write_text(json.dumps(listed))
    (tmp_path / "0000:65:00.1.json").write_text(
        json.dumps({"devices": [{"electrical": ELECTRICAL, "thermals": THERMALS}]})
    )
    found = sensors.from_tool(1)
    assert found == sensors.Sensors(
        {"fpga0": 61.0},
        {"12v_aux": sensors.Rail(12.17, 0.512), "vcc1v2": sensors.Rail(1.2, None)},
        23.421561,
        None,
        warning=False,
    )
    (tmp_path / "0000:17:00.1.json").write_text('{"devices": [{"thermals": []}]}')
    for index, said in ((2, "lists 2 devices"), (0, "lacks 'electrical'")):
        with pytest.raises(RuntimeError, match=said):
            sensors.from_tool(index)
    (tmp_path / "list.json").write_text("{")
    with pytest.raises(RuntimeError, match="sensors of device 0"):
        sensors.from_tool(0)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeError, match="not in PATH"):
        sensors.from_tool(0)


def test_devices_say_whether_their_sensors_are_real(overlay: Any) -> None:
    found = ft.fpga.sensors()
    assert found.simulated and overlay.sensors() == found
    assert ft.fpga.temperature() == round(found.temperatures["fpga0"])
    assert ft.fpga.power_draw() == round(1000 * (found.power or 0))
    ft.set_device_mapping("cpu")
    for call in (ft.fpga.sensors, ft.fpga.temperature, ft.fpga.power_draw):
        with pytest.raises(RuntimeError, match="has no sensors"):
            call()
