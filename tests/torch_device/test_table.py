"""The table of kernels is what torch's schemas and the catalogue give; each line can be bound."""

from __future__ import annotations

import pytest
import torch

from ftensor.torch import kernels, schema
from ftensor.torch.registration import written

LINES = schema.lines(schema.TABLE)


def test_the_file_is_what_torch_and_the_catalogue_give() -> None:
    """Another torch, or another signature in the catalogue: look at the difference after
    `make torch-table`."""
    assert schema.text(set(written)) == schema.TABLE.read_text()


def test_every_line_is_in_force() -> None:
    assert set(kernels.bound) == set(LINES)
    assert len(LINES) > 700
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    assert all(has(f"aten::{name}", "PrivateUse1") for name in LINES)


def test_lines_by_hand_are_used() -> None:
    said = schema.lines(schema.SAID)
    assert {line for line in said.values() if not line.endswith(" = host")} <= set(LINES.values())


def test_functional_and_out_go_together() -> None:
    """Structured ops: torch makes in-place forms of the overload that writes its result."""
    from ftensor.torch.fallback import structured

    for name in structured():
        base = name.partition(".")[0]
        if name in LINES and not any(k.startswith(f"{base}.") and "<-" in k for k in LINES):
            assert any(k.startswith(f"{base}.") for k in LINES), name


@pytest.mark.parametrize("line", ["add.Tensor = add(self)", "add.Tensor = (self)"])
def test_a_line_that_is_none(line: str) -> None:
    with pytest.raises((AssertionError, TypeError)):
        kernels.make(line)(torch.ones(2, device="fpga"), torch.ones(2, device="fpga"))
