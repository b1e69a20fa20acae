"""Object files of kernels, before they are linked to one library.

v++ compiles each kernel by itself, so two files may have different functions of one name.
"""

from __future__ import annotations

import io
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import image as errors
from ..runtime.command_words import file_word


def separate(objects: Sequence[Path]) -> None:
    """Makes functions and variables that several object files define local to each of them.

    Raises ImageError if two files have a kernel of one name.
    """
    defined = [dict(_defined(file)) for file in objects]
    counts = Counter(name for names in defined for name in names)
    doubles = sorted(name for name, count in counts.items() if count > 1)
    for name in doubles:
        if not name.startswith("_Z") and any(names.get(name) for names in defined):  # C linkage: a kernel
            raise errors.bad_description(f"two of the sources define {name!r}")
    for file, names in zip(objects, defined):
        words = [word for name in doubles if name in names for word in ("--localize-symbol", name)]
        if words:
            subprocess.run(["objcopy", *words, file_word(file)], check=True)


def _defined(file: Path) -> Iterator[tuple[str, bool]]:
    """Yields the global symbols of an object file, and True for functions; inline functions and
    templates are weak ones."""
    from elftools.elf.elffile import ELFFile

    table: Any = ELFFile(io.BytesIO(file.read_bytes())).get_section_by_name(".symtab")
    for symbol in table.iter_symbols():
        if symbol["st_info"]["bind"] == "STB_GLOBAL" and symbol["st_shndx"] != "SHN_UNDEF":
            yield symbol.name, symbol["st_info"]["type"] == "STT_FUNC"
