"""Inputs for each row of the catalogue, and the dtypes that both libraries refuse."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan
from typing import Any

from ftensor.rows.catalogue import ENTRIES, Entry
from ftensor.rows.op import Dims, Op, Reduce

from .oracle import lookup, torch

NUMBERS = {
    "float32": [0.0, -0.0, 0.5, -1.0, 1.5, 2.0, -3.25, 1e-40, 1e30, -1e30, inf, -inf, nan],
    "int64": [0, 1, -1, 2, 3, -7, 100, 2**40, -(2**40), 2**62],
    "int32": [0, 1, -1, 2, 3, -7, 100, 2**20, 1 - 2**31, 2**31 - 1],
    "bool": [True, False],
    "complex64": [0j, 1 + 1j, -2 + 0.5j, 0.25 - 3j, -1 - 1j, 2 + 0j, 0 - 1j],
}
NUMBERS |= {"float64": NUMBERS["float32"], "complex128": NUMBERS["complex64"]}
NUMBERS |= {"float16": [0.0, -0.0, 0.5, -1.0, 2.0, -3.25, 6e-8, 6e4, inf, nan]}
NUMBERS |= {"bfloat16": NUMBERS["float16"], "uint8": [0, 1, 2, 3, 7, 100, 255]}
NUMBERS |= {"int8": [0, 1, -1, 2, -7, 100, -128, 127], "int16": [0, 1, -1, 2, 300, -(2**15)]}
DTYPES = tuple(NUMBERS)

ROWS = {name: entry for name, entry in ENTRIES.items() if isinstance(entry.row, Op)}
REDUCTIONS = {name: entry for name, entry in ENTRIES.items() if isinstance(entry.row, Reduce)}


def theirs(entry: Entry) -> Any:
    """Returns torch's function of the same name."""
    return lookup(torch, ".".join([*filter(None, entry.namespace.split(".")), entry.name]))


def operands(arity: int, dtype: str) -> list[torch.Tensor]:
    """Returns inputs in which every pair of the dtype's special numbers occurs. They are 2-d, so
    that views apply."""
    numbers = NUMBERS[dtype]
    n = len(numbers)
    of = getattr(torch, dtype)
    nested = [[numbers[i // n % n] for i in range(n * n)], [numbers[i % n] for i in range(n * n)]]
    nested.append([numbers[(i + i // n) % n] for i in range(n * n)])
    return [torch.tensor(x, dtype=of).reshape(n, n) for x in nested[:arity]]


def inputs_of(name: str, dtype: str) -> list[torch.Tensor]:
    """Returns a row's inputs: of the dtype, except bool for a mask."""
    op = ROWS[name].row
    inputs = operands(op.arity, dtype)
    inputs = [t.bool() if k in op.masks else t for k, t in enumerate(inputs)]
    if name == "special.zeta" or any(w in name for w in ("bessel", "airy", "polynomial")):
        # torch rounds the angle of large arguments, and returns NaN for those of zeta. Polynomials
        # of a high degree add up roundings, or take forever.
        most = 50 if "polynomial" in name else 1000
        small = [not t.dtype.is_complex and t.dtype is not torch.bool for t in inputs]
        inputs = [t.where((t > -most) & (t < most), 7) if s else t for s, t in zip(small, inputs)]
    if name.startswith("igamma") and dtype in ("float32", "float64"):  # torch returns 0 for subnormal orders
        inputs = [t.where((t == 0) | (t.abs() > 1e-30), 3) for t in inputs]
    if name == "lcm" and dtype.startswith("int"):  # torch traps at the least integer
        inputs = [t.clamp(min=torch.iinfo(t.dtype).min + 1) for t in inputs]
    return inputs


def parameters(entry: Entry) -> dict[str, Any]:
    """Returns values for the parameters of a row without defaults."""
    inside = entry.row.parameters
    known = {"alpha": 2, "value": 2, "weight": 2, "eps": 0.25, "threshold": 1, "lambd": 1}
    return {p: known[p] for p in entry.row.params if f"{p}=" not in inside and p in known}


WHOLE = {"uint8", "int8", "int16", "int32", "int64"}
HALF, COMPLEX = {"float16", "bfloat16"}, {"complex64", "complex128"}
FLOATING = HALF | {"float32", "float64"}
# Rows and the dtypes for which torch has no such function; all others are computed.
REFUSED_FOR = (
    ({"bool"}, "abs neg"),
    ({"bool"} | COMPLEX, "ceil floor trunc"),
    (
        COMPLEX,
        "sign deg2rad rad2deg isposinf isneginf signbit erf erfc erfinv lgamma digamma i0 "
        "special.i0e special.i1 special.i1e special.entr special.ndtr maximum minimum fmax fmin "
        "atan2 copysign xlogy special.xlog1py heaviside lt le gt ge",
    ),
    (
        COMPLEX | HALF,
        "special.log_ndtr special.ndtri special.erfcx special.zeta special.bessel_j0 "
        "special.bessel_j1 special.bessel_y0 special.bessel_y1 special.modified_bessel_i0 "
        "special.modified_bessel_i1 special.modified_bessel_k0 special.modified_bessel_k1 "
        "special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 "
        "special.spherical_bessel_j0 special.airy_ai special.hermite_polynomial_h "
        "special.hermite_polynomial_he special.laguerre_polynomial_l special.legendre_polynomial_p",
    ),
    (
        COMPLEX | HALF,
        " ".join(f"special.{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    ),
    ({"bool"} | WHOLE, "logaddexp"),
    ({"bool"} | WHOLE | COMPLEX, "frac hypot logaddexp2 igamma igammac"),
    (FLOATING | COMPLEX, "bitwise_not bitwise_and bitwise_or bitwise_xor"),
    ({"bool"} | FLOATING | COMPLEX, "gcd lcm bitwise_left_shift bitwise_right_shift"),
)
REFUSED = {name: dtypes for dtypes, names in REFUSED_FOR for name in names.split()}


def computed(name: str, dtype: str) -> bool:
    """True if both libraries compute a row for inputs of a dtype."""
    return dtype not in REFUSED.get(name, ())


def reductions_of(row: Reduce) -> Iterator[dict[str, Any]]:
    """Yields arguments of a reduction of two dims, in every form of its row."""
    yield {}
    yield {"dim": 0}
    yield {"axis": -1}
    yield {"dim": 2}  # refused, since there are two dims
    if row.dims is not Dims.ONE:
        yield from ({"dim": (0, 1)}, {"axis": [1]}, {"dim": ()}, {"dim": (1, 1)})
    if "keepdim" in row.arguments:
        yield from ({"dim": 0, "keepdim": True}, {"axis": 1, "keepdims": True})
    if row.converts:
        dtypes = (torch.float32, torch.int64, torch.bool)
        yield from ({"dtype": dtypes[0]}, {"dim": 0, "dtype": dtypes[1]}, {"dtype": dtypes[2]})


def few(dtype: str) -> torch.Tensor:
    """Returns a matrix to reduce."""
    return (torch.arange(12) % 5 - 2).reshape(3, 4).to(getattr(torch, dtype))
