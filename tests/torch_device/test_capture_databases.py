"""torch's modules and optimizers have eager's bits when captured and replayed twice with other
inputs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
import torch

pytest.importorskip("expecttest", reason="torch's databases need it")

from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db
from torch.utils import _pytree as pytree

import ftensor.torch

from .device import needs_every_kernel, quiet  # noqa: F401

pytestmark = [pytest.mark.long, needs_every_kernel]
DEVICE = torch.device("fpga")
CALLS = 5  # two eager, one captured, two replayed
ALL = os.environ.get("FTENSOR_DATABASES") == "all"  # otherwise every sixth module
# Modules whose inputs can't be scaled (probabilities, samples of another dtype), or that have no
# parameters before their first call.
OTHERS = ("nn.BCELoss", "nn.FractionalMaxPool", "nn.Lazy")
MODULES = [info for info in module_db if not info.name.startswith(OTHERS)][:: 1 if ALL else 6]
# Words in the reasons for which captures are refused.
REFUSED_MODULES = {"nn.CTCLoss": "copies values from the host", "nn.GaussianNLLLoss": "reads or writes values"}


def tensors(tree: Any) -> list[torch.Tensor]:
    return [x for x in pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


def scaled(tree: Any, k: int) -> Any:
    """Returns copies of a call's arguments, with other values for each k."""

    def one(x: Any) -> Any:
        return x * (1 + k / 8) if isinstance(x, torch.Tensor) and x.is_floating_point() else x

    return pytree.tree_map(one, tree)


def bits(tree: Any) -> list[bytes]:
    return [x.detach().cpu().numpy().tobytes() for x in tensors(tree)]


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("info", MODULES, ids=lambda info: info.name)
def test_modules(info: Any, training: bool) -> None:
    torch.manual_seed(0)
    options = {"device": DEVICE, "dtype": torch.float32, "requires_grad": False, "training": training}
    sample = info.module_inputs_func(info, **options)[0]
    make, call = sample.constructor_input, sample.forward_input

    def net() -> torch.nn.Module:
        torch.manual_seed(0)
        return info.module_cls(*make.args, **make.kwargs).to(DEVICE).train(training)

    def without_gradients(net: torch.nn.Module) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            with torch.no_grad():
                return tuple(tensors(net(*args, **kwargs)))

        return step

    eager, other = net(), net()
    step, captured = without_gradients(eager), ftensor.torch.capture(without_gradients(other))
    for k in range(CALLS):
        results = []
        for function, model in ((step, eager), (captured, other)):
            args, kwargs = scaled((call.args, call.kwargs), k)
            torch.manual_seed(k)
            results.append(bits((function(*args, **kwargs), args, kwargs, list(model.state_dict().values()))))
        assert results[0] == results[1], f"call {k}"
    (row,) = captured.report()
    refused = REFUSED_MODULES.get(info.name, "")
    assert row.state == ("refused" if refused else "captured") and refused in row.reason, row.reason


def optimizers() -> list[Any]:
    """Yields a constructor for each optimizer and each of its implementations."""
    found = []
    for info in optim_db:
        options: list[dict[str, Any]] = [{}]
        options += [{name: True} for name in ("fused", "capturable") if name in info.supported_impls]
        if "capturable" in info.optim_cls.__init__.__code__.co_varnames:
            options.append({"capturable": True})
        for option in [o for k, o in enumerate(options) if o not in options[:k]]:
            name = "-".join([info.optim_cls.__name__, *option])
            found.append(pytest.param(info.optim_cls, option, id=name))
    return found


@pytest.mark.parametrize(("kind", "options"), optimizers())
def test_optimizers(kind: Any, options: dict[str, Any]) -> None:
    """The step is captured, or refused with a reason. In both cases the parameters have eager's
    bits."""
    if kind in (torch.optim.LBFGS, torch.optim.SparseAdam):
        pytest.skip("takes a closure or sparse gradients")

    def trained() -> tuple[Any, Callable[[torch.Tensor], torch.Tensor]]:
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 3, bias=kind.__name__ != "Muon").to(DEVICE)
        optimizer = kind(model.parameters(), lr=0.01, **options)

        def step(x: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return model, step

    (eager, step), (other, function) = trained(), trained()
    captured = ftensor.torch.capture(function)
    for k in range(CALLS + 2):
        x = torch.full((2, 4), k / 4).to(DEVICE)
        assert bits(step(x)) == bits(captured(x)) and bits(list(eager.parameters())) == bits(list(other.parameters()))
    (row,) = captured.report()
    known = kind.__name__ == "SGD" or options.get("capturable") or (options.get("fused") and kind.__name__ != "SGD")
    assert row.state == ("captured" if known else "refused"), row
    assert row.state == "captured" or "host" in row.reason
