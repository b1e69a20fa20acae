"""Tests of this folder use no device."""

from __future__ import annotations

import pytest

from ftensor import _device


@pytest.fixture(autouse=True)
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        pytest.fail("a test in tests/host uses a device")

    monkeypatch.setattr(_device, "_current_table", refuse)
