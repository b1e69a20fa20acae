"""Hosts of every kind on the software device, under XRT itself: settings, images, languages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ftensor.cli import main

from .emulation_host import HANG, ROOT, build, emulate, environment, host, output, program

pytestmark = [pytest.mark.usefixtures("xrt_image", "nothing_left"), pytest.mark.long]


def test_second_image_after_the_first(xrt_image: Path, tmp_path: Path) -> None:
    other = build(
        tmp_path,
        "other",
        'extern "C" void vadd(int *out) { *out = 42; }\n',
        '[[kernels]]\nname = "vadd"\narguments = [{name="out", type="int*"}]\n',
    )
    done = host(
        f"""
x = np.ones(16, np.float32)
for _ in range(3):
    a, out = board.buffer(x), board.buffer(x)
    board.run("vadd", a, a, out, np.int32(16))
    assert (board.read(out, np.float32, 16) == 2).all()
    del a, out
    board.load({str(other)!r})
    out = board.buffer(np.zeros(1, np.int32))
    board.run("vadd", out)
    assert board.read(out, np.int32, 1)[0] == 42
    del out
    board.load(board.image)
""",
        xrt_image,
    )
    output(done)


def test_second_image_while_the_first_is_in_use(xrt_image: Path, tmp_path: Path) -> None:
    """XRT refuses it, as on a board, and the first one continues."""
    source, row = 'extern "C" void f() {}\n', '[[kernels]]\nname = "f"\narguments = []\n'
    other = build(tmp_path, "other", source, row)
    done = host(
        f"""
out = board.buffer(np.ones(16, np.float32))
board.run("vadd", out, out, out, np.int32(16))
first = board.program, board.kernels
try:
    board.load({str(other)!r}, patience=0)
except board.cl.Error as error:
    print(error.code)
board.program, board.kernels = first
board.run("vadd", out, out, out, np.int32(16))
print(board.read(out, np.float32, 16)[0])
""",
        xrt_image,
    )
    assert output(done) == ["-5", "4.0"]


@pytest.mark.parametrize("settings", ["[Runtime]\nkds_sw_emu=true\n", "[Runtime]\nverbosity=0\n"])
def test_other_xrt_settings_give_the_same_results(xrt_image: Path, tmp_path: Path, settings: str) -> None:
    """XRT's default scheduler, user settings, and no description of the board."""
    (tmp_path / "xrt.ini").write_text(settings)
    text = program(
        """
out = board.buffer(np.ones(16, np.float32))
for _ in range(50):
    board.run("vadd", out, out, out, np.int32(16))
    out = board.buffer(np.ones(16, np.float32))
print(board.device.global_mem_size >> 30)
""",
        xrt_image,
    )
    ini = str(tmp_path / "xrt.ini")
    assert output(emulate("python", "-c", text, XRT_INI_PATH=ini)) == ["16"]
    text = "import os\ndel os.environ['EMCONFIG_PATH']\n" + text
    warning, size = output(emulate("python", "-c", text, XRT_INI_PATH=ini))
    assert "Unable to find emconfig.json" in warning and size == "4"


def test_nested_emulation(xrt_image: Path) -> None:
    """This happens when a test suite that runs on XRT starts programs on XRT."""
    text = program('board.run("nothing")\nprint("inner")', xrt_image)
    inner = [sys.executable, "-m", "ftensor", "emulate", "--", sys.executable, "-c", text]
    done = emulate(*inner)
    assert output(done) == ["inner"]
    assert "not one that ftensor knows" not in done.stderr


def test_two_hosts_at_once_and_threads(xrt_image: Path, tmp_path: Path) -> None:
    script = tmp_path / "host.py"
    script.write_text(
        program(
            """
from concurrent.futures import ThreadPoolExecutor
def work(k):
    x = np.full(100, k, np.float32)
    a, out = board.buffer(x), board.buffer(0 * x)
    for _ in range(20):
        board.run("vadd", a, a, out, np.int32(100))
        assert (board.read(out, np.float32, 100) == 2 * k).all()
with ThreadPoolExecutor(4) as pool:
    list(pool.map(work, range(4)))
print("done")
""",
            xrt_image,
        )
    )
    both = (
        "import subprocess, sys\n"
        "hosts = [subprocess.Popen([sys.executable, sys.argv[1]]) for _ in range(2)]\n"
        "sys.exit(max(host.wait() for host in hosts))"
    )
    assert output(emulate("python", "-c", both, script)) == ["done"] * 2


def test_output_of_a_kernel(xrt_image: Path) -> None:
    done = host('board.run("speak", board.buffer(np.zeros(1, np.int32)))\nprint("after")', xrt_image)
    assert output(done) == ["the kernel speaks", "after"]


def test_other_runtimes_in_the_same_process(xrt_image: Path) -> None:
    """They compute in the same process. A division by zero there is no crash of the device."""
    done = host(
        """
from ftensor.runtime import icd
cl, names = board.cl, []
for platform in cl.get_platforms():
    if platform.name.startswith("Xilinx"):
        continue
    device = platform.get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    text = "kernel void f(global int *o, int z) { int i = get_global_id(0); o[i] = 100 / (i + z); }"
    found = cl.Program(context, text).build()
    out = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4096)
    found.f(queue, (1024,), None, out, np.int32(0)).wait()
    result = np.empty(1024, np.int32)
    cl.enqueue_copy(queue, result, out)
    assert result[5] == 20
    names.append(platform.name)
x = np.ones(16, np.float32)
out = board.buffer(x)
board.run("vadd", out, out, out, np.int32(16))
assert (board.read(out, np.float32, 16) == 2).all()
print(*names, sep="|")
""",
        xrt_image,
    )
    assert "Xilinx" not in output(done)[0]


NATIVE = r"""
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>
#include <cstdio>
int main(int, char **argv) {
  auto device = xrt::device(0);
  auto kernel = xrt::kernel(device, device.load_xclbin(argv[1]), "vadd");
  const int n = 5000;
  auto a = xrt::bo(device, n * 4, kernel.group_id(0));
  auto b = xrt::bo(device, n * 4, kernel.group_id(2));
  auto pa = a.map<float *>(), pb = b.map<float *>();
  for (int i = 0; i < n; i++) pa[i] = i, pb[i] = -1;
  a.sync(XCL_BO_SYNC_BO_TO_DEVICE);
  kernel(a, a, b, n).wait();
  b.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
  for (int i = 0; i < n; i++)
    if (pb[i] != 2 * i) return std::printf("wrong at %d\n", i), 1;
  std::puts("right");
}
"""


def test_host_with_the_native_xrt_api(xrt_image: Path, tmp_path: Path) -> None:
    assert output(emulate(native(tmp_path, NATIVE), xrt_image)) == ["right"]


def native(folder: Path, source: str) -> Path:
    """Returns the program of a host in C++."""
    if not Path("/usr/include/xrt/xrt/xrt_bo.h").is_file():
        pytest.skip("XRT's headers are not here: apt-get install libxrt-dev uuid-dev")
    program = folder / "native"
    command = ["g++", "-std=c++17", "-I/usr/include/xrt", "-x", "c++", "-", "-o", str(program)]
    command += ["-lxrt_coreutil", "-lxrt_core"]
    subprocess.run(command, input=source, text=True, check=True, timeout=HANG)
    return program


def test_buffers_in_the_hosts_memory(tmp_path: Path) -> None:
    """The kernel writes them in the host's memory. Other buffers need a sync, as on a board."""
    (tmp_path / "twice.cpp").write_text(
        'extern "C" void twice(int *here, int *there, int n)\n'
        "{ for (int i = 0; i < n; i++) there[i] += 1, here[i] = 2 * here[i] + there[i]; }\n"
    )
    (tmp_path / "link.cfg").write_text("[connectivity]\nsp=twice_1.here:HOST[0]\nsp=twice_1.there:DDR[0]\n")
    image = tmp_path / "twice.xclbin"
    assert main(["image", "pack", "--config", str(tmp_path / "link.cfg"), str(tmp_path / "twice.cpp"), str(image)]) == 0
    source = (
        NATIVE[: NATIVE.index("auto kernel")].replace("int main", "#include <vector>\nint main")
        + """
  auto kernel = xrt::kernel(device, device.load_xclbin(argv[1]), "twice");
  const int n = 3000;
  auto here = xrt::bo(device, n * 4, xrt::bo::flags::host_only, kernel.group_id(0));
  auto there = xrt::bo(device, n * 4, kernel.group_id(1));
  auto h = here.map<int *>(), t = there.map<int *>();
  for (int i = 0; i < n; i++) h[i] = i, t[i] = 5;
  kernel(here, there, n).wait();
  std::printf("%d %d\\n", h[n - 1], t[n - 1]);
}
"""
    )
    done = emulate(native(tmp_path, source), image)
    assert output(done)[-1] == "5999 5"
    assert "argument 'there'" in done.stderr and "argument 'here'" not in done.stderr


REGISTERS = """
  auto uuid = device.load_xclbin(argv[1]);
  {
    auto kernel = xrt::kernel(device, uuid, "sums", xrt::kernel::cu_access_mode::exclusive);
    const int n = 3000;
    auto a = xrt::bo(device, n * 4, xrt::bo::flags::p2p, kernel.group_id(0));
    auto out = xrt::bo(device, n * 4, xrt::bo::flags::p2p, kernel.group_id(1));
    auto p = a.map<int *>(), q = out.map<int *>();
    for (int i = 0; i < n; i++) p[i] = i;
    auto run = xrt::run(kernel);
    run.set_arg(0, a), run.set_arg(1, out), run.set_arg(2, n), run.start(), run.wait();
    std::printf("%d %d\\n", q[n - 1], int(kernel.read_register(kernel.offset(3))));
    kernel.write_register(kernel.offset(3), 77);
    std::printf("%d\\n", int(kernel.read_register(kernel.offset(3))));
  }
  auto ip = xrt::ip(device, uuid, "product");
  ip.write_register(0x10, 6), ip.write_register(0x18, -7), ip.write_register(0, 1);
  while (!(ip.read_register(0) & 6)) {}
  std::printf("%d\\n", int(ip.read_register(0x20)));
}
"""


def test_registers_and_buffers_for_peers(tmp_path: Path) -> None:
    """Scalars by reference, `xrt::ip`, and, with --p2p, buffers that are never synced."""
    (tmp_path / "sums.cpp").write_text(
        'extern "C" void sums(const int *a, int *out, int n, int &last)\n'
        "{ int sum = 0; for (int i = 0; i < n; i++) out[i] = sum += a[i]; last = sum; }\n"
        'extern "C" void product(int a, int b, int &c) { c = a * b; }\n'
    )
    image = tmp_path / "sums.xclbin"
    assert main(["image", "pack", str(tmp_path / "sums.cpp"), str(image)]) == 0
    source = NATIVE[: NATIVE.index("auto kernel")].replace("int main", "#include <experimental/xrt_ip.h>\nint main")
    program = native(tmp_path, source + REGISTERS)
    done = emulate(program, image, options=("--p2p",))
    assert output(done) == ["4498500 4498500", "77", "-42"] and "sync" not in done.stderr
    done = emulate(program, image)
    assert output(done) == ["0 0", "77", "-42"]
    assert done.stderr.count("A buffer of xrt::bo::flags::p2p needs --p2p") == 2


def test_the_manuals_example(tmp_path: Path) -> None:
    """docs/emulation.md: its kernel, description and commands."""
    text = (ROOT / "docs/emulation.md").read_text()
    for language, name in (("cpp", "kernels.cpp"), ("toml", "kernels.toml")):
        (tmp_path / name).write_text(re.findall(rf"```{language}\n(.*?)```", text, re.S)[0])
    (tmp_path / "host").write_text(
        f"#!{sys.executable}\n"
        + program(
            "x = np.ones(100, np.float32)\n"
            "a, out = board.buffer(x), board.buffer(x)\n"
            "board.run('vadd', a, a, out, np.int32(100))\n"
            "print(board.read(out, np.float32, 100).sum())\n",
            "kernels.xclbin",
        )
    )
    (tmp_path / "host").chmod(0o700)
    commands = re.findall(r"^    ((?:g\+\+|ftensor image|ftensor emulate -- \./).*)$", text, re.M)
    commands = [
        command for command in commands if not {"pipe", "linked"} & set(re.findall(r"\w+", command))
    ]  # other kernels
    assert len(commands) == 5
    (run,) = [command for command in commands if "emulate" in command]
    for command in [*commands, run]:
        done = subprocess.run(
            ["sh", "-c", command.replace("ftensor", f"{sys.executable} -m ftensor", 1)],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=HANG,
        )
        lines = output(done)
        assert command != run or lines == ["200.0"]
