"""The sections of the site and their pages. MORE has the pages without a section."""

from __future__ import annotations

from collections.abc import Iterable

# Names as on the site. A page that does not exist (yet) is left out.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Begin": ("install", "tutorial", "gallery/index", "comparison", "faq", "wrong-value", "slow-kernel", "glossary"),
    "Guides": (
        "arrays", "memory", "dsp", "numpy", "with-other-libraries", "dask", "torch-device", "graphs",
        "quantized", "networks", "performance", "profiler", "looking", "ci",
    ),
    "Boards and images": (
        "boards", "kv260", "images", "tuning", "inventory", "build", "own-kernels", "emulation",
        "intel-fpga", "fallback", "area", "performance-model", "figures", "compile-times",
    ),
    "Reference": (
        "reference/index", "ops", "differences", "array-api", "settings", "numerics", "random",
        "shared-memory", "reliability", "changelog",
    ),
    "Inside": (
        "architecture", "where", "add-an-op", "add-a-kernel", "add-a-skeleton", "add-a-device", "hls",
        "tests", "adr/*", "contributing", "security",
    ),
}  # fmt: skip
MORE = "More"


def sections(pages: Iterable[str]) -> dict[str, list[str]]:
    """Returns the pages of each section in order. MORE has the pages without a section."""
    left = sorted(pages)
    listed: dict[str, list[str]] = {}
    for title, names in SECTIONS.items():
        for name in names:
            there = [p for p in left if p == name or (name[-1] == "*" and p.startswith(name[:-1]))]
            listed.setdefault(title, []).extend(there)
            left = [p for p in left if p not in there]
    return listed | ({MORE: left} if left else {})
