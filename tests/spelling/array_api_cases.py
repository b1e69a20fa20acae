# ruff: noqa: E501, SIM905  # an argument list is one word
"""Calls of every function of the array API standard, as texts that two namespaces evaluate.

`x` (2, 3), `y` (3,), `z` 0-d, `v` (5,) with repeated elements, `m` (3, 3) invertible, `h` (3, 3)
positive definite and `u` with no elements, (0, 3), are of the tested dtype. `b` is a mask (2, 3),
`i` indices (2,), and `w` (2, 3) has another dtype of the same kind.
"""

from __future__ import annotations

import warnings
from typing import Any

import array_api_strict as strict
import numpy as np

import ftensor as ft

strict.set_array_api_strict_flags(api_version="2025.12")
DTYPES = ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128").split()
OTHER = {
    "int8": "int16", "int16": "uint8", "int32": "uint32", "int64": "int8", "uint8": "int8",
    "uint16": "uint8", "uint32": "uint64", "uint64": "uint16", "float32": "float64",
    "float64": "float32", "complex64": "float64", "complex128": "float32", "bool": "bool",
}  # fmt: skip
UNARY = (
    "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag "
    "isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round "
    "sign signbit sin sinh sqrt square tan tanh trunc"
).split()
BINARY = (
    "add atan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift copysign "
    "divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and "
    "logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract"
).split()
REDUCTIONS = "max mean min prod std sum var all any count_nonzero".split()
CALLS: dict[str, list[str]] = {
    **{name: [f"xp.{name}(x)", f"xp.{name}(z)", f"xp.{name}(2)"] for name in UNARY},
    **{
        name: [f"xp.{name}({args})" for args in ("x, y", "x, w", "z, w", "x, 2", "1, y", "1, 2")]
        + [f"xp.{name}(x, True)", f"xp.{name}(x, 2.0)", f"xp.{name}(x, 1j)"]
        for name in BINARY
    },
    **{
        name: [
            f"xp.{name}({args})"
            for args in (
                "x",
                "x, axis=0",
                "x, axis=(0, 1), keepdims=True",
                "x, axis=()",
                "z",
                "u",
                "x, axis=-1, keepdims=True",
                "x, axis=5",
                "x, axis=(0, 0)",
                "u, axis=0",
            )
        ]
        for name in REDUCTIONS
    },
}
CALLS["std"] += ["xp.std(x, axis=1, correction=1)"]
CALLS["var"] += ["xp.var(x, axis=1, correction=1.0)"]
CALLS["sum"] += ["xp.sum(x, dtype=xp.float64)", "xp.sum(x, axis=0, dtype=x.dtype)"]
CALLS["prod"] += ["xp.prod(x, axis=0, dtype=x.dtype)"]
MORE = """
clip: (x, 1, 2) (x, None, 2) (x, y, None) (x, None, None) (x, 1.5, 2.5) (w, y, y) (x, min=-1000, max=1000)
arange: (5) (1, 5, 2) (5, 1) (0, 1, 0.25) (0)
asarray: ([1, 2]) ([1.0, 2]) (True) (1) (1j) (x) (x, copy=True) ([[1, 0]], dtype=D) ([[1], [1, 2]]) ([1], copy=False)
astype: (x, xp.float64) (x, xp.int32) (x, xp.bool) (x, xp.complex64) (x, x.dtype, copy=False)
broadcast_arrays: (x, y) (x, z) (x, i)
broadcast_shapes: ((2, 1), (3,)) ((2,), (3,))
broadcast_to: (y, (2, 3)) (y, (2, 2))
can_cast: (x, xp.int64) (x, xp.float64) (x.dtype, xp.complex128) (x, xp.bool)
concat: ((x, x)) ((x, x), axis=1) ((x, w), axis=None) ((x, y)) ((x, x), axis=2) ((x, u))
count_nonzero: (b)
cumulative_prod: (y) (x, axis=1) (x) (x, axis=0, dtype=xp.float64) (x, axis=-1, include_initial=True)
cumulative_sum: (y) (x, axis=1) (x) (x, axis=0, dtype=xp.float64) (x, axis=-1, include_initial=True)
diff: (x) (x, axis=0) (y, n=2) (y, prepend=y, append=y) (x, axis=3)
empty_like: (x).shape
empty: ((2, 3), dtype=D).shape (2).dtype
expand_dims: (x, 0) (x, axis=-1) (x, axis=2) (x, axis=4)
eye: (3) (2, 3, k=1) (3, 2, k=-1, dtype=D) (0)
finfo: (x).bits (x).eps (x.dtype).max (x).smallest_normal
flip: (x) (x, axis=0) (x, axis=(0, 1)) (x, axis=2) (z)
from_dlpack: (x)
full: ((2, 3), 1) (2, 1.5) (2, True) ((), 1j) (2, 1, dtype=D)
full_like: (x, 1) (x, 1, dtype=xp.float32)
iinfo: (x).bits (x).max (x.dtype).min
isdtype: (x.dtype, 'integral') (x.dtype, 'real floating') (x.dtype, ('bool', xp.int8)) (x.dtype, 'none') (x.dtype, 'numeric') (x.dtype, 'unsigned integer') (x.dtype, 'signed integer') (x.dtype, 'complex floating') (x.dtype, 'bool')
isin: (x, y) (x, y, invert=True) (x, 1)
linspace: (0, 1, 5) (1, 0, num=4, endpoint=False) (0, 1j, 3) (2, 3, 1)
matmul: (x, m) (m, y) (y, m) (x, x) (x, z) (y, y)
matrix_transpose: (x) (y)
meshgrid: (y, v) (y, v, indexing='ij') (y, i) (y, indexing='ab') (y)
moveaxis: (x, 0, 1) (x, (0, 1), (1, 0)) (x, 0, 2)
nonzero: (x) (z) (u)
ones: (3) ((2, 3), dtype=D)
ones_like: (x) (x, dtype=xp.int8)
permute_dims: (x, (1, 0)) (x, (0,)) (x, (0, 2))
repeat: (x, 2) (x, 2, axis=1) (y, xp.asarray([1, 0, 2])) (x, xp.asarray([1, 2]), axis=0)
reshape: (x, (3, 2)) (x, (-1,)) (x, (6,), copy=True) (x, (6,), copy=False) (x, (5,)) (xp.permute_dims(x, (1, 0)), (6,))
result_type: (x, w) (x, 1) (x, 1.0) (x, 1j) (x, True) (x, xp.int64) (x, xp.float32) (x, xp.uint64) (1, 2)
roll: (x, 1) (x, (1, 2), axis=(0, 1)) (x, -1, axis=0) (z, 1)
searchsorted: (v, y) (xp.sort(v), y) (xp.sort(v), x, side='right') (v, y, sorter=xp.argsort(v)) (xp.sort(v), y, side='middle')
sort: (v) (x, axis=0) (v, descending=True) (x, axis=2) (x, descending=True, stable=False)
argsort: (v) (x, axis=0) (v, descending=True) (v, stable=True)
argmax: (x) (x, axis=1) (x, axis=0, keepdims=True) (u) (v, keepdims=True)
argmin: (x) (x, axis=1) (x, axis=0, keepdims=True) (u) (v, keepdims=True)
squeeze: (xp.expand_dims(x, 0), 0) (xp.expand_dims(x, 0), axis=(0,)) (x, 0) (x, 5)
stack: ((x, x)) ((x, w), axis=-1) ((x, y))
take: (x, i, axis=0) (y, i) (x, i, axis=-1) (x, i) (x, xp.asarray([-1, 0]), axis=1)
take_along_axis: (x, xp.asarray([[0, 2], [1, 1]])) (x, xp.asarray([[1, 0, 1]]), axis=0) (x, xp.asarray([[-1], [0]]))
tensordot: (x, m, axes=1) (x, x) (x, x, axes=((0,), (0,))) (x, y, axes=0)
tile: (x, (2, 1)) (x, (2,)) (y, (2, 2)) (z, (3,))
tril: (x) (m, k=1) (m, k=-1) (y)
triu: (x) (m, k=1) (m, k=-1) (y)
unique_all: (v) (x)
unique_counts: (v)
unique_inverse: (v) (x)
unique_values: (v) (u)
unstack: (x) (x, axis=1) (x, axis=2)
vecdot: (x, y) (x, x, axis=-2) (x, x, axis=0) (x, i)
where: (b, x, x) (b, x, w) (b, x, 1) (b, 0, y) (x, x, x) (b, 1, 2)
zeros: (3) ((2, 3), dtype=D)
zeros_like: (x) (x, dtype=xp.int8)
fft.fft: (X) (X, n=4) (X, axis=0, norm='ortho') (X, norm='none') (X, axis=3)
fft.ifft: (X) (X, n=2, norm='forward')
fft.rfft: (x) (x, n=4, axis=0)
fft.irfft: (X) (X, n=5)
fft.fftn: (X) (X, s=(2,), axes=(1,)) (X, axes=(0,))
fft.ifftn: (X) (X, axes=(0, 1), norm='ortho')
fft.rfftn: (x) (x, axes=(0,))
fft.irfftn: (X) (X, s=(4,), axes=(1,))
fft.hfft: (X) (X, n=6)
fft.ihfft: (x) (x, n=4)
fft.fftfreq: (5) (4, d=0.5, dtype=xp.float64)
fft.rfftfreq: (5) (4, d=0.5, dtype=xp.float64)
fft.fftshift: (x) (x, axes=0)
fft.ifftshift: (x) (x, axes=(1,))
linalg.cholesky: (h) (h, upper=True)
linalg.cross: (y, y) (x, y) (x, x, axis=0) (v, v)
linalg.det: (m) (y)
linalg.diagonal: (x) (x, offset=1) (y)
linalg.eig: (h).eigenvalues.shape
linalg.eigh: (h).eigenvalues
linalg.eigvals: (h).shape
linalg.eigvalsh: (h)
linalg.inv: (m) (x)
linalg.matmul: (x, m)
linalg.matrix_norm: (x) (x, ord=1) (x, ord='nuc', keepdims=True) (x, ord=-2) (y)
linalg.matrix_power: (m, 3) (m, 0) (m, -1) (x, 2)
linalg.matrix_rank: (m) (x, rtol=0.5) (y)
linalg.matrix_transpose: (m)
linalg.outer: (y, v) (y, w)
linalg.pinv: (x) (x, rtol=0.5)
linalg.qr: (m).R.shape (x, mode='complete').Q.shape (m, mode='none')
linalg.slogdet: (m)
linalg.solve: (m, y) (m, m) (m, x) (h, xp.stack((m, m)))
linalg.svd: (x).S (x).U.shape (x, full_matrices=False).Vh.shape
linalg.svdvals: (x)
linalg.tensordot: (x, m, axes=1)
linalg.trace: (m) (x, offset=1) (m, dtype=xp.float64)
linalg.vecdot: (x, y)
linalg.vector_norm: (x) (x, axis=1, ord=1) (x, axis=(0, 1), keepdims=True) (x, ord=xp.inf) (y, ord=0) (y, ord=3)
"""


def _split(text: str) -> list[str]:
    """Splits adjacent argument lists: "(x, (1, 2)) (y).dtype" has two."""
    parts, depth = [""], 0
    for letter in text.strip():
        if letter == " " and not depth:
            parts.append("")
            continue
        depth += (letter == "(") - (letter == ")")
        parts[-1] += letter
    return parts


for _line in MORE.strip().splitlines():
    _name, _, _calls = _line.partition(": ")
    CALLS.setdefault(_name, []).extend(f"xp.{_name}{call}" for call in _split(_calls))


def arrays(dtype: str) -> dict[str, np.ndarray[Any, Any]]:
    """Returns the values of the calls' arguments."""
    kind = np.dtype(dtype).kind
    x = np.array([[1, 2, 0], [3, 1, 2]])
    other = np.array([[2, 1, 1], [4, 3, 1]])
    m = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 4]])
    if kind in "ifc":
        x, m = x * [[-1], [1]], m * [[1], [-1], [1]]
    if kind in "fc":
        x = x * 0.25
    if kind == "c":
        x, m = x + 0.5j * other, m + 0j
    if dtype in ("uint16", "uint32", "uint64"):
        x, most = x.astype(dtype), np.iinfo(dtype).max
        x[1] = most, most // 2 + 2, most - 2
    values = {
        "x": x,
        "y": other[0],
        "z": np.asarray(3),
        "v": np.array([2, 0, 1, 2, 1]),
        "m": m,
        "h": np.abs(m),
        "u": np.zeros((0, 3)),
    }
    operands = {name: np.asarray(value).astype(dtype) for name, value in values.items()}
    operands["b"] = np.array([[True, False, True], [False, True, False]])
    operands["i"] = np.array([1, 0])
    operands["w"] = other.astype(OTHER[dtype])
    operands["X"] = x.astype("complex64" if dtype in ("float32", "complex64") else "complex128")
    if kind not in "fc":
        operands["X"] = operands["x"]
    return operands


def scopes(dtype: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the namespaces in which the texts are evaluated: array-api-strict's arrays, and
    tensors."""
    values = arrays(dtype)
    both: list[dict[str, Any]] = []
    for xp, make in ((strict, strict.asarray), (ft.array_api, ft.array_api.asarray)):
        named = {name: make(value) for name, value in values.items()}
        both.append({"xp": xp, "D": getattr(xp, dtype), **named})
    return both[0], both[1]


def evaluated(call: str, scope: dict[str, Any]) -> Any:
    """Returns the call's result, or its error."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return eval(call, scope)
    except Exception as error:  # noqa: BLE001  # which one is what is compared
        return error


# Calls for which the standard leaves the result open, or array-api-strict deviates from it.
OPEN = {
    "greater(x, 1j)": "strict compares complex numbers, which the text rules out",
    "greater_equal(x, 1j)": "as above",
    "less(x, 1j)": "as above",
    "less_equal(x, 1j)": "as above",
    "maximum(x, 1j)": "as above",
    "minimum(x, 1j)": "as above",
    "isin(x, y, invert=True)": "strict leaves `invert` out",
    "fft.fftshift": "integers are taken, too",
    "fft.ifftshift": "integers are taken, too",
    "sum": "bool is counted, as by NumPy",
    "finfo": "TypeError of integers, as of all other dtypes that a function is not for",
    "iinfo": "TypeError of floating point numbers, as above",
    "linalg.matrix_rank": "TypeError of integers, as in all of linalg",
}


def is_open(call: str, dtype: str) -> bool:
    """Returns whether the standard leaves a call's outcome open for a dtype."""
    whole = call.removeprefix("xp.")
    if whole in OPEN:
        return True
    fits = {"finfo": "buic", "iinfo": "bfc", "sum": "b"}.get(whole.partition("(")[0], "bui")
    return whole.partition("(")[0] in OPEN and np.dtype(dtype).kind in fits


def difference(call: str, wanted: Any, got: Any) -> str:
    """Returns the difference of two results, or ""."""
    if isinstance(wanted, Exception) or isinstance(got, Exception):
        if not (isinstance(wanted, Exception) and isinstance(got, Exception)):
            return f"{call}: {got!r}, not {wanted!r}"
        if isinstance(wanted, TypeError) != isinstance(got, TypeError):
            return f"{call}: {type(got).__name__} ({got}), not {type(wanted).__name__} ({wanted})"
        return ""
    if isinstance(wanted, (tuple, list)):
        if len(wanted) != len(got):
            return f"{call}: {len(got)} results, not {len(wanted)}"
        if hasattr(wanted, "_fields") and wanted._fields != got._fields:
            return f"{call}: {got._fields}, not {wanted._fields}"
        return "".join(difference(call, *pair) for pair in zip(wanted, got))
    if isinstance(got, ft.Tensor):
        if str(got.dtype).rpartition(".")[2] != str(wanted.dtype).rpartition(".")[2]:
            return f"{call}: {got.dtype}, not {wanted.dtype}"
        if tuple(got.shape) != tuple(wanted.shape):
            return f"{call}: shape {tuple(got.shape)}, not {tuple(wanted.shape)}"
        ours, theirs = got.numpy(), np.asarray(wanted._array)
        rough = 2e-5 if got.dtype.to_real() is ft.float32 else 1e-12
        if not np.allclose(ours, theirs, rtol=rough, atol=rough, equal_nan=True):
            return f"{call}: {ours.tolist()}, not {theirs.tolist()}"
        return ""
    if "DType" in type(wanted).__name__:
        same = str(got).rpartition(".")[2] == str(wanted).rpartition(".")[2]
    else:
        same = got == wanted
    return "" if same else f"{call}: {got!r}, not {wanted!r}"
