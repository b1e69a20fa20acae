"""Programs on torch's device `fpga` against the CPU: views written in place, among them lazy
conjugates and negations, and gradients through them, with hooks that may raise.

After each line both devices must have the same values and strides, and after the last one the same
gradients, or must have raised the same class. A hook's exception must arrive unchanged. If the
process crashes, the driver's --log has the trial's number.

Left out:
- numbers that are not finite or are large, whose rounding `tests/fuzz_programs.py` compares
  already;
- hooks on results after an in-place write: if some views of the written tensor get one, torch
  crashes the process, on the CPU too;
- lines after a write that either side refuses as an "unsupported operation" for overlapping memory,
  or whose values share memory with the destination; `out=` of another shape (docs/differences.md);
- strides of gradients.
"""

from __future__ import annotations

import itertools
import random
import re
import warnings
from typing import Any

import torch

import ftensor.torch
from ftensor.torch.prepared_kernels import OBSERVED_CALL

VALUES = (0.5, -1.0, 2.0, 0.25, -0.75, 1.5, 3.0, -2.0)
SHAPES = ((6,), (2, 3), (3, 2), (2, 2, 3), (1, 4), ())
VIEWS = (
    "{a}.t()", "{a}.transpose(0, -1)", "{a}[1:]", "{a}[..., ::2]", "{a}[0]", "{a}.unsqueeze(0)",
    "{a}.reshape(-1)", "{a}.diagonal()", "{a}[..., -1]", "{a}.squeeze()", "{a}.narrow(0, 0, 1)",
    "{a}.conj()", "{a}.conj().imag", "{a}.real", "{a}.imag", "torch.view_as_real({a})", "{a}.mH",
    "{a}.conj().t()", "{a}._neg_view()", "{a}.expand(2, *{a}.shape)", "{a}.detach()",
    "{a}.unfold(-1, 2, 2)", "{a}.chunk(2)[0]", "{a}.view_as({a})",
)  # fmt: skip
WRITES = (
    "{a}.mul_(2)", "{a}.add_({b})", "{a}.copy_({b})", "{a}.neg_()", "{a}.zero_()", "{a}[0] = 2",
    "{a}.mul_({b})", "{a}.fill_(0.5)", "{a}.sub_({a})", "{a}[..., 0] = {b}", "{a}.conj_physical_()",
    "{a}.masked_fill_({a}.abs() > 1, 0.5)", "{a}.index_fill_(0, torch.tensor([0], device=d), 1)",
    "{a}.addcmul_({b}, {a}, value=0.5)", "torch._foreach_mul_([{a}], 0.5)", "{a}.t_()",
    "torch.add({a}.detach(), 1, out={a}.detach())", "{a}.tanh_()", "{a}.clamp_(-1, 1)",
    "{a}.index_put_((torch.tensor([0], device=d),), {b}.clone())", "torch.nn.functional.relu_({a})",
)  # fmt: skip
OPS = (
    "{a} * {b}", "{a} + 1", "{a}.tanh()", "{a} - {b}", "{a}.sum(0)", "{a}.clone()", "{a} * {a}",
    "{a}.abs()", "torch.where({a}.abs() > 1, {a}, {b})", "torch.cat([{a}, {b}])", "{a}.mean(-1)",
    "{a} @ {b}", "{a}.sin()", "Twice.apply({a})", "{a}.amax(0)", "{a}.softmax(-1)", "-{a}",
    "checkpoint(twice, {a}, use_reentrant=False)", "{a} / 2", "{a}.contiguous()",
)  # fmt: skip
HOOKS = ("{a}.register_hook(h)", "{a}.grad_fn.register_hook(h)", "{a}.grad_fn.register_prehook(h)", "{a}.retain_grad()")
LEAVES = ("x0.register_post_accumulate_grad_hook(h)", "x0.register_hook(h)")
ENDS = (
    "loss.backward()",
    "loss.backward(); loss.backward()",
    "torch.autograd.grad(loss, x0)",
    "loss.backward(retain_graph=True); loss.backward()",
    "g, = torch.autograd.grad(loss, x0, create_graph=True); g.abs().sum().backward()",
)


class Boom(Exception):
    """The exception of hooks."""


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: torch.Tensor) -> torch.Tensor:
        return a * 2

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        return grads[0] * 2


def case(draw: random.Random) -> list[str]:
    """Returns the lines of a program on device `d`."""
    names, lines, count, written = [], [], 0, False

    def named(text: str) -> None:
        nonlocal count
        lines.append(f"t{count} = {text}")
        names.append(f"t{count}")
        count += 1

    dtype = draw.choice(("float32", "float32", "complex64", "float64"))
    for k in range(2):
        shape = draw.choice(SHAPES)
        values = [draw.choice(VALUES) for _ in range(torch.Size(shape).numel())]
        text = f"x{k} = torch.tensor({values}, dtype=torch.{dtype}).reshape({shape})"
        if dtype == "complex64":
            text = text.replace(").reshape", ").mul(1 + 0.5j).reshape")
        lines.append(f"{text}.to(d).requires_grad_({k == 0 or draw.random() < 0.5})")
        named(f"x{k} * 1")
    for _ in range(draw.randint(3, 9)):
        used = {letter: draw.choice(names) for letter in "ab"}
        kind = draw.choice((VIEWS, VIEWS, WRITES, WRITES, OPS, OPS, HOOKS, LEAVES))
        written |= kind is WRITES
        kind = LEAVES if written and kind is HOOKS else kind
        text = draw.choice(kind).format(**used)
        if kind in (VIEWS, OPS):
            named(text)
        else:
            lines.append(text)
    lines.append(f"loss = sum(t.abs().sum() for t in ({', '.join(names[-3:])}))")
    return [*lines, draw.choice(ENDS)]


def state(device: str, lines: list[str], fails: int) -> list[Any]:
    """Returns the state after each line: an error, or (values, strides) of all tensors and their
    gradients."""
    calls = 0

    def hook(*args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == fails:
            raise Boom(f"call {calls}")

    space: dict[str, Any] = {
        "torch": torch,
        "d": device,
        "h": hook,
        "Twice": Twice,
        "twice": lambda a: a * 2,
        "checkpoint": torch.utils.checkpoint.checkpoint,
    }
    seen: list[Any] = []
    for line in lines:
        try:
            if shares(line, space):
                raise RuntimeError("unsupported operation: values in the place that is written")
            exec(line, space)
            tensors = {n: t for n, t in space.items() if isinstance(t, torch.Tensor)}
            outcome = {n: (plain(t), t.stride()) for n, t in tensors.items()}
            if line is lines[-1]:
                leaves = {n: t for n, t in tensors.items() if t.is_leaf and t.grad is not None}
                outcome |= {f"{n}.grad": (plain(t.grad), ()) for n, t in leaves.items()}
        except Exception as error:  # noqa: BLE001 - which one is what is compared
            seen.append(error)
            if line is lines[-1]:
                break
            continue
        seen.append(outcome)
    return seen


def shares(line: str, space: dict[str, Any]) -> bool:
    """Returns whether a line writes into memory that it reads through another view."""
    if re.match(r"t\d+ = |loss|g, ", line):
        return False
    named = [space[name] for name in re.findall(r"\bt\d+", line)]
    return any(
        a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
        and ("[..., 0] =" in line or (a.data_ptr(), a.stride()) != (b.data_ptr(), b.stride()))
        for a, b in itertools.pairwise(named)
    )


def plain(t: torch.Tensor) -> torch.Tensor:
    """Returns a copy on the host."""
    return t.detach().cpu().resolve_conj().resolve_neg().clone()


def different(mine: Any, theirs: Any) -> str:
    """Returns the difference of a line's outcomes; "" if they agree."""
    errors = isinstance(mine, Exception), isinstance(theirs, Exception)
    if any(errors):
        if all(errors) and "setStorage" in str(theirs):  # torch's views beyond an empty tensor
            return ""
        if type(mine) is type(theirs) and (type(mine) is not Boom or str(mine) == str(theirs)):
            return ""
        return f"the CPU {summary(theirs)}, fpga {summary(mine)}"
    for name, (want, strides) in theirs.items():
        got, own = mine.get(name, (None, ()))
        try:
            assert got is not None and (own == strides or name == "g"), f"strides {own}, not {strides}"
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5, equal_nan=True)
        except AssertionError as error:
            return f"{name.partition('.')[2] or 'values'} differ: {name}: {str(error)[:200]}"
    return ""


def in_double(line: str) -> str:
    return line.replace("float32", "float64").replace("complex64", "complex128")


def as_near(mine: Any, theirs: Any, exact: Any) -> bool:
    """Returns whether each tensor is about as close to the double-precision result as torch's."""
    for name, (want, _) in exact.items():
        if not want.numel():
            continue
        errors = [(side[name][0].to(want.dtype) - want).abs().max() for side in (mine, theirs)]
        if not errors[0] <= 4 * errors[1] + 1e-5 * (1 + want.abs().max()):
            return False
    return True


def summary(outcome: Any) -> str:
    return f"raises {outcome!r:.150}" if isinstance(outcome, Exception) else "computes"


def trial(draw: random.Random) -> str:
    """Returns the difference of the devices on a program, followed by the program; "" if they
    agree."""
    lines, fails = case(draw), draw.choice((0, 0, 1, 2, 3))
    runs = draw.choice((1, OBSERVED_CALL + 1))  # the last of several runs uses prepared ops
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = state("cpu", lines, fails)
        for _ in range(runs):
            mine = state("fpga", lines, fails)
    exact = None
    for k, (line, a, b) in enumerate(zip(lines, mine, theirs, strict=False)):
        if any(isinstance(o, Exception) and "unsupported operation" in str(o) for o in (a, b)):
            break
        if problem := different(a, b):
            if "differ" in problem and "close" in problem:
                exact = exact or state("cpu", [in_double(one) for one in lines], fails)
                if as_near(a, b, exact[k]):
                    continue
            head = ["import torch", "from tests.fuzz_torch_device import state", "", "lines = ["]
            tail = ["]", f"for d in ('cpu', *['fpga'] * {runs}):", f"    print(state(d, lines, {fails}))"]
            shown = "\n".join([*head, *[f"    {one!r}," for one in lines], *tail])
            return f"{problem.splitlines()[0][:60]}, at {line}\n{shown}"
    return ""


assert ftensor.torch  # registers the device
