"""What every test gets: where Oclgrind is the device, its findings are failures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

OCLGRIND_LOG = os.environ.get("OCLGRIND_LOG")


@pytest.fixture(autouse=OCLGRIND_LOG is not None)
def oclgrind_findings() -> Iterator[None]:
    """Fails the test during which Oclgrind saw a bad access, a data race or a wrong API call."""
    import ftensor as ft

    log = Path(OCLGRIND_LOG or os.devnull)
    before = log.stat().st_size if log.is_file() else 0
    yield
    ft.synchronize()
    findings = log.read_bytes()[before:].decode(errors="replace") if log.is_file() else ""
    if findings.strip():
        pytest.fail(f"Oclgrind reports:\n{findings[:4000]}", pytrace=False)
