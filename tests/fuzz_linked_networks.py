"""Random quantized networks in several kernels connected by streams, by g++ against eager ops, with
two launches.

Networks that `NetworkBuilder` refuses and those of one layer are left out, and all of them without
g++.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

import ftensor as ft
from ftensor.graph.network import NetworkBuilder
from ftensor.image.manifest import JOINED, LINKED
from ftensor.kernels.network import NetworkKey, buffer_of
from ftensor.kernels.network_parts import cuts_of
from ftensor.runtime.csim.backend import FLAGS
from ftensor.toolchain.inventory.linked import GraphFile, linked
from ftensor.toolchain.joined import sources
from ftensor.toolchain.vitis.source import copy_headers, source, standins

from .fuzz_networks import Network, _aligned, folded


def runs(
    key: NetworkKey, cuts: Sequence[int], images: np.ndarray, nbytes: int, weights: Sequence[np.ndarray | None]
) -> tuple[list[np.ndarray], str]:
    """Returns the results of launches, one for each buffer of loaded weights (None: they are in the
    text), and where a launch was stuck."""
    groups = linked([GraphFile("net", key, "", LINKED, cuts=tuple(cuts))], [])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy_headers(root)
        flags = ["g++", *[flag for flag in FLAGS if not flag.startswith("-O")], "-O1", "-w", "-pthread"]
        flags += [f"-I{root}", f"-I{standins()}"]
        texts = {group.name: source(group) for group in groups} | {"joined": sources(groups)["net_1"]}
        for name, text in texts.items():
            (root / f"{name}.cpp").write_text(text)
            how = [] if name == "joined" else ["-DFT_SEQUENTIAL"]
            subprocess.run([*flags, *how, "-c", "-o", str(root / f"{name}.o"), str(root / f"{name}.cpp")], check=True)
        library = root / "net.so"
        subprocess.run([*flags, "-shared", "-o", str(library), *(str(root / f"{n}.o") for n in texts)], check=True)
        loaded = ctypes.CDLL(str(library))
        loaded.ft_stuck.restype = ctypes.c_char_p
        results, stuck = [], ""
        room = np.zeros(256, np.uint8)  # kernels read and write whole beats
        x = _aligned(np.concatenate([images.ravel().view(np.uint8), room]))
        for words in weights:
            out = _aligned(np.zeros(nbytes + 256, np.uint8))
            ins = [x] if words is None else [x, _aligned(words)]
            pointers = [ctypes.c_void_p(a.ctypes.data) for a in ins]
            tail = (ctypes.c_int(len(images)), 0, 1)
            loaded.ft_starts_all(1)
            loaded[f"net_1{JOINED}"](*pointers, *[ctypes.c_long(0)] * len(ins), *tail)
            loaded[f"net_{len(groups)}{JOINED}"](ctypes.c_void_p(out.ctypes.data), ctypes.c_long(0), *tail)
            loaded.ft_starts_all(0)
            stuck = stuck or loaded.ft_stuck().decode()
            results.append(out[:nbytes].copy())
        return results, stuck


def trial(rng: Random) -> str:
    """Returns how a random network in several kernels disagrees; "" if it does not."""
    if shutil.which("g++") is None:
        return ""
    network, n = Network(rng), rng.randint(1, 4)
    of = np.random.default_rng(rng.getrandbits(32))
    kind = np.uint8 if network.dtype is ft.uint8 else np.int8
    images = of.integers(network.low, network.high + 1, (n, *network.shape)).astype(kind)
    x = ft.tensor(images)
    wanted = network(x).numpy()
    try:
        key = NetworkBuilder(ft.jit(network)._trace_only(x._storage.backend, [x], (x,), {})).key
    except ft.GraphError as error:
        return "" if "is no layer" in str(error) else f"refused: {error}"
    possible = cuts_of(key)
    if not possible:
        return ""
    key = folded(key, rng)
    cuts = sorted(rng.sample(possible, rng.randint(1, min(3, len(possible)))))
    words = buffer_of(key) if rng.random() < 0.5 else None
    results, stuck = runs(key if words is None else key.without_constants(), cuts, images, wanted.size, [words] * 2)
    if stuck:
        return f"it is stuck: {stuck}\n{key} cut at {cuts}"
    same = all((got.view(kind).reshape(wanted.shape) == wanted).all() for got in results)
    return "" if same else f"results differ\n{key} cut at {cuts}"
