"""Buffers, banks and changes of the image, on the real XRT with the software device."""

from __future__ import annotations

from pathlib import Path

from .xrt_programs import run


def test_buffers_find_the_bank_of_their_argument(three_banks: Path) -> None:
    """Ports reach different memories. A result written to another one is copied, and the copy is
    counted."""
    answer = run(
        """
n = 5000
a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
x, y, z = put(a), put(b), backend.allocate(4 * n)
axpy, counts = kernel("axpy"), []
def count():
    counts.append(ft.fpga.image_report().bank_copies)
axpy(stream, 1, z.handle, x.handle, y.handle, 2.0, n)
count()
again = got(x).tolist() == a.tolist()
axpy(stream, 1, z.handle, x.handle, y.handle, 2.0, n)
count()
w = backend.allocate(4 * n)
axpy(stream, 1, w.handle, z.handle, y.handle, 2.0, n)   # z was an output
count()
axpy(stream, 1, x.handle, z.handle, z.handle, 1.0, n)   # one buffer at two ports, and x written
count()
axpy(stream, 1, w.handle, w.handle, w.handle, 3.0, n)   # in place
count()
zs = 2 * a + b
ws = 2 * zs + b
answer(counts=counts, again=again,
       z=bool((got(z) == zs).all()), x=bool((got(x) == 2 * zs).all()),
       w=bool((got(w) == 4 * ws).all()), bytes=ft.fpga.image_report().bank_bytes)
""",
        three_banks,
    )
    assert [answer[name] for name in ("again", "z", "x", "w")] == [True] * 4
    first, second, third, fourth, last = answer["counts"]
    assert (first, second) == (0, 0)
    assert third == 1  # z goes to the bank of `a`
    assert fourth == 3  # z goes to the bank of `b` too, and x to that of `out`
    assert last == 5  # w stays, and each input is a copy of it
    assert answer["bytes"] >= 5 * 20000


def test_banks_of_one_memory_need_no_copies(three_ways: Path) -> None:
    """Banks of one base and size are one memory, also for its total."""
    answer = run(
        """
n = 5000
x, y, z = put(np.arange(n, dtype=np.float32)), put(np.ones(n, np.float32)), backend.allocate(4 * n)
axpy = kernel("axpy")
axpy(stream, 1, z.handle, x.handle, y.handle, 2.0, n)
axpy(stream, 1, x.handle, z.handle, y.handle, 1.0, n)   # an output becomes an input, and an input an output
axpy(stream, 1, y.handle, x.handle, z.handle, 1.0, n)
axpy(stream, 1, z.handle, z.handle, z.handle, 3.0, n)   # in place
answer(copies=ft.fpga.image_report().bank_copies, total=ft.fpga.get_device_properties().total_memory,
       y=got(y)[:3].tolist(), z=got(z)[:3].tolist())
""",
        three_ways,
    )
    assert answer["copies"] == 0
    assert answer["total"] == 1 << 30
    assert answer["y"] == [3.0, 7.0, 11.0]
    assert answer["z"] == [4.0, 12.0, 20.0]


COUNTED = """
import pyopencl as cl
made = []
class Counted(cl.Kernel):
    def __init__(self, *args):
        super().__init__(*args)
        self.calls = []
        made.append(self)
    def _set_arg_multi(self, pairs):
        self.calls += [pairs[i] for i in range(0, len(pairs), 2)]
        super()._set_arg_multi(pairs)
    def _set_arg_buf_multi(self, pairs):
        self.calls += [pairs[i] for i in range(0, len(pairs), 2)]
        super()._set_arg_buf_multi(pairs)
    def _set_arg_buf_pack_multi(self, triples):
        self.calls += [triples[i] for i in range(0, len(triples), 3)]
        super()._set_arg_buf_pack_multi(triples)
cl.Kernel = Counted
def calls():
    seen = sorted(made[0].calls)
    made[0].calls.clear()
    return seen
"""


def test_interrupted_launch_keeps_no_argument(three_ways: Path) -> None:
    """Ctrl-C comes after a call of the driver. The next launch sets the argument again."""
    answer = run(
        COUNTED
        + """
n = 5000
a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
interrupts = 0
class Interrupted(Counted):
    def _set_arg_buf_pack_multi(self, triples):
        global interrupts
        super()._set_arg_buf_pack_multi(triples)
        if interrupts < 0:
            interrupts = -interrupts
            raise KeyboardInterrupt
cl.Kernel = Interrupted
x, y, z = put(a), put(b), backend.allocate(4 * n)
axpy = kernel("axpy")
def launch(alpha):
    axpy(stream, 1, z.handle, x.handle, y.handle, alpha, n)
    return got(z)[:3].tolist()
before, interrupts = launch(2.0), -1
try:
    launch(3.0)
except KeyboardInterrupt:
    pass
answer(before=before, after=launch(2.0), interrupts=interrupts)
""",
        three_ways,
    )
    assert answer["interrupts"] == 1
    assert answer["after"] == answer["before"]


def test_prepared_calls_set_no_arguments_again(three_ways: Path) -> None:
    """Each call of a replay keeps its arguments in its own kernel object, as long as there are few.
    The objects end with the replay."""
    answer = run(
        COUNTED
        + """
from ftensor.runtime.interfaces import KernelCall
from ftensor.runtime.xrt import images
images.MAX_SEPARATE = 3
n = 5000
x, y, z = put(np.full(n, 2, np.float32)), put(np.ones(n, np.float32)), backend.allocate(4 * n)
axpy = kernel("axpy")
def replays(calls):
    enqueue = backend.prepare_calls([KernelCall(axpy, 1, (z.handle, a.handle, b.handle, c, n)) for a, b, c in calls])
    counts = []
    for _ in range(3):
        enqueue(stream)
        counts.append(sum(len(k.calls) for k in made))
    return counts, float(got(z)[0]), len(made), len(backend.images._separate_slots)
few = replays([(x, y, 3.0), (z, x, 5.0), (y, z, 7.0)])
stream.synchronize()
left = len(backend.images._separate_slots)
many = replays([(x, y, 3.0), (z, x, 5.0), (y, z, 7.0), (z, x, 1.0), (x, z, 2.0)])
answer(few=few, left=left, many=many)
""",
        three_ways,
    )
    counts, value, kernels, separate = answer["few"]
    assert counts[0] > 0 and len(set(counts)) == 1
    seven = 3 * 2 + 1, 5 * (3 * 2 + 1) + 2
    assert value == 7 * 1 + seven[1]
    assert (kernels, separate, answer["left"]) == (3, 3, 0)
    counts, value, kernels, separate = answer["many"]
    assert value == 2 * 2 + (7 + seven[1]) + 2
    assert (kernels, separate) == (3 + 4, 3)
    assert 0 < counts[1] - counts[0] == counts[2] - counts[1] < counts[0] / 2


def test_only_changed_arguments_are_set(three_ways: Path) -> None:
    """A call of the driver takes 0.3 ms on a ZynqMP."""
    answer = run(
        COUNTED
        + """
n = 5000
a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
x, y, z, w = put(a), put(b), backend.allocate(4 * n), backend.allocate(4 * n)
axpy, counts, sums = kernel("axpy"), [], []
def launch(out, x, y, alpha):
    axpy(stream, 1, out.handle, x.handle, y.handle, alpha, n)
    counts.append(calls())
    sums.append(got(out)[:2].tolist())
launch(z, x, y, 2.0)
launch(z, x, y, 2.0)
launch(z, x, y, 3.0)
launch(z, y, x, 3.0)
launch(z, y, x, 0.0)
launch(z, y, x, -0.0)
launch(w, y, x, -0.0)   # placed first
launch(w, y, x, -0.0)
bits = kernel("bits")
bits(stream, 1, w.handle, 1.0, 2.0, 3, 0.0, 5)
made[1].calls.clear()
bits(stream, 1, w.handle, 1.0, 2.0, 3, -0.0, 5)
arguments = backend.images.active.file.manifest.kernels[0].arguments
answer(counts=counts, sums=sums, float=made[1].calls, names=[a.name for a in arguments])
""",
        three_ways,
    )
    first, again, number, swapped, zero, other_zero, placed, last = answer["counts"]
    names = answer["names"]
    alpha = names.index("scale")
    assert set(range(len(names))) == set(first)
    assert again == []
    assert number == [alpha]
    assert [names[k] for k in swapped] == ["a", "b"]
    assert zero == other_zero == [alpha]  # not the same bits
    assert {names[k] for k in placed} >= {"out", "a", "b"}
    assert last == []
    assert answer["float"] == [4]  # may be the other zero
    assert answer["sums"] == [[1, 3], [1, 3], [1, 4], [3, 4], [0, 1], [0, 1], [0, 1], [0, 1]]


def test_free_memory_is_reused_in_its_bank(three_banks: Path) -> None:
    """A new block in the wrong bank is exchanged for a free one, without a copy."""
    answer = run(
        """
n = 5000
y = put(np.ones(n, np.float32))
axpy, sums = kernel("axpy"), []
for k in range(20):
    x = put(np.full(n, k, np.float32))
    z = backend.allocate(4 * n)
    axpy(stream, 1, z.handle, x.handle, y.handle, 1.0, n)
    sums.append(float(got(z).sum()))
    del x, z
report = ft.fpga.image_report()
answer(sums=sums, copies=report.bank_copies, made=backend.pool.stats()["device_allocations"])
""",
        three_banks,
    )
    assert answer["sums"] == [5000.0 * (k + 1) for k in range(20)]
    assert answer["copies"] == 0
    assert answer["made"] <= 6


def test_unused_ports_get_a_placeholder_buffer(three_banks: Path) -> None:
    """The opcode ignores a port in another bank than its first argument's."""
    answer = run(
        """
x = put(np.arange(64, dtype=np.float32))
z = backend.allocate(256)
kernel("add_five")(stream, 1, z.handle, x.handle, 64)
answer(z=got(z).tolist(), copies=ft.fpga.image_report().bank_copies)
""",
        three_banks,
    )
    assert answer["z"] == [k + 5.0 for k in range(64)]
    assert answer["copies"] == 0


def test_tensors_survive_a_change_of_images(four_units: Path, three_banks: Path) -> None:
    """A kernel of the other image loads it. Tensors on the device are kept on the host
    meanwhile."""
    answer = run(
        f"""
n = 100_003
a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
x, y, z = put(a), put(b), backend.allocate(4 * n)
never = put(a)                     # not used by any kernel before the change
times = put(np.zeros(4, np.int64))
nap, axpy = kernel("nap"), kernel("axpy")
axpy(stream, 4, z.handle, x.handle, y.handle, 2.0, n)
event = ft.fpga.Event(enable_timing=True)
event.record(stream)               # an event outlives the kernel that it followed
first = ft.fpga.image_report()
ft.load_image({str(three_banks)!r})
second = ft.fpga.image_report()
axpy = kernel("axpy")              # both have it: the active one's
axpy(stream, 4, z.handle, z.handle, y.handle, 1.0, n)
third = ft.fpga.image_report()
nap(stream, 1, times.handle, 1, 1, 1)  # only the first has it; a launcher from before
fourth = ft.fpga.image_report()
axpy(stream, 4, x.handle, z.handle, never.handle, 1.0, n)
zs = 2 * a + b + b
answer(z=bool((got(z) == zs).all()), x=bool((got(x) == zs + a).all()), y=bool((got(y) == b).all()),
       never=bool((got(never) == a).all()), times=got(times, np.int64).tolist(),
       reloads=[r.reloads for r in (first, second, third, fourth)],
       active=[[i.name for i in r.images if i.active] for r in (first, second, third, fourth)],
       saved=fourth.saved_bytes, text=str(fourth), done=event.query())
""",
        four_units,
    )
    assert [answer[name] for name in ("z", "x", "y", "never", "done")] == [True] * 5
    assert answer["times"][2] > answer["times"][1]
    assert answer["reloads"] == [0, 1, 1, 2]
    assert answer["active"] == [[f"{n}.xclbin"] for n in ("four", "three", "three", "four")]
    assert answer["saved"] >= 4 * 400_000
    assert "2 reloads" in answer["text"]


def test_threads_share_the_device(four_units: Path, three_banks: Path) -> None:
    """Four threads launch on their own streams while another thread changes the image."""
    answer = run(
        f"""
import threading
n, wrong = 3000, []
def work(seed):
    own = ft.fpga.Stream()
    backend.set_current_stream(own)
    axpy = kernel("axpy")
    rng = np.random.default_rng(seed)
    for _ in range(40):
        a, b = rng.standard_normal((2, n)).astype(np.float32)
        x, y, z = put(a), put(b), backend.allocate(4 * n)
        axpy(own, 2, z.handle, x.handle, y.handle, 1.0, n)
        if not (got(z) == a + b).all():
            wrong.append(seed)
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for thread in threads: thread.start()
for k in range(4):
    time.sleep(0.05)
    ft.load_image(({str(three_banks)!r}, {str(four_units)!r})[k % 2])
for thread in threads: thread.join()
answer(wrong=wrong, reloads=ft.fpga.image_report().reloads)
""",
        four_units,
    )
    assert answer["wrong"] == []
    assert answer["reloads"] >= 3


def test_out_of_memory(four_units: Path) -> None:
    """A full bank raises ftensor's error. Memory that only caches hold is released first."""
    answer = run(
        """
axpy, small = kernel("axpy"), put(np.ones(16, np.float32))
def fill(megabytes):
    held = []
    try:
        while True:
            held.append(backend.allocate(megabytes << 20))
            axpy(stream, 1, held[-1].handle, small.handle, small.handle, 1.0, 16)
    except ft.OutOfMemoryError as e:
        return len(held) - 1, str(e)
first, message = fill(16)
second, _ = fill(20)     # another size, so the first ones are of no use
axpy(stream, 1, small.handle, small.handle, small.handle, 1.0, 16)
answer(first=first, second=second, message=message, left=got(small).tolist(),
       stats=backend.pool.stats())
""",
        four_units,
    )
    # Of 256 MiB. XRT's allocator in emulation is simple, so one or two holes may be lost.
    assert 12 <= answer["first"] <= 16
    assert 9 <= answer["second"] <= 12
    assert "has no room for" in answer["message"]
    assert answer["left"] == [2.0] * 16
    assert answer["stats"]["out_of_memory"] == 2


def test_launcher_keeps_no_kernels_alive(four_units: Path, three_banks: Path) -> None:
    """Kernels of a former image are released. Otherwise XRT would refuse the next one."""
    answer = run(
        f"""
import gc
gc.disable()
x = put(np.ones(16, np.float32))
for k in range(6):
    ft.load_image(({str(three_banks)!r}, {str(four_units)!r})[k % 2])
    kernel("axpy")(stream, 1, x.handle, x.handle, x.handle, 1.0, 16)
answer(x=got(x).tolist(), reloads=ft.fpga.image_report().reloads)
""",
        four_units,
    )
    assert answer["x"] == [64.0] * 16
    assert answer["reloads"] == 6


def test_old_launcher_with_a_new_one(four_units: Path, three_banks: Path) -> None:
    """Both release their kernels when the image changes again."""
    answer = run(
        f"""
x = put(np.ones(16, np.float32))
old = kernel("axpy")
ft.load_image({str(three_banks)!r})
new = kernel("axpy")
for path in ({str(three_banks)!r}, {str(four_units)!r}):
    ft.load_image(path)
    for launch in (new, old):
        launch(stream, 1, x.handle, x.handle, x.handle, 1.0, 16)
answer(x=got(x).tolist())
""",
        four_units,
    )
    assert answer["x"] == [16.0] * 16


def test_without_an_image(xrt_folder: Path) -> None:
    """Tensors can be made and read back. An op says how to get an image."""
    answer = run(
        """
ft.set_fallback("error")
t = ft.tensor([1.0, 2.0])
try:
    t + t
    message = ""
except ft.errors.image.ImageError as e:
    message = str(e)
answer(t=t.numpy().tolist(), message=message, report=str(ft.fpga.image_report()))
"""
    )
    assert answer["t"] == [1.0, 2.0]
    for word in ("FTENSOR_IMAGE", "ft.load_image", "ftensor build"):
        assert word in answer["message"]
    assert answer["report"] == "no image is loaded"


def test_files_in_the_environment_are_checked_first(xrt_folder: Path, four_units: Path) -> None:
    """A damaged image is one clear error before the driver reads it."""
    damaged = xrt_folder / "damaged.xclbin"
    data = bytearray(four_units.read_bytes())
    data[len(data) // 3] ^= 1
    damaged.write_bytes(bytes(data))
    answer = run(
        f"""
try:
    ft.load_image({str(damaged)!r})
    message = ""
except ft.errors.image.ImageError as e:
    message = str(e)
x = put(np.ones(16, np.float32))
kernel("axpy")(stream, 1, x.handle, x.handle, x.handle, 1.0, 16)
answer(message=message, x=got(x).tolist())
""",
        four_units,
    )
    assert "damaged.xclbin" in answer["message"]
    assert answer["x"] == [2.0] * 16


def test_two_results_cannot_share_memory_across_banks(three_banks: Path) -> None:
    """A kernel's two outputs are in different banks, and get one buffer for both."""
    answer = run(
        """
from ftensor.runtime.xrt.banks import place_arguments
class Named:
    function_name = "twins"
handle = backend.allocate(64).handle
try:
    place_arguments(backend, stream, Named(), (handle, handle), ((0, "HBM[0]", True), (1, "HBM[1]", True)))
    message = ""
except ft.errors.image.ImageError as e:
    message = str(e)
answer(message=message)
""",
        three_banks,
    )
    assert "twins" in answer["message"] and "give each its own" in answer["message"]
