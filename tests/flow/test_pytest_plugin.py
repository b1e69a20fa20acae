"""`pytest --ftensor-emulate`: the pytest plugin, in separate runs of pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ftensor.emulation.environment import available
from ftensor.runtime.targets import csim_compiler

from .emulation_host import HANG, environment

emulates = pytest.mark.skipif(
    bool(available()) or csim_compiler() is None, reason="needs XRT, Linux on x86-64, and a C++ compiler"
)
VADD = """
extern "C" void vadd(const float *a, const float *b, float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i] + b[i];
}
extern "C" void far(int *out, int at) { out[at] = 1; }
"""
HOST = """
import sys, numpy, pyopencl as cl
(board,) = [p for p in cl.get_platforms() if p.name == "Xilinx"][0].get_devices()
context = cl.Context([board])
program = cl.Program(context, [board], [open(sys.argv[1], "rb").read()]).build()
queue = cl.CommandQueue(context)
out = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4096)
program.far(queue, (1,), (1,), out, numpy.int32(int(sys.argv[2])))
queue.finish()
"""


def run(folder: Path, tests: str, *options: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest with the plugin on a file of tests, in `folder`/cases."""
    cases = folder / "cases"
    cases.mkdir()
    (cases / "test_cases.py").write_text(tests)
    words = [sys.executable, "-m", "pytest", "-p", "ftensor_pytest", "-p", "no:cacheprovider", "-v", "-rs", *options]
    env = environment(PYTEST_ADDOPTS="", **extra)
    return subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=HANG, start_new_session=True
    )


def test_without_the_option_nothing_is_imported_and_emulated_tests_are_skipped(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "import sys, pytest\n"
        "def test_modules(): assert not {'ftensor', 'pyopencl'} & set(sys.modules)\n"
        "@pytest.mark.emulated\n"
        "def test_board(): assert False\n"
        "def test_image(ftensor_image): assert False\n",
        "--strict-markers",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 2 skipped" in done.stdout
    assert "needs an emulated board: pytest --ftensor-emulate" in done.stdout
    assert "needs an image: pytest --ftensor-emulate=FILE" in done.stdout


def test_marker_requests_a_board(tmp_path: Path) -> None:
    tests = "import pytest\n@pytest.mark.board\ndef test_board(): assert False\n"
    done = run(tmp_path, tests, FTENSOR_DEVICE="csim")
    assert done.returncode == 0 and "needs a board, or pytest --ftensor-emulate" in done.stdout, done.stdout


@emulates
def test_folder_after_the_option_has_tests_and_each_ends_with_a_wait(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "import pytest, ftensor as ft\n"
        "@pytest.mark.emulated\n"
        "def test_index(ftensor_device):\n"
        "    ft.set_index_check('deferred')\n"
        "    ft.ones(4, device=ftensor_device)[ft.tensor([9], device=ftensor_device)]\n"
        "@pytest.mark.board\n"
        "def test_sum(ftensor_device):\n"
        "    assert ft.fpga.get_device_properties(0).platform == 'Xilinx'\n"
        "    assert ft.ones(4, device=ftensor_device).sum().item() == 4\n",
        "--ftensor-emulate",
        "cases",
        FTENSOR_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "test_index FAILED" in done.stdout and "IndexError" in done.stdout
    assert "test_sum PASSED" in done.stdout and "1 failed, 1 passed" in done.stdout


@emulates
def test_failing_device_in_a_tests_program_fails_the_test(tmp_path: Path) -> None:
    """Kernels in C++ are packed, and separate hosts find the image and the board."""
    (tmp_path / "own.cpp").write_text(VADD)
    (tmp_path / "host.py").write_text(HOST)
    done = run(
        tmp_path,
        "import subprocess, sys\n"
        "def host(image, at): return subprocess.run([sys.executable, 'host.py', image, str(at)]).returncode\n"
        "def test_within(ftensor_image): assert host(ftensor_image, 3) == 0\n"
        "def test_beyond(ftensor_image): host(ftensor_image, 5000)\n"
        "def test_behind(ftensor_image): assert host(ftensor_image, 4) == 0\n",
        "--ftensor-emulate=own.cpp",
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 2 passed" in done.stdout and "test_beyond FAILED" in done.stdout
    assert "kernel far, compute unit far_1" in done.stdout


@emulates
@pytest.mark.parametrize("file", ["missing.xclbin", "missing.cpp", "", "bad.cpp"])
def test_invalid_image_ends_the_run(tmp_path: Path, file: str) -> None:
    (tmp_path / "bad.cpp").write_text("no C++\n")
    done = run(tmp_path, "def test_never(): assert False\n", f"--ftensor-emulate={file}", "--collect-only", "-q")
    if not file:
        assert done.returncode == 0 and "test_never" in done.stdout
        return
    assert done.returncode != 0 and "test_never" not in done.stdout
    assert file.partition(".")[0] in done.stderr and "Traceback" not in done.stderr, done.stderr


@emulates
def test_shuffle_seed_reaches_the_device(tmp_path: Path) -> None:
    tests = "import os\ndef test_seed(): assert os.environ['FTENSOR_EMULATION_SHUFFLE'] == '3'\n"
    (tmp_path / "own.cpp").write_text(VADD)
    done = run(tmp_path, tests, "--ftensor-emulate=own.cpp", "--ftensor-shuffle", "3")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_seed_without_emulation_is_an_error(tmp_path: Path) -> None:
    done = run(tmp_path, "def test_never(): assert False\n", "--ftensor-shuffle=3")
    assert done.returncode == 4 and "--ftensor-shuffle needs --ftensor-emulate" in done.stderr
