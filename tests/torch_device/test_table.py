"""The table of kernels agrees with torch's schemas and the catalogue; each line can be bound."""

from __future__ import annotations

import pytest
import torch

from ftensor.torch import kernels, schema
from ftensor.torch.registration import written

LINES = schema.read_table(schema.TABLE)


def test_the_file_is_what_torch_and_the_catalogue_give() -> None:
    """For another torch, or another signature in the catalogue: check the difference after `make
    torch-table`."""
    assert schema.text(set(written)) == schema.TABLE.read_text()


def test_every_line_is_in_force() -> None:
    assert set(kernels.bound) == set(LINES)
    assert len(LINES) > 700
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    assert all(has(f"aten::{name}", "PrivateUse1") for name in LINES)


def test_lines_by_hand_are_used() -> None:
    said = schema.read_table(schema.MANUAL_TABLE)
    assert {line for line in said.values() if not line.endswith(" = host")} <= set(LINES.values())


def test_functional_and_out_go_together() -> None:
    """Structured ops: torch derives in-place forms from the overload that writes its result."""
    from ftensor.torch.fallback import structured

    for name in structured():
        base = name.partition(".")[0]
        if name in LINES and not any(k.startswith(f"{base}.") and "<-" in k for k in LINES):
            assert any(k.startswith(f"{base}.") for k in LINES), name


@pytest.mark.parametrize("line", ["add.Tensor = add(self)", "add.Tensor = (self)"])
def test_a_line_that_is_none(line: str) -> None:
    with pytest.raises((AssertionError, TypeError)):
        kernels.make(line)(torch.ones(2, device="fpga"), torch.ones(2, device="fpga"))


def test_derivatives_into_a_tensor() -> None:
    """By a kernel with `out`, a dtype among its arguments, and by one without it."""
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
