"""The examples run as programs: their output, their pictures, and equal accuracy on every
device."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.targets import TARGET, TURN, some

Image = pytest.importorskip("PIL.Image")
# The programs import it, which takes seconds.
pytestmark = pytest.mark.skipif(find_spec("sklearn") is None, reason="scikit-learn is not here")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def program(number: int) -> pytest.MarkDecorator:
    """Returns a mark for one of three programs: the default device runs all of them, other devices
    alternate."""
    mine = TARGET == "intel-cpu" or number == TURN % 3
    return pytest.mark.skipif(not mine, reason="the targets but the default one take turns")


def run(name: str, *arguments: str | Path, cwd: Path | None = None) -> str:
    """Returns the output of an example, run in another folder than its own."""
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    cwd = cwd or next(Path(a) for a in arguments if isinstance(a, Path))
    # The programs import the checkout's ftensor, whatever is installed. Several torch threads would
    # spin while they wait.
    env = os.environ | {"PYTHONPATH": str(EXAMPLES.parent), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=cwd, env=env, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def pixels(path: Path) -> np.ndarray:
    """Returns a picture's values. Reading all of them proves that the file is complete."""
    with Image.open(path) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB")).astype(np.int16)


def device_name(output: str) -> str:
    """Returns the device in an example's output."""
    match = re.search(r"^ftensor's device: (.+) \(kernels", output, re.M)
    assert match, output
    return match[1]


@program(0)
def test_example_digits(tmp_path: Path) -> None:
    """Distances of integers are exact, so the accuracy is equal on every device."""
    import ftensor as ft

    output = run("digits.py", "--out", tmp_path)
    assert re.findall(r"^accuracy: .*?,", output, re.M) == ["accuracy: 0.962,"]
    assert device_name(output) == ft.fpga.get_device_name()
    for way in ("broadcasting", "matmul"):
        assert f"by {way}: ftensor and NumPy give all 797 digits the same names" in output
        assert re.search(rf"^time of {way} +ftensor +[\d.]+ ms +NumPy +[\d.]+ ms", output, re.M)
    picture = pixels(tmp_path / "digits.png")
    red = (picture[..., 0] > 200) & (picture[..., 1] < 60) & (picture[..., 2] < 60)
    # 30 of 797 are wrong: 3.8 %. They come first, so red is in the legend and in the first two
    # rows.
    assert red[62 : 62 + 2 * 62].any()
    assert not red[62 + 2 * 62 :].any()
    if TARGET == "intel-cpu":  # the option does not depend on the device
        assert "time of" not in run("digits.py", "--out", tmp_path, "--once")


@program(1)
@pytest.mark.parametrize("image", some(["china.jpg", "flower.jpg"], 2))
def test_photo(tmp_path: Path, image: str) -> None:
    """Shadows are brighter, edges are where the picture changes, and the left half is the
    original."""
    import ftensor as ft

    output = run("photo.py", "--image", image, "--out", tmp_path)
    assert device_name(output) == ft.fpga.get_device_name()
    edges, tones = pixels(tmp_path / "edges.png")[24:], pixels(tmp_path / "tones.png")[24:]
    width = (edges.shape[1] - 12) // 2
    before, detected, mapped = edges[:, :width], edges[:, width + 12 :], tones[:, width + 12 :]
    assert np.array_equal(before, tones[:, :width])
    assert detected.max() == 255
    assert np.median(detected) < 30
    change = np.abs(np.diff(before.mean(2), axis=1))[1:-1, :-1]
    strength = detected.mean(2)[1:-1, 1:-1]
    assert strength[change > 60].mean() > 4 * strength[change < 5].mean()
    dark = before.mean(2) < 80
    assert mapped[dark].mean() > before[dark].mean() + 5


@program(2)
def test_network_trained_by_torch(tmp_path: Path) -> None:
    """The probabilities are torch's, and most digits are classified correctly."""
    pytest.importorskip("torch", reason="torch trains the network")
    import ftensor as ft

    output = run("cnn.py", "--epochs", "6", cwd=tmp_path)
    assert f"ftensor's device: {ft.fpga.get_device_name()}" in output
    match = re.search(r"accuracy on 797 digits: ([\d.]+)\n.*probabilities: ([\d.e-]+)\n", output)
    assert match, output
    assert float(match[1]) > 0.7 and float(match[2]) < 1e-5


@pytest.mark.skipif(
    TARGET != "intel-cpu",
    reason="two epochs' kernels take a minute and more; tests/flow/test_lenet.py trains on images",
)
@pytest.mark.long
@pytest.mark.parametrize("name", ["cnn", "transformer"])
def test_training_by_torch(tmp_path: Path, name: str) -> None:
    """The losses equal those on the CPU, no op runs on the host, and curves are drawn."""
    pytest.importorskip("torch", reason="torch trains the networks")
    import ftensor as ft

    output = run(f"torch_{name}.py", "--epochs", "1", "--batches", "2", "--out", tmp_path)
    assert f"ftensor's device: {ft.fpga.get_device_name()}" in output
    rows = re.findall(r"^ +[12] +([\d.]+) +([\d.]+)$", output, re.M)
    assert len(rows) == 2 and all(abs(float(a) - float(b)) < 1e-4 for a, b in rows), output
    assert "no op has fallen back to the host" in output
    picture = pixels(tmp_path / f"{name}.png")
    for colour in ((255, 140, 0), (0, 0, 128)):
        assert (picture == colour).all(-1).sum() > 100
