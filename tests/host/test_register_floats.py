"""The vector registers assumed by kernels equal those of the compiler's target CPU."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ftensor.runtime.opencl.backend import register_floats
from ftensor.runtime.targets import BY_NAME

TOLD = "CL_CONFIG_CPU_TARGET_ARCH"
# (family, its compiler option, floats in an available vector register, floats used)
CASES = [
    ("intel-cpu", "", 16, 16),
    ("intel-cpu", "core-avx2", 16, 8),
    ("intel-cpu", "corei7-avx", 16, 8),
    ("intel-cpu", "corei7", 16, 4),
    ("intel-cpu", "corei7", 8, 4),
    ("intel-cpu", "skx", 16, 16),
    ("intel-cpu", "core-avx2", 4, 4),
    ("pocl", "core-avx2", 16, 16),
]


@pytest.mark.parametrize("family, processor, at_hand, used", CASES)
def test_register_width_follows_the_compiler_target(
    family: str, processor: str, at_hand: int, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOLD, processor)
    device = SimpleNamespace(native_vector_width_float=at_hand)
    assert register_floats(BY_NAME[family], device) == used
