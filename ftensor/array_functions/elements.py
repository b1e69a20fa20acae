"""NumPy's functions that pick, order, compare and work on elements."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from .. import array_api as xp
from .._tensor import Tensor
from ..dtypes import int64, result_type
from .values import both, first_tensor, floating, op, tensor


def _compared(name: str, whole: bool) -> Callable[..., Any]:
    def function(
        a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
    ) -> Any:
        found = op("isclose")(*both(a, b), rtol=rtol, atol=atol, equal_nan=equal_nan)
        return bool(found.all().item()) if whole else found

    return function


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    a, b = both(a1, a2)
    if a.shape != b.shape:
        return False
    same: Any = a == b
    if equal_nan and a.dtype.kind in "fc":
        same = same | (a.isnan() & b.isnan())
    return bool(same.all().item())


def _array_equiv(a1: Any, a2: Any) -> bool:
    a, b = both(a1, a2)
    try:
        same: Any = a == b
    except RuntimeError:  # of shapes that don't broadcast
        return False
    return bool(same.all().item())


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    like = first_tensor(condition, x, y)
    assert like is not None, "where() of no tensor"
    if x is None and y is None:
        return tuple(op("nonzero")(like, as_tuple=True))
    mask = tensor(condition, like)
    given = [v if isinstance(v, (Tensor, int, float, complex)) else tensor(v, like) for v in (x, y)]
    return op("where")(mask if mask.dtype.kind == "b" else mask.ne(0), *given)


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    like = first_tensor(condlist, choicelist)
    assert like is not None, "select() of no tensor"
    made = tensor(default, like).to(result_type(*choicelist, default))
    for mask, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        made = _where(mask, choice, made)
    return made


def _counted(indices: Any, size: int, like: Tensor) -> Tensor:
    """Indices of which negative ones count from the end."""
    at = tensor(indices, like).to(int64)
    counted: Tensor = op("where")(at < 0, at + size, at)
    return counted


def _take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    if mode != "raise" or not isinstance(a, Tensor):
        return NotImplemented
    x, along = (a.reshape(-1), 0) if axis is None else (a, axis % a.ndim)
    if isinstance(indices, int):
        return x.select(along, indices)
    return x[(*[slice(None)] * along, tensor(indices, a))]


def _take_along_axis(arr: Tensor, indices: Any, axis: int | None = -1) -> Tensor:
    x, along = (arr.reshape(-1), 0) if axis is None else (arr, axis)
    return x.take_along_dim(_counted(indices, x.shape[along], arr), along)


def _put_along_axis(arr: Tensor, indices: Any, values: Any, axis: int | None) -> None:
    if axis is None:
        arr.put_(_counted(indices, arr.numel(), arr), tensor(values, arr).to(arr.dtype))
        return
    at = _counted(indices, arr.shape[axis], arr)
    arr.scatter_(axis, at, tensor(values, arr).to(arr.dtype).expand(at.shape))


def _put(a: Tensor, ind: Any, v: Any) -> None:
    at = _counted(ind, a.numel(), a)
    values = tensor(v, a).to(a.dtype).reshape(-1)
    a.put_(at, values[op("arange")(at.numel(), device=a.device) % values.numel()].reshape(at.shape))


def _putmask(a: Tensor, mask: Any, values: Any) -> None:
    repeated = tensor(values, a).to(a.dtype).reshape(-1)
    places = op("arange")(a.numel(), device=a.device) % repeated.numel()
    a.copy_(op("where")(tensor(mask, a).ne(0), repeated[places].reshape(a.shape), a))


def _place(arr: Tensor, mask: Any, vals: Any) -> None:
    at = tensor(mask, arr).ne(0).reshape(-1).nonzero().reshape(-1)
    _put(arr, at, vals)


def _copyto(dst: Any, src: Any, where: Any = True) -> None:
    if not isinstance(dst, Tensor):  # an array was named as the place: that is no fallback
        np.copyto(dst, np.asarray(src), where=np.asarray(where))
        return
    new = tensor(src, dst)
    dst.copy_(new if where is True else op("where")(tensor(where, dst), new.to(dst.dtype), dst))


def _fill_diagonal(a: Tensor, val: Any, wrap: bool = False) -> None:
    if isinstance(val, (int, float, complex)):
        a.fill_diagonal_(val, wrap)
    else:
        at = op("arange")(min(a.shape), device=a.device)
        values = tensor(val, a).to(a.dtype).reshape(-1)
        a.index_put_((at,) * a.ndim, values[at % values.numel()])


def _sort(a: Tensor, axis: int | None = -1, kind: Any = None, stable: Any = None) -> Any:
    x, along = (a.reshape(-1), 0) if axis is None else (a, axis)
    return NotImplemented if x.dtype.kind == "c" else x.sort(along)[0]


def _argsort(a: Tensor, axis: int | None = -1, kind: Any = None, stable: Any = None) -> Any:
    x, along = (a.reshape(-1), 0) if axis is None else (a, axis)
    return NotImplemented if x.dtype.kind == "c" else x.sort(along, stable=True)[1]


def _lexsort(keys: Any, axis: int = -1) -> Tensor:
    order: Any = None
    for key in keys:
        at = key if order is None else key.take_along_dim(order, axis)
        by = at.sort(axis, stable=True)[1]
        order = by if order is None else order.take_along_dim(by, axis)
    found: Tensor = order
    return found


def _unique(
    ar: Tensor, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: None = None, equal_nan: bool = True,
) -> Any:  # fmt: skip
    several = ar.dtype.kind == "f" and equal_nan and ar.isnan().sum().item() > 1
    if return_index or axis is not None or several or ar.dtype.kind == "c":
        return NotImplemented
    return op("unique")(ar, True, return_inverse, return_counts)


def _set(keep: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Any]:
    """An operation on the different elements of two arrays."""

    def function(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
        a, b = [op("unique")(x.reshape(-1)) for x in both(ar1, ar2)]
        return keep(a, b)

    return function


def _neither(a: Tensor, b: Tensor) -> Tensor:
    parts = [a[op("isin")(a, b, invert=True)], b[op("isin")(b, a, invert=True)]]
    made: Tensor = op("cat")(parts)
    return made.sort()[0]


def _isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    made: Tensor = op("isin")(*both(element, test_elements), invert=invert)
    return made


def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    like = first_tensor(x, bins)
    assert like is not None, "digitize() of no tensor"
    edges = tensor(bins, like)
    if not bool((edges.diff() >= 0).all().item()):
        return NotImplemented
    return op("bucketize")(tensor(x, like), edges, right=not right)


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    like = first_tensor(a, v)
    assert like is not None, "searchsorted() of no tensor"
    at = None if sorter is None else tensor(sorter, like)
    first, second = both(a, v)
    return op("searchsorted")(first, second, side=side, sorter=at)


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    like = first_tensor(x, xp, fp)
    assert like is not None, "interp() of no tensor"
    at, known, values = [floating(tensor(v, like)) for v in (x, xp, fp)]
    k = op("searchsorted")(known, at, side="right").clamp(1, known.shape[0] - 1)
    x0, x1, y0, y1 = known[k - 1], known[k], values[k - 1], values[k]
    found = y0 + (y1 - y0) * ((at - x0) / (x1 - x0))
    found = op("where")(at < known[0], values[0] if left is None else left, found)
    return op("where")(at > known[-1], values[-1] if right is None else right, found)


def _convolved(flip: bool, default: str) -> Callable[..., Any]:
    """`convolve`, and `correlate` without the flip."""

    def function(a: Any, v: Any, mode: str = default) -> Any:
        x, k = both(a, v)
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
        padded = op("nn.functional.pad")(x, padding)
        return op("conv1d")(padded[None, None], kernel[None, None])[0, 0]

    return function


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
    found = op("gradient")(floating(f), **options)
    return found[0] if len(found) == 1 else tuple(found)


def _clip(a: Tensor, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    low, high = [y if x is None else x for x, y in ((a_min, min), (a_max, max))]
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

    return op("diff")(a, n, axis, beside(prepend), beside(append))


def _ediff1d(ary: Tensor, to_end: Any = None, to_begin: Any = None) -> Tensor:
    parts = [to_begin, ary.reshape(-1).diff(), to_end]
    given = [tensor(p, ary).to(ary.dtype).reshape(-1) for p in parts if p is not None]
    made: Tensor = op("cat")(given)
    return made


def _angle(z: Tensor, deg: bool = False) -> Tensor:
    found: Tensor = floating(z).angle()
    return found.rad2deg() if deg else found


def _ix(*args: Any) -> tuple[Any, ...]:
    like = first_tensor(args)
    assert like is not None, "ix_() of no tensor"
    sides = len(args)
    made = []
    for k, x in enumerate(args):
        given = tensor(x, like)
        at = given.nonzero().reshape(-1) if given.dtype.kind == "b" else given
        made.append(at.reshape([-1 if j == k else 1 for j in range(sides)]))
    return tuple(made)


def _ravel_multi_index(multi_index: Any, dims: Any) -> Tensor:
    sizes = (dims,) if isinstance(dims, int) else tuple(dims)
    parts = [x * prod(sizes[k + 1 :]) for k, x in enumerate(multi_index)]
    found: Tensor = sum(parts[1:], parts[0])
    return found


def _triangle(name: str) -> Callable[..., Any]:
    def function(arr: Tensor, k: int = 0) -> Any:
        return tuple(op(name)(arr.shape[-2], arr.shape[-1], k, device=arr.device).unbind())

    return function


def _nan_to_num(
    x: Tensor, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Tensor:
    found: Tensor = op("nan_to_num")(x, nan, posinf, neginf)
    return found if copy else x.copy_(found)


def _polyval(p: Any, x: Any) -> Any:
    like = first_tensor(p, x)
    assert like is not None, "polyval() of no tensor"
    at = tensor(x, like)
    found = at * 0
    for factor in p:
        found = found * at + factor
    return found


def _trapezoid(y: Tensor, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    if x is None:
        return op("trapezoid")(y, dx=dx, dim=axis)
    return op("trapezoid")(y, tensor(x, y), dim=axis)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "allclose": _compared("allclose", True),
    "angle": _angle,
    "argpartition": lambda a, kth, axis=-1: _argsort(a, axis),
    "argsort": _argsort,
    "argwhere": lambda a: a.nonzero(),
    "around": lambda a, decimals=0: op("round")(a, decimals=decimals),
    "array_equal": _array_equal,
    "array_equiv": _array_equiv,
    "clip": _clip,
    "compress": lambda condition, a, axis=None: _take(
        a, np.flatnonzero(condition.tolist() if isinstance(condition, Tensor) else condition), axis
    ),
    "convolve": _convolved(True, "full"),
    "copyto": _copyto,
    "correlate": _convolved(False, "valid"),
    "diag": lambda v, k=0: op("diag")(v, k),
    "diag_indices_from": lambda arr: (op("arange")(arr.shape[0], device=arr.device),) * arr.ndim,
    "diagflat": lambda v, k=0: op("diagflat")(v, k),
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: a.diagonal(offset, axis1, axis2),
    "diff": _diff,
    "digitize": _digitize,
    "ediff1d": _ediff1d,
    "extract": lambda condition, arr: arr.reshape(-1)[
        tensor(condition, arr).ne(0).reshape(-1)
    ],
    "fill_diagonal": _fill_diagonal,
    "fix": lambda x: x.trunc(),
    "flatnonzero": lambda a: a.reshape(-1).nonzero().reshape(-1),
    "gradient": _gradient,
    "i0": lambda x: floating(x).i0(),
    "imag": lambda val: val.imag if val.dtype.kind == "c" else op("zeros_like")(val),
    "interp": _interp,
    "intersect1d": _set(lambda a, b: a[op("isin")(a, b)]),
    "isclose": _compared("isclose", False),
    "iscomplex": lambda x: x.imag.ne(0) if x.dtype.kind == "c" else op("isnan")(x) & False,
    "isin": _isin,
    "isneginf": lambda x: x.isneginf(),
    "isposinf": lambda x: x.isposinf(),
    "isreal": lambda x: x.isreal(),
    "ix_": _ix,
    "lexsort": _lexsort,
    "nan_to_num": _nan_to_num,
    "nonzero": lambda a: tuple(op("nonzero")(a, as_tuple=True)),
    "partition": lambda a, kth, axis=-1: _sort(a, axis),
    "place": _place,
    "polyval": _polyval,
    "put": _put,
    "put_along_axis": _put_along_axis,
    "putmask": _putmask,
    "ravel_multi_index": _ravel_multi_index,
    "real": lambda val: val.real if val.dtype.kind == "c" else val,
    "round": lambda a, decimals=0: op("round")(a, decimals=decimals),
    "searchsorted": _searchsorted,
    "select": _select,
    "setdiff1d": _set(lambda a, b: a[op("isin")(a, b, invert=True)]),
    "setxor1d": _set(_neither),
    "sinc": lambda x: floating(x).sinc(),
    "sort": _sort,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "trapezoid": _trapezoid,
    "tril": lambda m, k=0: m.tril(k),
    "tril_indices_from": _triangle("tril_indices"),
    "triu": lambda m, k=0: m.triu(k),
    "triu_indices_from": _triangle("triu_indices"),
    "union1d": lambda ar1, ar2: op("unique")(op("cat")([x.reshape(-1) for x in both(ar1, ar2)])),
    "unique": _unique,
    "unique_all": lambda x: xp.unique_all(x),  # type: ignore[attr-defined]
    "unique_counts": lambda x: xp.unique_counts(x),  # type: ignore[attr-defined]
    "unique_inverse": lambda x: xp.unique_inverse(x),  # type: ignore[attr-defined]
    "unique_values": lambda x: xp.unique_values(x),  # type: ignore[attr-defined]
    "unravel_index": lambda indices, shape: tuple(op("unravel_index")(indices, shape)),
    "vander": lambda x, N=None, increasing=False: op("vander")(x, N, increasing),
    "where": _where,
}  # fmt: skip
