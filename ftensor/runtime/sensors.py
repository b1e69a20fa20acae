"""Temperatures, voltages, currents and power of a board, as XRT's `xrt-smi examine` reports them."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import image as errors

if TYPE_CHECKING:
    from .discovery import DetectedDevice

TOOLS = ("xrt-smi", "xbutil")  # the name since XRT 2.18, and the one before
PATIENCE = 60  # seconds: a card that hangs must not hang the program


@dataclass(frozen=True)
class Rail:
    """A supply: volts and amperes, None where the board does not measure them."""

    volts: float | None
    amps: float | None


@dataclass(frozen=True)
class Sensors:
    """The sensors of a device: `temperatures` in degrees Celsius and `rails` by XRT's names,
    `power` and `max_power` in watts. `simulated` is True for constants that imitate a board."""

    temperatures: dict[str, float]
    rails: dict[str, Rail]
    power: float | None
    max_power: float | None
    warning: bool
    simulated: bool = False


# Of the software device and the C simulation: an idle card. No board was measured for it.
SIMULATED = Sensors(
    temperatures={"fpga0": 45.0, "int_vcc": 47.0, "fpga_hbm": 44.0},
    rails={"12v_pex": Rail(12.0, 1.5), "12v_aux": Rail(12.0, 0.4), "vccint": Rail(0.85, 11.0)},
    power=22.8,
    max_power=150.0,
    warning=False,
    simulated=True,
)


def read(device: DetectedDevice) -> Sensors:
    """Returns the sensors of a device. Raises RuntimeError for a device without sensors, or if
    XRT's tool fails."""
    if device.target.kind == "csim":
        return SIMULATED
    if device.target.name != "xilinx":
        raise errors.no_sensors(device.name)
    if getattr(device.open(), "emulated", False):
        return SIMULATED
    places = device.cl_platform.get_devices()
    return from_tool(places.index(device.cl_device))


def from_tool(index: int) -> Sensors:
    """Returns the sensors that XRT's tool reports of its device number `index`."""
    tool = next((path for name in TOOLS if (path := shutil.which(name))), None)
    if tool is None:
        raise errors.sensors_failed(TOOLS[0], index, "it is not in PATH")
    listed = _examine(tool, index)
    devices = listed.get("system", {}).get("host", {}).get("devices", [])
    if index >= len(devices):
        raise errors.sensors_failed(tool, index, f"it lists {len(devices)} devices")
    examined = _examine(tool, index, "-d", devices[index]["bdf"], "-r", "thermal", "electrical")
    try:
        return _parsed(examined["devices"][0])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise errors.sensors_failed(tool, index, f"its report lacks {error}") from None


def _examine(tool: str, index: int, *words: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"  # the tool writes reports to files only
        command = [tool, "examine", *words, "-f", "JSON", "-o", str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise errors.sensors_failed(tool, index, error) from None
        if done.returncode or not file.exists():
            raise errors.sensors_failed(tool, index, (done.stderr or done.stdout).strip()[-500:])
        try:
            report: dict[str, Any] = json.loads(file.read_text())
        except ValueError as error:
            raise errors.sensors_failed(tool, index, error) from None
    return report


def _parsed(device: dict[str, Any]) -> Sensors:
    """Returns the sensors of a device in the report; XRT writes all numbers as strings."""
    electrical = device["electrical"]
    rails = {
        rail["id"]: Rail(_present(rail.get("voltage", {}), "volts"), _present(rail.get("current", {}), "amps"))
        for rail in electrical["power_rails"]
    }
    temperatures = {one["location_id"]: _present(one, "temp_C") for one in device["thermals"]}
    return Sensors(
        {name: value for name, value in temperatures.items() if value is not None},
        {name: rail for name, rail in rails.items() if rail != Rail(None, None)},
        _number(electrical.get("power_consumption_watts")),
        _number(electrical.get("power_consumption_max_watts")),
        electrical.get("power_consumption_warning") in ("true", "yes", "1"),
    )


def _present(record: dict[str, Any], name: str) -> float | None:
    return _number(record.get(name)) if record.get("is_present") in ("true", True) else None


def _number(text: object) -> float | None:
    """Returns a number; None for "N/A" and other words."""
    try:
        return float(str(text))
    except ValueError:
        return None
