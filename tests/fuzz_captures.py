"""The source `captures` of the fuzz: random steps on torch's device, captured and compared with
eager.

A step is a module or a few ops, with or without a backward pass and an optimizer, random numbers,
in-place writes and its own buffer. It runs eagerly and by `ftensor.torch.capture`, from the same
weights and seeds, with other inputs in each call. At times a learning rate changes, gradients are
cleared elsewhere, or another shape occurs. Results, arguments, weights, gradients and states must
have the same bits in each call. `FPGAGraph` replays some of the steps without an optimizer.

A capture may be refused. `REFUSED` lists the reasons that the drawn steps can have; any other
reason is a disagreement.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

import ftensor.torch

F = nn.functional
CALLS = 7
# Reasons of refusals, each by a part of the step that may cause it.
REFUSED = {
    "item": "reads or writes values",
    "upload": "reads or writes values|copies values from the host",
    "seed": "reads or sets the state",
    "kept": "outlives it and is no result",
    "view": "is an argument or another tensor",
    "Adam": "counts its steps on the host",
    "RMSprop": "may compute numbers on the host",
    "no step": "a gradient outlives the function",
}
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: torch.optim.SGD(p, 0.1),
    "SGD, momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    "AdamW, fused": lambda p: torch.optim.AdamW(p, 0.01, fused=True),
    "Adam, fused, amsgrad": lambda p: torch.optim.Adam(p, 0.01, fused=True, amsgrad=True),
    "Adagrad, fused": lambda p: torch.optim.Adagrad(p, 0.01, fused=True),
    "NAdam, capturable": lambda p: torch.optim.NAdam(p, 0.01, capturable=True),
    "RMSprop, capturable": lambda p: torch.optim.RMSprop(p, 0.01, capturable=True),
    "Adam": lambda p: torch.optim.Adam(p, 0.01),
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.01),
}
# Layers from 8 features to 8 features, for batches of (n, 4, 8).
LAYERS = (
    "nn.Linear(8, 8)", "nn.GELU()", "nn.LayerNorm(8)", "nn.Dropout(0.25)", "nn.ReLU()", "nn.Softmax(-1)",
    "nn.BatchNorm1d(4)", "nn.Conv1d(4, 4, 3, padding=1)", "nn.GroupNorm(2, 4)", "nn.SiLU()", "nn.RMSNorm(8)",
    "nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True)", "First(nn.LSTM(8, 8, batch_first=True))",
    "First(nn.GRU(8, 8, batch_first=True))", "nn.Linear(8, 8, bias=False)", "nn.AlphaDropout(0.1)", "nn.Tanh()",
)  # fmt: skip
OPS = (
    "x = x * 1.5 + 0.25", "x = torch.cat((x[:, 2:], x[:, :2]), 1)",
    "x = x.transpose(1, 2).contiguous().transpose(1, 2)",
    "x = x - x.mean(-1, keepdim=True)", "x = torch.where(x > 0, x, 0.1 * x)", "x = x.flip(-1).cumsum(-1) / 8",
    "x = x + torch.rand_like(x)", "x = x * torch.bernoulli(torch.full_like(x, 0.5))",
    "x = x @ x.transpose(1, 2) @ x / 8",
    "x = x + self.table[y % 5]", "x = x + torch.arange(8, device=x.device)", "x = x.clamp(-2, 2).exp() / 4",
    "x = x + x.sort(-1)[0]", "x = x + torch.randn(8, device=x.device)", "x = x.roll(1, 0) + x.amax(1, keepdim=True)",
    "x = x * torch.ones_like(x).tril()", "x = x + torch.full((8,), -0.0, device=x.device)", "x = -(-x)",
)  # fmt: skip
WRITES = ("self.state.add_(1)", "self.state.mul_(0.5).add_(x.detach().mean())", "a.mul_(0.5)", "self.state[1:].zero_()")
FAULTS = {
    "item": "x = x * (1 if x.sum().item() > 0 else 2)",
    "upload": "x = x + torch.tensor([0.5]).to(x.device)",
    "seed": "torch.manual_seed(3)",
    "kept": "self.kept = x.detach() + 1",
    "view": "RETURN a",
}


class First(nn.Module):
    """The first result of a recurrent layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x)[0]


class Drawn:
    """A step as text, and the choices that determine its calls."""

    def __init__(self, draw: random.Random) -> None:
        self.seed = draw.randrange(1 << 30)
        self.layers = [draw.choice(LAYERS) for _ in range(draw.randint(0, 3))]
        self.optimizer = draw.choice(list(OPTIMIZERS)) if draw.random() < 0.5 else ""
        if self.optimizer and not any("Linear" in one for one in self.layers):
            self.layers.append("nn.Linear(8, 8)")
        self.faults = [draw.choice(list(FAULTS))] if draw.random() < 0.08 else []
        lines = [draw.choice(OPS) for _ in range(draw.randint(0, 4))] + [
            f"x = self.net[{k}](x)" for k in range(len(self.layers))
        ]
        lines += [draw.choice(WRITES) for _ in range(draw.randint(0, 2))]
        draw.shuffle(lines)
        if self.optimizer:  # otherwise the write would change a tensor that autograd has saved
            lines = [line for line in lines if "a.mul_" not in line]
        lines += [FAULTS[fault] for fault in self.faults]
        self.lines = lines
        self.training = draw.random() < 0.7
        self.clears = draw.choice(("inside", "inside", "outside", "now and then")) if self.optimizer else ""
        self.steps = not self.optimizer or draw.random() > 0.05
        self.rate_at = draw.randrange(2, CALLS) if draw.random() < 0.15 else -1
        self.mode_at = draw.randrange(2, CALLS) if draw.random() < 0.15 else -1
        self.shapes = [draw.choice((2, 2, 2, 3)) if draw.random() < 0.3 else 2 for _ in range(2 * CALLS)]
        self.same_memory = draw.random() < 0.3
        self.graph = not self.optimizer and draw.random() < 0.3

    def __str__(self) -> str:
        settings = {name: value for name, value in vars(self).items() if name not in ("lines", "layers")}
        return "\n".join([f"# {settings}", f"# layers: {self.layers}", *self.lines])


class Step:
    """A drawn step with its weights, which do not depend on how it runs."""

    def __init__(self, drawn: Drawn) -> None:
        torch.manual_seed(drawn.seed)
        self.drawn = drawn
        self.net = nn.ModuleList([eval(text) for text in drawn.layers]).to("fpga").train(drawn.training)
        self.state, self.table = torch.zeros(3).to("fpga"), torch.randn(5, 8).to("fpga")
        self.optimizer = OPTIMIZERS[drawn.optimizer](self.net.parameters()) if drawn.optimizer else None
        body = [line if line[:6] != "RETURN" else "return a" for line in drawn.lines]
        space: dict[str, Any] = {"torch": torch}
        exec("def forward(self, a, y):\n    x = a\n    " + "\n    ".join([*body, "return x"]), space)
        self.forward = space["forward"]
        self.kept: Any = None

    def __call__(self, a: torch.Tensor, y: torch.Tensor) -> Any:
        if self.optimizer is None:
            with torch.no_grad():
                return self.forward(self, a, y)
        if self.drawn.clears == "inside":
            self.optimizer.zero_grad()
        loss = self.forward(self, a, y).square().mean()
        loss.backward()
        if self.drawn.steps:
            self.optimizer.step()
        return loss.detach()

    def bits(self, *others: Any) -> list[Any]:
        """Returns the bits of all tensors that a call may write."""
        held = [self.state, *self.net.state_dict().values(), *[p.grad for p in self.net.parameters()], *others]
        states = self.optimizer.state.values() if self.optimizer else ()
        held += [x for state in states for x in state.values() if isinstance(x, torch.Tensor)]
        return [None if x is None else x.detach().cpu().numpy().tobytes() for x in held]


def trial(draw: random.Random) -> str:
    """Returns the difference of a captured step from the eager step, followed by the step; "" if
    they agree."""
    drawn = Drawn(draw)
    problem = by_graph(drawn) if drawn.graph and not drawn.faults else difference(drawn)
    return f"{problem}\n{drawn}" if problem else ""


def inputs(drawn: Drawn, k: int) -> list[torch.Tensor]:
    """Returns the arguments of call `k`."""
    generator = torch.Generator().manual_seed(drawn.seed + k)
    n = drawn.shapes[k]
    return [torch.randn(n, 4, 8, generator=generator), torch.randint(100, (n, 4), generator=generator)]


def outcome(call: Callable[..., Any], step: Step, arguments: list[torch.Tensor], seed: int) -> Any:
    torch.manual_seed(seed)
    try:
        result = call(*arguments)
    except Exception as error:  # noqa: BLE001 - the kind is what is compared
        return type(error)
    return step.bits(result, *arguments)


def difference(drawn: Drawn) -> str:
    """Runs the step by `ftensor.torch.capture`."""
    eager, other = Step(drawn), Step(drawn)
    captured = ftensor.torch.capture(other)
    static = [[x.to("fpga") for x in inputs(drawn, 0)] for _ in range(2)]
    for k in range(2 * CALLS):
        results = []
        for number, (call, step) in enumerate(((eager, eager), (captured, other))):
            if step.optimizer is not None:
                if k == drawn.rate_at:
                    step.optimizer.param_groups[0]["lr"] = 0.02
                if drawn.clears == "outside" or (drawn.clears == "now and then" and k % 3 == 0):
                    step.optimizer.zero_grad()
            if k == drawn.mode_at:
                step.net.train(not drawn.training)
            arguments = [x.to("fpga") for x in inputs(drawn, k)]
            if drawn.same_memory and arguments[0].shape == static[number][0].shape:
                for x, new in zip(static[number], arguments):
                    x.copy_(new)
                arguments = static[number]
            results.append(outcome(call, step, arguments, drawn.seed + k))
        if results[0] != results[1]:
            states = {row.state for row in captured.report()}
            return f"call {'eager' if k < 3 else 'replayed'} differs, {sorted(states)}: call {k}"
    for row in captured.report():
        if row.state == "refused" and not may_be_refused(drawn, row.reason):
            return f"refused: {re.sub(r'[(].*', '', row.reason)}"
    return ""


def may_be_refused(drawn: Drawn, reason: str) -> bool:
    parts = [*drawn.faults, drawn.optimizer, "" if drawn.steps else "no step"]
    if may_return_its_argument(drawn):
        parts.append("view")
    return any(re.search(REFUSED[part], reason) for part in parts if part in REFUSED)


def may_return_its_argument(drawn: Drawn) -> bool:
    """Returns whether no line is sure to make a new tensor. Dropout returns its argument in
    evaluation."""
    always_trains = drawn.training and drawn.mode_at < 0
    idle = [f"x = self.net[{k}](x)" for k, of in enumerate(drawn.layers) if "Dropout" in of and not always_trains]
    return not drawn.optimizer and not any(line.startswith("x = ") and line not in idle for line in drawn.lines)


def by_graph(drawn: Drawn) -> str:
    """Captures the step by `torch.fpga.graph`, and replays it on other inputs."""
    eager, other = Step(drawn), Step(drawn)
    drawn.shapes = [2] * len(drawn.shapes)
    static = [x.to("fpga") for x in inputs(drawn, 0)]
    torch.manual_seed(drawn.seed)
    wanted = outcome(eager, eager, [x.to("fpga") for x in inputs(drawn, 0)], 0)
    if outcome(other, other, static, 0) != wanted:
        return "two eager calls differ"
    g = torch.fpga.FPGAGraph()
    for k in range(1, CALLS):
        arguments = [x.to("fpga") for x in inputs(drawn, k)]
        for x, new in zip(static, arguments):
            x.copy_(new)
        torch.manual_seed(k)
        if k == 1:
            with torch.fpga.graph(g):
                result = other(*static)
        else:
            g.replay()
        if other.bits(result, *static) != outcome(eager, eager, arguments, k):
            return f"{'the capture' if k == 1 else 'a replay'} of a graph differs"
    return ""
