"""Counts the iterations of the loops in the generated HLS C++, for real launches of real ops.

Runs as a separate program on the C simulation. For each launch and compute unit it prints the
counted trips and those of the performance model, as JSON.
"""

import json
import sys
from collections import Counter
from dataclasses import replace

import numpy as np

import ftensor as ft
from ftensor.estimate.model import loops
from ftensor.kernels.workload import KernelLaunch
from ftensor.toolchain import trace
from ftensor.toolchain.counting import CountedKernel, CountedText
from ftensor.toolchain.group import STRUCTURES, KernelGroup

UNITS = 3
# Counters other than pipelined loops, by the beginning of the text. A pipelined loop
# always has a label, by which it is counted.
HOOKS = {"reduce_inner": {"if (i < stop) {": "part"}, "gemm_direct": {"ft_result(": "results"}}
# Loops that the model counts as one; a launch runs either of them.
EITHER = {"picked_depth": "depth", "counted": "elements"}
JOINED = ("gemm_direct", "compact")
# Their trip counts depend on data.
BY_DATA = {"bisect"}


class HookedText(CountedText):
    """Counts steps too, which the model treats as loops."""

    hooks: dict = {}

    def __init__(self, text):
        super().__init__(text)
        lines = []
        for line in self.text.splitlines():
            start = next((h for h in self.hooks if line.lstrip().startswith(h)), None)
            if start is not None:
                name = self.hooks[start]
                self.intervals[name] = 1
                count = f"ft_loops[ft_stage][{self.counter(name)}].trips++;"
                line = f"{line} {count}" if start.endswith("{") else f"{count} {line}"
            lines.append(line)
        self.text = "\n".join(lines)


class JoinedText(HookedText):
    def name_of(self, label):
        return EITHER.get(label, label)


def text_class(skeleton):
    base = JoinedText if skeleton in JOINED else HookedText
    return type("Text", (base,), {"hooks": HOOKS.get(skeleton, {})})


def programs():
    """Ops whose launches together cover every skeleton, kind of operand and kind of remainder."""
    rng = np.random.default_rng(1)

    def make(*shape, of=np.float32):
        return ft.from_numpy((rng.random(shape) * 8).astype(of))

    for n in (16, 5, 1000, 50000, 65536):
        x = make(n)
        yield x + x
        yield x * 2.5
    yield make(100, 1000) + make(100, 1000)
    yield make(40000) + make(1)
    yield make(300, 200).t() + make(200, 300)
    yield make(64, 2000)[:, ::3].exp()
    # From the start of a beat; the model does not know where else a tensor may start.
    yield make(1, 20000)[:, 16:19999] + make(3, 1)
    yield make(3, 70000)[:, ::2] * 2.0
    # Rows of whole beats: repeated rows that are kept, or too long to be kept; single elements;
    # slices; anything that is split between units, inside runs and inside their blocks.
    yield make(1000, 64) + make(64)
    yield make(50, 2048) * make(2048)
    yield make(3000, 16) + make(3000, 1)
    yield make(7, 1, 160) + make(1, 40, 160)
    yield make(7, 90, 160) + make(7, 1, 160)[:, :, 32:48].sum(2, keepdim=True)
    yield make(6, 9, 30, 96)[1:, ::2, 3:, 16:64] + make(5, 1, 27, 48)
    yield make(5, 11, 13, 16).permute(1, 2, 0, 3) * make(5, 16)
    # Rows that are no whole beats: contiguous, with gaps, of one element each, repeated.
    yield make(3000, 10) - make(3000, 1)
    yield make(700, 24)[:, :8] + make(700, 40)[:, :8] * make(8)
    yield make(50, 1003) + make(1003)
    yield make(9, 333)[:, 16:215] * make(9, 1)
    yield make(4000, 3) + make(4000, 7)[:, :3]
    yield make(9, 90, 49) * make(90, 1) + make(49)
    yield make(20, 9, 30, 33)[:, 1:, :, 16:].exp()
    yield make(90, 11, 35).transpose(0, 1) + make(11, 90, 1)
    b = make(90, 640)
    b[:, 64:320] = make(256)
    b[3:, 320:400].mul_(2.0)
    yield b
    yield make(77, of=np.int16) + make(77, of=np.int16)
    yield make(500, 300)[ft.tensor([1, 2, 70, 3])]
    for shape, dims in (
        ((70000,), None),
        ((5,), None),
        ((3, 5, 7000), (0, 2)),
        ((64, 1000), 1),
        ((64, 1000), 0),
        ((1000, 64), 0),
        ((9, 10000, 3), 1),
        ((5000, 40), 0),
        ((2, 3, 16, 50), (1, 3)),
    ):
        yield make(*shape).sum(dims)
    yield make(6, 3, 50, 336).sum((0, 2))
    yield make(3, 5, 1024)[:, :, :1003].sum((0, 2))
    # Short rows, interleaved: whole beats or not, contiguous or with gaps.
    for rows in (make(1001, 64), make(203, 100), make(77, 96)[:, :64], make(5, 70)):
        yield rows.sum(1)
    yield make(20, 80).amax(1, out=ft.zeros(40)[::2])
    yield make(100, 300).argmax(1)
    yield make(30, 40) @ make(40, 50)
    yield make(150, 130) @ make(130, 170)
    yield make(4, 120, 300) @ make(4, 300, 100)
    yield make(200, 551) @ make(551, 144)  # results in vectors, then all three kinds of stores
    yield ft.addmm(make(200, 96), make(200, 300), make(300, 96), beta=2)
    yield ft.mm(make(200, 100), make(100, 48), out=ft.zeros(200, 96)[:, ::2])
    yield make(300, 96).t() @ make(300, 600)[:, ::2]
    yield make(33, 700) @ make(700, 1)
    yield make(7, 3, 5, 17) @ make(7, 1, 17, 37)
    yield make(5, 259, 131) @ make(131, 203)
    yield make(50, 22, 30) @ make(50, 30, 41)
    yield make(600, 40, of=np.float64) @ make(40, 30, of=np.float64)
    yield make(1000).gt(3).nonzero()
    # Whole rows and parts of them, groups of columns that are complete or not.
    yield make(70000).cumsum(0)
    yield make(50, 40, 37).cumsum(1)
    yield make(3, 3000, of=np.int64).cumsum(1)
    # On boards in blocks of many columns, or of few that wait; short rows, joined or not.
    yield make(9, 5001).cumprod(0)
    yield make(300, 5).cumsum(0)
    yield make(700, 45).cummax(1)[1]
    yield make(60, 80).t().cumsum(1)
    yield ft.complex(make(100, 30), make(100, 30)).cumprod(1)
    yield make(70, 45).sort(1)[0]
    yield make(30, 5).sort(0)[1]
    yield make(70000).sort()[0]
    yield make(70, 45).topk(5, 1)[0]
    # Strips of one run and of three, tiles along rows and over planes, results in vectors or not.
    yield ft.conv2d(make(2, 20, 13, 11), make(35, 20, 3, 3), make(35), padding=1)
    yield ft.conv2d(make(1, 3, 9, 600), make(18, 3, 3, 3), padding=(1, 2), stride=(2, 1))
    yield ft.conv2d(make(1, 40, 16, 32), make(34, 20, 1, 1), groups=2)
    yield ft.conv2d(make(3, 20, 8, 40).transpose(2, 3), make(4, 20, 5, 2), stride=2, dilation=2)
    yield ft.conv_transpose2d(make(1, 4, 9, 9), make(4, 3, 2, 2), stride=3)
    # Bytes: weights contiguous or not, result rows that start and end anywhere, or element by
    # element.
    sizes = (((2, 70, 9, 11), (19, 70, 3, 3), 1, 1), ((1, 4, 12, 40), (34, 2, 3, 3), 2, 2))
    for x, w, padding, groups in sizes:
        yield ft.quantized.conv2d(
            make(*x, of=np.uint8),
            make(*w, of=np.int8),
            None,
            1,
            padding,
            1,
            groups,
            input_scale=1.0,
            input_zero_point=3,
            weight_scale=1.0,
        )
    for n in (19, 32):
        yield ft._int_mm(make(130, 70, of=np.int8), make(70, n, of=np.int8))
    # A row in blocks, and rows that are not; decimated, dilated, padded with zeros.
    yield ft.conv1d(make(1, 1, 50001), make(1, 1, 9), stride=2, padding=3)
    yield ft.conv1d(make(2, 3, 77), make(6, 1, 4), groups=3, dilation=2)
    yield ft.fft.fft(ft.complex(make(21, 16), make(21, 16)))
    yield ft.fft.fft(ft.complex(make(50, 14), make(50, 14)))
    yield ft.fft.fft(ft.complex(make(64, 7), make(64, 7)), dim=0)
    yield ft.fft.fft(ft.complex(make(20, 40), make(20, 40))[:, 8:40])
    yield ft.conv1d(make(64, 40).t()[:, None], make(1, 1, 9))
    # Contiguous along the depth: whole tiles and parts of them, terms that fill no beat.
    yield make(20, 304)[:, :300] @ make(7, 304)[:, :300].t()
    yield ft.searchsorted(ft.arange(77.0), make(3000))
    # Strips and whole planes, windows that share elements, planes that take longer to load.
    pools = ft.nn.functional
    yield pools.max_pool2d(make(1, 7, 56, 56), 2)
    yield pools.max_pool2d(make(2, 130, 100), 3, 2, 1, return_indices=True)[1]
    yield pools.avg_pool2d(make(1, 5, 90, 200), 1, (40, 150))
    # Rows of fewer beats than states and of more, and rows that share beats.
    yield ft.softmax(make(700, 100), 1)
    yield pools.layer_norm(make(90, 1000), (1000,), make(1000))
    yield ft.softmax(make(901, 10), 1)
    # Matrices that fit into block RAM, several at a time or one; columns in one piece or several.
    for shape in ((150, 5, 5), (3, 60, 60), (7, 9, 4), (2, 4, 9)):
        yield ft.linalg.lu_factor(make(*shape))[0]
    for shape in ((200, 4), (5, 50)):
        m = make(*shape, shape[1])
        m = m @ m.mT + 40 * ft.eye(shape[1])
        yield ft.linalg.cholesky_ex(m)[0]  # counting takes it a second time, in its state then
        yield ft.linalg.solve(m, make(*shape, 3))
        yield ft.linalg.solve_triangular(m, make(*shape, 90), upper=True)


def main():
    built, counts, refused = {}, [], Counter()

    def counted(member, structure):
        if (member, structure) not in built:
            group = KernelGroup(f"k{len(built)}", (member,), structure, UNITS)
            try:
                built[member, structure] = CountedKernel(group, text_class(group.skeleton))
            except ValueError as error:
                # A member without HLS source is reported, not skipped.
                built[member, structure] = None
                refused[str(error).partition(": ")[2]] += 1
        return built[member, structure]

    def check(step, run, table):
        """Runs a kernel a second time with counters."""

        def both(stream, units, /, *args):
            run(stream, units, *args)
            n, g = step.n or 0, step.geometry
            if step.n is None and table is None and len(g) == 1:
                (n,), g = g, ()
            skeleton = step.key.skeleton
            for structure in STRUCTURES if skeleton == "map" else ("loop",):
                launch = KernelLaunch(step.key, units, n, g, structure)
                counters = counted(step.key, structure)
                for unit in range(units if counters else 0):
                    expected = Counter()
                    for loop in loops(launch, unit):
                        if loop.name not in BY_DATA:
                            expected[loop.name] += loop.trips
                    trips = Counter()
                    for loop in counters.run(args, unit, units):
                        trips[loop.name] += loop.trips
                    counts.append(
                        {
                            "launch": f"{step.key.entry} {structure} {n} {g}",
                            "skeleton": skeleton,
                            "unit": f"{unit} of {units}",
                            "counted": dict(trips),
                            "expected": dict(expected),
                        }
                    )

        return both

    class Recorder(trace._Recorder):
        def launch(self, launch, stream, tensors, numbers):
            counting = replace(launch)
            counting.bind(tuple([of._replace(kernel=check(step, *of)) for step, of in zip(launch.steps, launch.bound)]))
            super().launch(counting, stream, tensors, numbers)

    trace._Recorder = Recorder
    with trace.recording(UNITS):
        for result in programs():
            result.numpy()
    json.dump({"counts": counts, "refused": refused}, sys.stdout)


if __name__ == "__main__":
    main()
