"""Discovery of devices: target rows, the mapping policy, the OpenCL loader's folder, new
processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftensor as ft
from ftensor.runtime import discovery, icd, targets
from ftensor.runtime.discovery import DetectedDevice

from .. import forked


def python(code: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """Runs code in a new process with this ftensor. None unsets a variable."""
    env = {**os.environ, "PYTHONPATH": str(Path(ft.__file__).parent.parent), **environment}
    env = {name: value for name, value in env.items() if value is not None}
    return forked.run("-c", code, env=env)


def run_output(code: str, **environment: str | None) -> str:
    done = python(code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# Targets

BOARD, GPU, CPU = (frozenset((kind,)) for kind in ("board", "gpu", "cpu"))


@pytest.mark.parametrize(
    ("kinds", "platform", "version", "name"),
    [
        (BOARD, "Xilinx", "OpenCL 1.0", "xilinx"),
        (BOARD, "Intel(R) FPGA SDK for OpenCL(TM)", "OpenCL 1.0", "intel-fpga"),
        (BOARD, "Intel(R) FPGA Emulation Platform for OpenCL(TM)", "1.2", "intel-fpga-emulator"),
        (BOARD, "Some accelerator", "OpenCL 1.2", "accelerator"),
        (GPU, "NVIDIA CUDA", "OpenCL 3.0 CUDA 12.4", "nvidia"),
        (GPU, "AMD Accelerated Parallel Processing", "OpenCL 2.1", "amd"),
        (GPU, "Intel(R) OpenCL Graphics", "OpenCL 3.0", "intel-gpu"),
        (GPU, "rusticl", "OpenCL 3.0", "other-gpu"),
        (CPU, "Intel(R) OpenCL", "OpenCL 3.1 LINUX", "intel-cpu"),
        (CPU, "Intel(R) CPU Runtime for OpenCL(TM) Applications", "2.1", "intel-cpu"),
        (CPU, "Portable Computing Language", "OpenCL 3.0 PoCL 3.1+debian", "pocl"),
        (CPU, "Portable Computing Language", "OpenCL 3.0 pocl 3.0-rc2", "pocl-rc"),
        (CPU, "rusticl", "OpenCL 3.0", "other-cpu"),
        (BOARD | GPU | CPU, "Oclgrind", "OpenCL 1.2 (Oclgrind 21.10)", "oclgrind"),
    ],
)
def test_each_platform_has_a_row(kinds, platform, version, name):
    row = targets.match(kinds, platform, version)
    assert row is not None
    assert row.name == name


@given(st.frozensets(st.sampled_from(("board", "gpu", "cpu"))), st.text(), st.text())
def test_every_device_of_a_known_kind_has_a_row_of_that_kind(kinds, platform, version):
    row = targets.match(kinds, platform, version)
    assert (row is None) == (not kinds)
    assert row is None or row.kind in kinds


def test_target_names_are_unique_and_never_a_policy():
    assert len(targets.BY_NAME) == len(targets.TARGETS)
    assert set(targets.BY_NAME) & set(discovery.POLICIES) == {"csim"}


def test_special_kernels_are_for_targets_that_emulate_no_board() -> None:
    cpu, gpu = targets.BY_NAME["pocl"], targets.BY_NAME["nvidia"]
    assert cpu.specializes and cpu.revisits_rows and cpu.processor
    assert gpu.specializes and not gpu.revisits_rows and not gpu.processor
    for board in (targets.BY_NAME["xilinx"], targets.CSIM, cpu.as_board(), gpu.as_board()):
        assert not board.specializes and not board.revisits_rows and not board.processor


# The mapping policy


@st.composite
def machines(draw, least=0):
    """Draws devices as discovery lists them."""
    devices = []
    for row in draw(st.lists(st.sampled_from(targets.TARGETS), min_size=least, max_size=6)):
        if row.kind == "csim" and any(d.target is row for d in devices):
            continue
        version = draw(st.sampled_from(("1.0", "2.0")))
        devices.append(
            DetectedDevice(row, f"card {len(devices)}", row.name.upper(), version, version, 1, 1, True, True)
        )
    return discovery._in_order(devices)


@given(machines())
def test_selector_selects_one_device(machine):
    for device in machine:
        assert discovery.select(discovery.selector(device, machine), machine) == [device]


@given(machines(), st.sampled_from([*discovery.POLICIES, "intel", "pocl", "1.0", "card 1", "x"]))
def test_mapping_keeps_the_order_of_devices(machine, word):
    chosen = discovery.select(word, machine)
    assert [d for d in machine if d in chosen] == chosen
    for index in range(len(machine) + 1):
        assert discovery.select(f"{word}:{index}", machine) == chosen[index : index + 1]


@given(machines(least=1))
def test_devices_of_each_policy(machine):
    rank = [targets.TARGETS.index(device.target) for device in machine]
    assert rank == sorted(rank)
    opencl = [device for device in machine if device.target.kind != "csim"]
    auto = discovery.select("auto", machine)
    assert auto[0] is machine[0]
    assert {(d.target, d.platform, d.version) for d in auto} == {(auto[0].target, auto[0].platform, auto[0].version)}
    assert discovery.select("explicit", machine) == (opencl or machine)
    for word, kind in (("fpga", "board"), ("gpu", "gpu"), ("csim", "csim")):
        assert discovery.select(word, machine) == [d for d in machine if d.target.kind == kind]
    host = discovery.host(auto, machine)
    assert all(d.target.kind in ("cpu", "csim") for d in host)
    assert bool(host) == any(d.target.kind in ("cpu", "csim") for d in machine)
    if auto[0].target.kind in ("cpu", "csim"):
        assert host == auto[:1]


@given(st.text(max_size=8), machines())
def test_mapping_without_matches_is_an_error_with_steps(word, machine):
    if not discovery.select(word, machine):
        with pytest.raises(RuntimeError, match="What may help:\n  - "):
            discovery.require(word, machine)


def test_newer_version_comes_first():
    rows = targets.BY_NAME["pocl"], targets.BY_NAME["pocl-rc"]
    devices = [
        DetectedDevice(row, "cpu", "Portable Computing Language", driver, driver, 1, 1, True, False)
        for row in rows[::-1]
        for driver in ("3.9", "3.10")
    ]
    ordered = discovery._in_order(devices)
    assert [(d.target.name, d.driver) for d in ordered] == [
        ("pocl", "3.10"),
        ("pocl", "3.9"),
        ("pocl-rc", "3.10"),
        ("pocl-rc", "3.9"),
    ]


# The loader's folder

ENTRIES = st.dictionaries(
    st.from_regex(r"[a-z]{1,8}\.icd", fullmatch=True),
    st.from_regex(r"/?[a-z]{1,8}(/libintelocl\.so|\.so)", fullmatch=True),
)


@settings(deadline=None)  # it writes files
@given(ENTRIES)
def test_folder_has_the_requested_files_and_belongs_to_the_user(entries):
    with tempfile.TemporaryDirectory() as parent:
        for _attempt in range(2):
            folder = icd.write_folder(entries, Path(parent))
            assert icd.read_folder(folder) == entries
            assert folder.stat().st_mode & 0o077 == 0
            (folder / "stray.icd").write_text("/tmp/other.so")


def test_folder_writable_by_others_is_refused(tmp_path):
    folder = icd.write_folder({"a.icd": "a.so"}, tmp_path)
    folder.chmod(0o777)
    with pytest.raises(PermissionError):
        icd.write_folder({"a.icd": "a.so"}, tmp_path)


@given(ENTRIES, st.booleans())
def test_merge_keeps_system_runtimes_and_adds_intels_once(entries, installed):
    runtime = icd.PipRuntime("1", Path("/pip/libintelocl.so"), (), ()) if installed else None
    merged = icd.merge_icd_entries(entries, runtime)
    intel = [lib for lib in merged.values() if lib.endswith(targets.INTEL_CPU_LIBRARY)]
    others = {n: lib for n, lib in entries.items() if "libintelocl" not in lib}
    assert others.items() <= merged.items()
    if not installed:
        assert merged == entries
    else:
        assert intel
        assert ("/pip/libintelocl.so" in intel) == (len(intel) == 1 and "/pip" in intel[0])


def install(site: Path, name: str, files: list[str]) -> None:
    """Creates the files of an installed distribution with its record."""
    info = site / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    for file in files:
        path = site / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def test_runtime_is_found_where_pip_installed_it(tmp_path, monkeypatch):
    """Its parts may be in different places: the user's folder and the environment's."""
    user = tmp_path / "user/lib/python3/site-packages"
    environment = tmp_path / "env/lib/python3/site-packages"
    install(user, "intel-opencl-rt", ["../../libintelocl.so"])
    install(environment, "intel-cmplr-lib-rt", [f"../../{name}" for name in icd.NEIGHBOURS[:4]])
    install(environment, "tbb", ["../../libtbb.so.12.20"])
    monkeypatch.setattr(sys, "path", [str(user), str(environment)])
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "nowhere"))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "nowhere"))
    runtime = icd.pip_runtime()
    assert runtime is not None
    assert runtime.library == tmp_path / "user/lib/libintelocl.so"
    assert runtime.missing == ("libtbb.so.12",)
    (tmp_path / "env/lib/libtbb.so.12").write_text("")  # a link that no record lists
    runtime = icd.pip_runtime()
    assert runtime is not None
    assert runtime.missing == ()
    assert [path.name for path in runtime.neighbours] == list(icd.NEIGHBOURS)


def test_no_runtime_without_its_distribution(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert icd.pip_runtime() is None


def test_unloadable_runtime_is_left_out_and_reported(tmp_path, monkeypatch):
    library = tmp_path / "libintelocl.so"
    library.write_text("no library")
    broken = icd.PipRuntime("1", library, (library,), ("libimf.so",))
    monkeypatch.setattr(icd, "pip_runtime", lambda: broken)
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    notes: list[str] = []
    with icd.available_runtimes(notes) as entries:
        assert str(library) not in entries.values()
    assert len(notes) == 2
    assert "libimf.so" in notes[0]
    assert "cannot be loaded" in notes[1]


def test_environment_is_restored_and_user_settings_are_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    monkeypatch.setenv("FTENSOR_CACHE_DIR", "/dev/null/read-only")  # falls back to a private folder
    monkeypatch.setattr(icd, "merge_icd_entries", lambda system, runtime: {"one.icd": "libone.so"})
    with icd.available_runtimes([]) as entries:
        folder = Path(os.environ["OCL_ICD_VENDORS"])
        assert icd.read_folder(folder) == entries == {"one.icd": "libone.so"}
    assert "OCL_ICD_VENDORS" not in os.environ
    assert not folder.exists()
    (tmp_path / "mine.icd").write_text("libmine.so\n")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    with icd.available_runtimes([]) as entries:
        assert entries == {"mine.icd": "libmine.so"}
        assert os.environ["OCL_ICD_VENDORS"] == str(tmp_path)


# Processes


def test_importing_ftensor_loads_no_driver():
    code = "import sys, os, ftensor; print('pyopencl' in sys.modules, 'torch' in sys.modules)"
    root = Path(ft.__file__).parent.parent
    assert subprocess.check_output([sys.executable, "-c", code], cwd=root) == b"False False\n"


def test_c_simulation_is_the_last_resort(tmp_path):
    code = (
        "import ftensor as ft; from ftensor._device import detected_device, resolve;"
        "print([detected_device(resolve(d)).target.name for d in ('fpga', 'cpu')])"
    )
    empty = {"OCL_ICD_VENDORS": str(tmp_path), "FTENSOR_DEVICE": None}
    assert run_output(code, **empty) == "['csim', 'csim']"
    done = python(code, CXX="no-such-compiler", **empty)
    assert "RuntimeError: no device for the mapping 'auto'" in done.stderr
    assert "ftensor doctor" in done.stderr


@pytest.mark.skipif(icd.pip_runtime() is None, reason="Intel's CPU runtime is not installed by pip")
def test_earlier_use_of_pyopencl_is_detected():
    code = (
        "import pyopencl as cl\ntry: cl.get_platforms()\nexcept cl.Error: pass\n"
        "from ftensor.runtime import discovery\n"
        "print([f.target.name for f in discovery.find()], discovery.report().notes)"
    )
    output = run_output(code, OCL_ICD_VENDORS=None)
    assert "intel-cpu" not in output
    assert "had asked for its platforms" in output
    ours_first = code.replace("import pyopencl", "import ftensor; ftensor.fpga.is_available()\nimport pyopencl")
    output = run_output(ours_first, OCL_ICD_VENDORS=None)
    assert "intel-cpu" in output
    assert "[] ()" not in output
    assert "had asked" not in output


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_child_forked_after_discovery_gets_an_error():
    code = (
        "import os, ftensor as ft\n"
        "from ftensor._device import default_backend\n"
        "from ftensor.runtime.discovery import find\n"
        "find()\n"
        "if os.fork():\n"
        "    os.wait()\n"
        "else:\n"
        "    try: print(default_backend().target.kind)\n"
        "    except RuntimeError as error: print('refused' if 'spawn' in str(error) else error)\n"
    )
    assert run_output(code) in ("refused", "csim")
