"""Quantized ops have torch's bits.

The references are `torch.ops.quantized_decomposed` for conversions and sums, and
`torch.ops.quantized` with FBGEMM for layers. Weights have 7 bits, since FBGEMM sums their products
exactly on every processor.
"""

import warnings

import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.ops.nn.spatial.conv import byte_sums

from ..oracle import torch
from ..targets import pairs

Q = ft.quantized
INTEGERS = ["uint8", "int8", "int16"]
LAYERS = ["linear", "conv2d", "linear_relu", "conv2d_relu"]


@pytest.fixture(autouse=True)
def fbgemm():
    """Selects torch's engine of quantized layers, without its deprecation warning."""
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = "fbgemm"
    torch.manual_seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.backends.quantized.engine = before


@pytest.fixture(scope="module")
def decomposed():
    import torch.ao.quantization.fx._decomposed  # defines the ops

    return torch.ops.quantized_decomposed


def equal(mine, theirs):
    actual = mine.to_torch()
    assert actual.dtype is theirs.dtype and torch.equal(actual, theirs)


def mine(t):
    return ft.from_torch(t)


@pytest.mark.parametrize("name", INTEGERS)
def test_per_tensor_scale(name, decomposed):
    of, x = getattr(torch, name), torch.randn(6, 5, 11) * 40
    info = torch.iinfo(of)
    args = (0.37, 11, info.min, info.max)
    quantized = Q.quantize_per_tensor(mine(x), *args, getattr(ft, name))
    theirs = decomposed.quantize_per_tensor(x, *args, of)
    equal(quantized, theirs)
    back = Q.dequantize_per_tensor(quantized, *args, quantized.dtype)
    equal(back, decomposed.dequantize_per_tensor(theirs, *args, of))


@pytest.mark.parametrize("name", INTEGERS)
def test_per_channel_scales(name, decomposed):
    of, x = getattr(torch, name), torch.randn(6, 5, 11) * 40
    info = torch.iinfo(of)
    scales, zeros = torch.rand(5) + 0.1, torch.randint(0, 9, (5,))
    args = (1, info.min, info.max)
    quantized = Q.quantize_per_channel(mine(x), mine(scales), mine(zeros), *args, getattr(ft, name))
    theirs = decomposed.quantize_per_channel(x, scales, zeros, *args, of)
    equal(quantized, theirs)
    for some in (zeros, None):
        own = None if some is None else mine(some)
        back = Q.dequantize_per_channel(quantized, mine(scales), own, *args, quantized.dtype)
        equal(back, decomposed.dequantize_per_channel(theirs, scales, some, *args, of))


def test_halves_round_to_even(decomposed):
    x = torch.arange(-9, 10) / 2
    quantized = Q.quantize_per_tensor(mine(x), 1.0, 3, -5, 5, ft.int8)
    equal(quantized, decomposed.quantize_per_tensor(x, 1.0, 3, -5, 5, torch.int8))


@pytest.mark.parametrize(
    ("op", "how"), pairs(LAYERS, [(each, bias) for each in (0, 1) for bias in (0, 1)], soon=lambda *_: True)
)
def test_layers(op, how):
    each, biased = how
    conv, filters = op.startswith("conv2d"), 20
    x = torch.randint(0, 256, (2, 10, 9, 9) if conv else (37, 90), dtype=torch.uint8)
    shape = (filters, 10, 3, 3) if conv else (filters, 90)
    w = torch.randint(-64, 64, shape, dtype=torch.int8)
    scales = torch.rand(filters, dtype=torch.float64) * 0.02 + 0.001
    bias = torch.randn(filters) * 5 if biased else None
    numbers = {"scale": 1.37, "zero_point": 101}
    qx = torch._make_per_tensor_quantized_tensor(x, 0.043, 119)
    if each:
        zeros = torch.zeros(filters, dtype=torch.long)
        qw = torch._make_per_channel_quantized_tensor(w, scales, zeros, 0)
    else:
        qw = torch._make_per_tensor_quantized_tensor(w, 0.013, 0)
    windows = {"stride": (2, 1), "padding": 1} if conv else {}
    if conv:
        packed = torch.ops.quantized.conv2d_prepack(qw, bias, [2, 1], [1, 1], [1, 1], 1)
    else:
        packed = torch.ops.quantized.linear_prepack(qw, bias)
    theirs = getattr(torch.ops.quantized, op)(qx, packed, *numbers.values()).int_repr()
    result = getattr(Q, op)(
        mine(x),
        mine(w),
        None if bias is None else mine(bias),
        **windows,
        **numbers,
        input_scale=0.043,
        input_zero_point=119,
        weight_scale=mine(scales.float()) if each else 0.013,
    )
    equal(result, theirs.contiguous())


def test_signed_inputs_equal_shifted_unsigned_inputs():
    x = torch.randint(0, 256, (7, 33), dtype=torch.uint8)
    w = mine(torch.randint(-64, 64, (5, 33), dtype=torch.int8))
    scales = {"scale": 2.5, "input_scale": 0.1, "weight_scale": 0.02}
    result = Q.linear(mine(x), w, None, zero_point=130, input_zero_point=121, **scales)
    signed = mine((x.int() - 128).to(torch.int8))
    other = Q.linear(signed, w, None, zero_point=2, input_zero_point=-7, **scales)
    assert other.dtype is ft.int8
    assert (result.int() - 128).tolist() == other.tolist()


def test_sums_of_quantized_tensors(decomposed):
    a, b = (torch.randint(-128, 128, (3, 301), dtype=torch.int8) for _ in range(2))
    range_ = (-128, 127, torch.int8)
    real = [decomposed.dequantize_per_tensor(t, *n, *range_) for t, n in ((a, (0.037, 4)), (b, (0.0391, -7)))]
    theirs = decomposed.quantize_per_tensor(real[0] + real[1], 0.0713, 9, *range_)
    result = Q.add(
        mine(a), mine(b), 0.0713, 9, input_scale=0.037, input_zero_point=4, other_scale=0.0391, other_zero_point=-7
    )
    equal(result, theirs)


def test_pools_and_relu_keep_the_scale():
    x = torch.randint(-128, 128, (2, 3, 9, 12), dtype=torch.int8)
    q = torch._make_per_tensor_quantized_tensor(x, 0.1, 5)
    theirs = torch.ops.quantized.max_pool2d(q, [3, 2], [2, 2], [1, 1], [1, 1], False)
    equal(ft.nn.functional.max_pool2d(mine(x), (3, 2), 2, 1), theirs.int_repr())
    equal(Q.relu(mine(x), 5), torch.relu(q).int_repr())
    equal(Q.relu6(mine(x), 0.1, 5), torch.ops.quantized.relu6(q).int_repr())


@pytest.mark.parametrize("scale, zero", [(0.03, -128), (0.05, 3), (0.0137, 7), (1e-9, 5)])
def test_relu6_equals_its_parts(scale, zero, decomposed):
    """This includes scales whose range ends below 6."""
    x, bounds = torch.arange(-128, 128, dtype=torch.int8), (zero, -128, 127, torch.int8)
    real = decomposed.dequantize_per_tensor(x, scale, *bounds).clamp(0, 6)
    equal(Q.relu6(mine(x), scale, zero), decomposed.quantize_per_tensor(real, scale, *bounds))
    with pytest.raises(ValueError, match="maximum"):
        Q.relu6(mine(x), scale, zero, maximum=0.0)


# Size of planes, and arguments of torch.ao.nn.quantized.functional.avg_pool2d. Windows at edges
# have other divisors.
AVERAGES = [
    ((8, 8), (2,)),
    ((9, 12), ((3, 2), (2, 1), (1, 1))),
    ((9, 12), (3, 2, 1, False, False)),
    ((10, 7), (3, 2, 1, True, True)),
    ((10, 7), (4, 3, 0, True, False)),
    ((7, 7), (7,)),
    ((7, 5), (3, 1, 0, False, True, 5)),
]


@pytest.mark.parametrize("zero", [0, 125])
@pytest.mark.parametrize("of", ["uint8", "int8"])
def test_average_pools(of, zero):
    """For contiguous tensors. For channels_last, torch rounds otherwise. So do its adaptive pools
    of one channel, which has both layouts."""
    info = torch.iinfo(getattr(torch, of))
    for size, arguments in AVERAGES:
        x = torch.randint(info.min, info.max + 1, (2, 5, *size), dtype=getattr(torch, of))
        q = torch._make_per_tensor_quantized_tensor(x, 0.37, zero)
        for channels in (5, 1):
            theirs = torch.ao.nn.quantized.functional.avg_pool2d(q[:, :channels].contiguous(), *arguments)
            first = mine(x[:, :channels].contiguous())
            equal(Q.avg_pool2d(first, *arguments, zero_point=zero), theirs.int_repr())
        for count in (1, (3, 2), (size[0], None)):
            theirs = torch.ao.nn.quantized.functional.adaptive_avg_pool2d(q, count)
            equal(Q.adaptive_avg_pool2d(mine(x), count), theirs.int_repr())


def test_average_pools_keep_the_layout():
    x = ft.randint(0, 256, (2, 3, 6, 8), dtype=ft.uint8)
    for pooled in (lambda x: Q.avg_pool2d(x, 2, zero_point=9), lambda x: Q.adaptive_avg_pool2d(x, (2, 4))):
        last = pooled(x.contiguous(memory_format=ft.channels_last))
        assert last.is_contiguous(memory_format=ft.channels_last) and ft.equal(last, pooled(x))
        assert ft.equal(pooled(x[:, :1]), pooled(x)[:, :1])
        assert ft.equal(pooled(x[1]), pooled(x)[1]) and pooled(x[:0]).shape[0] == 0


@pytest.mark.parametrize("of", ["uint8", "int8"])
def test_cat_of_several_scales(of, decomposed):
    """The result equals dequantize, cat and quantize, and has the bits of torch's quantized
    tensors, except for ties."""
    info, dtype = torch.iinfo(getattr(torch, of)), getattr(torch, of)
    parts = [torch.randint(info.min, info.max + 1, (2, c, 5, 4), dtype=dtype) for c in (3, 1, 6)]
    scales, zeros = (0.037, 0.0713, 0.21), (4, 9, 0)
    range_ = (info.min, info.max, dtype)
    real = [decomposed.dequantize_per_tensor(t, s, z, *range_) for t, s, z in zip(parts, scales, zeros)]
    theirs = decomposed.quantize_per_tensor(torch.cat(real, 1), 0.0713, 9, *range_)
    result = Q.cat([mine(t) for t in parts], 1, 0.0713, 9, input_scales=scales, input_zero_points=zeros)
    equal(result, theirs)
    quantized = [torch._make_per_tensor_quantized_tensor(t, s, z) for t, s, z in zip(parts, scales, zeros)]
    equal(result, torch.ops.quantized.cat(quantized, 1, 0.0713, 9).int_repr())
    first = Q.cat([mine(t) for t in parts], -3, input_scales=scales, input_zero_points=zeros)
    equal(first, torch.ops.quantized.cat(quantized, 1, None, None).int_repr())
    equal(Q.cat([mine(parts[0])] * 2, input_scales=0.5), torch.cat([parts[0]] * 2))


def test_cat_rounds_ties_like_decomposed(decomposed):
    """`torch.ops.quantized.cat` adds the zero point first, so it rounds ties the other way if the
    zero point is odd."""
    part = torch.full((1, 8), 249, dtype=torch.uint8)
    range_ = (0, 255, torch.uint8)
    for zero, other in ((149, 148), (150, 150)):
        theirs = decomposed.quantize_per_tensor(
            decomposed.dequantize_per_tensor(part, 0.5, 250, *range_), 1.0, zero, *range_
        )
        result = Q.cat([mine(part)], 0, 1.0, zero, input_scales=0.5, input_zero_points=250)
        equal(result, theirs)
        assert result[0, 0] == zero
        own = torch.ops.quantized.cat([torch._make_per_tensor_quantized_tensor(part, 0.5, 250)], 0, 1.0, zero)
        assert (own.int_repr() == other).all()


def test_dequantize_as_complex():
    pairs = torch.randint(-(1 << 15), 1 << 15, (7, 9, 2)).short()
    scale = 3 / (1 << 15)
    theirs = torch.view_as_complex(pairs.float() * scale)
    equal(Q.dequantize_as_complex(mine(pairs), scale), theirs)
    assert Q.dequantize_as_complex(mine(pairs.transpose(0, 1)), 1.0).shape == (9, 7)


def test_samples_are_converted_in_the_kernel_that_reads_them():
    if default_backend().images is not None:
        pytest.skip("the image full has no kernel that converts samples, and a graph no host")
    pairs = torch.randint(-(1 << 15), 1 << 15, (1000, 2)).short()
    tone = torch.polar(torch.ones(1000), torch.arange(1000) / 7)
    mixed = ft.jit(lambda x, y: Q.dequantize_as_complex(x, 0.25) * y)
    theirs = Q.dequantize_as_complex(mine(pairs), 0.25) * mine(tone)
    equal(mixed(mine(pairs), mine(tone)), theirs.to_torch())
    # Images hold the kernels of single ops.
    count = 1 if default_backend().target.unaligned else 2
    assert len(mixed.graph(mine(pairs), mine(tone)).kernels) == count


# Shapes of input and weight, and layouts of windows: result rows that begin and end inside beats,
# planes of one beat and of several tiles, groups, strides, and filters that fill no panel.
WINDOWS = ("stride", "padding", "dilation", "groups")
BYTES = [
    ((2, 10, 9, 9), (20, 10, 3, 3), {"stride": (2, 1), "padding": 1}),
    ((1, 3, 40, 56), (17, 3, 3, 3), {"padding": 1}),
    ((2, 4, 14, 30), (6, 2, 3, 3), {"padding": 2, "groups": 2, "dilation": 2}),
    ((1, 70, 5, 6), (3, 70, 3, 3), {}),
]


@pytest.mark.parametrize("case", range(len(BYTES)))
@pytest.mark.parametrize("of", ["uint8", "int8"])
def test_sums_of_bytes_are_exact(of, case):
    """The lowest and the highest byte are adjacent, and padding is a zero point. On boards, whose
    kernels read bytes, the sums are compared, too."""
    shape, filters, windows = BYTES[case]
    low, high = (0, 255) if of == "uint8" else (-128, 127)
    x = torch.randint(low, high + 1, shape).to(getattr(torch, of))
    w = torch.randint(-128, 128, filters).to(torch.int8)
    x.view(-1)[::3], x.view(-1)[1::5], w.view(-1)[::2] = low, high, -128
    zero, middle = high - 4, (low + high + 1) // 2
    right = torch.nn.functional.conv2d(x.double() - zero, w.double(), **windows)
    window = [windows.get(word, n) for word, n in zip(WINDOWS, (1, 0, 1, 1))]
    sums = byte_sums("conv2d", 2, mine(x), mine(w), *window, zero)
    assert default_backend().target.name != "csim" or sums is not None
    if sums is not None:
        equal(sums, right.int())
    scale = float(right.abs().max()) / 100
    result = Q.conv2d(
        mine(x), mine(w), None, *window, scale, middle, input_scale=1.0, input_zero_point=zero, weight_scale=1.0
    )
    scaled = (right.float() * (torch.tensor(1.0) / torch.tensor(scale))).round() + middle
    equal(result, scaled.clamp(low, high).to(x.dtype))


@pytest.mark.parametrize("shape", [(37, 90, 20), (1, 400, 33), (130, 33, 32)])
def test_products_of_bytes_are_exact(shape):
    m, k, n = shape
    a, b = (torch.randint(-128, 128, size).to(torch.int8) for size in ((m, k), (k, n)))
    a[:, ::2], b[::3] = -128, -128
    right = a.int() @ b.int()
    equal(ft._int_mm(mine(a), mine(b)), right)
    equal(ft._int_mm(mine(a), mine(b.t().contiguous()).t()), right)
    out = ft.zeros(m, n, dtype=ft.int32)
    assert ft._int_mm(mine(a), mine(b), out=out) is out
    equal(out, right)
