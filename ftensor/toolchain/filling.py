"""Fills the templates of device code: files of hls/ with `$name` placeholders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..kernels.source import hls_root


def fill(template: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """Returns the file `template` of hls/ with each `$name` replaced.

    A placeholder alone on a line may be a list of lines, which take over the line's indentation. An
    empty list leaves nothing. Pragmas start in the first column.
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
