"""A device with an image that lacks kernels."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import ftensor as ft
from ftensor.errors import KernelNotBuilt
from ftensor.runtime import discovery, fallback, launch_cache, targets
from ftensor.runtime.csim.backend import CSimBackend
from ftensor.runtime.launch_cache import LaunchTable

from .runtime_kernels import all_backends

DEVICE = sys.modules["ftensor._device"]


class Image:
    """An image that compiles all entries except those that match one of `lacks`."""

    def __init__(self, backend: Any, lacks: str) -> None:
        self.backend, self.lacks = backend, lacks
        self.texts: dict[str, Callable[[], str]] = {}

    def has(self, entry: str) -> bool:
        return re.match(self.lacks, entry) is None

    def holds(self, entry: str) -> bool:
        return False  # nothing was built in advance

    def request(self, key: Any) -> None:
        """Ignores the request."""

    def kernel(self, entry: str, params: Any) -> Any:
        return self.backend.build(self.texts[entry](), entry, params) if self.has(entry) else None

    def nearest(self, entry: str) -> str | None:
        return "ft_neg_map" if self.has("ft_neg_map") else None

    def leaves_to_host(self, missing: KernelNotBuilt) -> bool:
        return False  # it was made without an inventory

    build_options = "--target csim"


@pytest.fixture(name="use")
def lacking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Fixture: use(lacks, kind, host) makes fpga:0 a device with such an image, and returns its
    backend."""
    obtain = launch_cache.build_kernel

    def noted(backend: Any, key: Any, types: Any, text: Any) -> Any:
        if backend.images is not None:
            backend.images.texts[key.entry] = text
        return obtain(backend, key, types, text)

    monkeypatch.setattr(launch_cache, "build_kernel", noted)
    monkeypatch.setattr(fallback, "_host", None)
    monkeypatch.setattr(fallback, "_policy", "silent")
    monkeypatch.setattr(fallback, "_warned", set())
    ft.fallback_report().reset()

    def start(lacks: str = "ft_", kind: str = "csim", host: str = "runtime") -> Any:
        here = discovery.find()
        csim = next((d for d in here if d.target is targets.CSIM), None)
        runtime = next((d for d in here if d.target.kind == "cpu"), None)
        if csim is None:
            pytest.skip("no C++ compiler")
        if kind == "csim":
            backend, device = CSimBackend(targets.CSIM), csim
        else:
            if runtime is None:
                pytest.skip("no OpenCL runtime")
            backend, device = all_backends()[kind](), runtime
        if host == "csim":
            monkeypatch.setattr(fallback, "find", lambda: [csim])
        monkeypatch.setattr(backend, "images", Image(backend, lacks))
        # Every target that takes images is a board, or emulates one.
        monkeypatch.setattr(backend, "target", replace(backend.target, emulates="a board"))
        monkeypatch.setattr(backend, "kernels", {})
        monkeypatch.setattr(backend, "launches", LaunchTable(backend.synchronize))
        device = replace(device, _backend=backend, _lock=threading.Lock())
        labels = [ft.device("fpga", 0)]
        table = SimpleNamespace(mapping="test", fpga=[device], host=[device], labels=labels, number=-1)
        monkeypatch.setattr(DEVICE, "_table", table)
        return backend

    yield start
    ft.fallback_report().reset()
