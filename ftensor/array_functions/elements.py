"""NumPy's functions of elements that are no single call of an op."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor
from ..array_api.dtypes import limited
from ..rows.catalogue import op_of
from .values import floating, promote_pair, tensor, tensor_among


def close(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    return op_of("isclose")(*promote_pair(a, b), rtol=rtol, atol=atol, equal_nan=equal_nan)


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    a, b = promote_pair(a1, a2)
    if a.shape != b.shape:
        return False
    equal: Any = a == b
    if equal_nan and a.dtype.kind in "fc":
        equal = equal | (a.isnan() & b.isnan())
    return bool(equal.all().item())


def _array_equiv(a1: Any, a2: Any) -> bool:
    a, b = promote_pair(a1, a2)
    try:
        equal: Any = a == b
    except RuntimeError:  # shapes that don't broadcast
        return False
    return bool(equal.all().item())


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    like = tensor_among(x, xp, fp)
    positions, nodes, values = [floating(tensor(v, like)) for v in (x, xp, fp)]
    k = op_of("searchsorted")(nodes, positions, side="right").clamp(1, nodes.shape[0] - 1)
    x0, x1, y0, y1 = nodes[k - 1], nodes[k], values[k - 1], values[k]
    interpolated = y0 + (y1 - y0) * ((positions - x0) / (x1 - x0))
    interpolated = op_of("where")(positions < nodes[0], values[0] if left is None else left, interpolated)
    return op_of("where")(positions > nodes[-1], values[-1] if right is None else right, interpolated)


def convolution(a: Any, v: Any, mode: str, flip: bool) -> Any:
    """Returns NumPy's `convolve`, or `correlate` without `flip`."""
    x, k = promote_pair(a, v)
    if x.ndim != 1 or k.ndim != 1 or not len(x) or mode not in ("full", "same", "valid"):
        return NotImplemented
    if len(k) > len(x):
        if not flip:
            return NotImplemented
        x, k = k, x
    n = len(k)
    padding = {"full": (n - 1, n - 1), "same": (n // 2, (n - 1) // 2), "valid": (0, 0)}[mode]
    if flip:
        padding = padding[::-1] if mode != "same" else (n // 2, (n - 1) // 2)
    kernel = k.flip(0) if flip else k.conj()
    padded = op_of("nn.functional.pad")(x, padding)
    return op_of("conv1d")(padded[None, None], kernel[None, None])[0, 0]


def _gradient(f: Tensor, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    axes = range(f.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    steps = list(varargs) * (len(axes) if len(varargs) == 1 else 1) or [1.0] * len(axes)
    options: dict[str, Any] = {"dim": tuple(k % f.ndim for k in axes), "edge_order": edge_order}
    if any(isinstance(s, Tensor) and s.ndim for s in steps):
        options["spacing"] = [s if isinstance(s, Tensor) else tensor([s], f) for s in steps]
        if not all(isinstance(s, Tensor) and s.ndim for s in steps):
            return NotImplemented
    else:
        options["spacing"] = [float(s) for s in steps]
    gradients = op_of("gradient")(floating(f), **options)
    return gradients[0] if len(gradients) == 1 else tuple(gradients)


def _clip(a: Tensor, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    low, high = [limited(y if x is None else x, a.dtype) for x, y in ((a_min, min), (a_max, max))]
    if low is None and high is None:
        return a.clone()
    if (low is None or isinstance(low, Tensor)) != (high is None or isinstance(high, Tensor)):
        low, high = [None if v is None else tensor(v, a) for v in (low, high)]
    return a.clamp(low, high)


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    def beside(value: Any) -> Any:
        if value is None or isinstance(value, Tensor):
            return value
        shape = [1 if k == axis % a.ndim else size for k, size in enumerate(a.shape)]
        return tensor(value, a).to(a.dtype).expand(shape)

    return op_of("diff")(a, n, axis, beside(prepend), beside(append))


def _ediff1d(ary: Tensor, to_end: Any = None, to_begin: Any = None) -> Tensor:
    pieces = [to_begin, ary.reshape(-1).diff(), to_end]
    tensors = [tensor(p, ary).to(ary.dtype).reshape(-1) for p in pieces if p is not None]
    return op_of("cat")(tensors)


def _polyval(p: Any, x: Any) -> Any:
    like = tensor_among(p, x)
    points = tensor(x, like)
    value = points * 0
    for factor in p:
        value = value * points + factor
    return value


def replaced(x: Tensor, result: Tensor, copy: bool) -> Tensor:
    return result if copy else x.copy_(result)


FUNCTIONS = (_array_equal, _array_equiv, _clip, _diff, _ediff1d, _gradient, _interp, _polyval)
