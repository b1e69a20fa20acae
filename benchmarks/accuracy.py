"""Accuracy of results and the order of sorted elements, compared with torch's: errors in ulps.

    python benchmarks/accuracy.py [--quick] [--only WORD]

Measures functions on random bit patterns and near their critical points, sums and running sums of
2^24 elements, and the order of elements after sorting. `FTENSOR_DEVICE` selects the device. The
tables are in docs/numerics.md. Needs torch, SciPy and mpmath.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import scipy.special
import torch
from accuracy_order import disagreements

import ftensor as ft

Array = np.ndarray[Any, Any]
PATTERNS = 1_000_000
SUMMED = 1 << 24
BY_MPMATH = 2000  # float64 and complex numbers: as many random patterns
WORST = 1e4  # larger errors are meaningless
SINGLE = ("float32", "float16", "bfloat16")
WIDE = ("float64", "complex64")


@dataclass(frozen=True)
class Function:
    """A function in ftensor, in torch, in float64 and by mpmath. `ends` is the range of ordinary
    operands."""

    name: str
    double: Callable[..., Array] | None
    exact: Callable[..., Any]
    ends: tuple[float, float] = (-10.0, 10.0)
    complex_: bool = False
    operands: int = 1


FUNCTIONS = (
    Function("exp", np.exp, mpmath.exp, (-100, 90), True),
    Function("log", np.log, mpmath.log, (0, 4), True),
    Function("sin", np.sin, mpmath.sin, (-100, 100), True),
    Function("cos", np.cos, mpmath.cos, (-100, 100), True),
    Function("tan", np.tan, mpmath.tan, (-100, 100), True),
    Function("tanh", np.tanh, mpmath.tanh, (-10, 10), True),
    Function("pow", np.power, mpmath.power, (0, 20), False, 2),
    Function("asin", np.arcsin, mpmath.asin, (-1, 1), True),
    Function("acos", np.arccos, mpmath.acos, (-1, 1), True),
    Function("atan", np.arctan, mpmath.atan, (-8, 8), True),
    Function("atan2", np.arctan2, mpmath.atan2, (-8, 8), False, 2),
    Function("asinh", np.arcsinh, mpmath.asinh, (-8, 8), True),
    Function("acosh", np.arccosh, mpmath.acosh, (1, 8), True),
    Function("atanh", np.arctanh, mpmath.atanh, (-1, 1), True),
    Function("erf", scipy.special.erf, mpmath.erf, (-5, 5)),
    Function("erfc", scipy.special.erfc, mpmath.erfc, (-5, 10)),
    Function("erfinv", scipy.special.erfinv, mpmath.erfinv, (-1, 1)),
    Function("lgamma", scipy.special.gammaln, lambda x: mpmath.loggamma(x).real, (-20, 40)),
    Function("digamma", scipy.special.digamma, mpmath.digamma, (-20, 40)),
    Function("sinc", np.sinc, mpmath.sincpi, (-20, 20)),
    Function("special.ndtr", scipy.special.ndtr, mpmath.ncdf, (-12, 6)),
    Function("special.log_ndtr", scipy.special.log_ndtr, lambda x: mpmath.log(mpmath.ncdf(x)), (-100, 6)),
    Function("special.ndtri", scipy.special.ndtri, None, (0, 1)),
)


def patterns(dtype: str, function: Function, count: int, rng: np.random.Generator) -> list[Array]:
    """Returns operands: half of them random bits, half within the function's range, without NaN."""
    made = []
    for _ in range(function.operands):
        low, high = function.ends
        inner = rng.uniform(low, high, count // 2)
        if dtype == "complex64":
            inner = inner + 1j * rng.uniform(-3, 3, count // 2)
            bits = np.exp2(rng.uniform(-20, 20, count // 2)) * np.exp(2j * np.pi * rng.uniform(0, 1, count // 2))
            made.append(np.concatenate([bits, inner]).astype(np.complex64))
            continue
        width = {"float64": 64, "float32": 32}.get(dtype, 16)
        raw = rng.integers(0, 1 << width, count // 2, dtype=np.uint64)
        if dtype == "bfloat16":
            bits = (raw.astype(np.uint32) << 16).view(np.float32)
            inner = torch.from_numpy(inner).to(torch.bfloat16).float().numpy()
        else:
            bits = raw.astype(f"uint{width}").view(dtype)
        values = np.concatenate([bits, inner.astype(bits.dtype)])
        made.append(np.where(np.isnan(values), 0.5, values).astype(bits.dtype))
    return made


def called(library: Any, name: str, operands: Sequence[Array], dtype: str) -> Array:
    """Returns the library's results, in float64 (complex128)."""
    function = library
    for part in name.split("."):
        function = getattr(function, part)
    tensors = [library.asarray(t.copy()).to(getattr(library, dtype)) for t in operands]
    result = function(*tensors)
    wide = result.to(library.complex128 if dtype == "complex64" else library.float64)
    made: Array = wide.cpu().numpy()
    return made


def last_places(exact: Array, dtype: str) -> Array:
    """Returns the distance between neighbouring numbers of a dtype at each value."""
    info = torch.finfo(getattr(torch, dtype))
    size = np.maximum(np.abs(exact), float(info.tiny))
    return np.exp2(np.floor(np.log2(size))) * float(info.eps)


def errors(result: Array, exact: Array, dtype: str) -> Array:
    """Returns errors in ulps, where the exact result is a finite number of the dtype. For complex
    numbers the error is the distance, and the unit is the ulp of the absolute value."""
    of = "float32" if dtype == "complex64" else dtype
    kept = np.isfinite(exact) & (np.abs(exact) < float(torch.finfo(getattr(torch, of)).max))
    off = np.abs(result[kept] - exact[kept]) / last_places(exact[kept], of)
    return np.where(np.isnan(off), np.inf, off)


def exactly(function: Function, operands: Sequence[Array], dtype: str) -> Array:
    """Returns the exact results in float64: by mpmath if float64 is measured."""
    if dtype in SINGLE and function.double is not None:
        with np.errstate(all="ignore"):
            return function.double(*(t.astype(np.float64) for t in operands))
    return np.array([_by_mpmath(function, values) for values in zip(*(t.tolist() for t in operands))])


def _by_mpmath(function: Function, values: Sequence[Any]) -> Any:
    if not all(np.isfinite(values)) or max(map(abs, values)) > 1e18:
        return math.nan  # mpmath is slow for huge angles; infinities have no precision
    try:
        result = function.exact(*(mpmath.mpmathify(v) for v in values))
    except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
        return math.nan
    complex_ = any(isinstance(v, complex) for v in values)
    return complex(result) if complex_ else (float(result) if mpmath.im(result) == 0 else math.nan)


def rows(dtypes: Sequence[str], count: int, only: str) -> Iterator[str]:
    """Yields a line of the table for each function and dtype."""
    for function in FUNCTIONS:
        for dtype in dtypes:
            if only not in f"{function.name} {dtype}" or (dtype == "complex64" and not function.complex_):
                continue
            halves = dtype in ("float16", "bfloat16")
            if (halves and "_ndtr" in function.name) or ("ndtri" in function.name and dtype != "float32"):
                continue
            rng = np.random.default_rng(7)
            many = count if dtype in SINGLE else min(count, BY_MPMATH)
            operands = patterns(dtype, function, many, rng)
            exact = exactly(function, operands, dtype)
            try:
                found = [errors(called(lib, function.name, operands, dtype), exact, dtype) for lib in (ft, torch)]
            except (NotImplementedError, RuntimeError):
                continue  # torch refuses the dtype, and so does ftensor
            parts = " | ".join(f"{shown(e.max(), 2)} | {shown(e.mean(), 3)}" for e in found)
            yield f"| `{function.name}` | {dtype} | {parts} |"


def shown(error: float, places: int) -> str:
    """Returns an error rounded to its significant digits."""
    return f"{error:.{places}f}" if error < WORST else "more"


def sums(count: int) -> Iterator[str]:
    """Yields lines on sums, means and running sums: errors relative to the sum of absolute values,
    in ulps of float32."""
    rng = np.random.default_rng(11)
    kinds = {"uniform in [0, 1)": rng.random(count), "normal": rng.standard_normal(count)}
    for kind, values in kinds.items():
        x = values.astype(np.float32)
        wide = x.astype(np.longdouble)
        scale = float(np.abs(wide).sum())
        exact = math.fsum(x.tolist())
        running, sizes = np.cumsum(wide), np.cumsum(np.abs(wide))
        mine, theirs = ft.tensor(x), torch.from_numpy(x)
        for name in ("sum", "mean"):
            by = count if name == "mean" else 1
            off = [abs(float(getattr(t, name)()) * by - exact) / scale * 2**24 for t in (mine, theirs)]
            yield f"| `{name}` | {kind} | {off[0]:.4f} | {off[1]:.4f} |"
        both = [np.asarray(t.cumsum(0).cpu().numpy()) for t in (mine, theirs)]
        off = [float(np.max(np.abs(t - running) / sizes)) * 2**24 for t in both]
        yield f"| `cumsum` | {kind} | {off[0]:.4f} | {off[1]:.4f} |"


def main() -> int:
    """Prints the tables; returns 0 if the sort order equals torch's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="4,096 patterns, 200 by mpmath, sums of 2^16")
    parser.add_argument("--only", default="", metavar="WORD", help="functions and dtypes that hold it; no sums")
    options = parser.parse_args()
    count, summed = (4096, 1 << 16) if options.quick else (PATTERNS, SUMMED)
    if options.quick:
        globals()["BY_MPMATH"] = 200
    mpmath.mp.dps = 40
    print("| function | dtype | most | mean | torch's most | mean |\n|---|---|---|---|---|---|")
    for line in rows((*SINGLE, *WIDE), count, options.only):
        print(line, flush=True)
    if options.only:
        return 0
    print("\n| | numbers | error | torch's |\n|---|---|---|---|")
    for line in sums(summed):
        print(line, flush=True)
    found = disagreements()
    print("\n" + ("\n".join(found) if found else "The order of elements is torch's and NumPy's."))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
