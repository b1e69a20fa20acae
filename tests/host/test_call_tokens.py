"""Conversion of launch arguments to kernel arguments: bits passed as longs, and tokens."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftensor.errors.image import ImageError
from ftensor.image import manifest as call_tokens

from ..made_images import KERNELS, PARAMS, describe


@given(st.floats(width=32, allow_nan=False), st.floats(allow_nan=False), st.integers(0, 2**64 - 1))
def test_values_are_passed_as_bits_of_longs(small: float, large: float, whole: int) -> None:
    """A 64-bit long holds the bits of each value."""
    packed = struct.pack("<q", call_tokens.float_bits(small))
    assert struct.unpack("<f", packed[:4])[0] == small and packed[4:] == bytes(4)
    assert struct.unpack("<d", struct.pack("<q", call_tokens.double_bits(large)))[0] == large
    assert struct.unpack("<Q", struct.pack("<q", call_tokens.signed(whole)))[0] == whole


@pytest.mark.parametrize("value", [1e300, -1e300, 3.4028236e38, 3.4028235e38, -0.0, 1e-50])
def test_float_is_rounded_as_in_c(value: float) -> None:
    """This includes values that become infinite or zero."""
    packed = struct.pack("<q", call_tokens.float_bits(value))
    assert packed[:4] == bytes(ctypes.c_float(value))


@pytest.mark.parametrize(
    "call",
    [
        "0 1 2 f3 =0 9", "0 1 2 3 =0 4", "0 1 f2 f3 =0 4", "0 1 3 f3 =0 4", "=0 1 2 f3 =0 4",
        "0 1 2 d3 =0 4", "0 1 2 q3 =0 4", "0 1 2 f3 =x 4", "0 1 2 f3 =0 -1", "0 1 2 z3 =0 4",
        "0 1 2 f3 =0 ٣", "0 1 2 f3 =0 __import__('os')", "@ 1 2 f3 =0 4", "0 1 2 f =0 4",
    ],
)  # fmt: skip
def test_tokens_that_do_not_fit_the_launch_are_refused(call: str) -> None:
    """Every token must name an argument of the launch, and have its kind."""
    _, manifest = describe("calls", ("axpy",))
    record = manifest.kernels[0]
    if len(call.split()) != len(KERNELS["axpy"][0]):
        pytest.fail("a case with another number of tokens is refused earlier")
    member = replace(record.members[0], call=call)
    with pytest.raises(ImageError, match="build the image again"):
        call_tokens.expressions("x.xclbin", record, member, PARAMS["axpy"])


@given(st.lists(st.text("0123456789@fdq=-", min_size=1, max_size=6), min_size=6, max_size=6))
def test_random_tokens_are_parsed_or_refused(tokens: list[str]) -> None:
    """Only argument names and numbers get into the launcher's code."""
    _, manifest = describe("calls", ("axpy",))
    record = manifest.kernels[0]
    member = replace(record.members[0], call=" ".join(tokens))
    try:
        expressions = call_tokens.expressions("x.xclbin", record, member, PARAMS["axpy"])
    except ImageError:
        return
    names = {f"a{k}" for k in range(5)} | set(call_tokens.SCOPE)
    for text in expressions:
        words = text.replace("(", " ").replace(")", " ").split()
        assert all(w in names or w.lstrip("-").isdecimal() for w in words)
