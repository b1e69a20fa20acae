"""Random programs against torch: `make fuzz`, until the time is over.

    python tests/fuzz.py [--seconds 60] [--seed N] [--programs N]

Each program makes a few tensors of special and ordinary values, takes views of them, and runs 3 to
8 ops, some of them in place or with `out=`. After each line, or in every other program behind the
last one, so that work is queued, both libraries must have the same tensors, bases of views
included, or have refused alike. Where the device computes in the host's memory, every buffer lies
between bytes that must stay as they are. FTENSOR_DEVICE says on which device.

The seed differs from run to run and is printed. A program that disagrees is printed as one that
runs by itself, made as short as it can be; the exit status is then 1.

Left out, or not counted (`left_out`):
- what torch itself warns of as deprecated, such as an `out=` of elements in another shape: a
  program ends before it. `tril` and `triu` with a strided `out=`, which write outside it in torch,
  and `lcm` of the least int32, which ends the process, are not asked for;
- `triu_` of an expanded tensor, which torch computes from values that it has overwritten;
- a product with `alpha` beyond float32, which torch's fused sum may bring back within; float16
  with bfloat16 without dims, which torch rounds to float16 first (docs/differences.md);
- complex64 with float16 gives complex32, which ftensor does not have (docs/differences.md);
- logarithms and arc tangents at a complex number's zeros: on which side of the cut -0 lies is C's
  rule here, and not torch's in vectors;
- complex numbers that are not finite: torch adds by way of a product, inf + 1j gives inf + nan j;
- 16-bit floating point with integers, which torch rounds to 16 bits before it computes;
- an `out=` of no elements that is a view of some (docs/differences.md): fresh ones are resized;
- which of IndexError and RuntimeError refuses: torch has both for indices that are too large;
- what a refused call leaves of its `out=`, which torch may have resized: a program ends behind it;
- what one side alone refuses of no elements: dtypes in torch's kernels, indices where none is read;
- a reduction's `out=` that overlaps its input, which torch does not look for: not asked for;
- NaN's sign; and the order of sums, so that their elements are small, or not finite.
Results of ops that round are compared but not used further: what is near would not stay so.
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
import weakref
from typing import Any

import numpy as np
import torch

import ftensor as ft
from ftensor.runtime.csim import backend as csim
from ftensor.runtime.opencl import backend as opencl

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
# The dtypes of one program: 16 bits and complex numbers meet less than others do.
POOLS = (
    [*REAL, *WHOLE], [*REAL, *WHOLE], ["float16", "bfloat16", "float32", "bool"],
    ["complex64", "int32", "bool"],
)  # fmt: skip
SHAPES = ((), (1,), (7,), (3, 4), (4, 3), (2, 3, 4), (17,), (5, 1), (0, 3), (16, 5), (70, 65))
# Ops on any tensor `a`, on two (`b`), and what writes into the first.
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


def program(rng: random.Random) -> list[str]:
    """The lines of a program on `lib`; every line makes or writes `t0`, `t1`, ..."""
    lines, names, made = [], [], 0
    pool = rng.choice(POOLS)

    def named(text: str, used: bool = True) -> None:
        nonlocal made
        lines.append(f"t{made} = {text}")
        if used:
            names.append(f"t{made}")
        made += 1

    for _ in range(rng.randint(1, 3)):
        dtype, shape = rng.choice(pool), rng.choice(SHAPES)
        count, at = torch.Size(shape).numel(), rng.randrange(9)
        margin = rng.choice((0, 0, 3))  # the tensor amid a larger one, which must stay as it is
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


NUMBERS = {"inf": float("inf"), "nan": float("nan")}


def state(lib: Any, lines: list[str], each: bool = True) -> list[Any]:
    """What each line leaves, or the last: its error's class, or all tensors there are.

    It ends before a line that torch warns of as deprecated, or that resizes its `out=`.
    """
    space: dict[str, Any] = {"lib": lib, **NUMBERS}
    seen: list[Any] = []
    for line in lines:
        outcome: Any = None
        out = space.get((re.findall(r"out=(t\d+)", line) or [""])[0])
        shape = getattr(out, "shape", None)
        written = space.get((re.findall(r"(t\d+)\.triu_", line) or [""])[0])
        if 0 in getattr(written, "stride", tuple)():
            break
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                exec(line, space)
        except Exception as error:  # noqa: BLE001 - which one is what is compared
            outcome = RuntimeError if isinstance(error, RuntimeError) else type(error)
        resized = shape != getattr(out, "shape", None)
        if lib is torch and (resized or any("deprecated" in str(w.message) for w in warned)):
            break
        if outcome is None and (each or line is lines[-1]):
            tensors = {n: t for n, t in space.items() if hasattr(t, "stride")}
            outcome = {n: (t if lib is torch else t.to_torch()).clone() for n, t in tensors.items()}
        seen.append(outcome)
        if isinstance(outcome, type) and "out=" in line:
            break
    return seen


def disagreement(lines: list[str], each: bool = True, counted: bool = True) -> str:
    """Where and how the libraries differ first; empty where they agree. With `counted`, also where
    the line is one that is left out."""
    theirs = state(torch, lines, each)
    mine = state(ft, lines[: len(theirs)], each)
    before: dict[str, Any] = {}
    for line, a, b in zip(lines, mine, theirs, strict=False):
        found = different(line, a, b)
        if found:
            leaves = counted and each and left_out(line, before, type in (type(a), type(b)))
            return "" if leaves else found
        before = b if isinstance(b, dict) else before
    ft.synchronize()
    return GUARDS.broken()


def different(line: str, a: Any, b: Any) -> str:
    """How the outcomes of a line differ."""
    if isinstance(a, type) or isinstance(b, type):
        if b in (IndexError, RuntimeError) and a in (IndexError, RuntimeError):
            return ""
        return "" if a is b else f"{line}: torch {told(b)}, ftensor {told(a)}"
    for name, want in (b or {}).items():
        got = a.get(name)
        try:
            assert got is not None and got.dtype == want.dtype, "dtype"
            torch.testing.assert_close(got, want, equal_nan=True)
        except AssertionError as error:
            return f"after {line}: {name} differs: {str(error).splitlines()[0]}"
    return ""


def left_out(line: str, before: dict[str, Any], refused: bool) -> bool:
    """Whether the operands of a line are of those that the libraries treat each its own way."""
    operands = [before[name] for name in re.findall(r"t\d+", line) if name in before]
    short = any(t.dtype in (torch.float16, torch.bfloat16) for t in operands)
    whole = any(not t.dtype.is_floating_point and t.dtype != torch.bool for t in operands)
    complexes = any(t.is_complex() for t in operands)
    finite = all(bool(t.isfinite().all()) for t in operands)
    nothing = refused and any(not t.numel() for t in operands)
    real = [t for t in operands if t.is_floating_point()]
    huge = any(bool((t.abs().nan_to_num(0, 0, 0) > 1e38).any()) for t in real)
    halves = {torch.float16, torch.bfloat16} <= {t.dtype for t in operands}
    zeros = [t for t in operands if t.is_complex() and ((t.real == 0) | (t.imag == 0)).any()]
    zero_log = bool(zeros) and ("log(" in line or "atan(" in line)
    if ("alpha=" in line and huge) or halves or zero_log:
        return True
    return nothing or (short and (whole or complexes)) or (complexes and not finite)


class Guards:
    """Bytes around the buffers of a device that computes in the host's memory."""

    SLACK, MARK = 4096, 0xA5

    def __init__(self) -> None:
        self.around: list[tuple[Any, int, int]] = []
        self.behind: list[tuple[Any, int, int]] = []

    def install(self) -> None:
        """Watch all buffers that are made from now on."""
        from ftensor.runtime import backend, pool

        taken = pool.Pool.take

        def memory(nbytes: int) -> tuple[int, np.ndarray]:
            made = np.full(nbytes + 3 * self.SLACK, self.MARK, np.uint8)
            start = self.SLACK + -made.ctypes.data % self.SLACK
            self.around.append((made, start, start + nbytes))
            return made.ctypes.data + start, made

        def take(self_: pool.Pool, nbytes: int, stream: Any) -> Any:
            storage = taken(self_, nbytes, stream)
            if storage.ptr is not None:
                first = (nbytes + 63) & -64  # kernels may fill a vector that they have begun
                count = storage.block.size + pool.VECTOR - first
                stream.finish()
                backend.host_bytes(storage.ptr + first, count)[:] = self.MARK
                self.behind.append((weakref.ref(storage), storage.ptr + first, count))
            return storage

        pool.Pool.take = take  # type: ignore[method-assign]
        for module in (opencl, csim):
            module.host_memory = memory  # type: ignore[attr-defined]

    def broken(self) -> str:
        """What was written outside, and is mended for the next program; empty if nothing."""
        from ftensor.runtime.backend import host_bytes

        self.behind = [guard for guard in self.behind if guard[0]() is not None]
        bands = [band for made, start, end in self.around for band in (made[:start], made[end:])]
        bands += [host_bytes(ptr, count) for _, ptr, count in self.behind]
        wrong = [band for band in bands if (band != self.MARK).any()]
        for band in wrong:
            band[:] = self.MARK
        return f"bytes outside of {len(wrong)} buffers were written" if wrong else ""


GUARDS = Guards()


def told(outcome: Any) -> str:
    return f"raises {outcome.__name__}" if isinstance(outcome, type) else "computes"


def shortened(lines: list[str], each: bool = True) -> list[str]:
    """The program without the lines that the disagreement does not need."""
    at = len(lines) - 1
    while at >= 0:
        fewer = lines[:at] + lines[at + 1 :]
        found = disagreement(fewer, each)
        if found and "NameError" not in found:
            lines = fewer
        at -= 1
    return lines


def report(seed: int, number: int, lines: list[str], each: bool = True) -> None:
    """The disagreement, and a program that shows it."""
    lines = shortened(lines, each)
    print(f"\n# seed {seed}, program {number}: {disagreement(lines, each)}")
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
    torch.set_warn_always(True)
    GUARDS.install()
    print(f"seed {seed} on {ft.fpga.get_device_name()}", flush=True)
    end = time.monotonic() + options.seconds
    said: collections.Counter[str] = collections.Counter()
    number = options.first
    while time.monotonic() < end and number < options.first + options.programs:
        lines = program(random.Random(f"{seed}:{number}"))
        # What differs is looked for line by line, also to see whether it is left out.
        queued = number % 2 and disagreement(lines, False)
        each = not queued or bool(disagreement(lines, counted=False))
        if found := disagreement(lines, each):
            kind = re.sub(r"t\d+", "t", found)
            said[kind] += 1
            if said[kind] == 1:
                report(seed, number, lines, each)
        number += 1
    print(f"\n{number - options.first} programs, {sum(said.values())} disagree; seed {seed}")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
