"""Clock cycles of a network's kernel, counted by its own text: g++ compiles it with FIFOs that have clocks."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ftensor.kernels.network import NetworkKey
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.vitis.source import copy_headers, source, standins

CLOCKED = Path(__file__).parent / "clocked"
PIPELINED = "#pragma HLS PIPELINE II=1"


def counted_cycles(key: NetworkKey, images: int) -> float:
    """The cycles for each further image, by the clocks of a run of three images and of `images` more."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy_headers(root)
        counted = 0
        for header in root.rglob("network*.h"):
            text = header.read_text()
            counted += text.count(PIPELINED)
            header.write_text(text.replace(PIPELINED, "hls::now()++;"))
        assert counted > 10
        code, library = root / "network.cpp", root / "network.so"
        end = 'extern "C" long cycles() { return hls::region::last(); }\n'
        code.write_text(source(KernelGroup("network", (key,))) + end)
        found = [f"-I{path}" for path in (CLOCKED, root, standins())]
        flags = ["-std=gnu++14", "-O0", "-w", "-fwrapv", "-shared", "-fPIC", "-pthread"]
        subprocess.run(["g++", *flags, *found, "-o", str(library), str(code)], check=True)
        loaded = ctypes.CDLL(str(library))
        loaded.cycles.restype = ctypes.c_long
        each = key.dtype.itemsize
        out = np.zeros((images + 3) * key.flows[-1].elements * each + 64, np.uint8)
        x = np.zeros((images + 3) * key.flows[0].elements * each + 64, np.uint8)
        ends = []
        for n in (3, images + 3):
            pointers = [ctypes.c_void_p(a.ctypes.data) for a in (out, x)]
            loaded.network(*pointers, ctypes.c_long(0), ctypes.c_long(0), ctypes.c_int(n), 0, 1)
            ends.append(loaded.cycles())
        return (ends[1] - ends[0]) / images
