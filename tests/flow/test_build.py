"""`ftensor build --target csim`: an image, incremental builds, interruptions, mistakes."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ftensor.cli import main
from ftensor.errors.build import BuildError
from ftensor.image import xclbin
from ftensor.image.manifest import Manifest
from ftensor.runtime.backend import host_bytes, host_memory
from ftensor.toolchain.jobs import workspace
from ftensor.toolchain.vitis.source import standins

from .build_flow import Flow, wait_for

pytestmark = [pytest.mark.skipif(shutil.which("g++") is None, reason="the compilers here end in g++")]

KERNELS = ["ft_abs_float32", "ft_mul_float32", "ft_neg_float32"]
CSIM = ("--target", "csim")


@pytest.fixture
def flow(tmp_path):
    return Flow(tmp_path)


def test_inventory_is_built_into_an_image_with_a_manifest(flow, capsys):
    done = flow.build(*CSIM)
    assert "3 kernels: 3 compiled, 0 reused" in done.stdout
    assert flow.ran() == KERNELS
    image = xclbin.read((flow.out / "three.xclbin").read_bytes())
    manifest = Manifest.read(flow.out / "manifest.json")
    embedded = image.section(xclbin.SectionKind.USER_METADATA)
    assert embedded is not None and Manifest.from_json(embedded.decode()) == manifest
    assert manifest.uuid == str(image.uuid)
    assert (manifest.name, manifest.target, manifest.file) == ("three", "csim", "three.xclbin")
    assert [k.name for k in manifest.kernels] == ["ft_mul_float32", "ft_neg_float32", KERNELS[0]]
    assert {a.bank for k in manifest.kernels for a in k.arguments if a.what == "*"} == {"DDR[0]"}
    assert set(manifest.tools) == {"ftensor", "counted"}
    assert main(["image", "info", str(flow.out)]) == 0  # the folder can be used as its image
    output = capsys.readouterr().out
    assert all(name in output for name in KERNELS) and "DDR[0]" in output
    assert sorted(p.stem for p in (flow.out / "logs").iterdir()) == [*KERNELS, "link"]


def test_kernels_of_the_image_compute(flow):
    flow.build(*CSIM)
    image = xclbin.read((flow.out / "three.xclbin").read_bytes())
    code = flow.folder / "code.so"
    code.write_bytes(image.section(xclbin.SectionKind.BITSTREAM) or b"")
    kernel = ctypes.CDLL(str(code)).ft_mul_float32
    manifest = Manifest.read(flow.out / "manifest.json")
    (record,) = [k for k in manifest.kernels if k.name == "ft_mul_float32"]
    (member,) = record.members
    pieces = [host_memory(256) for _ in range(3)]
    out, a, b = [host_bytes(address, 160).view(np.float32) for address, _ in pieces]
    a[:], b[:] = np.arange(40), 0.5
    launch = [*(ctypes.c_void_p(p) for p, _ in pieces), *(ctypes.c_long(0) for _ in "abc"), 37]
    words = [launch[int(w)] if w.isdigit() else int(w[1:]) for w in member.call.split()]
    for unit in range(2):
        kernel(*words, unit, 2)
    assert out[:37].tolist() == [0.5 * i for i in range(37)]


def test_second_build_does_nothing(flow):
    flow.build(*CSIM)
    flow.ran()
    files = [flow.out / "three.xclbin", flow.out / "manifest.json"]
    before = [(f.read_bytes(), f.stat().st_mtime_ns) for f in files]
    assert "0 compiled, 3 reused" in flow.build(*CSIM).stdout
    assert flow.ran() == []
    assert [(f.read_bytes(), f.stat().st_mtime_ns) for f in files] == before
    files[0].unlink()
    flow.build(*CSIM)
    assert flow.ran() == [] and files[0].read_bytes() == before[0][0]


def test_only_changed_kernels_are_compiled(flow):
    flow.build(*CSIM)
    flow.ran()
    flow.inventory.write_text(flow.inventory.read_text().replace('"neg"', '"sub"'))
    assert "reused" in flow.build(*CSIM).stdout
    assert [n for n in flow.ran() if n in KERNELS] == []
    flow.build(*CSIM, CXX=f"{flow.bin / 'counted'} -DANOTHER_FLAG")
    assert {"ft_abs_float32", "ft_mul_float32"} <= set(flow.ran())


# test_build_jobs.py tests how each of a build's jobs ends.
@pytest.mark.parametrize(
    "number", [signal.SIGINT, *(pytest.param(n, marks=pytest.mark.long) for n in (signal.SIGKILL, signal.SIGTERM))]
)
def test_interrupted_build_resumes(flow, number):
    first = flow.start(*CSIM, "--jobs", "1", HANG_BEHIND="1")
    wait_for(lambda: flow.objects() and len(flow.log.read_text().split()) >= 2)
    if number == signal.SIGTERM:
        first.send_signal(number)
    else:
        os.killpg(first.pid, number)
    _, problems = first.communicate(timeout=600)
    assert first.returncode == {9: -9, 2: 130, 15: 143}[number], problems
    assert ("goes on from here" in problems) == (number == signal.SIGINT)
    wait_for(lambda: not flow.processes())
    done = flow.objects()
    assert len(done) == 1 and not (flow.out / "three.xclbin").exists()
    flow.ran()
    flow.build(*CSIM)
    assert flow.ran() == [name for name in KERNELS if name not in done]
    assert (flow.out / "three.xclbin").is_file()
    assert not list((flow.out / "objects").glob("part-*"))


def test_vitis_headers_replace_the_stand_ins(flow):
    folder = flow.folder / "include"
    shutil.copytree(standins(), folder)
    with (folder / "hls_vector.h").open("a") as file:
        file.write('static const char named[] __attribute__((used)) = "of another folder";\n')

    def holds() -> bool:
        return b"of another folder" in (flow.out / "three.xclbin").read_bytes()

    flow.build(*CSIM, FTENSOR_VITIS_INCLUDE=str(folder))
    assert holds() and flow.ran() == KERNELS
    flow.build(*CSIM)
    assert not holds() and flow.ran() == KERNELS
    (folder / "hls_vector.h").write_text("#error no vectors\n")
    flow.build(*CSIM, status=1, FTENSOR_VITIS_INCLUDE=str(folder))
    assert "no vectors" in (flow.out / "logs" / f"{KERNELS[0]}.log").read_text()


def test_dry_run_prints_working_commands(flow):
    done = flow.build(*CSIM, "--dry-run")
    assert flow.ran() == [] and flow.objects() == []
    script = flow.folder / "commands.sh"
    script.write_text(f"set -e\n{done.stdout}")
    subprocess.run(["sh", str(script)], check=True, env=flow.environment(), timeout=600)
    assert flow.ran() == KERNELS
    assert "0 compiled, 3 reused" in flow.build(*CSIM).stdout
    assert flow.ran() == []


def test_build_of_one_kernel(flow):
    assert "1 kernel: 1 compiled" in flow.build(*CSIM, "--only", "ft_neg_float32").stdout
    assert flow.ran() == ["ft_neg_float32"]
    assert not (flow.out / "three.xclbin").exists()
    done = flow.build(*CSIM, "--only", "ft_exp", status=1)
    assert "no kernel 'ft_exp'; it has: ft_abs_float32, ft_mul_float32" in done.stderr


def test_failing_kernel_is_reported_and_others_are_compiled(flow):
    (flow.bin / "broken").write_text(
        f"#!/bin/sh\ncase $* in *ft_mul*) echo no luck >&2; exit 4;; esac\nexec {flow.bin}/counted $*\n"
    )
    (flow.bin / "broken").chmod(0o755)
    done = flow.build(*CSIM, status=1, CXX=str(flow.bin / "broken"))
    assert flow.ran() == ["ft_abs_float32", "ft_neg_float32"]
    log = flow.out / "logs" / "ft_mul_float32.log"
    assert f"ft_mul_float32: the compiler ended with status 4; the whole log is {log}" in done.stderr
    assert "    no luck" in done.stderr and "no luck" in log.read_text()
    assert "2 compiled, 0 reused, 1 failed" in done.stdout


@pytest.mark.parametrize(
    "options, settings, message",
    [
        (CSIM, {"CXX": "no-such-compiler"}, "a C++ compiler, and 'no-such-compiler' is not there"),
        (CSIM, {"FTENSOR_VITIS_INCLUDE": "/no"}, "/no: there is no ap_int.h, hls_math.h"),
        ((*CSIM, "--clock", "fast"), {}, "--clock is a frequency in MHz"),
        ((*CSIM, "--clock", "-5"), {}, "above 0 and at most 2000, not '-5'"),
        ((*CSIM, "--inventory", "nothing"), {}, "there is no inventory 'nothing'"),
        ((*CSIM, "--out", "/proc/here"), {}, "/proc/here"),
        (("--target", "hw"), {"PATH": "/usr/bin:/bin"}, "there is no v++ on the PATH"),
    ],
)
def test_invalid_arguments_give_one_message(flow, options, settings, message):
    done = flow.build(*options, status=1, **settings)
    assert message in done.stderr and done.stderr.startswith("ftensor build: ")
    assert done.stderr.count("\n") == 1


def test_empty_folder_is_not_the_working_folder(flow):
    """An unset variable gives an empty path."""
    done = flow.build(*CSIM, "--out", "", status=2)
    assert "argument --out: the name is empty" in done.stderr


def test_the_key_of_a_source_covers_every_header_below_it(tmp_path):
    def digest() -> str:
        (source,) = workspace.write_source_files(
            [Group],
            tmp_path / "sources",
            lambda g: '#include "a.h"\n#include <vendor.h>\n',
            {"a.h": tmp_path / "a.h", "sub/b.h": tmp_path / "b.h", "c.h": tmp_path / "c.h"},
            ".cpp",
            [tmp_path / "sources", tmp_path / "vendor"],
        )
        return source.digest

    class Group:
        name = "k"

    (tmp_path / "vendor").mkdir()
    for name, text in [
        ("a.h", '#  include "sub/b.h"\n#include <cmath>'),
        ("b.h", "1"),
        ("c.h", "1"),
        ("vendor/vendor.h", '#include "a.h"'),
    ]:
        (tmp_path / name).write_text(text)
    first = digest()
    (tmp_path / "c.h").write_text("2")
    assert digest() == first
    (tmp_path / "b.h").write_text("// said otherwise\n1")
    assert digest() == first
    for name in ("b.h", "a.h", "vendor/vendor.h"):
        (tmp_path / name).write_text((tmp_path / name).read_text() + "\nint more;")
        assert digest() != first
        first = digest()


def test_comments_do_not_change_the_key():
    text = """a = "//no" /* one
    two */ + '"'; // three \\
    still three
    // four

    b = '\\'' / c; /**/ d("\\"/*") // e"""
    bare = """a = "//no"   + '"';\n    b = '\\'' / c;   d("\\"/*")"""
    assert workspace.without_comments(text) == bare
    assert workspace.without_comments(bare) == bare


def test_group_without_source_gives_one_message(tmp_path):
    class Group:
        name = "k"

    def fail(group: object) -> str:
        raise ValueError("ports of 4 and 8 bytes")

    with pytest.raises(BuildError, match=r"for kernel k: ports of 4 and 8 bytes"):
        workspace.write_source_files([Group], Path(tmp_path), fail, {}, ".cpp", [])


def test_file_instead_of_the_output_folder(flow):
    """The message names the file."""
    flow.out.write_text("")
    done = flow.build(*CSIM, status=1)
    assert done.stderr.splitlines()[-1] == f"ftensor build: {flow.out}: File exists"
