"""Models quantized by PT2E, as layers of `ft.quantized`, compiled, and exported as networks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import ftensor as ft
import ftensor.torch
from ftensor.graph.jit import Jitted

from .device import quiet  # noqa: F401
from .quantized_models import RESIDUAL, A, D, Forward, Model, converted, residual, rounded


@pytest.fixture
def images() -> torch.Tensor:
    return torch.randint(-3, 250, (3, 1, 9, 9), generator=torch.Generator().manual_seed(1)) / 64


def computed(net: Any, x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(net.dequantize(net(net.quantize(ft.from_torch(x)))).numpy())


def test_layers_have_torchs_bits(images: torch.Tensor) -> None:
    """Sums and scales are exact in float32 here. With other scales, results differ by one step
    where float32 rounds."""
    model = converted(residual, images, **RESIDUAL)
    net = ftensor.torch.from_pt2e(model)
    wanted = model(images)
    assert torch.equal(computed(net, images), wanted) and len(wanted.unique()) > 9
    assert net.input_scale == (1 / 64, 3, ft.uint8) and net.output_scale == (0.5, 128, ft.uint8)
    q = net(net.quantize(ft.from_torch(images)))
    assert q.dtype is ft.uint8 and q.shape == (3, 10)


def test_layers_become_a_network(images: torch.Tensor, tmp_path: Path) -> None:
    net = ftensor.torch.from_pt2e(converted(residual, images, **RESIDUAL))
    files = ft.jit(net).export(str(tmp_path / "net"), net.quantize(ft.from_torch(images)), target="kv260")
    for name in ("conv2d_0", "max_pool2d_1", "depthwise_2", "add_3", "max_pool2d_4", "add_5", "linear_6"):
        assert name in files.report


def test_compiled_model_runs_as_a_network(images: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is one jitted function, also after its parameters changed. Gradients are not
    needed."""
    torch._dynamo.reset()
    model = converted(residual, images, **RESIDUAL)
    calls, call = [], Jitted.__call__
    monkeypatch.setattr(Jitted, "__call__", lambda self, *args: calls.append(self) or call(self, *args))
    here = model.to("fpga")
    fast = torch.compile(here, backend="ftensor")
    wanted = computed(ftensor.torch.from_pt2e(here), images)
    x = images.to("fpga")
    for _ in range(2):
        assert torch.equal(fast(x).cpu(), wanted)
    assert len(calls) == 2 and calls[0] is calls[1]
    buffers = dict(here.named_buffers())
    for name, change in (("last_bias", lambda t: t.add_(3.0)), ("last_scales", lambda t: t.mul_(2.0))):
        change(buffers[name])
        changed = computed(ftensor.torch.from_pt2e(here), images)
        assert torch.equal(fast(x).cpu(), changed) and not torch.equal(changed, wanted)
        wanted = changed
    buffers["last_zeros"].add_(1)  # layers take int8 around 0, so this is no network any more
    assert torch.equal(fast(x).cpu(), here(x).cpu()) and not torch.equal(fast(x).cpu(), wanted)


def test_last_layer_in_float(images: torch.Tensor) -> None:
    """X86InductorQuantizer leaves the result of a last linear layer in float32."""

    def body(m: Model, x: torch.Tensor) -> torch.Tensor:
        x = rounded(A.relu(A.conv2d(rounded(x, 1 / 64), *m.weight("first"), [3, 3])), 1 / 8)
        return A.linear(A.flatten(x, 1), *m.weight("last"))

    model = converted(body, images, first=(2, 1, 3, 3), last=(5, 18))
    torch.testing.assert_close(computed(ftensor.torch.from_pt2e(model), images), model(images))


def test_other_graphs_are_compiled_as_usual(images: torch.Tensor) -> None:
    torch._dynamo.reset()
    model = converted(lambda m, x: A.exp(rounded(x, 1 / 64)), images)
    y = torch.compile(model.to("fpga"), backend="ftensor")(images.to("fpga"))
    torch.testing.assert_close(y.cpu(), torch.exp(rounded(images, 1 / 64)))


def conv(m: Model, x: torch.Tensor, **more: Any) -> torch.Tensor:
    return A.conv2d(x, *m.weight("first"), **more)


SHIFTED = (0, 127, torch.uint8)
REFUSED: dict[str, tuple[Forward, str]] = {
    "an op": (lambda m, x: rounded(A.exp(rounded(x, 0.1)), 0.1), "exp is no quantized layer .*node exp.*: it is none"),
    "no result": (lambda m, x: (rounded(conv(m, rounded(x, 0.1)), 0.1), x), "the model has 2 results"),
    "nothing to do": (lambda m, x: rounded(x, 0.1), "the model has 1 results"),
    "no input": (lambda m, x: conv(m, x), "quantizes 0 inputs"),
    "a float operand": (
        lambda m, x: rounded(A.neg(A.add(*[conv(m, rounded(x, 0.1))] * 2)), 0.1),
        "add .*: the result of conv2d reaches it without being quantized",
    ),
    "a range": (lambda m, x: rounded(conv(m, rounded(x, 0.1, 0, SHIFTED)), 0.1), r"its range is \(0, 127\)"),
    "a pool's scale": (
        lambda m, x: rounded(A.avg_pool2d(rounded(x, 0.1), [3, 3]), 0.2),
        "avg_pool2d .*: its result has another scale than its input",
    ),
    "another mean": (lambda m, x: rounded(A.mean(rounded(x, 0.1), [1, 2]), 0.1), r"the mean of the dims \[1, 2\]"),
    "a shape": (
        lambda m, x: rounded(conv(m, A.view(rounded(x, 0.1), [3, 1, 27, 3])), 0.1),
        r"view .*: it changes the shape to \[3, 1, 27, 3\]",
    ),
    "a float weight": (lambda m, x: rounded(A.conv2d(rounded(x, 0.1), m.first_scales.view(1, 1, 1, 2)), 1), "not quan"),
    "a scaled sum": (
        lambda m, x: rounded(A.add(rounded(x, 0.1), rounded(x, 0.1), alpha=2), 0.1),
        "its alpha is 2, not 1",
    ),
    "a low end": (lambda m, x: rounded(A.hardtanh(rounded(x, 0.1), -1.0, 1.0), 0.1), "its least value is -1.0"),
    "two inputs' scales": (
        lambda m, x: rounded(A.add(rounded(x, 0.1), rounded(x, 0.2)), 0.1),
        "it quantizes the input a second time",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_models_that_are_no_network_are_refused(name: str, images: torch.Tensor) -> None:
    body, said = REFUSED[name]
    model = converted(body, images, first=(2, 1, 3, 3))
    with pytest.raises(ft.GraphError, match=said):
        ftensor.torch.from_pt2e(model)


def test_unsupported_weights_are_refused(images: torch.Tensor) -> None:
    model = converted(lambda m, x: rounded(conv(m, rounded(x, 0.1)), 0.1), images, first=(2, 1, 3, 3))
    model.first_zeros.add_(1)
    with pytest.raises(ft.GraphError, match="has a zero point; layers take int8 around 0"):
        ftensor.torch.from_pt2e(model)


@pytest.mark.parametrize("model", [nn.Linear(2, 2), None])
def test_model_without_quantization_is_refused(model: Any) -> None:
    with pytest.raises(TypeError, match="takes the GraphModule that convert_pt2e returns, not"):
        ftensor.torch.from_pt2e(model)


def test_quantizers_of_torchao(images: torch.Tensor) -> None:
    """Runs the whole flow. A layer rarely differs from torch's float32, and by at most one step."""
    import torchao.quantization.pt2e.quantize_pt2e as flow
    import torchao.quantization.pt2e.quantizer.x86_inductor_quantizer as x86

    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3)).eval()
    config = x86.get_default_x86_inductor_quantization_config()
    quantizer = x86.X86InductorQuantizer().set_global(config)
    prepared = flow.prepare_pt2e(torch.export.export(model, (images,)).module(), quantizer)
    prepared(images)
    done: Callable[..., torch.Tensor] = flow.convert_pt2e(prepared)
    net = ftensor.torch.from_pt2e(done)  # type: ignore[arg-type]
    torch.testing.assert_close(computed(net, images), done(images), rtol=0, atol=0.02)


def test_requantized_value_has_torchs_bits(images: torch.Tensor) -> None:
    """With any scales, the sum rounds ties as the dequantized value does."""
    for scale, zero in ((0.0137, 4), (0.31, 200)):
        body = lambda m, x: rounded(rounded(rounded(x, 0.017, 3), scale, zero), 0.1)  # noqa: B023, E731
        model = converted(body, images)
        assert torch.equal(computed(ftensor.torch.from_pt2e(model), images), model(images))


assert D is torch.ops.quantized_decomposed
