"""A user's way to a board: build an image, run programs with it, on the real XRT.

Programs of a compiling device run with an image, and have the C simulation's bits.
"""

from __future__ import annotations

import fcntl
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from ftensor.emulation.environment import available

from .. import forked

ROOT = Path(__file__).parents[2]
# A kernel of each kind; tests/flow/test_trace_agrees.py builds it, too.
FEW = str(Path(__file__).with_name("agreeing.toml"))
# The kernels with which networks are trained: too many for one image of a board, and good for
# tests.
TRAINING = str(Path(__file__).with_name("training.toml"))
# It covers every op, layout and dtype of an image. Results go to the file that is named first.
HEAD = """
import sys
import numpy as np
import ftensor as ft

rng = np.random.default_rng(7)
a, b = (ft.tensor(rng.standard_normal((32, 64), np.float32)) for _ in "ab")
n = ft.tensor(rng.integers(-99, 99, (32, 64)))
"""
SMALL = """
z = a.to(ft.complex64)
results = [
    a + b, a.t() * b.t(), a[:, 3:19] + b[:, 4:20], -a, z, z * z, z[:, ::3].conj().resolve_conj(),
    a[ft.tensor([5, 0, 7])], a[::2].contiguous(), a.clone().add_(b), ft.zeros(7), ft.arange(9.0),
]
sums = [a @ b.t(), b.sum(0), a.sum(1), a.sum(), ft.fft.fft(z)]
"""
LARGE = """
results = [
    a + b, a.t() * 3, a[:, 3:19] - b[:, 4:20], (a / b).abs(), a.exp(), b.tanh(), a.sigmoid(),
    ft.where(a < b, a, 0), a.half().float(), a.bfloat16().float(), n + 1, n.float().sqrt(),
    a.sum(), b.amax(0), a.amax(1), a.argmax(1), n.sum(1), a[:, n[0] % 64],
    a.clone().add_(b), a[::2].mul_(2),
]
# Folded in another order where the image has one layout for all widths; products rounded apart.
# Rows of ten elements begin within a port's beat.
ten = b[:, :10].contiguous().sum(0)
sums = [a @ b.t(), b.sum(0), ten, a.mean(1, keepdim=True), ft.nn.functional.softmax(a, dim=1)]
"""
SAVE = """
arrays = {f"result {k}": r.float() if r.dtype is ft.bfloat16 else r for k, r in enumerate(results)}
arrays |= {f"sum {k}": r for k, r in enumerate(sums)}
np.savez(sys.argv[1], **{name: r.numpy() for name, r in arrays.items()})
"""
WITHOUT_EXP = """
import warnings
import ftensor as ft

with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    x = ft.tensor([0.0, 1.0, 2.0]).exp()
    y = (x + x).exp().sum()
print([str(w.message).split(" ")[0] for w in seen if w.category.__name__ == "FallbackWarning"])
print([round(v, 3) for v in x.tolist()], x.device, y.item() > 1000)
ft.set_fallback("error")
try:
    x.exp()
except ft.KernelNotBuilt as failure:
    print("KernelNotBuilt", [w in str(failure) for w in ("exp", "float32", "ftensor build")])
"""

FRESH = """
import numpy as np
import ftensor as ft

n, kept = 100_000, []
a, b = ft.tensor(np.arange(n, dtype=np.float32)), ft.tensor(np.ones(n, np.float32))
for _ in range(20):
    kept.append(a + b)  # by four compute units, into a buffer that no kernel has had yet
print(sum(not np.array_equal(c.numpy(), np.arange(n) + 1) for c in kept), "of them wrong")
"""


def run(*words: str | Path, **settings: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    done = forked.run(*words, env=env, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def emulate(image: Path, *words: str | Path, **settings: str) -> str:
    return run("-m", "ftensor", "emulate", "--image", image, "--", sys.executable, *words, **settings)


def built(inventory: str, base: Path) -> Path:
    """Returns the image of an inventory. It is built once for all workers, which wait for each
    other here."""
    name = Path(inventory).stem
    folder = base / name
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run("-m", "ftensor", "build", "--target", "csim", "--inventory", inventory, "--out", folder)
    return folder / f"{name}.xclbin"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mine = tmp_path_factory.getbasetemp()
    base = (mine.parent if os.environ.get("PYTEST_XDIST_WORKER") else mine) / "road"
    base.mkdir(exist_ok=True)
    return base


@pytest.fixture
def needs_xrt() -> None:
    if why := available():
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", why
        pytest.skip(why)


def program(folder: Path, text: str) -> Path:
    (folder / "program.py").write_text(text)
    return folder / "program.py"


@pytest.mark.long
@pytest.mark.parametrize(("inventory", "calls"), [(FEW, SMALL), (TRAINING, LARGE)], ids=["few", "training"])
def test_xrt_has_the_bits_of_the_c_simulation(
    base: Path, tmp_path: Path, needs_xrt: None, inventory: str, calls: str
) -> None:
    image, script = built(inventory, base), program(tmp_path, HEAD + calls + SAVE)
    out = {name: tmp_path / f"{name}.npz" for name in ("compiled", "image", "xrt")}
    run(script, out["compiled"], FTENSOR_DEVICE="csim")
    simulated = {"FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": str(image)}
    run(script, out["image"], **simulated, FTENSOR_FALLBACK="error")
    emulate(image, script, out["xrt"], FTENSOR_FALLBACK="error")
    arrays = {name: np.load(path) for name, path in out.items()}
    for name, expected in arrays["compiled"].items():
        image_result, xrt_result = arrays["image"][name], arrays["xrt"][name]
        assert image_result.dtype == xrt_result.dtype == expected.dtype
        assert image_result.shape == xrt_result.shape == expected.shape
        assert xrt_result.tobytes() == image_result.tobytes(), name
        if name.startswith("sum"):
            np.testing.assert_allclose(image_result, expected, rtol=1e-5, atol=1e-6)
        else:
            assert image_result.tobytes() == expected.tobytes(), name


@pytest.mark.long
def test_digits_get_the_same_labels(base: Path, tmp_path: Path, needs_xrt: None) -> None:
    pytest.importorskip("sklearn")
    image, digits = built(TRAINING, base), ROOT / "examples" / "digits.py"
    here = run(digits, "--once", "--out", tmp_path / "here")
    there = emulate(image, digits, "--once", "--out", tmp_path / "there", FTENSOR_FALLBACK="error")
    answers = [re.findall(r"accuracy: ([\d.]+)", text) for text in (here, there)]
    assert answers[0] == answers[1] != []


def test_missing_kernels_run_on_the_host(base: Path, tmp_path: Path, needs_xrt: None) -> None:
    image, script = built(FEW, base), program(tmp_path, WITHOUT_EXP)
    lines = emulate(image, script).splitlines()
    assert lines == ["['exp']", "[1.0, 2.718, 7.389] fpga:0 True", "KernelNotBuilt [True, True, True]"]


def test_units_of_a_launch_do_not_overwrite_each_other(base: Path, tmp_path: Path, needs_xrt: None) -> None:
    """XRT sends a buffer that is not on the device with each unit's part of a launch."""
    image, script = built("steps", base), program(tmp_path, FRESH)
    assert emulate(image, script, FTENSOR_FALLBACK="error") == "0 of them wrong\n"
