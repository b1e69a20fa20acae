"""`ftensor emulate --shuffle`: hosts that miss a wait show wrong data, and others do not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ftensor.emulation.shuffle import POLLS_BEFORE_RUN, LaunchShuffle

from .emulation_host import build, emulate, host, output

KERNELS = """
extern "C" void first(const int *a, int *b, int n) { for (int i = 0; i < n; i++) b[i] = a[i] + 1; }
extern "C" void second(const int *b, int *c, int n) { for (int i = 0; i < n; i++) c[i] = b[i] * 2; }
"""
DESCRIPTION = """
[[kernels]]
name = "first"
arguments = [{name="a", type="const int*"}, {name="b", type="int*"}, {name="n", type="int"}]
[[kernels]]
name = "second"
arguments = [{name="b", type="const int*"}, {name="c", type="int*"}, {name="n", type="int"}]
"""
# The queue is out of order.
HOST = """
n, wrong = np.int32(1024), 0
for turn in range(8):
    x = np.arange(n, dtype=np.int32) + turn
    a, b, c = (board.buffer(data) for data in (x, x, x))
    kernels = [board.cl.Kernel(board.program, name) for name in ("first", "second")]
    for kernel, buffers in zip(kernels, ((a, b), (b, c))):
        kernel.set_args(*buffers, n)
    launched = board.cl.enqueue_nd_range_kernel(board.queue, kernels[0], (1,), (1,))
    wait = [launched] if {waits_for_kernel} else None
    launched = board.cl.enqueue_nd_range_kernel(board.queue, kernels[1], (1,), (1,), wait_for=wait)
    result, wait = np.empty(n, np.int32), [launched] if {waits_for_result} else None
    board.cl.enqueue_copy(board.queue, result, c, wait_for=wait, is_blocking=False)
    board.queue.finish()
    wrong += not (result == (x + 1) * 2).all()
print(wrong)
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("shuffle"), "kernels", KERNELS, DESCRIPTION)


@pytest.mark.usefixtures("xrt_image", "nothing_left")
@pytest.mark.parametrize(
    ("waits_for_kernel", "waits_for_result", "right"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_missing_wait_gives_wrong_data(
    image: Path, waits_for_kernel: bool, waits_for_result: bool, right: bool
) -> None:
    text = HOST.format(waits_for_kernel=waits_for_kernel, waits_for_result=waits_for_result)
    (wrong,) = output(host(text, image, options=("--shuffle", "1")))
    assert (wrong == "0") == right


def test_invalid_seed() -> None:
    done = emulate("true", options=("--shuffle", "-1"))
    assert done.returncode == 2 and "a seed is an integer from 0 on, not '-1'" in done.stderr


class Unit:
    """A unit that records when its launch runs. The test decides when it ends."""

    def __init__(self, name: str, order: list[str], streams: tuple[str, ...] = ()) -> None:
        self.name, self.running, self._order = name, False, order
        self.kernel = SimpleNamespace(streams=streams)

    def run(self) -> None:
        self._order.append(self.name)

    def ended(self, seconds: float) -> None:
        self.running = False


def order_of(seed: int, names: str, **keywords: Any) -> list[str]:
    """Returns the order in which launches of several units run."""
    order: list[str] = []
    shuffle = LaunchShuffle(seed)
    units = [Unit(name, order, **keywords) for name in names]
    for unit in units:
        unit.running = True
        shuffle.note_request()
        shuffle.start(unit, unit.run)  # type: ignore[arg-type]
    at_once = len(order)
    for _ in range(2 * len(units) * len(units) * POLLS_BEFORE_RUN):
        shuffle.note_poll()
    # None of the held ones ends, so the next one waits, unless both are connected by streams.
    assert len(order) == (len(units) if keywords else min(at_once + 1, len(units)))
    for _ in units:
        for unit in units:
            unit.running = unit.running and unit.name not in order
        for _ in range(len(units) * POLLS_BEFORE_RUN):
            shuffle.note_poll()
    assert sorted(order) == sorted(names)
    return order


def test_seed_determines_the_order() -> None:
    orders = {tuple(order_of(seed, "abc")) for seed in range(60)}
    assert len(orders) == 6
    assert order_of(5, "abcdef") == order_of(5, "abcdef")


def test_connected_kernels_run_together() -> None:
    """None of them ends before all run."""
    order_of(1, "abc", streams=("in",))


def test_unloading_an_image_drops_its_launches() -> None:
    order: list[str] = []
    shuffle, units = LaunchShuffle(1), [Unit(str(k), order) for k in range(20)]
    for unit in units:
        shuffle.start(unit, unit.run)  # type: ignore[arg-type]
    assert 0 < len(order) < 20  # some run at once, some are held
    shuffle.flush()
    assert sorted(order) == sorted(unit.name for unit in units)


def test_unit_can_be_held_again_after_its_launch() -> None:
    order: list[str] = []
    shuffle, unit = LaunchShuffle(1), Unit("a", order)
    for count in range(1, 20):
        unit.running = True
        shuffle.start(unit, unit.run)  # type: ignore[arg-type]
        for _ in range(POLLS_BEFORE_RUN):
            shuffle.note_poll()
        assert len(order) == count
