"""Intel's FPGA emulator: programs on it, and images loaded by their manifest.

Every program is a separate process, since the emulator can't share one with other Intel runtimes.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ftensor
from ftensor.image.manifest import Manifest
from ftensor.runtime.intel import emulator as installed

from .. import forked
from . import intel_graphs

ROOT = Path(ftensor.__file__).parent.parent
HERE = Path(__file__).parent
RECEIVER = str(ROOT / "examples" / "receiver.py")
INVENTORY = "intel_image.toml"
SHORT = "import ftensor as ft; x = ft.arange(40, dtype=ft.float32); "


@pytest.fixture(scope="module", autouse=True)
def emulator() -> Path:
    """The emulator's library, which these tests require."""
    driver = installed.driver()
    if driver is None:
        message = f"Intel's FPGA emulator is not in {installed.default_folder()}"
        if os.environ.get("FTENSOR_REQUIRE_TARGETS") == "1":
            pytest.fail(f"{message}, and it is required")
        pytest.skip(message)
    return driver


def run(*words: str, status: int = 0, **settings: str) -> tuple[str, str]:
    """Runs `python -m ftensor WORDS` and returns its output. Fails the test at another exit
    status."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("FTENSOR_IMAGE")}
    env |= {"PYTHONPATH": str(ROOT), **settings}
    done = forked.run("-m", "ftensor", *words, env=env, cwd=ROOT)
    assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout, done.stderr


def python(text: str, *options: str, status: int = 0, **settings: str) -> tuple[str, str]:
    """Runs a program on the emulator."""
    words = ("emulate", "--intel", *options, "--", sys.executable, "-c", text)
    return run(*words, status=status, **settings)


@pytest.fixture(scope="module")
def image(emulator: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an image with every kind of kernel."""
    folder = tmp_path_factory.mktemp("image")
    kernels = (HERE / "intel_image.toml").read_text()
    done = forked.run(RECEIVER, "--export", str(folder / "receiver"))
    assert done.returncode == 0, done.stderr
    graphs = intel_graphs.tables(folder) + '\n[[graph]]\nfile = "receiver.json"\n'
    (folder / INVENTORY).write_text(f"{kernels}\n{graphs}")
    run("build", "--target", "intel-emulator", "--out", str(folder), *command_words(folder))
    return folder


def command_words(folder: Path) -> tuple[str, str]:
    return "--inventory", str(folder / INVENTORY)


def test_emulator_is_the_default_device():
    out, _ = python(
        "import os; from ftensor._device import default_backend as b; import ftensor as ft; "
        "print(b().target.name, os.environ['FTENSOR_DEVICE'], ft.arange(10).sum().item())"
    )
    assert out.split() == ["intel-fpga-emulator", "intel-fpga-emulator", "45"]


def test_loop_with_feedback() -> None:
    """Its state stays in the kernel from one step to the next."""
    step = "lambda s, x: (s * 0.5 + x, s * 0.5 - x)"
    out, _ = python(f"{SHORT}last, y = ft.scan({step}, 1.0, x); print(last.item(), y[-1].item())")
    state = 1.0
    for x in range(40):
        last, state = state * 0.5 - x, state * 0.5 + x
    assert [float(word) for word in out.split()] == pytest.approx([state, last])


def test_command_has_the_programs_exit_status():
    python("raise SystemExit(7)", status=7)
    run("emulate", "--intel", "--", "no-such-program", status=127)
    python("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", status=-15)


def test_two_kernels_connected_by_a_channel():
    """In the vendor's own OpenCL, without ftensor. The images' kernels rely on it."""
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


@pytest.mark.long
def test_image_agrees_with_kernels_compiled_at_run_time(image, tmp_path):
    program = (sys.executable, str(HERE / "intel_program.py"))
    ours, theirs = str(tmp_path / "image.npz"), str(tmp_path / "compiled.npz")
    run("emulate", "--intel", "--image", str(image), "--", *program, ours)
    run("emulate", "--intel", "--", *program, theirs)
    a, b = np.load(ours), np.load(theirs)
    assert sorted(a.files) == sorted(b.files) and len(a.files) > 100
    for name in a.files:
        if name in ("rows", "columns", "all", "spectra", "signals", "filtered"):
            # The image has fewer layouts, so these reductions have another order, and its spectra
            # have stages of another radix.
            np.testing.assert_allclose(a[name], b[name], rtol=1e-5, atol=1e-4)
        else:
            assert a[name].tobytes() == b[name].tobytes(), name


@pytest.mark.long
def test_image_is_not_recompiled_and_its_manifest_describes_it(image):
    out, _ = run("build", "--target", "intel-emulator", "--out", str(image), *command_words(image))
    assert " 0 compiled, " in out
    manifest = Manifest.read(image / "manifest.json")
    assert manifest.target == "intel-emulator" and manifest.tools["intel-opencl-rt"]
    joined = next(k for k in manifest.kernels if k.name.startswith("joined"))
    assert (joined.structure, joined.units) == ("dataflow", 2) and len(joined.members) > 1


@pytest.mark.long
def test_missing_kernel(image):
    text = SHORT + "ft.set_fallback('error'); x.sinh()"
    _, problems = python(text, "--image", str(image), status=1)
    assert "KernelNotBuilt" in problems and "sinh" in problems
    text = SHORT + "print(float(x.sinh()[1])); print(ft.fallback_report())"
    out, problems = python(text, "--image", str(image))
    assert out.startswith("1.175") and "sinh" in out and "sinh" in problems


@pytest.mark.long
@pytest.mark.parametrize("side_by_side", [False, True])
def test_graph_is_one_launch_of_kernels_connected_by_channels(image: Path, side_by_side: bool) -> None:
    """The bits are NumPy's, with sums in the order of stages. All kernels run at once, as on a
    board, and one after another for as many rows as fit into their channels."""
    text = f"""
from ftensor._device import default_backend
from tests.flow import intel_graphs
default_backend().images.side_by_side = {side_by_side}
intel_graphs.signalled()
intel_graphs.run()
"""
    out, _ = python(text, "--image", str(image), FTENSOR_FALLBACK="error")
    assert out == "{True}\nequal\n"


@pytest.mark.long
def test_receiver_is_one_kernel(image: Path) -> None:
    """Its bit error rate equals that without an image, except for numbers near zero."""
    words = (RECEIVER, "--bursts", "8", "--once")
    emulated = ("emulate", "--intel", "--image", str(image), "--", sys.executable, *words)
    ours, _ = run(*emulated, FTENSOR_FALLBACK="error")
    theirs = forked.run(*words).stdout
    wrong = [[int(line.split()[3]) for line in output.splitlines()[2:]] for output in (ours, theirs)]
    assert len(wrong[0]) == len(wrong[1]) == 5 and wrong[1][0] > 100
    assert all(abs(a - b) <= 1 for a, b in zip(*wrong))


@pytest.mark.long
def test_trace_on_the_emulator_has_single_kernels(tmp_path: Path) -> None:
    """Graphs are recorded where g++ compiles them. Here a program runs without them."""
    text = "import ftensor as ft; print(ft.jit(lambda x: x.abs().amax(-1))(ft.ones(3, 18)).tolist())"
    (tmp_path / "program.py").write_text(text)
    mine = str(tmp_path / "mine.toml")
    traced = ("kernels", "--write", mine, "--trace", str(tmp_path / "program.py"))
    _, output = run("emulate", "--intel", "--", sys.executable, "-m", "ftensor", *traced)
    assert "[1.0, 1.0, 1.0]" in output
    assert "amax" in Path(mine).read_text() and "[[graph]]" not in Path(mine).read_text()


@pytest.mark.long
def test_missing_graph_runs_as_single_kernels_or_on_the_host(image: Path) -> None:
    text = SHORT + (
        "f = ft.jit(lambda x: (x + x).sinh() + x); print(f.graph(x).kernels); "
        "print(float(f(x)[1])); print(ft.fallback_report())"
    )
    out, problems = python(text, "--image", str(image))
    assert out.count("map ft_add") == 2 and "map ft_sinh" in out and "staged" not in out
    assert "\n4.62686" in out and "sinh of float32 runs on the host" in problems
    assert "--target intel-emulator --platform 'Intel FPGA emulator' " in problems
    assert "add" not in out.partition("4.62686")[2]


@pytest.mark.long
def test_running_program_loads_an_image(image):
    text = SHORT + (
        "from ftensor._device import default_backend as b; y = x + x; before = b().images; "
        f"ft.fpga.load_image({str(image)!r}); z = y + x; "
        "print(before, len(b().images.entries) > 50, (z == 3 * x).all().item())"
    )
    assert python(text)[0].split() == ["None", "True", "True"]


@pytest.mark.long
@pytest.mark.parametrize("side_by_side", [False, True])
def test_streams_use_a_kernels_channels_in_turn(image, side_by_side):
    """All stages run at once, as on a board, and one after another, as on the emulator."""
    text = f"""
import threading
import ftensor as ft
from ftensor._device import default_backend
images = default_backend().images
images.side_by_side = {side_by_side}
right = []
def work(k):
    with ft.fpga.stream(ft.fpga.Stream()):
        x = ft.from_numpy(numpy.full(20000, k, "float32"))
        for turn in range(6):
            y = x + x
            right.append(bool((y.numpy() == 2 * k).all()))
import numpy
threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(right), all(right))
"""
    out, _ = python(text, "--image", str(image))
    assert out.split() == ["18", "True"]


@pytest.mark.long
def test_doctor_runs_a_kernel():
    out, _ = run("emulate", "--intel", "--", sys.executable, "-m", "ftensor", "doctor")
    assert "intel-fpga-emulator: works" in out


@pytest.mark.long
def test_info_of_an_image_and_of_other_devices(image):
    name = Manifest.read(image / "manifest.json").file
    out, _ = run("image", "info", str(image / name))
    assert "--target intel-emulator" in out and "joined" in out
    record = json.loads(run("image", "info", "--json", str(image / name))[0])
    assert record["facts"]["target"] == "intel-emulator"
    assert record["kernels"][0]["members"] >= 1
    text = "import ftensor as ft; print(ft.ones(3) + 1)"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": str(image)}
    done = forked.run("-c", text, cwd=ROOT, env=env)
    if shutil.which("g++"):
        assert "can't run on C simulation" in done.stderr


def damaged(image: Path, folder: Path) -> Path:
    shutil.copytree(image, folder, ignore=shutil.ignore_patterns("objects", "sources", "logs"))
    return folder


@pytest.mark.long
def test_mismatched_files_are_refused(image, tmp_path):
    name = Manifest.read(image / "manifest.json").file
    cut = damaged(image, tmp_path / "cut")
    (cut / name).write_bytes((cut / name).read_bytes()[:-100])
    _, problems = python(SHORT, "--image", str(cut), status=1)
    assert "ImageError" in problems and "cut" in problems
    alone = damaged(image, tmp_path / "alone")
    (alone / "manifest.json").unlink()
    _, problems = python(SHORT, "--image", str(alone / name), status=1)
    assert "ImageError" in problems and "manifest" in problems
    other = damaged(image, tmp_path / "other")
    text = (other / "manifest.json").read_text()
    (other / "manifest.json").write_text(replace(Manifest.from_json(text), target="intel").to_json())
    _, problems = python(SHORT, "--image", str(other), status=1)
    assert "built with --target intel;" in problems


HANDLER = """
import signal
import numpy as np
import ftensor as ft

ft.set_fallback("error")
x, ran, refused = ft.from_numpy(np.arange(1, 41, dtype=np.float32)), [], 0
before = {op}.tolist()

def handler(number, frame):
    global refused
    try:
        ran.append({op}.tolist())
    except RuntimeError as error:
        assert "one launch at a time" in str(error), error
        refused += 1

signal.signal(signal.SIGALRM, handler)
rounds = 0
while len(ran) < 100:
    rounds += 1
    signal.setitimer(signal.ITIMER_REAL, 1e-5 + rounds % 97 * 2e-6)
    assert {op}.tolist() == before
signal.setitimer(signal.ITIMER_REAL, 0)
assert all(values == before for values in ran)
print("done")
"""


@pytest.mark.long
@pytest.mark.parametrize("op", ["x.remainder(x)", "(x + x)"])
def test_signal_handler_launches_a_kernel_of_an_image(image: Path, op: str) -> None:
    """One kernel is a single command. One uses channels, which may refuse but never hang or mix
    data."""
    out, _ = python(HANDLER.replace("{op}", op), FTENSOR_IMAGE=str(image))
    assert out == "done\n"
