"""Compares the model's initiation intervals with those that the kernels' IR allows, for real
launches.

Runs as a separate program on the C simulation. For each kernel and loop it prints the minimum
cycles of an iteration by the source and by the model, as JSON.
"""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

import ftensor as ft
from ftensor._device import default_backend
from ftensor.kernels.linked_keys import BEGIN
from ftensor.kernels.skeleton import board_skeletons
from ftensor.kernels.workload import KernelLaunch
from ftensor.ops.linalg.factors import row_order
from ftensor.toolchain import trace
from ftensor.toolchain.counting import loops
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.vitis.source import copy_headers, source
from ftensor.warm.command import noting

from ..ir.intervals import intervals
from .loop_program import CHAINS, tensors
from .staged_program import CASES, file, operands

APART = 3  # of the cases: loads, one that is kept, transforms, elements, a reduction, stores


def make(*shape, of=np.float32):
    return ft.from_numpy((np.random.default_rng(1).random(shape) * 8).astype(of))


def calls():
    """Runs calls that together use every skeleton of images, except those of `reading`."""
    make(70000).sort(), make(70000).cumsum(0), make(640).topk(5)
    ft.nn.functional.conv1d(make(2, 1, 300), make(1, 1, 9), stride=2)
    for x in (make(640), make(640, of=np.float64)):
        x + x, x[::2] + x[::2]
        y = x[:60].reshape(6, 10)
        y + y[:, :1], y.sum(), y.sum(0), y[:, :4].sum(1), y.argmax(1), x.cumsum(0), x.cumprod(0)
        x[ft.tensor([3, 4])], x.sort(), x.cummax(0), x.logcumsumexp(0)
        y.cumsum(0), ft.searchsorted(x.sort()[0], x)
        y @ y.t(), x.reshape(8, 80) @ x.reshape(8, 80).t()
    z = ft.complex(make(8, 16), make(8, 16))
    (z * z, z[:, ::2] * 2, z.sum(1), z.cumprod(1), z[0].cumsum(0), z[0].cumprod(0), z @ z.t(), ft.fft.fft(z))
    ft.fft.fft(z[:, :12]), ft.fft.fft(ft.complex(make(4100), make(4100)))
    a = make(150, 130) @ make(130, 170)
    ft.addmm(a, make(150, 130), make(130, 170), beta=2)
    ft.nn.functional.conv2d(make(1, 3, 9, 60), make(18, 3, 3, 3))
    ft._int_mm(make(20, 30, of=np.int8), make(30, 40, of=np.int8))
    ft.nn.functional.max_pool2d(make(1, 3, 9, 60), 2)
    ft.softmax(make(6, 12), 1), ft.nn.functional.layer_norm(make(6, 12), (12,))
    ft.scan(lambda state, x: (0.5 * state + x, state * x), ft.zeros(()), make(640))


def reading():
    """Runs calls whose kernels depend on values that they read."""
    for of in (np.float32, np.float64):
        make(640, of=of).gt(3).nonzero()
    for of in (np.float32, np.complex64):
        m = make(3, 5, 5, of=of) + ft.eye(5)
        ft.linalg.lu(m), ft.linalg.solve(m, make(3, 5, 2, of=of))
        ft.linalg.cholesky(m @ m.mH + 40 * ft.eye(5)), ft.linalg.qr(m)
        ft.linalg.svd(m), ft.linalg.eigh(m)
        # More than block RAM holds.
        large = make(130, 130, of=of) + 1000 * ft.eye(130)
        ft.linalg.solve(large, make(130, 1, of=of)), ft.linalg.cholesky(large @ large.mH)
        ft.linalg.solve(large, make(1, 130, of=of), left=False)
    row_order(ft.linalg.lu_factor(make(4100, 1))[1], 4100)


def decimated(x, taps, stride):
    taps = taps.to(x.dtype)[None, None]
    return ft.nn.functional.conv1d(x[None, None], taps, stride=stride, padding=(41 - stride) // 2)[0, 0] * 2


def graphs(folder):
    """Runs graphs in stages, one launch of each. One of them also runs as a kernel for each
    stage."""
    launches = []
    for name, function in CHAINS.items():  # loops with feedback; one has filters, one of which decimates
        files = ft.jit(function).export(str(folder / name), *tensors(name))
        (group,) = expand(read(files.inventory))
        launches.append(KernelLaunch(group.members[0], 1, 100))
    for stride in (3, 32):  # results that start at any sample of a beat, and that take four beats
        chain = partial(decimated, stride=stride)
        files = ft.jit(chain).export(str(folder / f"decimated_{stride}"), make(3072, of=np.complex64), make(40))
        (group,) = expand(read(files.inventory))
        launches.append(KernelLaunch(group.members[0], 1, 100))
    for k, (function, _, _) in enumerate(CASES):
        arguments = [ft.from_numpy(a) for a in operands(k, 5)]
        files = ft.jit(function).export(str(folder / file(k)), *arguments)
        (group,) = expand(read(files.inventory))
        launches.append(KernelLaunch(group.members[0], 1, 100))
        if k == APART:
            apart = Path(files.inventory)
            apart.write_text(f'{apart.read_text()}structure = "linked"\n')
            parts = [one.members[0] for one in expand(read(apart))]
            launches += [KernelLaunch(part, 1, 100) for part in parts if part.kind != BEGIN]
    return launches


def main():
    with trace.recording(3) as seen:
        with noting(default_backend()):
            calls()
        reading()
    by_key = {}
    folder = Path(tempfile.mkdtemp(prefix="ftensor-intervals-"))
    for launch in (*seen.launches, *graphs(folder)):
        by_key.setdefault(launch.key, []).append(launch)
    rows = []
    copy_headers(folder)
    for k, (key, launches) in enumerate(by_key.items()):
        group = KernelGroup(f"k{k}", (key,))
        path = folder / f"{group.name}.cpp"
        path.write_text(source(group))
        least = {}
        for one in intervals(path, group.name):
            name = one.label or one.place
            if one.cycles > least.get(name, (0, ""))[0]:
                least[name] = one.cycles, f"{one.place}: {one.why}"
        modelled = {}
        for launch in launches:
            for loop in loops(launch, 0):
                modelled[loop.name] = min(loop.interval, modelled.get(loop.name, loop.interval))
        rows.append({"entry": key.entry, "skeleton": key.skeleton, "text": least, "model": modelled})
    skeletons = [s.name for s in board_skeletons()]
    json.dump({"skeletons": skeletons, "kernels": rows}, sys.stdout)


if __name__ == "__main__":
    main()
