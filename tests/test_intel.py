"""Intel's FPGA emulator: programs on it.

Every program is a process of its own, since the emulator shares none with other Intel runtimes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ftensor
from ftensor.emulation import intel

pytestmark = pytest.mark.once

ROOT = Path(ftensor.__file__).parent.parent


@pytest.fixture(scope="module", autouse=True)
def emulator() -> Path:
    """The emulator's library; without it these tests have nothing to run on."""
    found = intel.driver()
    if found is None:
        told = f"Intel's FPGA emulator is not in {intel.default_folder()}"
        if os.environ.get("FTENSOR_REQUIRE_TARGETS") == "1":
            pytest.fail(f"{told}, and it is required")
        pytest.skip(told)
    return found


def run(*words: str, status: int = 0, seconds: int = 600, **settings: str) -> tuple[str, str]:
    """`python -m ftensor WORDS`: what it printed. Fails the test at another exit status."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("FTENSOR_IMAGE")}
    env |= {"PYTHONPATH": str(ROOT), **settings}
    process = subprocess.Popen(
        [sys.executable, "-m", "ftensor", *words], env=env, cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        out, problems = process.communicate(timeout=seconds)
    finally:
        process.kill()
    assert process.returncode == status, f"status {process.returncode}\n{out}\n{problems}"
    return out, problems


def python(text: str, *options: str, status: int = 0, **settings: str) -> tuple[str, str]:
    """A program on the emulator."""
    words = ("emulate", "--intel", *options, "--", sys.executable, "-c", text)
    return run(*words, status=status, **settings)


def test_a_program_finds_the_emulator_as_its_device():
    out, _ = python(
        "import os; from ftensor.device import default_backend as b; import ftensor as ft; "
        "print(b().target.name, os.environ['FTENSOR_DEVICE'], ft.arange(10).sum().item())"
    )
    assert out.split() == ["intel-fpga-emulator", "intel-fpga-emulator", "45"]


def test_the_programs_exit_status_is_the_commands():
    python("raise SystemExit(7)", status=7)
    run("emulate", "--intel", "--", "no-such-program", status=127)
    python("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", status=-15)


def test_two_kernels_joined_by_a_channel():
    """The vendor's own words, without ftensor: what the images' kernels rest on."""
    out, _ = python("""
import numpy as np, pyopencl as cl
text = '''
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int16 between __attribute__((depth(512)));
__attribute__((max_global_work_dim(0)))
__kernel void give(__global const int16 *from, int n)
{
    for (int i = 0; i < n; i++) write_channel_intel(between, from[i]);
}
__attribute__((max_global_work_dim(0)))
__kernel void take(__global int16 *to, int n)
{
    for (int i = 0; i < n; i++) to[i] = read_channel_intel(between) + 1;
}
'''
device = cl.get_platforms()[0].get_devices()[0]
context = cl.Context([device])
program = cl.Program(context, text).build("-cl-std=CL1.2")
numbers = np.arange(16 * 2000, dtype=np.int32)  # far more than the channel holds
flags = cl.mem_flags
there = cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=numbers)
back = cl.Buffer(context, flags.READ_WRITE, numbers.nbytes)
first, second = cl.CommandQueue(context), cl.CommandQueue(context)
program.give(first, (1,), (1,), there, np.int32(2000))
program.take(second, (1,), (1,), back, np.int32(2000))
first.flush(); second.finish()
made = np.empty_like(numbers)
cl.enqueue_copy(second, made, back)
print((made == numbers + 1).all())
""")
    assert out.split() == ["True"]


def test_doctor_runs_a_kernel():
    out, _ = run("emulate", "--intel", "--", sys.executable, "-m", "ftensor", "doctor")
    assert "intel-fpga-emulator: works" in out
