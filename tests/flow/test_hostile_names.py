"""Files and folders whose names have characters that are special for compilers, shells and
loaders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ftensor.runtime import icd
from ftensor.runtime.discovery import find

from .. import forked

ROOT = Path(__file__).parents[2]
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
KERNEL = 'extern "C" void k(float *o, int n) { for (int i = 0; i < n; i++) o[i] = 1; }\n'
INVENTORY = '[[kernel]]\nops = ["neg"]\n'
# File names that g++ would read as options, and text that a shell would run.
FOLDER = "a b'\"$(touch ran)größe"
NAMES = ("-DX.cpp", "-o.cpp", "@list.cpp", f"{FOLDER}\n.cpp")
OWN = """
import ftensor as ft
for name in {names!r}:
    o = ft.zeros(2)
    ft.fpga.source(name)(o, 2)
    assert o.tolist() == [1, 1], name
"""


@needs
def test_sources_of_any_name_are_compiled(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(KERNEL)
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "PYTHONPATH": str(ROOT)}
    done = forked.run("-c", OWN.format(names=NAMES), env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(NAMES)


@needs
@pytest.mark.parametrize("folder", ["-o", "@list", FOLDER])
def test_images_are_built_into_any_folder(tmp_path: Path, folder: str) -> None:
    """The image is used from there."""
    (tmp_path / "mine.toml").write_text(INVENTORY)
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "PYTHONPATH": str(ROOT)}
    words = ("build", "--inventory", "mine.toml", "--target", "csim", f"--out={folder}")
    done = forked.run("-m", "ftensor", *words, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    env["FTENSOR_IMAGE"] = f"{folder}/mine.xclbin"
    done = forked.run("-c", "import ftensor as ft; print(ft.ones(3).neg().tolist())", env=env, cwd=tmp_path)
    assert done.stdout.strip() == "[-1.0, -1.0, -1.0]", done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([folder, "mine.toml"])


ONE = "import ftensor as ft; print((ft.ones(3) + 1).tolist())"


@pytest.mark.parametrize("device", ["csim", "intel-cpu", "pocl"])
def test_kernels_are_kept_in_any_folder(tmp_path: Path, device: str) -> None:
    """The cache and temporary folders have names with special characters. (The working directory
    has another name: Intel's compiler fails for a double quote followed by a space.)"""
    there = {found.target.name for found in find()}
    if device not in there:
        pytest.skip(f"{device} is not here")
    folder = tmp_path / FOLDER
    (folder / "tmp").mkdir(parents=True)
    env = {**os.environ, "FTENSOR_DEVICE": device, "PYTHONPATH": str(ROOT)}
    env |= {"FTENSOR_CACHE_DIR": str(folder / "cache"), "TMPDIR": str(folder / "tmp")}
    for _ in range(2):  # the second run finds it in the cache
        done = subprocess.run([sys.executable, "-c", ONE], env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout.strip() == "[2.0, 2.0, 2.0]", done.stderr
    assert any((folder / "cache").rglob("*")) and not list(tmp_path.rglob("ran"))


def test_intels_runtime_in_an_environment_of_any_name(tmp_path: Path) -> None:
    """It finds its parts by a path that it reads up to the first space. The environment's library
    folder is the same, below a folder with such a name."""
    runtime = icd.pip_runtime()
    if runtime is None or runtime.library is None:
        pytest.skip("Intel's CPU runtime is not installed by pip")
    environment = tmp_path / FOLDER
    (environment / "lib").mkdir(parents=True)
    library = runtime.library.resolve()
    for sibling in library.parent.iterdir():
        if sibling.name != library.name:
            (environment / "lib" / sibling.name).symlink_to(sibling)
    try:
        os.link(library, environment / "lib" / icd.INTEL_CPU_LIBRARY)
    except (FileExistsError, OSError):
        (environment / "lib" / icd.INTEL_CPU_LIBRARY).unlink(missing_ok=True)
        shutil.copy(library, environment / "lib" / icd.INTEL_CPU_LIBRARY)
    env = {**os.environ, "FTENSOR_DEVICE": "intel-cpu", "PYTHONPATH": str(ROOT)}
    env.pop("OCL_ICD_VENDORS", None)
    for cache in (tmp_path / "cache", environment / "cache"):
        program = f"import sys; sys.prefix = {str(environment)!r}\n{ONE}"
        env |= {"FTENSOR_CACHE_DIR": str(cache), "TMPDIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
        assert done.stdout.strip() == "[2.0, 2.0, 2.0]", done.stderr
