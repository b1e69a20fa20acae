# ruff: noqa: E501  # a call is one word
"""The calls of docs/numpy.md's table: NumPy's functions on tensors.

Each call is a text. In it, `v` (40,) and `w` (40,) are positive, `X` (6, 4) and `Y` (6, 4)
arbitrary, `S` (3, 3) is positive definite, `C` (6, 4) and `z` (8,) are complex, `i` and `j` (40,)
small integers, `m` (6, 4) is a mask, `n` (6, 4) has NaN, and `q` (5,) is sorted. The result of a
function that changes its argument is that argument.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import ftensor as ft

UFUNCS = """
one: absolute(X) arccos(q) arccosh(v+1) arcsin(q) arcsinh(X) arctan(X) arctanh(q) bitwise_count(i) cbrt(X) ceil(X) conjugate(C) cos(X) cosh(X) deg2rad(X) degrees(X) exp(X) exp2(X) expm1(X) fabs(X) floor(X) frexp(X) invert(i) isfinite(n) isinf(n) isnan(n) log(v) log10(v) log1p(v) log2(v) logical_not(m) modf(X) negative(X) positive(X) rad2deg(X) radians(X) reciprocal(v) rint(X) sign(n) signbit(X) sin(X) sinh(X) spacing(X) sqrt(v) square(X) tan(X) tanh(X) trunc(X)
two: add(X,Y) arctan2(X,Y) bitwise_and(i,j) bitwise_or(i,j) bitwise_xor(i,j) copysign(X,Y) divide(X,Y) divmod(X,Y) equal(i,j) float_power(v,w) floor_divide(X,Y) fmax(X,n) fmin(X,n) fmod(X,Y) gcd(i,j) greater(X,Y) greater_equal(X,Y) heaviside(X,Y) hypot(X,Y) lcm(i,j) ldexp(v,i) left_shift(i,j) less(X,Y) less_equal(X,Y) logaddexp(X,Y) logaddexp2(X,Y) logical_and(m,m) logical_or(X,m) logical_xor(m,X) matmul(X,Y.T) matvec(S,S) maximum(X,n) minimum(X,n) multiply(X,Y) nextafter(X,Y) not_equal(i,j) power(v,w) remainder(X,Y) right_shift(i,j) subtract(X,Y) vecdot(X,Y) vecmat(S,S)
methods: add.reduce(X) multiply.reduce(X,1) maximum.reduce(X) minimum.reduce(X,1) logical_and.reduce(m) logical_or.reduce(m,1) add.accumulate(X) multiply.accumulate(X,1) maximum.accumulate(X) add.outer(v,w) multiply.outer(X,q) add.reduceat(v,[0,5]) subtract.reduce(X) hypot.reduce(X)
"""
FUNCTIONS = """
shapes: append(v,w) append(X,Y,axis=0) array_split(v,3) astype(X,'float64') atleast_1d(v) atleast_2d(v) atleast_3d(v) block([[X,Y],[Y,X]]) broadcast_arrays(v,q[:1]) broadcast_to(q,(3,5)) column_stack([v,w]) concatenate([X,Y]) concatenate([X,Y],axis=None) copy(X) delete(v,[1,3]) delete(X,1,axis=1) dsplit(D,2) dstack([X,Y]) expand_dims(X,0) expand_dims(X,(0,3)) flip(X) flip(X,1) fliplr(X) flipud(X) hsplit(X,2) hstack([X,Y]) insert(v,3,2.) insert(v,[1,2],[5.,6.]) matrix_transpose(X) meshgrid(v,q) moveaxis(D,0,2) pad(X,1) pad(X,((1,2),(0,1)),constant_values=3) pad(X,2,mode='edge') pad(X,2,mode='reflect') pad(X,((1,2),(0,1)),constant_values=((1,2),(3,4))) pad(v,(3,0),mode='symmetric') pad(X,(5,9),mode='wrap') pad(X,2,mode='reflect',reflect_type='odd') pad(D,1,mode='symmetric',reflect_type='odd') pad(X,2,mode='mean') ravel(X) ravel(X,order='F') repeat(v,2) repeat(X,3,axis=1) reshape(X,(4,6)) reshape(X,(4,6),order='F') resize(v,(5,5)) roll(X,2) roll(X,1,axis=1) rollaxis(D,2) rot90(X) split(v,4) split(v,[3,10]) squeeze(X[None]) squeeze(X[None],0) stack([X,Y]) stack([X,Y],axis=1) swapaxes(X,0,1) tile(X,2) tile(q,(2,3)) transpose(X) transpose(D,(2,0,1)) trim_zeros(q) unstack(X) vsplit(X,2) vstack([X,Y]) lib.stride_tricks.sliding_window_view(v,5) block([v,w])
new arrays: empty_like(X) full_like(X,2) ones_like(X) zeros_like(X) zeros_like(X,dtype='int32') arange(5,like=v) array([1.,2.],like=v) asanyarray([1.,2.],like=v) asarray([1.,2.],like=v) ascontiguousarray([1.,2.],like=v) asfortranarray([1.,2.],like=v) empty((2,3),like=v) eye(3,like=v) full((2,),3.,like=v) identity(3,like=v) ones((2,3),like=v) tri(3,like=v) zeros((2,3),like=v) frombuffer(b'12345678',like=v) fromfunction(lambda\xa0i,j:i+j,(2,2),like=v) fromiter([1.,2.],dtype='f4',like=v) fromstring('1\xa02',sep='\xa0',like=v) require([1.,2.],like=v) linspace(q[0],q[1],5) linspace(0,q,5) logspace(q[0],q[1],5) geomspace(w[0],w[1],5)
reductions: all(m) all(m,axis=0) amax(X) amin(X) any(m) argmax(X) argmax(X,axis=1,keepdims=True) argmin(X) average(X) average(X,axis=0,weights=v[:6]) average(v,weights=w) bincount(i) bincount(i,weights=v) count_nonzero(X) cumprod(X) cumprod(X,axis=1) cumsum(X) cumulative_prod(v) cumulative_sum(v) cumulative_sum(v,include_initial=True) histogram(v) histogram(v,5,range=(0,1)) histogram(v,q) histogram(v,'auto') histogram2d(v,w) histogramdd(X) histogram_bin_edges(v) max(X) max(X,axis=0) max(X,initial=0) mean(X) mean(i) mean(X,axis=(0,1)) median(X) median(v) median(X,axis=1) min(X) nanargmax(n) nanargmin(n) nancumprod(n) nancumsum(n) nanmax(n) nanmax(n,axis=0) nanmean(n) nanmedian(n) nanmin(n) nanpercentile(n,30) nanprod(n) nanquantile(n,0.3,axis=0) nanstd(n) nanstd(n,axis=1,ddof=1) nansum(n) nanvar(n) percentile(X,[20,60]) percentile(X,20,axis=0) prod(X) ptp(X) quantile(v,q) quantile(v,0.3,method='nearest') quantile(v,0.3,method='hazen') std(X) std(X,axis=0,ddof=1) sum(X) sum(X,axis=1,keepdims=True) sum(X,where=m) sum(X,dtype='float64') trace(X) var(X) var(X,correction=1) apply_along_axis(np.sum,0,X) apply_over_axes(np.sum,X,[0])
picking and order: argpartition(v,3) argsort(v) argsort(X,axis=0) argwhere(m) choose(i%2,[v,w]) compress([True,False,True],X,axis=0) diag(q) diag(X) diag_indices_from(S) diagflat(q) diagonal(D,1) extract(m,X) flatnonzero(m) ix_(i[:3],j[:2]) lexsort((i,j)) nonzero(m) partition(v,3) piecewise(v,[v<1,v>=1],[0,1]) ravel_multi_index((i,j),(10,10)) searchsorted(q,v) select([v<1,v<2],[v,w]) sort(X) sort(X,axis=None) sort(C) sort_complex(C) take(v,i) take(X,[0,-1],axis=1) take(X,[0,9],axis=1,mode='clip') take_along_axis(X,k,1) tril(X) tril_indices_from(S) triu(X,1) triu_indices_from(S) unravel_index(i,(4,10)) where(m) where(m,X,Y) where(m,X,0)
written to: copyto(X,Y) copyto(X,0,where=m) fill_diagonal(S,7) place(X,m,[1.,2.]) put(v,[0,-1],[5.,6.]) put_along_axis(X,k,9.,1) putmask(X,m,Y)
sets: intersect1d(i,j) isin(i,j) isin(i,[1,2],invert=True) setdiff1d(i,j) setxor1d(i,j) union1d(i,j) unique(i) unique(i,return_counts=True) unique(i,return_index=True) unique(X,axis=0) unique_all(i) unique_counts(i) unique_inverse(i) unique_values(i)
elements: allclose(X,Y) angle(C) angle(C,deg=True) around(X,1) array_equal(X,X) array_equiv(X,X) clip(X,-1,1) clip(X,None,Y) clip(X,min=0) diff(v) diff(X,n=2,axis=0) diff(v,prepend=0) digitize(v,q) ediff1d(v) ediff1d(v,to_end=1) fix(X) gradient(v) gradient(X) gradient(v,2.0) gradient(X,axis=0) i0(v) imag(C) imag(X) interp(v,q,q*2) isclose(X,Y) iscomplex(C) iscomplexobj(C) isneginf(n) isposinf(n) isreal(C) isrealobj(C) nan_to_num(n) packbits(m) polyadd(q,q) polyder(q) polydiv(v[:5],q) polyfit(v,w,2) polyfit(v,w,1,full=True) polyfit(v,w,1,w=w,cov=True) polyfit(X[:,0],X,1,cov=True) polyint(q) polymul(q,q) polysub(q,q) polyval(q,v) poly(q) real(C) real_if_close(C) roots(q) round(X,2) sinc(X) trapezoid(v) trapezoid(v,w) unpackbits(u) unwrap(X) vander(q) convolve(v,q) convolve(v,q,'same') convolve(q,v,'valid') correlate(v,q) correlate(v,q,'full') correlate(v,q,'same')
products: corrcoef(X) cov(X) cov(X,rowvar=False,ddof=0) cov(v,w) cross(S,S) dot(X,Y.T) dot(v,w) dot(D,X.T) einsum('ij,kj->ik',X,Y) einsum('ij,ij',X,Y,optimize=True) einsum(X,[0,1]) inner(X,Y) kron(S,S) outer(v,w) tensordot(X,Y) tensordot(X,Y,(0,0)) vdot(v,w) vdot(z,z)
dtypes and shapes: can_cast(X,'float64') common_type(X,C) einsum_path('ij,jk',S,S) may_share_memory(X,X) min_scalar_type(X) ndim(X) result_type(X,i) shape(X) shares_memory(X,Y) size(X)
text and files: array2string(X) array_repr(X) array_str(X) save(F(),X) savetxt(F(),X) savez(F(),X) savez_compressed(F(),X)
linalg: linalg.cholesky(S) linalg.cond(S) linalg.cross(S,S) linalg.det(S) linalg.diagonal(D) linalg.eig(S) linalg.eigh(S) linalg.eigvals(S) linalg.eigvalsh(S) linalg.inv(S) linalg.lstsq(X,v[:6]) linalg.lstsq(X,Y) linalg.lstsq(X.T,Y[:4]) linalg.matmul(X,Y.T) linalg.matrix_norm(X) linalg.matrix_power(S,3) linalg.matrix_rank(S) linalg.matrix_transpose(X) linalg.multi_dot([X,Y.T,X]) linalg.norm(X) linalg.norm(X,axis=1) linalg.norm(X,1) linalg.outer(v,w) linalg.pinv(X) linalg.qr(X) linalg.slogdet(S) linalg.solve(S,S) linalg.svd(X,full_matrices=False) linalg.svdvals(X) linalg.tensordot(X,Y) linalg.tensorinv(X.reshape(6,2,2)[:4],1) linalg.tensorsolve(S,q[:3]) linalg.trace(S) linalg.vecdot(X,Y) linalg.vector_norm(X)
fft: fft.fft(v) fft.fft2(X) fft.fftn(D) fft.fftshift(v) fft.hfft(z) fft.ifft(z) fft.ifft2(X) fft.ifftn(D) fft.ifftshift(v) fft.ihfft(v) fft.irfft(z) fft.irfft2(C) fft.irfftn(C) fft.rfft(v,norm='ortho') fft.rfft2(X) fft.rfftn(X)
scimath: lib.scimath.arccos(X) lib.scimath.arcsin(X) lib.scimath.arctanh(X) lib.scimath.log(X) lib.scimath.log10(X) lib.scimath.log2(X) lib.scimath.logn(2,X) lib.scimath.power(X,0.5) lib.scimath.sqrt(X)
"""
# Functions of values that tensors can't hold: strings, dates, records, files that are read.
NEVER = frozenset(
    ["busday_count", "busday_offset", "datetime_as_string", "fromfile", "genfromtxt", "is_busday", "loadtxt", "isnat"]
)
# Functions whose results in NumPy are no comparable numbers, or are not unique.
OPEN = frozenset(["empty", "empty_like", "may_share_memory", "shares_memory", "einsum_path", "argpartition", "partition", "array2string", "array_repr", "array_str", "result_type", "can_cast", "common_type", "min_scalar_type", "unique_values", "linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.svd"])  # fmt: skip


def calls(text: str) -> Iterator[tuple[str, str]]:
    """Yields (heading, call) of each call in a list."""
    for line in text.strip().splitlines():
        head, _, words = line.partition(": ")
        for word in words.split(" "):
            yield head, word.replace("\xa0", " ")


def name_of(call: str) -> str:
    """Returns the function's name under numpy."""
    return call.partition("(")[0]


def operands() -> dict[str, Any]:
    """Returns the NumPy arrays of the calls."""
    random = np.random.default_rng(5)
    root = random.normal(size=(3, 3))
    X = random.normal(size=(6, 4))
    n = np.where(random.uniform(size=X.shape) < 0.2, np.nan, X)
    reals = {
        "v": random.uniform(0.2, 1.8, 40),
        "w": random.uniform(0.2, 1.8, 40),
        "X": X,
        "n": n,
        "Y": random.normal(size=X.shape),
        "S": root @ root.T + np.eye(3),
        "q": np.array([0.1, 0.25, 0.5, 0.75, 0.9]),
        "D": random.normal(size=(2, 3, 4)),
    }
    waves = {"C": X + 1j * n.clip(-1, 1).round(1), "z": random.normal(size=8) + 2j}
    waves["C"] = np.nan_to_num(waves["C"])
    return (
        {name: value.astype(np.float32) for name, value in reals.items()}
        | {name: value.astype(np.complex64) for name, value in waves.items()}
        | {"i": random.integers(1, 9, 40), "j": random.integers(1, 9, 40), "m": X > 0.3}
        | {"k": random.integers(0, 4, (6, 2)), "u": np.arange(4, dtype=np.uint8)}
    )


def leaves(value: Any) -> list[Any]:
    """Returns the arrays and numbers of a result."""
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value] if isinstance(value, (ft.Tensor, np.ndarray, np.generic, int, float)) else []


def evaluated(call: str, arrays: dict[str, Any]) -> Any:
    """Returns a call's result, or its first argument for a function without a result."""
    import io

    scope = {"np": np, "F": io.BytesIO}
    result = eval(f"np.{call}", scope | arrays)
    first = call.partition("(")[2].partition(",")[0]
    return arrays.get(first) if result is None else result


def on_device(call: str) -> tuple[str, str]:
    """Returns ("device" | "host" | "array" | "refused" | "differs" | "numpy refuses", reason) for a
    call."""
    arrays = operands()
    tensors = {name: ft.from_numpy(value.copy()) for name, value in arrays.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ft.fallback_report().reset()
        try:
            wanted = leaves(evaluated(call, arrays))
        except (TypeError, ValueError, np.linalg.LinAlgError) as error:
            return "numpy refuses", str(error)
        try:
            got = leaves(evaluated(call, tensors))
        except Exception as error:  # noqa: BLE001  # which is what the table shows
            return "refused", f"{type(error).__name__}: {error}"
        fell = any(row.op.startswith("numpy.") for row in ft.fallback_report())
    if name_of(call) not in OPEN:
        if len(wanted) != len(got):
            return "differs", f"{len(got)} results, not {len(wanted)}"
        for a, b in zip(wanted, got, strict=True):
            differing = difference(np.asarray(a), np.asarray(b))
            if differing:
                return "differs", differing
    if any(isinstance(b, np.ndarray) and b.ndim for b in got):
        return "array", "gives NumPy's arrays"
    return ("host" if fell else "device"), ""


def difference(a: Any, b: Any) -> str:
    """Returns the difference of a result from NumPy's in shape, kind or value, or ""."""
    if a.shape != b.shape:
        return f"shape {b.shape}, not {a.shape}"
    if a.dtype.kind != b.dtype.kind and {a.dtype.kind, b.dtype.kind} != {"i", "u"}:
        return f"{b.dtype}, not {a.dtype}"
    if not np.allclose(a, b, rtol=2e-4, atol=2e-5, equal_nan=True):
        return f"by {np.nanmax(np.abs(a - b)):.2g}" if a.dtype.kind != "b" else "values"
    return ""
