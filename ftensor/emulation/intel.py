"""`ftensor emulate --intel`: installs Intel's FPGA emulator, and runs programs on it."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import commands as errors
from ..runtime import cache
from ..runtime.intel.emulator import default_folder, driver, environment
from ..terminal import complain
from .command import program_words

PACKAGES = ("intel-opencl-rt==2023.2.4", "intel-cmplr-lib-rt==2023.2.4")


def run(program: Sequence[str], folder: Path | None = None, images: Sequence[str | Path] = ()) -> int:
    """Replaces this process by `program` on the emulator; returns an exit status only if that
    fails.

    `images` are the files with ftensor's kernels; without images ftensor compiles its kernels.
    """
    library = driver(folder)
    if library is None:
        return _complain(errors.emulator_missing(folder or default_folder()))
    try:
        env = environment(library, os.environ, cache.directory())
    except OSError as problem:
        return _complain(errors.emulator_needs_cache(cache.directory(), problem))
    if images:
        env["FTENSOR_IMAGE"] = os.pathsep.join(str(Path(image).resolve()) for image in images)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(program[0], list(program), env)
    except OSError as problem:
        _complain(errors.program_not_started(program[0], problem))
        return 127 if isinstance(problem, FileNotFoundError) else 126


def install(folder: Path | None = None) -> int:
    """Installs the emulator with pip into its own folder; returns an exit status."""
    folder = (folder or default_folder()).absolute()
    if (path := driver(folder)) is not None:
        print(f"Intel's FPGA emulator is there already: {path}")
        return 0
    if folder.exists() and any(folder.iterdir()):
        return _complain(errors.emulator_folder_taken(folder))
    # The folder appears complete or not at all.
    partial = folder.with_name(f".{folder.name}.{os.getpid()}")
    # A prefix, since pip omits the wheels' libraries from a --target folder. The packages of this
    # Python have another version and stay unchanged.
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-warn-script-location", "--ignore-installed", "--prefix", str(partial)]
    print(f"installing {' '.join(PACKAGES)} into {folder} (about 1 GB) ...", flush=True)
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        status = subprocess.run([*command, *PACKAGES]).returncode
        if status or driver(partial) is None:
            return _complain(errors.emulator_not_installed(folder, PACKAGES))
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
    except OSError as problem:
        if driver(folder) is None:  # else another process has installed it in the meantime
            return _complain(errors.emulator_not_written(folder, problem))
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    option = "" if folder == default_folder().absolute() else f" --folder {folder}"
    print(f"done; a program runs on it by: ftensor emulate --intel{option} -- python program.py")
    return 0


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor emulate --intel [--install] [--folder DIR] -- PROGRAM ...`; returns an exit
    status."""
    try:
        words = program_words(arguments)
    except errors.EstimateError as problem:
        return _complain(problem)
    folder, images = arguments.folder, arguments.image or ()
    if not arguments.intel:
        return _complain(errors.option_of_intel("--install" if arguments.install else "--folder"))
    if arguments.install:
        status = install(folder)
        if status or not words:
            return status
    if not words:
        return _complain(errors.no_program_to_emulate())
    return run(words, folder, images)


def _complain(problem: Exception) -> int:
    complain("ftensor", problem)
    return 2
