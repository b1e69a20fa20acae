"""The parts of torch's private interface that ftensor uses exist, and an untested torch is
refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ftensor.torch import internals


def test_another_version_is_refused() -> None:
    internals.check_version("2.13.1+cpu")
    for other in ("2.12.0", "2.14.0", "3.0.0"):
        with pytest.raises(ImportError, match=r"tested with torch 2\.13"):
            internals.check_version(other)


def test_ftensor_works_without_torch() -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import ftensor as ft\n"
        "assert ft.ones(3).sum().item() == 3\n"
        "try: import ftensor.torch\n"
        "except ImportError as error: assert 'torch==2.13' in str(error), error\n"
        "else: raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_importing_ftensor_does_not_import_torch() -> None:
    program = "import sys, ftensor\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_torch_loads_the_device_as_a_plugin() -> None:
    program = (
        "import torch, ftensor.torch_autoload as a\na.load()\nassert torch.ones(2, device='fpga').device.type == 'fpga'"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
