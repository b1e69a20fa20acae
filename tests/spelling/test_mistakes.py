"""Sixty common user mistakes: each raises torch's exception class, and the message has the values
at fault."""

from __future__ import annotations

import numpy as np
import pytest

import ftensor as ft

torch = pytest.importorskip("torch")

# A call and the texts in its message: the values at fault, and an alternative if there is one.
MISTAKES = {
    "m.ones(2, 3) @ m.ones(2, 3)": ["2x3 and 2x3", "same size"],
    "m.mv(m.ones(2, 3), m.ones(2))": ["2x3 and 2"],
    "m.ones(2, 3) + m.ones(4)": ["(2, 3), (4,)", "reshape or expand"],
    "m.ones(3).copy_(m.ones(4))": ["(4,), (3,)"],
    "m.ones(3)[5]": ["index 5", "size 3"],
    "m.ones(2, 3)[0, 1, 2]": ["3 indices", "2 dims"],
    "m.ones(3)[m.tensor([True, False])]": ["[2]", "[3]"],
    "m.ones(3)[m.tensor([0.5])]": ["float32", "int64"],
    "m.ones(2, 3).index_select(0, m.tensor([4]))": ["index 4", "size 2"],
    "m.ones(2, 3).gather(1, m.tensor([0]))": ["1", "2"],
    "m.zeros(3).scatter_(0, m.tensor([4]), m.ones(1))": ["index 4", "size 3"],
    "m.ones(3).view(2, 2)": ["(2, 2)", "3 elements"],
    "m.ones(2, 3).t().view(-1)": ["(3, 2)", "(1, 3)", "reshape()"],
    "m.ones(3).view(m.float64)": ["4 bytes", "8 bytes", "3"],
    "m.ones(3).reshape(-1, -1)": ["(-1, -1)", "one"],
    "m.ones(3).expand(4)": ["(3,)", "(4,)"],
    "m.ones(2, 3).permute(0, 0)": ["(0, 0)"],
    "m.ones(2, 3).permute(0, 1, 2)": ["2 dims", "(0, 1, 2)"],
    "m.ones(2, 3).sum(5)": ["dim 5", "-2 to 1"],
    "m.ones(4).split([1, 2])": ["(1, 2)", "4", "3"],
    "m.ones(4).chunk(0)": ["0"],
    "m.ones(2, 3).topk(5)": ["3", "5"],
    "m.ones(2, 3).repeat(2)": ["2 dims", "(2,)"],
    "m.ones(0).max()": ["(0,)", "name a dim"],
    "m.ones(2, 2).item()": ["(2, 2)", "tolist()"],
    "bool(m.ones(3))": ["(3,)", "any()"],
    "len(m.tensor(1))": ["0-d", "numel()"],
    "float(m.ones(2))": ["(2,)", "tolist()"],
    "m.stack([m.ones(2), m.ones(3)])": ["[2]", "[3]"],
    "m.cat([m.ones(2), 3])": ["element 1", "int"],
    "m.cat([m.ones(2, 3), m.ones(2, 4)])": ["[2, 4]", "[2, 3]"],
    "m.tensor(['a'])": ["str"],
    "m.tensor(2**70)": [str(2**70), "floating-point"],
    "m.tensor(300, dtype=m.uint8)": ["300", "uint8"],
    "m.tensor([1.0]).to(m.int8).fill_(1000)": ["1000", "int8"],
    "m.zeros(-1)": ["-1"],
    "m.arange(0, 10, -1)": ["0 to 10", "-1"],
    "m.randint(5, 5, (2,))": ["5"],
    "m.from_numpy([1, 2, 3])": ["list", "tensor()"],
    "m.from_numpy(np.ones(3)[::-1])": ["(-8,)", "copy()"],
    "m.ones(3, dtype=m.int32).div_(2)": ["float32", "int32"],
    "m.ones(3).bitwise_and(m.ones(3))": ["float32", ".to(dtype)"],
    "-m.tensor([True])": ["bool", "`~` or logical_not()"],
    "m.tensor([True]) - m.tensor([True])": ["`^`", "logical_not()"],
    "m.tensor([1]) // 0": ["ZeroDivisionError", "0"],
    "m.arange(3) ** -1": ["-1", "floating-point"],
    "m.mean(m.arange(3))": ["int64", "dtype="],
    "m.where(m.ones(3), 1, 2)": ["float32", ".bool()"],
    "m.clamp(m.ones(2))": ["'min'", "'max'"],
    "m.quantile(m.ones(3), 1.5)": ["1.5", "[0, 1]"],
    "m.linalg.inv(m.ones(2, 3))": ["(2, 3)", "square"],
    "m.linalg.solve(m.ones(2, 2), m.ones(3))": ["(2, 2)", "rows"],
    "m.einsum('ij,jk', m.ones(2, 3))": ["1 for the 2", "'ij,jk'"],
    "m.einsum('ij,jk->ik', m.ones(2, 3), m.ones(2, 3))": ["j", "2", "3"],
    "m.fft.fft(m.ones(4), n=0)": ["0"],
    "m.fft.fft(m.ones(4), norm='bad')": ["'bad'", "'ortho'"],
    "m.nn.functional.conv2d(m.ones(1, 3, 8, 8), m.ones(4, 2, 3, 3))": ["2 channels", "3"],
    "m.nn.functional.max_pool2d(m.ones(1, 1, 2, 2), 3)": ["(2, 2)", "(0, 0)", "smaller kernel"],
    "m.nn.functional.conv_transpose1d(m.ones(1, 1, 1), m.ones(1, 1, 1), padding=2)": ["(1,)", "(-3,)", "padding"],
    "m.nn.functional.interpolate(m.ones(1, 1, 4, 4), scale_factor=2, mode='bicubik')": ["'bilinear'", "mean 'bicubic'"],
    "m.nn.functional.layer_norm(m.ones(2, 3), (4,))": ["(2, 3)", "(4,)"],
    "m.nn.functional.cross_entropy(m.ones(2, 3), m.tensor([0, 5]))": ["5", "3 classes"],
    "m.nn.functional.one_hot(m.tensor([5]), 3)": ["5", "3"],
    "m.nn.functional.dropout(m.ones(3), 1.5)": ["1.5", "0 to 1"],
    "m.nn.functional.pad(m.ones(3), (1, 2, 3))": ["pairs", "(1, 2, 3)"],
}


def raised(call: str, module: object) -> BaseException:
    with pytest.raises(Exception) as caught:
        eval(call, {"m": module, "np": np})
    return caught.value


@pytest.mark.parametrize("call", MISTAKES)
def test_message_has_the_values_at_fault(call: str) -> None:
    error, theirs = raised(call, ft), raised(call, torch)
    assert isinstance(error, {torch.linalg.LinAlgError: ft.linalg.LinAlgError}.get(type(theirs), type(theirs)))
    assert [part for part in MISTAKES[call] if part not in str(error)] == []


def test_gradient_errors_suggest_torchs_device() -> None:
    for call in ("m.ones(3).requires_grad_()", "m.ones(3, requires_grad=True)"):
        assert "docs torch-device" in str(raised(call, ft))
