"""The built wheel works without the checkout: it contains the kernels and finds them."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from ftensor import __version__
from ftensor.kernels.source import hls_root

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "ftensor"


def run(*command: object, cwd: Path) -> str:
    """Returns a program's output; fails with its error output."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as pip builds it."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the wheel and this environment's dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    (packages,) = folder.glob("lib/python*/site-packages")
    pip = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", packages)
    run(*pip, wheel, cwd=folder)
    # The folders of this environment come after its own, and the checkout is not among them.
    others = [path for path in sys.path if "site-packages" in path]
    (packages / "dependencies.pth").write_text("\n".join(others) + "\n")
    return python


def test_wheel_holds_the_kernels(wheel: Path) -> None:
    """Every file of `hls/` is in `ftensor/hls/` with the same text."""
    files = [path for path in (ROOT / "hls").rglob("*") if path.suffix in (".h", ".toml", ".map")]
    assert len(files) > 4
    with zipfile.ZipFile(wheel) as archive:
        for file in files:
            name = "ftensor/" + file.relative_to(ROOT).as_posix()
            assert archive.read(name) == file.read_bytes(), name
        stubs = {f"ftensor/{p.relative_to(PACKAGE)}" for p in PACKAGE.rglob("*.pyi")}
        assert {"ftensor/py.typed", "ftensor/nn/functional.pyi", *stubs} <= {*archive.namelist()}
        stray = [name for name in archive.namelist() if not name.startswith("ftensor")]
    assert stray == []


def test_wheel_holds_the_pages(python: Path, tmp_path: Path) -> None:
    """Pages that a message names can be read with only the wheel."""
    page = (ROOT / "docs" / "performance-model.md").read_text()
    asked = "; ".join(f"main(['docs', {name!r}])" for name in ("performance-model", "docs/performance-model.md"))
    said = run(python, "-c", f"from ftensor.cli import main; {asked}", cwd=tmp_path)
    assert said == 2 * page


def test_wheel_has_the_version(wheel: Path) -> None:
    """The number comes from ftensor/_version.py."""
    assert wheel.name == f"ftensor-{__version__}-py3-none-any.whl"


def test_checkout_has_the_kernels_at_its_top() -> None:
    """The checkout, and so an editable installation, has no second copy."""
    assert hls_root() == ROOT / "hls"


def test_wheel_computes_from_another_folder(python: Path, tmp_path: Path) -> None:
    """The installed package uses its own kernels, not the checkout's."""
    program = (
        "import ftensor as ft; from ftensor.kernels.source import hls_root;"
        "print(ft.__file__); print(hls_root()); print(ft.arange(6.).reshape(2, 3).sum(1).tolist())"
    )
    module, kernels, result = run(python, "-c", program, cwd=tmp_path).splitlines()
    package = Path(module).parent
    assert python.parent.parent in package.parents
    assert Path(kernels) == package / "hls"
    assert result == "[3.0, 12.0]"


def test_wheel_has_the_command(wheel: Path, python: Path, tmp_path: Path) -> None:
    """The entry point exists, and so does `python -m ftensor`."""
    with zipfile.ZipFile(wheel) as archive:
        points = archive.read(f"ftensor-{__version__}.dist-info/entry_points.txt").decode()
    assert "ftensor = ftensor.cli:main" in points.splitlines()
    assert "devices" in run(python, "-m", "ftensor", "--help", cwd=tmp_path)
    run(python, "-m", "ftensor", "new", "mine", cwd=tmp_path)
    assert (tmp_path / "mine" / "ci.sh").read_text() == (ROOT / "examples" / "hls_project" / "ci.sh").read_text()


@pytest.mark.long  # the wheel computes above, the checkout's example in kernel/test_examples.py
def test_wheel_runs_the_demo(python: Path, tmp_path: Path) -> None:
    """The example is copied away from the checkout, and finds the wheel's ftensor."""
    pytest.importorskip("sklearn")
    for name in ("digits.py", "timing.py"):
        (tmp_path / name).write_text((ROOT / "examples" / name).read_text())
    output = run(python, "digits.py", "--once", "--out", "pictures", cwd=tmp_path)
    assert "accuracy: 0.962" in output
    assert (tmp_path / "pictures" / "digits.png").is_file()
