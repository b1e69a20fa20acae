"""The source `programs` of the fuzz: ops on tensors, views of them, in place and with `out=`.

Each program makes a few tensors of special and ordinary values, takes views of them, and runs 3 to
8 ops, some of them in place or with `out=`. After each line, or in every other program only after
the last one, so that work is queued, both libraries must have the same tensors, including bases of
views, or must have refused alike. A program that disagrees is shortened as far as possible.

Left out, or not counted (`left_out`):
- calls that torch warns of as deprecated, such as an `out=` of elements in another shape: a program
  ends before it. `tril` and `triu` with a strided `out=`, which write outside it in torch, and
  `lcm` of the least int32, which crashes the process, are not drawn;
- a product with `alpha` beyond float32, which torch's fused sum may bring back into range, or in 16
  bits, where torch rounds before the sum in remainders, but not in vectors; 16 bits with a wider or
  other floating-point 0-d number, which torch rounds to these 16 bits first, or with a wider `out=`
  (docs/differences.md);
- a write into an expanded tensor, or one that overlaps itself, and a value or an operand that
  shares memory with the destination without being the same view: torch refuses some, and for the
  rest the order of the writes is undefined;
- complex64 with float16 gives complex32, which has few ops;
- logarithms and arc tangents at a complex number's zeros: the side of the branch cut for -0 follows
  C's rule here, and not torch's in vectors;
- complex numbers that are not finite: torch adds through a product, inf + 1j gives inf + nan j;
- 16-bit floating point with integers, which torch rounds to 16 bits before it computes;
- an `out=` without elements that is a view (docs/differences.md): new ones are resized;
- the choice between IndexError and RuntimeError: torch has both for indices that are too large;
- the content of `out=` after a refused call, which torch may have resized: a program ends after it;
- calls on empty tensors that only one library refuses: dtypes in torch's kernels, unread indices;
- a reduction's `out=` that overlaps its input, which torch does not check: not drawn;
- NaN's sign; the sign of a zero after `maximum` and its relatives, of 0 and -0
  (docs/differences.md); and the order of sums, so that their elements are small, or not finite.

Results of ops that round are compared but not used further, since small differences would grow.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np
import torch

import ftensor as ft

from .fuzz_words import NUMBERS, program


def trial(draw: random.Random) -> str:
    """Returns the difference of the libraries on a program, and a shorter program that shows it."""
    torch.set_warn_always(True)
    lines = program(draw)
    # Differences are searched line by line, also to see whether they are left out.
    queued = draw.random() < 0.5 and disagreement(lines, False)
    each = not queued or bool(disagreement(lines, counted=False))
    problem = disagreement(lines, each)
    return f"{problem}\n{shown(shortened(lines, each))}" if problem else ""


def state(lib: Any, lines: list[str], each: bool = True) -> list[Any]:
    """Returns the state after each line, or after the last: its error's class, or all tensors.

    It ends before a line that torch warns of as deprecated, or that resizes its `out=`.
    """
    space: dict[str, Any] = {"lib": lib, **NUMBERS}
    seen: list[Any] = []
    for line in lines:
        outcome: Any = None
        out = space.get((re.findall(r"out=(t\d+)", line) or [""])[0])
        shape = getattr(out, "shape", None)
        if lib is torch and has_undefined_write_order(line, space):
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


def has_undefined_write_order(line: str, space: dict[str, Any]) -> bool:
    """Returns whether a line writes an element more than once, or writes to memory that it
    reads."""
    if unchecked(line, space):
        return True
    match = re.match(r"(t\d+)(?:\.triu_|.*copy_\(|\[.*\] = |\.index_copy_.*, )(t\d+)?", line)
    place = space.get(match[1]) if match else None
    if match is None or not hasattr(place, "stride"):
        return False
    value = space.get(match[2] or "")
    return 0 in place.stride() or (
        hasattr(value, "stride")
        and value is not place
        and value.untyped_storage().data_ptr() == place.untyped_storage().data_ptr()
    )


def unchecked(line: str, space: dict[str, Any]) -> bool:
    """Returns whether an in-place or `out=` destination overlaps itself, or an operand that is
    another view, in a way that torch does not check. torch only compares memory without gaps."""
    match = re.search(r"out=(t\d+)|^(t\d+)(?:\.\w+_\(| \S+= )", line)
    place = space.get(match[1] or match[2]) if match else None
    if not hasattr(place, "stride"):
        return False
    memory = place.untyped_storage().data_ptr()
    named = [space.get(name) for name in re.findall(r"t\d+", line)]
    tensors = [t for t in named if hasattr(t, "stride")]
    shared = [t for t in tensors if t.untyped_storage().data_ptr() == memory]
    views = {(t.storage_offset(), t.shape, t.stride()) for t in shared}
    gaps = any(t.numel() and extent(t) != (t.numel(), t.numel()) for t in shared)
    itself = 0 not in place.stride() and extent(place)[0] < place.numel()
    return gaps and (len(views) > 1 or itself)


def extent(t: torch.Tensor) -> tuple[int, int]:
    """Returns (number of distinct memory elements of a tensor, the distance from its first to its
    last)."""
    places = np.zeros((), np.int64)
    for size, stride in zip(t.shape, t.stride()):
        places = places[..., None] + np.arange(size) * stride
    return len(np.unique(places)), int(np.ptp(places)) + 1 if places.size else 0


def disagreement(lines: list[str], each: bool = True, counted: bool = True) -> str:
    """Returns where and how the libraries first differ; "" if they agree. With `counted`, also for
    lines that are left out."""
    theirs = state(torch, lines, each)
    mine = state(ft, lines[: len(theirs)], each)
    before: dict[str, Any] = {}
    for number, (line, a, b) in enumerate(zip(lines, mine, theirs, strict=False)):
        problem = different(line, a, b)
        if problem:
            refused = type in (type(a), type(b))
            leaves = left_out(line, before, refused) or signs(line, lines[:number])
            return "" if counted and each and leaves else problem
        before = b if isinstance(b, dict) else before
    return ""


def different(line: str, a: Any, b: Any) -> str:
    """Returns the difference of a line's outcomes."""
    if isinstance(a, type) or isinstance(b, type):
        if b in (IndexError, RuntimeError) and a in (IndexError, RuntimeError):
            return ""
        return "" if a is b else f"{line}: torch {summary(b)}, ftensor {summary(a)}"
    for name, want in (b or {}).items():
        got = a.get(name)
        try:
            assert got is not None and got.dtype == want.dtype, "dtype"
            torch.testing.assert_close(got, want, equal_nan=True)
        except AssertionError as error:
            return f"after {line}: {name} differs: {str(error).splitlines()[0]}"
    return ""


def left_out(line: str, before: dict[str, Any], refused: bool) -> bool:
    """Returns whether the libraries treat the operands of a line differently by design."""
    operands = [before[name] for name in re.findall(r"t\d+", line) if name in before]
    short = any(t.dtype in (torch.float16, torch.bfloat16) for t in operands)
    whole = any(not t.dtype.is_floating_point and t.dtype != torch.bool for t in operands)
    complexes = any(t.is_complex() for t in operands)
    finite = all(bool(t.isfinite().all()) for t in operands)
    nothing = refused and any(not t.numel() for t in operands)
    real = [t for t in operands if t.is_floating_point()]
    huge = any(bool((t.abs().nan_to_num(0, 0, 0) > 1e38).any()) for t in real)
    halves = {torch.float16, torch.bfloat16} <= {t.dtype for t in operands}
    halves |= short and any(not t.dim() and t.itemsize > 2 for t in real)
    zeros = [t for t in operands if t.is_complex() and ((t.real == 0) | (t.imag == 0)).any()]
    zero_log = bool(zeros) and ("log(" in line or "atan(" in line)
    wider_out = short and bool(real) and "out=" in line and len({t.dtype for t in real}) > 1
    if ("alpha=" in line and (huge or short)) or halves or zero_log or wider_out:
        return True
    return nothing or (short and (whole or complexes)) or (complexes and not finite)


def signs(line: str, earlier: list[str]) -> bool:
    """Returns whether a line reads signs, including those of zeros, after one that takes the larger
    or the smaller value."""
    chosen = re.compile("maximum|minimum|fmin|fmax|amin|amax|clamp")
    return bool(re.search("signbit|copysign", line)) and any(map(chosen.search, earlier))


def summary(outcome: Any) -> str:
    return f"raises {outcome.__name__}" if isinstance(outcome, type) else "computes"


def shortened(lines: list[str], each: bool = True) -> list[str]:
    """Returns the program without the lines that the disagreement does not need."""
    at = len(lines) - 1
    while at >= 0:
        fewer = lines[:at] + lines[at + 1 :]
        problem = disagreement(fewer, each)
        if problem and "NameError" not in problem:
            lines = fewer
        at -= 1
    return lines


def shown(lines: list[str]) -> str:
    """Returns a program that runs by itself and prints both libraries' results."""
    written = re.search(r"out=(t\d+)|(t\d+)", lines[-1])
    assert written
    head = ["import torch, ftensor", "from math import inf, nan", "", "for lib in (torch, ftensor):"]
    body = [f"    {line}" for line in [*lines, f"print({written[1] or written[2]})"]]
    return "\n".join([*head, *body])
