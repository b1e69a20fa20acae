"""Messages about inventories and building images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..terminal import guess
from .message import Message


class BuildError(RuntimeError):
    """An image cannot be built as requested."""


def folder_in_use(folder: Path, owner: str) -> BuildError:
    """Error for two concurrent builds in one folder."""
    user = f"process {owner}" if owner else "another process"
    return BuildError(
        f"another build works in {folder} ({user}, or a compiler that it started); "
        "wait for it, or give another folder with --out"
    )


def no_compiler_program(program: str, problem: OSError) -> BuildError:
    """Error for a compiler that does not start."""
    return BuildError(f"{program} does not start: {problem.strerror or problem}")


no_cxx = Message(
    BuildError,
    "the C simulation needs a C++ compiler, and {command!r} is not there; install one (sudo "
    "apt-get install g++), or name yours in CXX",
)
no_stage_for_intel = Message(
    ValueError,
    "its stage {stage} has no text in Intel's OpenCL C; build the graph for csim or Vitis, or "
    "leave its [[graph]] out: single kernels serve it then",
)
not_joined = Message(
    BuildError,
    "the kernels of linked graphs are joined by the stand-ins' FIFOs in a C simulation: unset "
    '{variable}, or build these graphs with structure = "dataflow"',
)
written_by_others = Message(
    BuildError,
    "{place} can be written by other users, so the files there are not used; chmod go-w {place}, or set "
    "FTENSOR_CACHE_DIR to a folder that you alone can write",
)


def not_compiled(log: Sequence[str]) -> BuildError:
    """Error for a kernel that the device's compiler could not compile."""
    return BuildError("\n".join(["the compiler failed", *log]))


not_a_request = Message(
    BuildError,
    "its skeleton is the program's own ({problem}); name the module in `imports` of an inventory, "
    "build that with --target csim, and give the image by --image",
)
no_vitis = Message(
    BuildError,
    "the target {target} needs Vitis, and there is no v++ on the PATH; set it up in this shell "
    "(source <folder of Vitis>/settings64.sh), or build with --target csim, which needs g++ and "
    "no licence",
)
no_vitis_headers = Message(
    BuildError,
    "{variable}={folder}: there is no {lacks!c}; Vitis has them in <folder of Vitis_HLS>/include; without the "
    "variable g++ takes ftensor's stand-ins",
)
no_platform = Message(
    BuildError,
    "the target {target} needs the board's platform: --platform NAME, or the path of its .xpfm "
    "file (platforminfo -l lists those installed)",
)


def tool_fails(program: str, status: int, output: str) -> BuildError:
    """Error for a tool that cannot report its version."""
    last = output.strip().splitlines()[-1:] or ["it printed nothing"]
    return BuildError(f"{program} --version ended with status {status}: {last[0]}")


def no_such_kernel(name: str, names: Sequence[str]) -> BuildError:
    """Error for `--only` with a name that is not in the inventory."""
    return BuildError(f"the inventory has no kernel {name!r}; it has: {', '.join(sorted(names)) or 'none'}")


not_a_clock = Message(BuildError, "--clock is a frequency in MHz, above 0 and at most 2000, not {value!r}")
not_a_platform = Message(BuildError, "--platform {value!r} must be {wanted}")
not_a_memory = Message(BuildError, "--banks {value!r} must be {wanted}")
flushed_elsewhere = Message(
    BuildError,
    "--subnormals flush is for --target csim, where it sets the processor's mode; {target} has "
    "operators without subnormals, or an emulator that computes like its host",
)
linked_image_unusable = Message(BuildError, "the linker's {path} cannot be taken as an image: {problem}")
too_many_units = Message(BuildError, "{name} has {units} compute units, and at most {most} are possible")
feeds_itself = Message(BuildError, "the stream {source} -> {to} leads from a kernel to itself")
bad_bank = Message(
    BuildError, "kernel {name}: {bank!r} is no memory; take DDR[0], HBM[3], HBM[0:31], HBM[*], PLRAM[0] or HOST[0]"
)
no_source = Message(BuildError, "no source can be written for kernel {name}: {problem}")
no_aoc = Message(
    BuildError,
    "the target intel needs Intel's FPGA SDK for OpenCL, and there is no aoc on the PATH; set it "
    "up in this shell (source <folder of the SDK>/init_opencl.sh), or build with --target "
    "intel-emulator, which needs no licence",
)
no_board = Message(
    BuildError, "the target intel needs the board: --platform NAME (aoc -list-boards shows those installed)"
)


def crowded(name: str, board: str, problems: Sequence[str], advice: str) -> BuildError:
    """Error for memories assigned to more ports than they have room for, while others are free."""
    return BuildError(
        f"{name} cannot be linked for the {board}: {'; '.join(problems)}. Without --banks (and "
        f"without banks in the inventory) the ports are spread, which fits: {advice}"
    )


def _abbreviated_list(names: Sequence[str], limit: int = 12) -> str:
    suffix = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + suffix


def does_not_fit(
    name: str, board: str, problems: Sequence[str], dropped: Sequence[str], remaining: Sequence[str], shares: str
) -> BuildError:
    """Error for an image that exceeds the board."""
    advice = (
        f"This fits: {_abbreviated_list(remaining)} ({shares}). --fit builds it, without {_abbreviated_list(dropped)}; "
        if remaining
        else "None of its kernels fits alone; "
    )
    return BuildError(
        f"{name} does not fit the {board}: {'; '.join(problems)}. {advice}"
        "or leave ops out of the inventory and lower lanes, the dearest first (`ftensor kernels "
        "--trace program.py --write mine.toml` writes one for a program)"
    )


class InventoryError(ValueError):
    """An inventory can't be read, or names something that does not exist."""


def _join_words(words: Iterable[str]) -> str:
    return ", ".join(words)


def not_found(name: str, inventories: Sequence[str]) -> InventoryError:
    """Error for a name that is neither a file nor an inventory of ftensor."""
    return InventoryError(
        f"there is no inventory {name!r}: give a file, or one of those that come with ftensor "
        f"({_join_words(inventories)}){guess(name, inventories)}"
    )


unreadable = Message(InventoryError, "{path}: {reason}")


def unknown_setting(location: str, name: str, settings: Sequence[str]) -> InventoryError:
    """Error for an unknown key of an inventory."""
    return InventoryError(
        f"{location}: there is no setting {name!r}{guess(name, settings)} (the settings are {_join_words(settings)})"
    )


def wrong_value(location: str, name: str, value: object, expected: str) -> InventoryError:
    """Error for a setting of the wrong type or out of range."""
    # Python refuses to print ints of thousands of digits.
    huge = isinstance(value, int) and value.bit_length() > 256
    value_text = f"a number of {value.bit_length()} bits" if huge else repr(value)  # type: ignore[attr-defined]
    return InventoryError(f"{location}: {name} = {value_text}; it must be {expected}")


missing = Message(InventoryError, "{where}: {name} is missing; for example: {example}")
nothing_to_write = Message(InventoryError, "--write needs --trace PROGRAM, whose kernels it writes")
nothing_to_place = Message(
    InventoryError, "--board needs --trace PROGRAM, whose kernels it narrows until they fit, and no image"
)


def no_kernel_of(name: str, names: Iterable[str]) -> InventoryError:
    """Error for an op that an image or an inventory has no kernel for."""
    return InventoryError(f"no kernel of {name!r}{guess(name, names)}")


def unknown_op(location: str, name: str, names: Iterable[str]) -> InventoryError:
    """Error for an unknown row name."""
    return InventoryError(
        f"{location}: there is no op {name!r} with a kernel{guess(name, names)} "
        "(ftensor kernels full lists them; for a row of yours, imports = [...] names its module)"
    )


not_imported = Message(InventoryError, "{where}: the module {name!r} can't be imported: {problem!k}: {problem}")


def unknown_category(location: str, name: str, names: Sequence[str]) -> InventoryError:
    """Error for an unknown category of rows."""
    return InventoryError(
        f"{location}: there is no category {name!r} of ops; there are {_join_words('@' + n for n in names)}"
    )


def unknown_dtype(location: str, name: str, names: Sequence[str]) -> InventoryError:
    """Error for an unknown dtype, alone or in a signature."""
    return InventoryError(
        f"{location}: there is no dtype {name!r}{guess(name, names)} (there are {_join_words(names)}; "
        'kinds such as "@float"; signatures such as "bool(float32, number)")'
    )


def unknown_layout(location: str, name: str, names: Sequence[str]) -> InventoryError:
    """Error for an unknown layout."""
    return InventoryError(
        f"{location}: there is no layout {name!r}{guess(name, names)} (there are {_join_words(names)}, "
        'and layouts in full such as "map vvs")'
    )


serves_nothing = Message(InventoryError, "{where}: no kernel of {op!r} takes {dtypes!c} {why}")
too_many_units_listed = Message(
    InventoryError,
    "{path}: {units} compute units, but an image holds at most {most}; let more ops share a "
    "kernel (the same name, no grouping), or give fewer units",
)
same_name = Message(
    InventoryError,
    "{where}: another table is called {name!r} and differs in structure, units, banks or "
    "grouping; tables of one name share their kernels",
)
too_deep = Message(
    InventoryError,
    "{where}: a FIFO between two kernels of the graph {name} needs {depth} beats, but "
    'streams of boards hold {most}: set structure = "dataflow", or export it for shorter rows',
)
unread_graph = Message(
    InventoryError, "{where}: the graph file {path} can't be read: {reason}; `jitted.export` writes one"
)
bad_graph = Message(
    InventoryError,
    "{where}: {path} is no graph file: {problem}; export the graph anew, as such a file is not written by hand",
)
linked_half = Message(
    InventoryError,
    "{where}: a graph with half a spectrum, windows or a reflected signal has no kernel for each stage; "
    'set structure = "dataflow"',
)
changed_graph = Message(
    InventoryError, "{where}: {path} was changed: its SHA-256 is {digest}, not {wanted}; export the graph anew"
)
bad_name = Message(
    InventoryError,
    "{where}: {name!r} can't begin a kernel's name: letters, digits and underscores, a letter first, at most {longest}",
)


INSTALL = "ftensor headers --install"


def headers_missing(folder: Path) -> str:
    """Returns the text of `ftensor headers` if only the stand-in headers are installed."""
    return (
        f"Xilinx's ap_int.h and ap_fixed.h are not in {folder}: kernels that compute with their "
        f"types will not compile. To fetch them (3 MB): {INSTALL}"
    )


def headers_changed(folder: Path, names: Sequence[str]) -> str:
    """Returns the text for header files that differ from the fetched ones."""
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
    "Xilinx's headers could not be fetched: pip's message is above. They come with {package}, "
    "from the package index that pip is set to. Without a network: copy {folder} from a machine "
    "that has it, or name Vitis' own headers by FTENSOR_VITIS_INCLUDE=<folder of "
    "Vitis_HLS>/include",
    "folder package",
)
headers_not_written = Message(RuntimeError, "Xilinx's headers could not be put into {folder}: {problem}")
