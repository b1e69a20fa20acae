"""Random programs against torch: `make fuzz`, until the time is over.

    python tests/fuzz.py [--seconds 60] [--seed N] [--programs N]

Each program makes a few tensors of special and ordinary values, takes views of them, and runs 3 to
8 ops, some of them in place or with `out=`. After each line both libraries must have the same
tensors, bases of views included, or have refused alike. FTENSOR_DEVICE says on which device.

The seed differs from run to run and is printed. A program that disagrees is printed as one that
runs by itself, made as short as it can be; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import secrets
import sys
import time
import warnings
from typing import Any

import torch

import ftensor as ft

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
SHAPES = ((), (1,), (7,), (3, 4), (4, 3), (2, 3, 4), (17,), (5, 1), (0, 3), (16, 5))
# Ops on any tensor `a`, on two (`b`), and what writes into the first.
ONE = (
    "lib.neg({a})", "lib.abs({a})", "lib.sign({a})", "lib.floor({a})", "lib.isnan({a})", "{a} * 2",
    "{a} + 1.5", "1 - {a}", "{a} == 0", "lib.clamp({a}, -1, 2)", "lib.relu({a})", "~{a}",
    "{a}.float()", "{a}.to(lib.int64) if not {a}.is_floating_point() else {a}.bool()",
    "{a}.sum()", "{a}.sum(-1)", "{a}.amax(0)", "{a}.argmin()", "{a}.any(0)", "{a}.flip(-1)",
    "{a}.count_nonzero(0)", "{a}.clone()", "{a}.contiguous()", "{a}.tril()", "{a}.roll(1, 0)",
    "{a}[{a} != 0]", "{a}.reshape(-1)", "lib.nan_to_num({a})", "{a}.repeat(2, 1)",
)  # fmt: skip
TWO = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "lib.maximum({a}, {b})", "{a} < {b}", "{a} & {b}",
    "lib.where({a} > 0, {a}, {b})", "lib.eq({a}, {b})", "lib.cat([{a}, {b}])",
    "lib.logical_xor({a}, {b})", "lib.copysign({a}, {b})", "lib.fmin({a}, {b})",
    "lib.stack([{a}, {b}])",
)  # fmt: skip
VIEWS = (
    "{a}.t()", "{a}.transpose(0, -1)", "{a}[1:]", "{a}[..., ::2]", "{a}[0]", "{a}.unsqueeze(1)",
    "{a}.expand(3, *{a}.shape)", "{a}[..., -1]", "{a}.diagonal()", "{a}.view(-1)", "{a}.squeeze()",
    "{a}.unfold(0, 2, 1)",
)  # fmt: skip
WRITES = (
    "{a}.add_(1)", "{a}.mul_({b})", "{a}.copy_({b})", "{a}.fill_(3)", "{a}.neg_()", "{a}.sub_({a})",
    "{a}[0] = 2", "{a}[{a} == 0] = 1", "{a}.masked_fill_({b} > 0, 1)", "{a}.clamp_(min=0)",
    "lib.add({a}, {b}, out={c})", "lib.mul({a}, 2, out={c})", "lib.sum({a}, 0, out={c}.clone())",
    "lib.neg({a}, out={c})", "lib.maximum({a}, {b}, out={c})",
)  # fmt: skip


def program(rng: random.Random) -> list[str]:
    """The lines of a program on `lib`; every line makes or writes `t0`, `t1`, ..."""
    lines, names = [], []

    def named(text: str) -> None:
        names.append(f"t{len(names)}")
        lines.append(f"{names[-1]} = {text}")

    for _ in range(rng.randint(1, 3)):
        dtype, shape = rng.choice(list(VALUES)), rng.choice(SHAPES)
        count, at = torch.Size(shape).numel(), rng.randrange(9)
        values = f"[{VALUES[dtype]}[({at} + 5 * i) % {len(eval(VALUES[dtype], NUMBERS))}]"
        named(f"lib.tensor({values} for i in range({count})], dtype=lib.{dtype}).reshape({shape})")
    for _ in range(rng.randint(3, 8)):
        used = {letter: rng.choice(names) for letter in "abc"}
        kind = rng.choice((ONE, TWO, VIEWS, WRITES))
        text = rng.choice(kind).format(**used)
        if kind is WRITES:
            lines.append(text)
        else:
            named(text)
    return lines


NUMBERS = {"inf": float("inf"), "nan": float("nan")}


def state(lib: Any, lines: list[str]) -> list[Any]:
    """What each line leaves: its error's class, or all tensors there are."""
    space: dict[str, Any] = {"lib": lib, **NUMBERS}
    seen: list[Any] = []
    for line in lines:
        try:
            exec(line, space)
        except Exception as error:  # noqa: BLE001 - which one is what is compared
            seen.append(RuntimeError if isinstance(error, RuntimeError) else type(error))
            continue
        tensors = {n: t for n, t in space.items() if hasattr(t, "stride")}
        seen.append({n: (t if lib is torch else t.to_torch()).clone() for n, t in tensors.items()})
    return seen


def disagreement(lines: list[str]) -> str:
    """Where and how the libraries differ first; empty where they agree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, theirs = state(ft, lines), state(torch, lines)
    for line, a, b in zip(lines, mine, theirs, strict=True):
        if isinstance(a, type) or isinstance(b, type):
            if a is not b:
                return f"{line}: torch {told(b)}, ftensor {told(a)}"
            continue
        for name, want in b.items():
            got = a.get(name)
            try:
                assert got is not None and got.dtype == want.dtype, "dtype"
                torch.testing.assert_close(got, want, equal_nan=True)
            except AssertionError as error:
                return f"after {line}: {name} differs: {str(error).splitlines()[0]}"
    return ""


def told(outcome: Any) -> str:
    return f"raises {outcome.__name__}" if isinstance(outcome, type) else "computes"


def shortened(lines: list[str]) -> list[str]:
    """The program without the lines that the disagreement does not need."""
    at = len(lines) - 1
    while at >= 0:
        fewer = lines[:at] + lines[at + 1 :]
        found = disagreement(fewer)
        if found and "NameError" not in found:
            lines = fewer
        at -= 1
    return lines


def report(seed: int, number: int, lines: list[str]) -> None:
    """The disagreement, and a program that shows it."""
    lines = shortened(lines)
    print(f"\n# seed {seed}, program {number}: {disagreement(lines)}")
    print("import torch, ftensor\nfrom math import inf, nan\n\nfor lib in (torch, ftensor):")
    for line in lines:
        print(f"    {line}")
    written = re.search(r"out=(t\d+)|(t\d+)", lines[-1])
    assert written
    print(f"    print({written[1] or written[2]})", flush=True)


def main() -> int:
    """Exit status 1 where a program disagrees."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--programs", type=int, default=10**9, help="how many at most")
    parser.add_argument("--seed", type=int, help="what a run before printed")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    print(f"seed {seed} on {ft.fpga.get_device_name()}", flush=True)
    end = time.monotonic() + options.seconds
    said: collections.Counter[str] = collections.Counter()
    number = options.first
    while time.monotonic() < end and number < options.first + options.programs:
        lines = program(random.Random(f"{seed}:{number}"))
        if found := disagreement(lines):
            kind = found.partition(": ")[0].partition(" = ")[2] or found
            said[kind] += 1
            if said[kind] == 1:
                report(seed, number, lines)
        number += 1
    print(f"\n{number - options.first} programs, {sum(said.values())} disagree; seed {seed}")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
