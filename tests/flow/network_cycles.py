"""Clock cycles of a network's kernel, counted by its own source: g++ compiles it with FIFOs that
have clocks."""

from __future__ import annotations

import ctypes
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ftensor.kernels.network import NetworkKey
from ftensor.kernels.workload import PIPELINE_DEPTH
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.vitis.source import copy_headers, source, standins

CLOCKED = Path(__file__).parent / "clocked"
# The head of a pipelined loop. The pipeline drains when the loop ends, before the next statement
# starts.
PIPELINED = re.compile(r"^( *)(for \([^\n]*\) \{\n)#pragma HLS PIPELINE II=1$", re.MULTILINE)
CLOCKED_LOOP = r"\1if (const hls::drain ft_drain{}) \2hls::now()++;"


def counted_cycles(key: NetworkKey, images: int) -> float:
    """Returns the cycles for each further image, by the clocks of a run of three images and of
    `images` more."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy_headers(root)
        counted = 0
        for header in root.rglob("network*.h"):
            text = header.read_text()
            clocked, loops = PIPELINED.subn(CLOCKED_LOOP, text)
            assert loops == text.count("#pragma HLS PIPELINE"), header
            counted += loops
            header.write_text(clocked)
        assert counted > 10
        code, library = root / "network.cpp", root / "network.so"
        end = 'extern "C" long cycles() { return hls::region::last(); }\n'
        code.write_text(source(KernelGroup("network", (key,))) + end)
        found = [f"-I{path}" for path in (CLOCKED, root, standins())]
        flags = [f"-DFT_DRAIN={PIPELINE_DEPTH}", "-std=gnu++14", "-O0", "-w", "-fwrapv", "-shared", "-fPIC", "-pthread"]
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
