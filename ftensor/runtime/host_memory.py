"""What the host's memory still has room for."""

from __future__ import annotations

import os
from pathlib import Path


def free_memory() -> int:
    """Bytes that programs may still use, those that files are kept in meanwhile among them."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
