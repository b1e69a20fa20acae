"""The table of kernels agrees with torch's schemas and the catalogue, and each line can be
bound."""

from __future__ import annotations

import pytest
import torch

from ftensor.torch import kernels, schema
from ftensor.torch.registration import written

LINES = schema.read_table(schema.TABLE)


def test_table_is_up_to_date() -> None:
    """With another torch, or another signature in the catalogue, check the difference after `make
    torch-table`."""
    assert schema.text(set(written)) == schema.TABLE.read_text()


def test_every_line_is_registered() -> None:
    assert set(kernels.bound) == set(LINES)
    assert len(LINES) > 700
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    assert all(has(f"aten::{name}", "PrivateUse1") for name in LINES)


def test_handwritten_lines_are_used() -> None:
    said = schema.read_table(schema.MANUAL_TABLE)
    assert {line for line in said.values() if not line.endswith(" = host")} <= set(LINES.values())


def test_structured_ops_have_functional_and_out() -> None:
    """torch derives in-place forms of structured ops from the overload that writes its result."""
    from ftensor.torch.fallback import structured

    for name in structured():
        base = name.partition(".")[0]
        if name in LINES and not any(k.startswith(f"{base}.") and "<-" in k for k in LINES):
            assert any(k.startswith(f"{base}.") for k in LINES), name


@pytest.mark.parametrize("line", ["add.Tensor = add(self)", "add.Tensor = (self)"])
def test_invalid_line_is_refused(line: str) -> None:
    with pytest.raises((AssertionError, TypeError)):
        kernels.make(line)(torch.ones(2, device="fpga"), torch.ones(2, device="fpga"))


def test_derivatives_with_out() -> None:
    """One kernel has `out` and a dtype among its arguments, and one has no `out`."""
    grad, y = torch.randn(3, 4), torch.softmax(torch.randn(3, 4), 1)
    aten, here = torch.ops.aten, (grad.to("fpga"), y.to("fpga"))
    for op in (aten._softmax_backward_data.out, aten._log_softmax_backward_data.out):
        name = "out" if "log" in str(op) else "grad_input"
        wanted = op(grad, y, 1, torch.float32, **{name: torch.empty(0)})
        result = op(*here, 1, torch.float32, **{name: torch.empty(0, device="fpga")})
        torch.testing.assert_close(result.cpu(), wanted)
    pad = aten.reflection_pad1d_backward.grad_input
    wanted = pad(grad, y[:, :2], (1, 1), grad_input=torch.empty(0))
    out = torch.empty(0, device="fpga")
    assert pad(here[0], here[1][:, :2], (1, 1), grad_input=out) is out
    torch.testing.assert_close(out.cpu(), wanted)
