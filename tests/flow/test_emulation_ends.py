"""How programs on the software device end: crashes, signals, killed processes, mistakes."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ftensor.emulation import environment

from . import emulation_host
from .build_flow import wait_for
from .emulation_host import HANG, build, emulate, host, output, program

pytestmark = [pytest.mark.usefixtures("xrt_image", "nothing_left")]


CRASHES = [
    ("die", "np.int32(0), np.int32(1)", "SIGSEGV", "the pointer 0x0, which is near no buffer"),
    ("die", "np.int32(1), np.int32(1)", "SIGFPE", "how=1"),
    ("die", "np.int32(2), np.int32(1)", "SIGABRT", "how=2"),
    ("die", "np.int32(3), np.int32(1)", "exit(3)", "how=3"),
    ("die", "np.int32(4), np.int32(1)", "exit(0)", "how=4"),
    ("die", "np.int32(5), np.int32(1)", "SIGABRT", "how=5"),
    ("reach", "np.int64(5000)", "SIGSEGV", "15904 bytes behind the end of the buffer 0x1000..0x2000"),
    ("reach", "np.int64(-3)", "SIGSEGV", "12 bytes before the buffer 0x1000"),
    ("reach", "np.int64(1 << 27)", "SIGSEGV", "536866816 bytes behind the end of the buffer"),
    ("threads", "np.int32(1 << 20)", "SIGSEGV", "4190208 bytes behind the end of the buffer"),
    ("deep", "np.int32(1 << 29)", "SIGSEGV", "n=536870912"),
]
# By a signal, by an exit, and at an address near a buffer.
FEW = ("0x0, which", "how=4", "15904 bytes")


@pytest.mark.parametrize(
    ("kernel", "arguments", "how", "where"),
    [pytest.param(*c, marks=[] if any(word in c[-1] for word in FEW) else [pytest.mark.long]) for c in CRASHES],
)
def test_crashing_kernel_is_reported_by_name(
    xrt_image: Path, kernel: str, arguments: str, how: str, where: str
) -> None:
    """The host would wait forever. It is ended, and the message gives the reason."""
    done = host(
        f"""
out = board.buffer(np.zeros(1024, np.int32))
other = board.buffer(np.zeros(1, np.int32))
slow = board.start("slow", other, np.int32(3000))
board.run({kernel!r}, out, {arguments})
print("went on")
""",
        xrt_image,
    )
    assert done.returncode not in (0, 1)
    assert "went on" not in done.stdout
    assert how in done.stderr and where in done.stderr
    assert f"kernel {kernel}, compute unit {kernel}_1: out=0x" in done.stderr
    # otherwise the signal's origin is unknown
    if how.startswith("SIG") and kernel not in ("deep", "threads"):
        assert "kernel slow" not in done.stderr


def test_kernels_have_deep_stacks(xrt_image: Path) -> None:
    """Kernels may have 16 MiB of local memory on the stack."""
    done = host(
        """
out = board.buffer(np.zeros(1, np.int32))
board.run("deep", out, np.int32(1 << 22))
assert board.read(out, np.int32, 1)[0] == (1 << 22) - 1
""",
        xrt_image,
    )
    output(done)


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ('extern "C" void other() {}', "int", "no function 'k'"),
        pytest.param(
            'extern "C" void gone(); extern "C" void k(int) { gone(); }',
            "int",
            "undefined symbol",
            marks=pytest.mark.long,
        ),
        pytest.param('extern "C" void k(int) {}', "ap_uint<40>", "the type 'ap_uint<40>'", marks=pytest.mark.long),
    ],
)
def test_unloadable_images(tmp_path: Path, source: str, kind: str, message: str) -> None:
    """The host gets an OpenCL error, and the user a message."""
    row = f'[[kernels]]\nname = "k"\narguments = [{{name="a", type="{kind}", size=8}}]\n'
    done = host('print("loaded")', build(tmp_path, "broken", source, row))
    assert done.returncode == 1
    assert "loaded" not in done.stdout
    assert "this image cannot be loaded" in done.stderr and message in done.stderr


def test_the_programs_status_arguments_input_and_environment(xrt_image: Path) -> None:
    assert emulate("python", "-c", "raise SystemExit(7)").returncode == 7
    assert emulate("sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM
    done = emulate("sh", "-c", 'echo "$@"', "x", "-a", "--image", "b c")
    assert output(done) == ["-a --image b c"]
    shown = "echo $FTENSOR_IMAGE $FTENSOR_DEVICE $XCL_EMULATION_MODE .$XILINX_OPENCL."
    done = emulate("sh", "-c", shown, options=("--image", xrt_image), XILINX_OPENCL="/nowhere")
    assert output(done) == [f"{xrt_image} xilinx sw_emu .."]
    command = [sys.executable, "-m", "ftensor", "emulate", "--", "sh", "-c", "read x; echo got $x"]
    done = subprocess.run(
        command, input="text\n", text=True, capture_output=True, timeout=HANG, env=emulation_host.environment()
    )
    assert output(done) == ["got text"]


def test_program_has_the_system_limit_of_open_files(xrt_image: Path) -> None:
    """XRT never closes the files of its queued commands, so 1024 would be too few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(200, hard), hard))
    try:
        # A program that the tests' server forks has the server's limits.
        text = "import resource; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
        words = [sys.executable, "-m", "ftensor", "emulate", "--", sys.executable, "-c", text]
        done = subprocess.run(
            words,
            text=True,
            capture_output=True,
            timeout=HANG,
            start_new_session=True,
            env=emulation_host.environment(),
        )
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert output(done)[-1].split() == [str(hard), str(hard)]


def test_invalid_command_lines(xrt_image: Path, tmp_path: Path) -> None:
    """Each gives one message without a traceback."""
    (tmp_path / "text").write_text("no image" * 100)
    damaged = tmp_path / "damaged.xclbin"
    damaged.write_bytes(xrt_image.read_bytes()[:-100])
    for status, words, options, message in [
        (2, (), (), "name the program"),
        (127, ("no-such-program",), (), "cannot be started: No such file"),
        (126, (tmp_path,), (), "cannot be started: Permission denied"),
        (2, ("true",), ("--image", tmp_path / "none"), "cannot be read: No such file"),
        (2, ("true",), ("--image", tmp_path / "text"), "not a usable xclbin"),
        (2, ("true",), ("--image", damaged), "not a usable xclbin"),
        (2, ("true",), ("--image", tmp_path), "no image was built there"),
    ]:
        done = emulate(*words, options=options)
        assert done.returncode == status
        assert message in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_signals_reach_the_program(xrt_image: Path, number: signal.Signals) -> None:
    """The program handles the signal while a kernel runs, and the device ignores it."""
    text = program(
        f"""
import signal
caught = []
signal.signal({int(number)}, lambda *_: caught.append(1))
out = board.buffer(np.zeros(1, np.int32))
print("ready", flush=True)
while not caught:
    board.run("slow", out, np.int32(200))
board.run("slow", out, np.int32(1))
assert board.read(out, np.int32, 1)[0] == 1
print("caught", sum(caught))
""",
        xrt_image,
    )
    with subprocess.Popen(
        [sys.executable, "-m", "ftensor", "emulate", "--", sys.executable, "-c", text],
        stdout=subprocess.PIPE,
        text=True,
        env=emulation_host.environment(),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.stdout.readline() == "caught 1\n"
        assert process.wait(HANG) == 0


def test_killed_child_does_not_end_the_host(xrt_image: Path) -> None:
    """Unpatched, XRT would end the host and everything in its process group."""
    done = host(
        """
import subprocess
child = subprocess.Popen(["sleep", "100"])
child.kill()
assert child.wait() == -9
other = subprocess.Popen(["sh", "-c", "sleep 1; exit 5"])
x = np.ones(16, np.float32)
out = board.buffer(x)
board.run("vadd", out, out, out, np.int32(16))
assert (board.read(out, np.float32, 16) == 2).all()
board.program, board.kernels = None, {}
del out
print(other.wait())
""",
        xrt_image,
    )
    assert output(done) == ["5"]


def test_forked_child_does_not_close_the_device(xrt_image: Path) -> None:
    """In the child, XRT closes the device when the child ends, and crashes. The patch prevents
    both."""
    done = host(
        """
import os, sys
from ftensor.runtime.xrt.queue import wait_for_idle_threads
out = board.buffer(np.ones(16, np.float32))
board.run("vadd", out, out, out, np.int32(16))
wait_for_idle_threads()  # a child has the locks that XRT's threads hold now, and nobody to free them
child = os.fork()
if not child:
    sys.exit(0)
os.waitpid(child, 0)
board.run("vadd", out, out, out, np.int32(16))
print(board.read(out, np.float32, 16)[0])
""",
        xrt_image,
    )
    assert output(done) == ["4.0"]


def test_device_ends_with_a_killed_host(xrt_image: Path) -> None:
    """It ends even if its kernel never does."""
    done = host(
        """
import os, signal
out = board.buffer(np.zeros(1, np.int32))
board.start("die", out, np.int32(6), np.int32(0))
print(os.getpid(), flush=True)
time = __import__("time")
time.sleep(0.5)
os.kill(os.getpid(), signal.SIGKILL)
""",
        xrt_image,
    )
    assert done.returncode == 128 + signal.SIGKILL
    assert "killed (SIGKILL)" in done.stderr and "memory" in done.stderr
    socket = f"EMULATION_SOCKETID=device0_1_{done.stdout.strip()}".encode()
    wait_for(lambda: not _processes_with(socket))


def _processes_with(variable: bytes) -> list[str]:
    numbers = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if variable in (folder / "environ").read_bytes().split(b"\0"):
                numbers.append(folder.name)
        except OSError:  # it has ended, or belongs to another user
            continue
    return numbers


def test_next_run_cleans_up_after_a_killed_one(xrt_image: Path) -> None:
    words = [sys.executable, "-m", "ftensor", "emulate", "--"]
    with subprocess.Popen(
        [*words, "sh", "-c", "echo $USER; exec sleep 600"],
        stdout=subprocess.PIPE,
        text=True,
        env=emulation_host.environment(),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        folder = environment.ROOT / Path(process.stdout.readline().strip()).parent
        assert folder.is_dir()
        process.kill()
        process.wait()
        # The program ends too, which closes the pipe.
        assert process.stdout.read() == ""

    def gone_after_a_run() -> bool:
        # Another process that looks at the folder right now, such as another test, prevents its
        # removal.
        assert emulate("true").returncode == 0
        return not folder.exists()

    wait_for(gone_after_a_run)
