"""Error messages of quantized ops."""

import pytest

import ftensor as ft

Q = ft.quantized
X = ft.zeros(2, 3)
BYTES = ft.zeros(2, 3, dtype=ft.uint8)
PLANES = ft.zeros(1, 1, 4, 4, dtype=ft.uint8)
WEIGHT = ft.zeros(4, 3, dtype=ft.int8)
TOLD = {"input_scale": 0.5, "weight_scale": 0.5}

REFUSED = {
    "dtype": (lambda: Q.quantize_per_tensor(X, 1.0, 0, 0, 1, ft.int64), ValueError, "int64"),
    "input": (lambda: Q.quantize_per_tensor(X.double(), 1.0, 0, 0, 1, ft.int8), AssertionError, "float64"),
    "bounds": (lambda: Q.quantize_per_tensor(X, 1.0, 0, -1, 255, ft.uint8), AssertionError, "quant_min=-1"),
    "scale": (lambda: Q.quantize_per_tensor(X, 0.0, 0, 0, 255, ft.uint8), ValueError, "positive"),
    "zero point": (lambda: Q.quantize_per_tensor(X, 1.0, 300, 0, 255, ft.uint8), ValueError, "zero_point=300"),
    "other dtype": (lambda: Q.dequantize_per_tensor(BYTES, 1.0, 0, -128, 127, ft.int8), AssertionError, "uint8"),
    "scales": (
        lambda: Q.quantize_per_channel(X, ft.ones(2), ft.zeros(2), 1, 0, 9, ft.int8),
        RuntimeError,
        "1-d with 3 elements",
    ),
    "axis": (lambda: Q.quantize_per_channel(X, ft.ones(2), ft.zeros(2), 2, 0, 9, ft.int8), IndexError, "range"),
    "no tensor": (lambda: Q.quantize_per_tensor(3, 1.0, 0, 0, 1, ft.int8), TypeError, "Tensor"),
    "weight": (lambda: Q.linear(BYTES, BYTES, **TOLD), RuntimeError, "weight of int8"),
    "bias": (lambda: Q.linear(BYTES, WEIGHT, ft.zeros(3), **TOLD), RuntimeError, r"\(4,\)"),
    "depth": (lambda: Q.linear(BYTES, WEIGHT[:, :2], **TOLD), RuntimeError, "2x3 and 2x4"),
    "input zero point": (lambda: Q.linear(BYTES, WEIGHT, input_zero_point=-1, **TOLD), ValueError, "input_zero_p"),
    "planes": (lambda: Q.conv2d(BYTES, WEIGHT, **TOLD), RuntimeError, "conv2d"),
    "terms": (lambda: Q.add(BYTES, WEIGHT, 1.0, 0, input_scale=1.0, other_scale=1.0), RuntimeError, "one dtype"),
    "a mean of reals": (
        lambda: Q.avg_pool2d(ft.zeros(1, 1, 4, 4), 2),
        RuntimeError,
        "use ftensor.nn.functional.avg_pool2d",
    ),
    "a mean by zero": (lambda: Q.avg_pool2d(PLANES, 2, divisor_override=0), RuntimeError, "divisor_override"),
    "a mean by a word": (lambda: Q.avg_pool2d(PLANES, 2, divisor_override="a"), TypeError, "needs an int"),
    "a mean by a fraction": (lambda: Q.avg_pool2d(PLANES, 2, divisor_override=2.5), TypeError, "needs an int"),
    "a mean by True": (lambda: Q.avg_pool2d(PLANES, 2, divisor_override=True), TypeError, "needs an int"),
    "a mean by a tensor": (lambda: Q.avg_pool2d(PLANES, 2, divisor_override=ft.tensor(2.0)), TypeError, "needs an int"),
    "a mean of reals by a fraction": (
        lambda: ft.nn.functional.avg_pool2d(PLANES.float(), 2, divisor_override=2.5),
        TypeError,
        "needs an int",
    ),
    "a mean by too much": (lambda: Q.avg_pool2d(PLANES, 2, divisor_override=2**63), ValueError, "64 bits"),
    "a mean of padding": (lambda: Q.avg_pool2d(PLANES, 2, padding=2), RuntimeError, "padding"),
    "a zero point of a mean": (lambda: Q.avg_pool2d(PLANES, 2, zero_point=256), ValueError, "zero_point=256"),
    "means of vectors": (lambda: Q.adaptive_avg_pool2d(BYTES, 1), RuntimeError, "adaptive_avg_pool2d"),
    "means of reals": (lambda: Q.adaptive_avg_pool2d(X, 1), RuntimeError, "must be ftensor.uint8 or int8"),
    "nothing to join": (lambda: Q.cat([], input_scales=1.0), RuntimeError, "at least one"),
    "dtypes to join": (lambda: Q.cat([BYTES, WEIGHT], input_scales=1.0), RuntimeError, "uint8 and ftensor.int8"),
    "scales to join": (lambda: Q.cat([BYTES], input_scales=[1.0, 2.0]), ValueError, "one for each tensor"),
    "a scale to join": (lambda: Q.cat([BYTES], 0, 0.0, input_scales=1.0), ValueError, "scale must be a positive"),
    "zero points to join": (lambda: Q.cat([BYTES], input_scales=1.0, input_zero_points=-1), ValueError, "-1"),
    "a dim to join": (lambda: Q.cat([BYTES], 2, input_scales=1.0), IndexError, "range"),
    "shapes to join": (lambda: Q.cat([BYTES, PLANES], input_scales=1.0), RuntimeError, "cat"),
    "samples": (lambda: Q.dequantize_as_complex(BYTES, 1.0), RuntimeError, "last dim of 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_quantized_arguments_are_refused(case):
    call, error, text = REFUSED[case]
    with pytest.raises(error, match=text):
        call()
