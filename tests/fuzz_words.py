"""Draws random programs of the fuzz: their values, shapes and ops."""

from __future__ import annotations

import random

import torch

VALUES = {
    "float32": "[0.0, -0.0, 1.0, -1.5, 2.0, 0.25, 1e30, -3e38, 1e-30, inf, -inf, nan]",
    "float64": "[0.0, -0.0, 1.0, -1.5, 2.0, 0.25, 1e300, -1e-300, inf, -inf, nan]",
    "float16": "[0.0, -0.0, 1.0, -1.5, 2.0, 65504.0, 6e-5, inf, nan]",
    "bfloat16": "[0.0, -0.0, 1.0, -1.5, 2.0, 3e38, inf, nan]",
    "int64": "[0, 1, -1, 2, -7, 100, 2**40, -(2**63), 2**63 - 1]",
    "int32": "[0, 1, -1, 2, -7, 100, -(2**31), 2**31 - 1]",
    "uint8": "[0, 1, 2, 7, 128, 255]",
    "bool": "[False, True]",
    "complex64": "[0j, 1 + 1j, -2 + 0.5j, 3j, -1 + 0j]",
}
REAL, WHOLE = ["float32", "float64"], ["int64", "int32", "uint8", "bool"]
# The dtypes of one program: 16 bits and complex numbers are combined with fewer others.
POOLS = ([*REAL, *WHOLE], [*REAL, *WHOLE], ["float16", "bfloat16", "float32", "bool"], ["complex64", "int32", "bool"])
SHAPES = ((), (1,), (7,), (3, 4), (4, 3), (2, 3, 4), (17,), (5, 1), (0, 3), (16, 5), (70, 65))
# Ops on any tensor `a`, on two (`b`), and ops that write to the first.
ONE = (
    "lib.neg({a})", "lib.abs({a})", "lib.sign({a})", "lib.floor({a})", "lib.isnan({a})", "{a} * 2",
    "{a} + 1.5", "1 - {a}", "{a} == 0", "lib.clamp({a}, -1, 2)", "lib.relu({a})", "~{a}",
    "{a}.float()", "{a}.to(lib.int64) if not {a}.is_floating_point() else {a}.bool()",
    "lib.clamp({a}, -8, 8).sum()", "lib.clamp({a}, -8, 8).sum(-1)", "{a}.amax(0)", "{a}.argmin()",
    "{a}.any(0)", "{a}.flip(-1)", "{a}.count_nonzero(0)", "{a}.clone()", "{a}.contiguous()",
    "{a}.tril()", "{a}.triu(1)", "{a}.roll(1, 0)", "{a}[{a} != 0]", "{a}.reshape(-1)",
    "lib.nan_to_num({a})", "{a}.repeat(2, 1)", "lib.round({a})", "lib.trunc({a})", "{a}.all(-1)",
    "{a}.isfinite()", "{a}.max(0).values", "{a}.min(-1).indices", "{a}.argmax(0)", "{a}.nonzero()",
    "{a}.double()", "{a}.masked_fill({a} == 2, 0)", "lib.zeros_like({a})", "{a}.amin(-1, True)",
    "lib.signbit(lib.nan_to_num({a}))", "{a}.square()", "{a}.index_select(0, lib.tensor([0, 0]))",
    "lib.diag({a})", "lib.logical_not({a})", "{a}[lib.tensor([0, -1])]", "{a} > 1.5", "2 * {a}",
)  # fmt: skip
TWO = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "lib.maximum({a}, {b})", "{a} < {b}", "{a} & {b}",
    "lib.where({a} > 0, {a}, {b})", "lib.eq({a}, {b})", "lib.cat([{a}, {b}])", "{a} ^ {b}",
    "lib.logical_xor({a}, {b})", "lib.copysign({a}, lib.nan_to_num({b}))", "lib.fmin({a}, {b})",
    "lib.stack([{a}, {b}])", "lib.minimum({a}, {b})", "lib.fmax({a}, {b})", "{a} >= {b}",
    "{a} | {b}",
    "lib.where({b} == 0, {a}, 1)", "{a}.masked_fill({b} > 0, 1)", "lib.logical_or({a}, {b})",
    "{a}[{b} > 0]", "lib.hstack([{a}, {b}])", "lib.add({a}, {b}, alpha=2)", "lib.ne({a}, {b})",
)  # fmt: skip
ROUNDED = (
    "lib.exp({a})", "lib.log({a})", "lib.sqrt({a})", "lib.tanh({a})", "lib.sigmoid({a})",
    "lib.clamp({a}, -8, 8).mean()", "lib.clamp({a}.float(), -8, 8).var(0)", "lib.reciprocal({a})",
    "lib.softmax(lib.clamp({a}, -8, 8), -1)", "lib.clamp({a}, -8, 8) @ lib.clamp({b}, -8, 8)",
    "lib.clamp({a}.float(), -8, 8).norm()", "{a} / 3", "lib.log1p({a})", "lib.expm1({a})",
    "lib.atan({a})",
    "lib.clamp({a}, -2, 2).prod(0)", "lib.hypot({a}, {b})",
    "lib.clamp({a}.float(), -8, 8).logsumexp(0)",
    "lib.sin(lib.clamp({a}, -8, 8))", "lib.cos(lib.clamp({a}, -8, 8))",
)  # fmt: skip
VIEWS = (
    "{a}.t()", "{a}.transpose(0, -1)", "{a}[1:]", "{a}[..., ::2]", "{a}[0]", "{a}.unsqueeze(1)",
    "{a}.expand(3, *{a}.shape)", "{a}[..., -1]", "{a}.diagonal()", "{a}.view(-1)", "{a}.squeeze()",
    "{a}.unfold(0, 2, 1)", "{a}.narrow(0, 1, 2)", "{a}.movedim(0, -1)", "{a}.unflatten(0, (2, -1))",
    "{a}.select(-1, 0)", "{a}[1:, 1:]", "{a}.mT", "{a}.swapaxes(0, 1)", "{a}[:, 0:2]", "{a}[::3]",
)  # fmt: skip
WRITES = (
    "{a}.add_(1)", "{a}.mul_({b})", "{a}.copy_({b})", "{a}.fill_(3)", "{a}.neg_()", "{a}.sub_({a})",
    "{a}[0] = 2", "{a}[{a} == 0] = 1", "{a}.masked_fill_({b} > 0, 1)", "{a}.clamp_(min=0)",
    "lib.add({a}, {b}, out={c})", "lib.mul({a}, 2, out={c})", "lib.sum({a}, 0, out={c}.clone())",
    "lib.neg({a}, out={c})", "lib.maximum({a}, {b}, out={c})", "{a}.zero_()", "{a}[1:] = {b}",
    "{a}[..., 0] = {b}", "{a}.add_({b}, alpha=2)", "{a}.abs_()", "{a}.logical_not_()",
    "{a} += {b}",
    "{a}.index_fill_(0, lib.tensor([0]), 3)", "lib.where({a} > 0, {a}, {b}, out={c})", "{a} *= 2",
    "lib.eq({a}, {b}, out={c})", "lib.amax({a}, 0, out=lib.empty(0, dtype={a}.dtype))",
    "{a}.index_copy_(0, lib.tensor([0]), {b})",
    "{a}.masked_fill_({a} != {a}, 0)", "{a}.triu_()", "{a}.transpose(0, -1).copy_({b})",
    "{a}.index_add_(0, lib.tensor([0]), {b})", "{a}[lib.tensor([0, 1])] = 5", "{a}.t_()",
    "lib.add({a}, {b}, out=lib.empty(0, dtype={c}.dtype))",
)  # fmt: skip


NUMBERS = {"inf": float("inf"), "nan": float("nan")}


def program(rng: random.Random) -> list[str]:
    """Returns the lines of a program on `lib`. Every line makes or writes `t0`, `t1`, ..."""
    lines, names, number = [], [], 0
    pool = rng.choice(POOLS)

    def named(text: str, used: bool = True) -> None:
        nonlocal number
        lines.append(f"t{number} = {text}")
        if used:
            names.append(f"t{number}")
        number += 1

    for _ in range(rng.randint(1, 3)):
        dtype, shape = rng.choice(pool), rng.choice(SHAPES)
        count, at = torch.Size(shape).numel(), rng.randrange(9)
        margin = rng.choice((0, 0, 3))  # the tensor inside a larger one, which must not change
        values = f"[{VALUES[dtype]}[({at} + 5 * i) % {len(eval(VALUES[dtype], NUMBERS))}]"
        values += f" for i in range({count + 2 * margin})]"
        if margin:
            named(f"lib.tensor({values}, dtype=lib.{dtype})")
            named(f"{names[-1]}[{margin}:{margin + count}].view({shape})")
        else:
            named(f"lib.tensor({values}, dtype=lib.{dtype}).reshape({shape})")
    for _ in range(rng.randint(3, 8)):
        used = {letter: rng.choice(names) for letter in "abc"}
        kind = rng.choice((ONE, TWO, VIEWS, WRITES, WRITES, ROUNDED))
        text = rng.choice(kind).format(**used)
        if kind is WRITES:
            lines.append(text)
        else:
            named(text, kind is not ROUNDED)
    return lines
