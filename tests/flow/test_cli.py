"""The `ftensor` command: its output and exit status, with and without devices."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ftensor as ft
from ftensor import doctor
from ftensor.cli import main
from ftensor.runtime import discovery
from ftensor.runtime.opencl import backend
from ftensor.terminal import guess, size, table

from .. import forked


def ftensor(*words: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """Runs the command in a new process. None unsets a variable."""
    env = {**os.environ, "PYTHONPATH": str(Path(ft.__file__).parent.parent), **environment}
    env = {name: value for name, value in env.items() if value is not None}
    return forked.run("-m", "ftensor", *words, env=env)


def test_version_and_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == ["ftensor", ft.__version__]


def test_devices_lists_each_device_and_how_to_select_it(capsys):
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    devices = discovery.find()
    for device, line in zip(devices, lines[1:]):
        assert device.name in line
        assert line.endswith(f"FTENSOR_DEVICE={discovery.selector(device, devices)}")
    assert sum("fpga:0" in line for line in lines) == 1
    assert sum("cpu " in line.partition("  ")[0] + " " for line in lines) >= 1


@pytest.mark.long
def test_doctor_succeeds_here():
    done = ftensor("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": works" in done.stdout
    assert done.stdout.rstrip().endswith("and it works.")


def test_pocl_without_a_linker_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """PoCL's library would end the process. A build with its own linker continues."""
    backend.require.cache_clear()
    properties = ft.ones(1)._storage.backend.properties
    backend.require(properties)
    backend.require.cache_clear()
    monkeypatch.setattr(backend.shutil, "which", lambda *args, **options: None)
    report = discovery.report()
    pocl = [one for one in report.devices if one.target.name == "pocl"]
    lacks = {one.remedy for one in doctor.missing(replace(report, devices=pocl))}
    assert "apt-get install binutils" in lacks or not pocl
    ended = [0, -6]
    run = lambda *args, **options: subprocess.CompletedProcess(args, ended.pop(0))  # noqa: E731
    monkeypatch.setattr(backend.subprocess, "run", run)
    backend.require(properties)
    backend.require.cache_clear()
    with pytest.raises(RuntimeError, match=r"linker ld.*binutils"):
        backend.require(properties)


def test_doctor_computes_and_names_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    doctor.compute()
    for name, computed, _ in list(doctor.cases()):
        right = computed()
        home = ft.nn.functional if name == "conv2d" else ft.fft if name == "fft.fft" else ft
        own = name.rpartition(".")[2]
        wrong = [ft.sort(ft.zeros(18, 27)), None] if own == "sort" else [ft.zeros_like(right)]
        fake = wrong[0] if own != "fft" else ft.zeros(9, 24, dtype=ft.complex64)
        with monkeypatch.context() as patched:
            patched.setattr(home, own, lambda *args, fake=fake, **options: fake)
            with pytest.raises(RuntimeError, match=f"^{name} gives [1-9]"):
                doctor.compute()


@pytest.mark.parametrize("command", ["devices", "doctor"])
@pytest.mark.parametrize("compiler", ["no-such-compiler", None])
def test_missing_opencl_gives_advice_without_traceback(command, compiler, tmp_path):
    done = ftensor(command, OCL_ICD_VENDORS=str(tmp_path), CXX=compiler, FTENSOR_DEVICE=None)
    assert done.returncode == (0 if compiler is None else 1)  # the C simulation is a device
    assert done.stderr == ""
    assert ("the C simulation stands in" in done.stdout) == (compiler is None)
    assert "There is no OpenCL device here" in done.stdout
    assert "apt-get install pocl-opencl-icd" in done.stdout
    assert "unset OCL_ICD_VENDORS" in done.stdout
    assert ("apt-get install g++" in done.stdout) == (compiler is not None)


def test_missing_pyopencl_gives_advice():
    code = "import sys; sys.modules['pyopencl'] = None; from ftensor.cli import main;sys.exit(main(['devices']))"
    env = {**os.environ, "PYTHONPATH": str(Path(ft.__file__).parent.parent)}
    env.pop("FTENSOR_DEVICE", None)  # the named device may not exist
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert (done.returncode == 0) == ("csim" in done.stdout)
    assert done.stderr == ""
    assert "pyopencl cannot be imported" in done.stdout


def test_mapping_without_matches_is_reported_below_the_list():
    done = ftensor("devices", FTENSOR_DEVICE="no-such-device")
    assert done.returncode == 1
    assert "no device for the mapping 'no-such-device'" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_failing_device_is_reported_with_its_reason(monkeypatch):
    assert "no device for the mapping" in doctor.try_device("no-such-device")
    monkeypatch.setattr(doctor, "CHECK_SECONDS", 0.001)
    assert doctor.try_device("auto").startswith("gave no answer")


def test_cards_without_a_driver_are_reported(tmp_path):
    for slot, vendor, kind in (
        ("0000:01:00.0", "0x10ee", "0x120000"),
        ("0000:02:00.0", "0x10de", "0x030200"),
        ("0000:03:00.0", "0x10de", "0x030200"),
        ("0000:04:00.0", "0x8086", "0x020000"),  # a network card
    ):
        (tmp_path / slot).mkdir()
        (tmp_path / slot / "vendor").write_text(vendor + "\n")
        (tmp_path / slot / "class").write_text(kind + "\n")
    cards = list(doctor.cards_without_platform({"pocl"}, tmp_path))
    assert ["xilinx" in cards[0].name, "nvidia" in cards[1].name] == [True, True]
    assert len(cards) == 2
    assert list(doctor.cards_without_platform({"xilinx", "nvidia"}, tmp_path)) == []


def test_cache_size_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "cache"))
    assert dict(doctor.cache_rows())["content"] == "0 files, 0 B"
    (tmp_path / "cache/ab").mkdir(parents=True)
    (tmp_path / "cache/ab/kernel").write_bytes(bytes(2048))
    rows = dict(doctor.cache_rows())
    assert rows["content"] == "1 file, 2.0 KiB"
    assert rows["folder"] == str(tmp_path / "cache")
    assert rows["writable"] == "yes"


CELLS = st.text("abc xyz", max_size=6) | st.integers(0, 9999)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.tuples(*[CELLS] * n), min_size=1)))
def test_columns_are_aligned(rows):
    lines = table(rows, indent="").split("\n")
    assert len(lines) == len(rows)
    start = 0
    for column in zip(*rows):
        width = max(len(str(cell)) for cell in column)
        for cell, line in zip(column, lines):
            text = line[start : start + width]
            assert text.strip() == str(cell).strip()
            if isinstance(cell, int) and len(text) == width:
                assert text.endswith(str(cell))
        start += width + 2


@given(st.integers(0, 2**60))
def test_sizes_round_trip(nbytes):
    number, unit = size(nbytes).split()
    scale = 1024 ** ("B", "KiB", "MiB", "GiB", "TiB").index(unit)
    assert abs(float(number) * scale - nbytes) <= 0.05001 * scale


def test_cache_must_be_writable(monkeypatch):
    monkeypatch.setenv("FTENSOR_CACHE_DIR", "/proc/nope")  # even root can't write there
    assert dict(doctor.cache_rows())["writable"].startswith("no; ")


WRONG = {
    "FTENSOR_CACHE_DIR": ("~no-such-user/x", "there is no such user"),
    "FTENSOR_FALLBACK": ("wran", "is not one of warn, error, silent"),
    "FTENSOR_FUSE": ("off", "is not 0 or 1"),
    "FTENSOR_IMAGE": ("/no/such.xclbin", "can't read '/no/such.xclbin'"),
    "FTENSOR_DEVCE": ("csim", "did you mean 'DEVICE'"),
}


# The doctor computes too: a refused value, and an unknown name, in one run.
@pytest.mark.parametrize(
    ("command", "names"),
    [
        *(("devices", (name,)) for name in WRONG),
        pytest.param("doctor", ("FTENSOR_IMAGE", "FTENSOR_DEVCE"), marks=pytest.mark.long),
    ],
)
def test_invalid_setting_is_reported(command, names):
    done = ftensor(command, **{name: WRONG[name][0] for name in names}, FTENSOR_DEVICE="csim")
    assert done.returncode == 1
    for name in names:
        assert name in done.stdout and WRONG[name][1] in done.stdout
    assert "csim" in done.stdout and "Traceback" not in done.stdout + done.stderr


def test_every_program_refuses_an_unknown_fallback():
    code = "import ftensor as ft; ft.ones(1)"
    env = {**os.environ, "FTENSOR_FALLBACK": "wran"}
    done = forked.run("-c", code, env=env)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ValueError: FTENSOR_FALLBACK='wran'")


def test_the_settings_are_those_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    listed = {name for name in re.findall(r"^\| `(\w+)`", page, re.M) if name.startswith("FTENSOR")}
    assert listed == set(doctor.SETTINGS)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["bild"], "'build'"),
        (["build", "--inventory", "minimal", "--out", "x", "--platfrom", "u55c"], "'--platform'"),
        (["image", "inof"], "'info'"),
        (["build", "--inventori", "cnn"], "'--inventory'"),
        (["kernels", "cnn", "--ops", "add"], "'--op'"),
    ],
)
def test_mistyped_command_gets_a_suggestion(words, meant, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert f"did you mean {meant}" in capsys.readouterr().err


def test_action_without_its_command_gets_a_suggestion(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["info", "minimal.xclbin"])
    assert ended.value.code == 2
    assert "it is an action of 'image': `ftensor image info`" in capsys.readouterr().err


def test_command_without_action_prints_its_help(capsys):
    assert main([]) == 0
    assert "usage: ftensor" in capsys.readouterr().out


def test_suggestion_is_printed_once():
    assert guess("csin", ["csim", "pocl", "csim"]) == "; did you mean 'csim'?"


def test_mistyped_device_gets_a_suggestion():
    done = ftensor("devices", FTENSOR_DEVICE="intl-cpu")
    assert done.returncode == 1
    assert "did you mean 'intel-cpu'" in done.stdout


def test_closed_pipe_is_no_error() -> None:
    line = f"{sys.executable} -m ftensor kernels full | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("op")
