"""Kernels for tests of the software device, and helpers of host programs on XRT.

Host programs run in separate processes under `ftensor emulate`: XRT reads its environment once, and
some of them crash on purpose.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import forked

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # seconds in which XRT releases the previous image
HANG = 600  # seconds after which a process counts as hung, on the slowest machine
KERNELS = r"""
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <atomic>
#include <thread>
extern "C" {
void vadd(const float *a, const float *b, float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i] + b[i];
}
void slow(int *out, int milliseconds) {
  usleep(milliseconds * 1000);
  out[0] = milliseconds;
}
void meet(int *out, int parts) {  // returns once as many launches of it run at the same time
  static std::atomic<int> here{0};
  here++;
  for (int k = 0; here < parts && k < 60000; k++) usleep(1000);
  out[0] = here;
}
void scalars(double *out, float f, double d, short s, unsigned char c, int i, int64_t l,
             uint64_t u, bool b, char last) {
  double all[] = {f, d, double(s), double(c), double(i), double(l), double(u), double(b),
                  double(last)};
  for (int k = 0; k < 9; k++) out[k] = all[k];
}
void many(long *out, const long *a, const long *b, long o0, long o1, long o2, long v0, long v1,
          long v2, long v3, int opcode, int n, int unit, int units, float f, double d) {
  long rest[] = {o0, o1, o2, v0, v1, v2, v3, opcode, n, unit, units, long(f), long(d)};
  for (int k = 0; k < 13; k++) out[o0 + k] = rest[k] + a[o1] + b[o2];
}
void reach(int *out, long at) { out[at] = 1; }
void die(int *out, int how, int n) {
  if (how == 0) *(volatile int *)nullptr = 1;
  if (how == 1) { volatile int zero = n - 1; out[0] = 7 / zero; }
  if (how == 2) abort();
  if (how == 3) exit(3);
  if (how == 4) exit(0);
  if (how == 5) { char *volatile p = (char *)malloc(64); free(p); free(p); }
  if (how == 6) for (;;) usleep(1000);
}
void deep(int *out, int n) {
  volatile int local[1 << 22];
  for (int k = 0; k < n; k++) local[k] = k;
  out[0] = local[n - 1];
}
void nothing() {}
void threads(int *out, int at) {
  std::thread([=] { out[at] = 1; }).join();
}
void speak(int *out) {
  printf("the kernel speaks\n");
  out[0] = 1;
}
}
"""
DESCRIPTION = """
[[kernels]]
name = "vadd"
arguments = [{name="a", type="const float*"}, {name="b", type="const float*"},
             {name="out", type="float*"}, {name="n", type="int"}]
[[kernels]]
name = "slow"
units = 2
arguments = [{name="out", type="int*"}, {name="milliseconds", type="int"}]
[[kernels]]
name = "meet"
units = 2
arguments = [{name="out", type="int*"}, {name="parts", type="int"}]
[[kernels]]
name = "scalars"
arguments = [{name="out", type="double*"}, {name="f", type="float"}, {name="d", type="double"},
             {name="s", type="short"}, {name="c", type="unsigned char"}, {name="i", type="int"},
             {name="l", type="int64_t"}, {name="u", type="uint64_t"}, {name="b", type="bool"},
             {name="last", type="char"}]
[[kernels]]
name = "many"
control = "AP_CTRL_CHAIN"
arguments = [{name="out", type="long*"}, {name="a", type="const long*"},
             {name="b", type="const long*"}, {name="o0", type="long"}, {name="o1", type="long"},
             {name="o2", type="long"}, {name="v0", type="long"}, {name="v1", type="long"},
             {name="v2", type="long"}, {name="v3", type="long"}, {name="opcode", type="int"},
             {name="n", type="int"}, {name="unit", type="int"}, {name="units", type="int"},
             {name="f", type="float"}, {name="d", type="double"}]
[[kernels]]
name = "reach"
arguments = [{name="out", type="int*"}, {name="at", type="long"}]
[[kernels]]
name = "die"
arguments = [{name="out", type="int*"}, {name="how", type="int"}, {name="n", type="int"}]
[[kernels]]
name = "deep"
arguments = [{name="out", type="int*"}, {name="n", type="int"}]
[[kernels]]
name = "nothing"
arguments = []
[[kernels]]
name = "threads"
arguments = [{name="out", type="int*"}, {name="at", type="int"}]
[[kernels]]
name = "speak"
arguments = [{name="out", type="int*"}]
"""


def build(folder: Path, name: str, source: str, description: str) -> Path:
    """Returns an image built from C++ kernels and their description."""
    from ftensor.image import description as descriptions

    library = folder / f"{name}.so"
    command = ["g++", "-O1", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)]
    subprocess.run(command, input=source, text=True, check=True, timeout=HANG)
    (folder / f"{name}.toml").write_text(description)
    image = folder / f"{name}.xclbin"
    image.write_bytes(descriptions.pack(descriptions.read(folder / f"{name}.toml"), library.read_bytes()))
    return image


def emulate(*words: str | Path, options: tuple[str | Path, ...] = (), **extra: str) -> subprocess.CompletedProcess[str]:
    """Runs `ftensor emulate -- words`; `python` means this interpreter."""
    words = tuple(sys.executable if word == "python" else word for word in words)
    command = ("-m", "ftensor", "emulate", *options, "--", *words)
    return forked.run(*command, env=environment(**extra))


def environment(**extra: str) -> dict[str, str]:
    """Returns this process' environment with ftensor and this module importable."""
    env = {name: value for name, value in os.environ.items() if name != "FTENSOR_DEVICE"}
    return env | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | extra


def host(body: str, image: Path | str, **keywords: Any) -> subprocess.CompletedProcess[str]:
    """Runs a few lines of Python as a host; `board` is the opened Board."""
    return emulate("python", "-c", program(body, image), **keywords)


def program(body: str, image: Path | str) -> str:
    """Returns the text of a host program."""
    head = "from tests.flow.emulation_host import *\n"
    return f"{head}board = Board({str(image)!r})\n" + body


def output(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Returns a host's output; fails unless it ended successfully."""
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout.splitlines()


# Host programs use the following.


@dataclass
class Board:
    """XRT's device with a loaded program."""

    image: str

    def __post_init__(self) -> None:
        import pyopencl as cl

        self.cl = cl
        platform = next(p for p in cl.get_platforms() if p.name.startswith("Xilinx"))
        self.device = platform.get_devices()[0]
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(
            self.context,
            properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
            | cl.command_queue_properties.PROFILING_ENABLE,
        )
        self.load(self.image)

    def load(self, image: str, patience: float = PATIENCE) -> None:
        """Loads another program instead of the current one."""
        self.kernels: dict[tuple[str, int], Any] = {}
        self.program = None
        self.queue.finish()
        binary, deadline = Path(image).read_bytes(), time.monotonic() + patience
        while self.program is None:
            try:
                self.program = self.cl.Program(self.context, [self.device], [binary]).build()
            except self.cl.Error as error:
                # A thread of XRT may hold the last launch slightly longer than its event shows.
                busy = error.code == self.cl.status_code.OUT_OF_RESOURCES
                if not busy or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def buffer(self, data: np.ndarray) -> Any:
        """Returns a buffer initialized with this data."""
        flags = self.cl.mem_flags
        return self.cl.Buffer(self.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=data)

    def start(self, name: str, *arguments: Any) -> Any:
        """Enqueues a launch; returns its event."""
        # A kernel's arguments are set by one thread at a time.
        key = (name, threading.get_ident())
        if key not in self.kernels:
            self.kernels[key] = self.cl.Kernel(self.program, name)
        kernel = self.kernels[key]
        kernel.set_args(*arguments)
        return self.cl.enqueue_nd_range_kernel(self.queue, kernel, (1,), (1,))

    def run(self, name: str, *arguments: Any) -> None:
        """Launches and waits."""
        self.start(name, *arguments).wait()

    def read(self, buffer: Any, dtype: Any, count: int, offset: int = 0) -> np.ndarray:
        """Returns a buffer's content."""
        result = np.empty(count, dtype)
        self.cl.enqueue_copy(self.queue, result, buffer, src_offset=offset).wait()
        return result
