"""Messages about the headers for users' own kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .message import Message

INSTALL = "ftensor headers --install"


def headers_missing(folder: Path) -> str:
    """What `ftensor headers` says where only the stand-ins are there."""
    return (
        f"Xilinx's ap_int.h and ap_fixed.h are not in {folder}: kernels that compute with their "
        f"types will not compile. To fetch them (3 MB): {INSTALL}"
    )


def headers_changed(folder: Path, names: Sequence[str]) -> str:
    """Files of the folder that are not those which were fetched."""
    return (
        f"{folder} holds other files than Xilinx's headers as they were fetched "
        f"({', '.join(names)}), so they are left out; delete the folder and run: {INSTALL}"
    )


headers_folder_taken = Message(
    RuntimeError,
    "{folder} holds something else already, and Xilinx's headers need a folder of their own: name "
    "another one by FTENSOR_AP_TYPES=DIR, or empty this one",
)
headers_not_fetched = Message(
    RuntimeError,
    "Xilinx's headers could not be fetched: pip's own words are above. They come with {package}, "
    "from the package index that pip is set to. Without a network: copy {folder} from a machine "
    "that has it, or name Vitis' own headers by FTENSOR_VITIS_INCLUDE=<folder of "
    "Vitis_HLS>/include",
    "folder package",
)
headers_not_written = Message(RuntimeError, "Xilinx's headers could not be put into {folder}: {problem}")
