"""Templates of device code, filled: the files of hls/ that have places for text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..kernels.source import hls_root


def fill(template: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """The file `template` of hls/ with each `$name` replaced.

    A list of lines, in a line of its own, takes over that line's indentation; an empty one leaves
    nothing. Pragmas stand in the first column.
    """
    lines = []
    for line in (hls_root() / template).read_text().splitlines():
        alone = re.fullmatch(r"( *)\$(\w+)", line)
        if alone is None:
            lines.append(re.sub(r"\$(\w+)", lambda m: str(values[m.group(1)]), line))
            continue
        value = values[alone.group(2)]
        for inner in [value] if isinstance(value, str) else value:
            for part in inner.split("\n"):
                lines.append(part if part.startswith("#") or not part else alone.group(1) + part)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"
