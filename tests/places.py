"""The targets of the tests: environments and commands for running programs on them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ftensor.runtime.csim.backend import FLAGS, cpu_name
from ftensor.toolchain.vitis.source import standins

from .kept import digest, headers_kept, kept, text_of

ROOT = Path(__file__).resolve().parent.parent
# name -> the family's row in ftensor/runtime/targets.py; "default" is the device that `auto`
# selects
TARGETS = {
    "default": None,
    "intel": "intel-cpu",
    "pocl": "pocl",
    "csim": "csim",
    "oclgrind": "oclgrind",
    "xrt": "xilinx",
    "intel-fpga": "intel-fpga-emulator",
    "sanitized": "csim",
    "avx2": "intel-cpu",
    "avx": "intel-cpu",
}
# The processor option of Intel's compiler, and the /proc/cpuinfo flag of processors that exceed it:
# kernels follow the option.
PROCESSORS = {"avx2": ("core-avx2", "avx512f"), "avx": ("corei7-avx", "avx2")}
# The C simulation under g++'s sanitizers, which report bad accesses and undefined behaviour.
SANITIZERS = "address,undefined,float-cast-overflow"
CSIM_HEADERS = ("cmath", "cstdint", "limits")
# The headers that images' kernels include. hls_stream.h depends on a macro of theirs, and includes
# the last two.
HLS_HEADERS = ("ap_int.h", "hls_math.h", "hls_vector.h", "cstdio", "new")
# g++ for the tests. Most kernels compute little, so the optimizer costs more time than it saves.
# The script's version contains its options, because caches ask for the version. With KEEP_CXX,
# results of compilations without messages are cached in a folder. Their key contains the compiler,
# the processor, the options, the text, and all headers next to it and in the include folders. Tests
# build the same kernels in several folders, and the next run builds most of them again. The C
# simulation's kernels, which are read from stdin, and those of images use precompiled headers.
QUICK = """#!/bin/sh
[ "$1" = --version ] && {{ IFS= read -r first; echo "$first $QUICK_CXX"; exec cat; }} < {version}
out='' last='' read=''
for word; do
    case $last in -o) out=$word ;; esac
    last=$word
done
case " $* " in
    *" -I {standins} -c "*) read=$QUICK_READ_HLS ;;
    *" -c "*) ;;
    *" - "*) [ ! "$KEEP_CXX" ] || read=$QUICK_READ ;;
    *" -fsyntax-only "*) out=/dev/null ;;
    *" -L"* | *" -l"*) out='' ;;
    *" -shared "*".cpp "*) ;;
    *) out='' ;;
esac
[ "$KEEP_CXX" ] && [ "$out" ] || exec {gxx} ${{QUICK_CXX:+$read}} "$@" $QUICK_CXX
new={kept}/new-{run}-$$ text=/dev/null
begin() {{ mkdir -p "$new" && trap 'rm -rf "$new"' EXIT && trap 'exit 1' HUP INT TERM; }}
headers() {{ cat "$1"/*.h* "$1"/*/*.h* "$1"/*/*/*.h* "$1"/*/*/*/*.h* "$1"/*/*/*/*/*.h* 2> /dev/null; }}
beside() {{ case $1 in */*) cat "$1" "${{1%/*}}"/*.h* ;; *) cat "$1" ./*.h* ;; esac 2> /dev/null; }}
case " $* " in *" - "*) begin && text=$new/text && cat > "$text" ;; esac
key=$(
    {{
        echo "{identity} $QUICK_CXX" && last=''
        for word; do
            case $last in
                -o) ;;
                -I | -isystem) [ "$word" = {standins} ] || headers "$word" ;;
                *) case $word in
                    -I) ;;
                    -I*) headers "${{word#-I}}" ;;
                    -) cat "$text" ;;
                    *) if [ -f "$word" ]; then beside "$word"; else echo "$word"; fi ;;
                esac ;;
            esac
            last=$word
        done
    }} | sha256sum
)
kept={kept}/${{key%% *}}
[ -f "$kept" ] && cp "$kept" "$out" && exit
begin
{gxx} ${{QUICK_CXX:+$read}} "$@" $QUICK_CXX < "$text" 2> "$new/said"
status=$?
[ -s "$new/said" ] && cat "$new/said" >&2
[ $status != 0 ] || [ -s "$new/said" ] || {{ cp "$out" "$new/made" && mv "$new/made" "$kept"; }}
exit $status
"""
# The kernels of the software device, built once and rebuilt when a kernel changes.
IMAGE = ROOT / "build" / "full"
# Runs in the environment of the tests, so that the printed device is the tested one.
PROBE = """
import json, sys
from ftensor.runtime import discovery
rows = [found.target.name for found in discovery.find()]
answer = {"rows": rows, "notes": list(discovery.report().notes)}
if rows and (sys.argv[1] in rows or sys.argv[1] == "default"):
    from ftensor._device import default_backend
    backend = default_backend()
    answer |= {"row": backend.target.name, "device": backend.properties.name}
print(json.dumps(answer))
"""


@dataclass(frozen=True)
class Place:
    """An available target: the environment and the command of its programs."""

    target: str
    env: dict[str, str]
    under: list[str]
    row: str
    device: str


def environment(target: str, folder: Path) -> dict[str, str] | None:
    """Returns the variables that run the tests on a target; None if the machine lacks the tool."""
    env = dict(os.environ)
    # Hundreds of programs start. With Python's bytecode cached, each imports in half the time.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    identity = ""
    if compiler := shutil.which("g++"):
        quick = folder / "quick" / "g++"
        quick.parent.mkdir()
        version = quick.with_name("version")
        version.write_text(subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout)
        identity = digest(compiler, version.read_text(), cpu_name(), text_of(standins()))
        words = {"gxx": compiler, "version": version, "standins": standins()}
        words |= {"kept": kept("objects"), "run": folder.name, "identity": identity}
        quick.write_text(QUICK.format(**words))
        quick.chmod(0o755)
        env["PATH"] = os.pathsep.join([str(quick.parent), env["PATH"]])
        command = ["g++", *FLAGS]
        env["QUICK_READ"] = " ".join(headers_kept(identity, command, CSIM_HEADERS, ["-O1"]))
        command += ["-I", str(standins())]
        env["QUICK_READ_HLS"] = " ".join(headers_kept(identity, command, HLS_HEADERS, ["-O1"]))
        env["QUICK_CXX"] = " ".join(["-O1", *["-fuse-ld=gold"] * bool(shutil.which("ld.gold"))])
    if target == "default":
        return env
    env["FTENSOR_DEVICE"] = TARGETS[target] or target
    if target == "csim" and compiler and "CXX" not in env:
        env["CXX"] = with_headers_read(["g++"], identity)
    if target == "intel-fpga":
        from ftensor.runtime.intel import emulator

        driver = emulator.driver()
        return emulator.environment(driver, env, folder) if driver else None
    if target in PROCESSORS:
        env["CL_CONFIG_CPU_TARGET_ARCH"] = PROCESSORS[target][0]
    if target == "sanitized":
        libraries = sanitizer_libraries()
        if libraries is None:
            return None
        # Kernels are loaded into Python. The sanitizers find bad accesses by replacing the
        # allocator.
        env["LD_PRELOAD"] = f"{libraries['asan']} {libraries['stdc++']}"
        command = ["g++", "-g1", f"-fsanitize={SANITIZERS}", "-fsanitize-recover=all"]
        env["CXX"] = with_headers_read(command, identity)
        # The C simulation's cache key has g++'s version, but not its options.
        env["FTENSOR_CACHE_DIR"] = str(kept(f"sanitized-{digest(*command)}"))
        # tests/conftest.py reads the logs, and sets the name of the one for undefined behaviour.
        env["SANITIZER_LOG"], env["SANITIZER_UBSAN"] = str(folder / "log"), libraries["ubsan"]
        log = f"halt_on_error=0:log_path={env['SANITIZER_LOG']}"
        env["ASAN_OPTIONS"], env["UBSAN_OPTIONS"] = f"detect_leaks=0:{log}", log
    if target == "oclgrind":
        driver = oclgrind_driver()
        if driver is None:
            return None
        # The loader offers only Oclgrind. tests/conftest.py reads the log after each test.
        (folder / "oclgrind.icd").write_text(f"{driver}\n")
        env["OCL_ICD_VENDORS"] = f"{folder}/"
        env["OCLGRIND_DATA_RACES"] = "1"
        # Its interpreter lacks what the optimizer generates for some kernels: llvm.abs, and zext of
        # i1 vectors, which gives 255. Without optimization, no access in the kernel's source is
        # lost.
        env["OCLGRIND_BUILD_OPTIONS"] = "-cl-opt-disable"
        # The options are not part of a cached kernel's key.
        env["FTENSOR_CACHE_DIR"] = str(kept(f"oclgrind-{digest(driver, env['OCLGRIND_BUILD_OPTIONS'])}"))
        env["OCLGRIND_LOG"] = str(folder / "oclgrind.log")
    return env


def with_headers_read(command: list[str], identity: str) -> str:
    """Returns a compiler for $CXX with the C simulation's headers precompiled."""
    both = ("-O1", "-O2")  # each pass is compiled with one of them
    return shlex.join([*command, *headers_kept(identity, [*command, *FLAGS], CSIM_HEADERS, both)])


def launcher(target: str, env: Mapping[str, str]) -> list[str] | None:
    """Returns the command under which a target's programs run; None if the machine lacks the
    tool."""
    if target != "xrt":
        return []
    from ftensor.emulation.environment import available

    if why := available():
        print(f"\n## {target}: {why}", flush=True)
        return None
    ftensor = [sys.executable, "-m", "ftensor"]
    build = ["build", "--target", "csim", "--inventory", "full", "--out", str(IMAGE)]
    print(f"\n## {target}: the image full is built into {IMAGE}", flush=True)
    paths = {name: env[name] for name in ("PATH", "QUICK_CXX", "QUICK_READ_HLS") if name in env}
    subprocess.run([*ftensor, *build], cwd=ROOT, env=os.environ | paths | {"KEEP_CXX": "1"}, check=True)
    return [*ftensor, "emulate", "--image", str(IMAGE / "full.xclbin"), "--"]


def sanitizer_libraries() -> dict[str, str] | None:
    """Returns the paths of g++'s sanitizers and their dependencies; None if g++ or one of them is
    missing."""
    if shutil.which("g++") is None:
        return None
    libraries = {}
    for name in ("asan", "ubsan", "stdc++"):
        command = ["g++", f"-print-file-name=lib{name}.so"]
        libraries[name] = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return libraries if all(Path(path).is_absolute() for path in libraries.values()) else None


def oclgrind_driver() -> Path | None:
    """Returns Oclgrind's OpenCL driver, next to its command."""
    command = shutil.which("oclgrind")
    if command is None:
        return None
    lib = Path(command).resolve().parent.parent / "lib"
    names = ("oclgrind/liboclgrind-rt-icd.so", "liboclgrind-rt-icd.so")
    return next((lib / name for name in names if (lib / name).is_file()), None)


def probe(target: str, under: list[str], env: dict[str, str]) -> dict[str, object]:
    """Returns the properties of the target's environment, read in a new process."""
    row = TARGETS[target] or "default"
    done = subprocess.run([*under, sys.executable, "-c", PROBE, row], env=env, cwd=ROOT, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"ftensor fails to look for {target}:\n{done.stderr}")
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def place(target: str, folder: Path) -> Place | None:
    """Returns a target in its environment, or None after printing the reason."""
    env = environment(target, folder)
    under = launcher(target, env or {})
    answer = {} if env is None or under is None else probe(target, under, env)
    if env is None or under is None or "row" not in answer:
        print(f"\n## {target}: not on this machine {answer.get('notes') or ''}", flush=True)
        return None
    if TARGETS[target] not in (None, answer["row"]):
        sys.exit(f"FTENSOR_DEVICE={target} gives {answer['row']}, {answer['device']}")
    # Kernels of csim, and of Intel's runtime, which run anyway.
    another = target == "sanitized" or (target in PROCESSORS and has(PROCESSORS[target][1]))
    row = target if another else str(answer["row"])
    return Place(target, env, under, row, str(answer["device"]))


def has(instructions: str) -> bool:
    """Returns whether this processor has these instructions, by the Linux kernel's name for
    them."""
    file = Path("/proc/cpuinfo")
    return file.is_file() and instructions in file.read_text().split()
