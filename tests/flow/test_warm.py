"""`ftensor warm`: programs find the kernels that it put into the cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.cli import main
from ftensor.dtypes import float32
from ftensor.runtime import cache
from ftensor.runtime.backend import Backend, CompiledKernel, KernelSource
from ftensor.runtime.launch_cache import IN_BATCH, MAX_BATCH, KernelTable, LaunchTable, batch_source, batches
from ftensor.runtime.opencl.backend import OpenCLBackend
from ftensor.runtime.targets import CSIM, csim_compiler
from ftensor.toolchain.jobs.progress import Progress
from ftensor.warm.command import compile_all, everything, named, programs_for

from .. import forked

OPS = [named(name) for name in ("add", "sub", "sum", "matmul")]


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Backend:
    """The default device with an empty cache and no prepared kernel."""
    default = default_backend()
    if default.images is not None:
        pytest.skip("the device takes images")
    default.synchronize()
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(default, "kernels", KernelTable(default.forget_launches))
    monkeypatch.setattr(default, "launches", LaunchTable(default.synchronize))
    return default


def test_listing_compiles_nothing_and_names_each_kernel_once(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> CompiledKernel:
        raise AssertionError("compiled")

    monkeypatch.setattr(backend, "build", refuse)
    programs = programs_for(backend, OPS, [float32])
    entries = [program.entry for program in programs]
    assert len(set(entries)) == len(entries) > 15
    for word in ("ft_add_map", "ft_sub_rows", "ft_sum_whole", "reduce_outer", "gemm"):
        assert any(word in entry for entry in entries), word
    assert backend.noted is None and len(backend.kernels) == 0


def test_warm_cache_leaves_nothing_to_compile(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels were compiled together in other processes, and each program finds them by its own
    name."""
    programs = programs_for(backend, OPS[:3], [float32])
    assert not any(backend.has_built(program) for program in programs)
    assert compile_all(programs, 2, Progress()) == 0
    assert all(backend.has_built(program) for program in programs)
    if isinstance(backend, OpenCLBackend):

        def refuse(source: str, entry: str, options: bytes) -> None:
            raise AssertionError(f"{entry} is compiled again")

        monkeypatch.setattr(backend, "_compiled", refuse)
    a = np.arange(256 * 256, dtype=np.float32).reshape(256, 256) % 7
    x, y = ft.from_numpy(a), ft.from_numpy(a[:, ::-1].copy())
    assert ((x + y).numpy() == a + a[:, ::-1]).all()
    assert ((x - y.t()).numpy() == a - a[:, ::-1].T).all()
    assert ((x + 2).numpy() == a + 2).all()
    assert (x.sum(0).numpy() == a.sum(0)).all() and x.sum().item() == a.sum()


def test_missing_joint_program_is_compiled_again(backend: Backend) -> None:
    if not isinstance(backend, OpenCLBackend):
        pytest.skip("the C simulation has a test of its own")
    programs = [p for p in programs_for(backend, OPS[:2], [float32]) if "_map_" in p.entry]
    (group,) = [g for g in batches(programs) if len(g) > 1]
    backend.build_together(batch_source(group), group)
    options = backend._all_options(())
    held = cache.get(backend._cache_key(group[0].source, options))
    assert held is not None and held.startswith(IN_BATCH)
    cache.drop(held.removeprefix(IN_BATCH).decode())
    backend._batch_programs.clear()
    backend.build(*group[0])
    held = cache.get(backend._cache_key(group[0].source, options))
    assert held is not None and not held.startswith(IN_BATCH)


@pytest.mark.skipif(csim_compiler() is None, reason="needs a C++ compiler")
def test_kernels_of_the_c_simulation_are_one_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is found by its own name. Without the library, each is compiled alone."""
    from ftensor.runtime.csim import backend as csim

    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path))
    simulated, out = csim.CSimBackend(CSIM), np.zeros(1, np.float32)
    head = '#define FT_KERNEL extern "C" void\n'
    body = "\n#define FT_NAME {0}\nFT_KERNEL FT_NAME(float *out, int, int) {{ *out = {1}; }}\n"
    programs = [KernelSource(head + body.format(name, value), name, ("*",)) for name, value in (("one", 1), ("two", 2))]

    def values() -> list[float]:
        sums = []
        for program in programs:
            simulated.build(*program)(None, 1, out.ctypes.data)
            sums.append(float(out[0]))
        return sums

    (group,) = batches(programs)
    simulated.build_together(batch_source(group), group)
    assert all(simulated.has_built(program) for program in programs)
    with monkeypatch.context() as patch:
        patch.setattr(csim.subprocess, "run", None)
        assert values() == [1, 2]
    held = cache.get(simulated._cache_key(programs[0].source, simulated._flags(())))
    assert held is not None and held.startswith(IN_BATCH)
    cache.drop(held.removeprefix(IN_BATCH).decode())
    assert values() == [1, 2]


@pytest.mark.long
def test_all_ops_are_listed(backend: Backend) -> None:
    """This includes ops that change their operands, read results, or refuse such arguments."""
    programs = programs_for(backend, everything(), [float32])
    entries = {program.entry for program in programs}
    assert len(entries) == len(programs) > 300
    for word in ("ft_add_map_", "ft_exp_", "ft_argmax_whole", "gemm", "ft_where_", "ft_fill_"):
        assert any(word in entry for entry in entries), word
    assert backend.noted is None


def test_similar_kernels_are_compiled_together() -> None:
    def program(entry: str, head: str = "#define FT_KERNEL k\n") -> KernelSource:
        return KernelSource(f"{head}\n#define FT_NAME {entry}\n#define FT_READ(i) {entry}", entry, ())

    alike = [program(f"k{i}") for i in range(MAX_BATCH + 1)]
    other, whole = program("other", "#define FT_KERNEL x\n"), program("whole", "")
    together = batches([*alike, other, whole, program("whole2", "")])
    assert [len(group) for group in together] == [MAX_BATCH, 1, 1, 1, 1]
    text = batch_source(alike[:2])
    assert text.count("FT_KERNEL") == 1 and text.count("#undef FT_READ") == 2
    assert text.index("#undef FT_NAME") < text.index("#define FT_NAME k1")
    assert batch_source([other]) == other.source


def test_invalid_arguments_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["--ops", "ad"], "there is no op 'ad'"),
        (["--ops", "add", "--dtypes", "float31"], "there is no dtype 'float31'"),
        ([], "name the kernels to compile"),
        (["gone.py"], "gone.py: no such file"),
        (["-m", "gone"], "gone: no such module"),
        (["--all", "program.py"], "name the kernels to compile"),
    ):
        assert main(["warm", *words]) == 1
        assert message in capsys.readouterr().err


def test_program_is_run(backend: Backend, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys, ftensor as ft\nprint((ft.ones(3) * 5).sum().item(), sys.argv)")
    counts = []
    for _ in range(2):
        done = forked.run("-m", "ftensor", "warm", program, "--all")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("15.0 ") and "'--all'" in done.stdout
        counts.append(int(done.stderr.split()[-5]))
    assert counts[0] >= 3 and counts[1] == 0


def test_torch_program_is_run(backend: Backend, tmp_path: Path) -> None:
    """A training step uses all kernels, and a later start compiles none."""
    pytest.importorskip("torch")
    program = tmp_path / "train.py"
    program.write_text(
        """if True:
        import sys, torch, ftensor.torch
        net = torch.nn.Linear(8, 3).to("fpga")
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for _ in range(int(sys.argv[1])):
            optimizer.zero_grad()
            loss = net(torch.ones(5, 8, device="fpga")).relu().sum()
            loss.backward()
            optimizer.step()
        print(loss.item() >= 0)"""
    )
    counts = []
    for steps in (1, 2):
        done = forked.run("-m", "ftensor", "warm", program, steps)
        assert done.returncode == 0 and done.stdout == "True\n", done.stderr
        counts.append(int(done.stderr.split()[-5]))
    assert counts[0] >= 5 and counts[1] == 0
