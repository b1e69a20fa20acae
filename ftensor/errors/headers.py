"""Messages about the headers for users' own kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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


def headers_folder_taken(folder: Path) -> RuntimeError:
    """The headers would be put among other files."""
    return RuntimeError(
        f"{folder} holds something else already, and Xilinx's headers need a folder of their own: "
        f"name another one by FTENSOR_AP_TYPES=DIR, or empty this one"
    )


def headers_not_fetched(folder: Path, package: str) -> RuntimeError:
    """pip failed, and said why."""
    return RuntimeError(
        f"Xilinx's headers could not be fetched: pip's own words are above. They come with "
        f"{package}, from the package index that pip is set to. Without a network: copy "
        f"{folder} from a machine that has it, or name Vitis' own headers by "
        f"FTENSOR_VITIS_INCLUDE=<folder of Vitis_HLS>/include"
    )


def headers_not_written(folder: Path, problem: Exception) -> RuntimeError:
    """The folder can't be made or filled."""
    return RuntimeError(f"Xilinx's headers could not be put into {folder}: {problem}")
