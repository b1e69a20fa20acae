"""examples/network.py: the image's kernel has eager's accuracy, also on Xilinx's runtime."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from .. import forked

pytest.importorskip("torch", reason="the example trains its network with torch")
pytest.importorskip("sklearn", reason="the example's digits are those of scikit-learn")
EXAMPLE = Path(__file__).parents[2] / "examples" / "network.py"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_example_runs(tmp_path: Path) -> None:
    """Training, the eager network, and the image's kernel run in one process each."""
    env = {name: value for name, value in os.environ.items() if name not in ("FTENSOR_DEVICE", "FTENSOR_IMAGE")}
    done = forked.run(str(EXAMPLE), "--out", str(tmp_path), env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    eager = re.search(r"500 digits: eager (\d\d\.\d)%", done.stdout)
    image = re.search(r": accuracy (\d\d\.\d)%, the same scores", done.stdout)
    assert eager is not None and image is not None and eager[1] == image[1], done.stdout
    assert float(eager[1]) > 85
    rates = {name: float(n.replace(",", "")) for n, name in re.findall(r"^ +([\d,]+)  (\w.*)$", done.stdout, re.M)}
    assert rates["Kria KV260 by the model"] > 1e6
    assert len(rates) == 5 and min(rates.values()) > 0
    names = ("conv2d_0", "max_pool2d_1", "conv2d_2", "max_pool2d_3", "linear_4")
    assert all(re.search(rf"^ +{name} .* network\.py:\d+$", done.stdout, re.M) for name in names)
    for name in ("network.json", "network.weights", "network.toml", "network.cpp", "image/network.xclbin"):
        assert (tmp_path / name).is_file()
