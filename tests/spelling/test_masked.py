"""torch.masked: masked elements, missing elements, and errors.

torch's op database compares the values of all ops (test_opinfo.py).
"""

from __future__ import annotations

from typing import Any

import pytest

import ftensor as ft

from ..oracle import agree, cases, ours, torch

X = torch.tensor([[3.0, -1.0, float("nan"), 2.0], [5.0, 0.5, 1.0, -2.0]])
INPUTS = {
    "x": X,
    "i": torch.arange(8).reshape(2, 4),
    "b": X > 1,
    "z": torch.tensor([[1j, 2, 3, 4 + 1j]]),
    "m": torch.tensor([True, False, False, True]),
    "none": torch.zeros(2, 1, dtype=torch.bool),
    "number": torch.tensor([1.0, 0.0, -3.0, 0.0]),
    "one": torch.tensor(True),
    "many": torch.ones(1, 2, 4, dtype=torch.bool),
    "three": torch.tensor([True, False, True]),
    "zero": torch.tensor(3.0),
    "off": torch.tensor(False),
}


@pytest.mark.parametrize(
    ("case", "computed"),
    cases("""
sum(x,1,mask=m)
sum(x,(0,1),mask=number)
sum(i,(),keepdim=True,mask=none)
sum(zero,mask=off)
! sum(x,mask=three)
! sum(x,mask=many)
! sum(x,2,mask=m)
! sum(x,(0,0),mask=m)
prod(i,mask=m)
prod(b,1)
amax(x,1,mask=none)
amin(i,0,mask=none)
amax(b,1)
! amax(b,1,mask=m)
! amin(z,1,mask=m)
argmax(i,1,mask=m)
argmin(x,mask=none)
mean(x,1,mask=none)
mean(i,1,dtype=lib.float32,mask=m)
! mean(i,1,mask=m)
median(x,1,mask=none)
median(i,1,mask=m)
! median(i,1,mask=none)
logsumexp(z,1,mask=m)
logaddexp(x,x,input_mask=m,other_mask=none)
norm(x,-float("inf"),1,mask=none)
norm(x,0,mask=m)
normalize(x,1.0,1,mask=m)
var(i,1,mask=m)
var(x,1,False,mask=none)
std(z,1,correction=0,mask=m)
softmax(x,1,mask=m)
softmin(x,-1,mask=one)
log_softmax(x,0,dtype=lib.float64,mask=m)
! softmax(x,2,mask=m)
cumsum(i,1,mask=m)
cumprod(x,0,mask=none)
"""),
)
def test_masked_ops_agree_with_torch(case: str, computed: bool) -> None:
    def call(lib: Any) -> Any:
        inputs = INPUTS if lib is torch else {name: ours(t) for name, t in INPUTS.items()}
        return eval("lib.masked." + case, {"lib": lib, **inputs})

    assert agree(lambda: call(ft), lambda: call(torch)) == computed


def test_a_mask_is_a_tensor() -> None:
    with pytest.raises(TypeError, match="mask"):
        ft.masked.sum(ft.ones(2), mask=[True, False])
    with pytest.raises(IndexError, match=r"the mask has shape \(1, 2, 4\), more dims than"):
        ft.masked.amax(ft.ones(2, 4), mask=ft.ones(1, 2, 4))
