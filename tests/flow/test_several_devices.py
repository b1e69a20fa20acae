"""Several devices in one process: fpga:0 and fpga:1, and copies between them."""

from __future__ import annotations

import pytest

from ftensor.runtime import discovery

from .test_processes import output, start

PLATFORMS = {f.platform for f in discovery.find() if f.target.kind != "csim"}
PROGRAM = """
assert ft.fpga.device_count() >= 2
x = ft.arange(6.0, device="fpga:0").reshape(2, 3)
y = x.t().to("fpga:1")
assert (x.device.index, y.device.index) == (0, 1) and y.stride() == x.t().stride()
assert (y + 1).device == y.device and (y + 1).tolist() == (x.t() + 1).tolist()
z = ft.empty(2, 3, device="fpga:1").copy_(x)
z += 1
assert x.sum().item() == 15 and z.sum().item() == 21
try:
    x + z
except RuntimeError as error:
    assert "fpga:0" in str(error) and "fpga:1" in str(error)
else:
    raise AssertionError
index = ft.tensor([[0, 1, 0]])
calls = (
    lambda i: x.gather(0, i),
    lambda i: ft.index_select(x, 1, i[0]),
    lambda i: x.clone().scatter_(0, i, x),
    lambda i: x.clone().index_add_(1, i[0], x),
    lambda i: ft.nn.functional.embedding(i, x),
)
for call in calls:
    for known in range(3):
        call(index)
        try:
            call(index.to("fpga:1"))
        except RuntimeError as error:
            assert "must be on the same device, but they are on fpga:0, fpga:1" in str(error)
        else:
            raise AssertionError
with ft.fpga.device(1):
    assert ft.ones(2).device.index == 1 and ft.fpga.get_device_name() == ft.fpga.get_device_name(1)
assert ft.ones(2).device.index == 0 and y.to("fpga:0").tolist() == x.t().tolist()
print(ft.fpga.memory_allocated(0) > 0, ft.fpga.memory_allocated(1) > 0)
"""


@pytest.mark.skipif(len(PLATFORMS) < 2, reason="two OpenCL platforms are needed: Intel's and PoCL")
def test_two_devices_and_copies_between_them() -> None:
    assert output(start(PROGRAM, "explicit")) == "True True\n"
