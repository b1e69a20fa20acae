# %% [markdown]
# # A filter, and what a board would give
# A low-pass filter of 65 taps by `conv1d`, and the performance model's view of it on an Alveo
# U55C, which needs neither a board nor Vitis. **The figures are a model's estimate, not measured
# on hardware.**

# %%
import matplotlib.pyplot as plt

import ftensor as ft

RATE, TAPS = 48_000, 65
ft.manual_seed(0)
t = ft.arange(RATE // 4) / RATE
signal = (2 * ft.pi * 200 * t).sin() + 0.5 * (2 * ft.pi * 9000 * t).sin()
n = ft.arange(TAPS) - (TAPS - 1) / 2
taps = ft.sinc(n * 2 * 1500 / RATE) * ft.hann_window(TAPS, periodic=False)
taps = taps / taps.sum()


# %%
def low_pass(x: ft.Tensor) -> ft.Tensor:
    return ft.nn.functional.conv1d(x[None, None], taps[None, None], padding=TAPS // 2)[0, 0]


smooth = low_pass(signal)

# %% [markdown]
# The model uses the launches of a block of a program. `recording` records them, and `report`
# estimates their time.

# %%
from ftensor.boards import find
from ftensor.estimate.model import BOUNDS, BoardConfig
from ftensor.estimate.report import report
from ftensor.toolchain.trace import recording

board = find("u55c")
with recording(units=1) as trace:
    low_pass(signal)
estimate = report(trace, BoardConfig(board, board.clock.value), in_flight=1, groups=None)
for bound, seconds in estimate.bounds().items():
    print(f"{seconds * 1e6:8.1f} us: {BOUNDS[bound]}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(t.numpy()[:480], signal.numpy()[:480], lw=0.8, label="signal")
left.plot(t.numpy()[:480], smooth.numpy()[:480], label="filtered")
left.set(title="10 ms", xlabel="s", ylim=(-1.6, 2.4))
left.legend(loc="upper right", ncols=2, fontsize=8)
microseconds = {bound: seconds * 1e6 for bound, seconds in estimate.bounds().items() if seconds}
right.barh([*microseconds], [*microseconds.values()])
right.set(title=f"{board.title}, estimated: bound by", xlabel="us")
figure.savefig("fir.png", dpi=90)
