"""torch's Fourier transforms: each a kind, a direction and the dims that it goes along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import spectral as errors_spectral
from ...execute.fft import known
from ...iterator.shape import Ints, numel
from ...rows.catalogue import op
from ..compose import composed
from ..rearrange.flip import roll
from ..view.arguments import int_list
from .arguments import along_one, along_several, dim_of, factor_of, numbers, real_out
from .transform import complex_to_complex, complex_to_real, one_dim, real_to_complex, resized


class Kind(Enum):
    """What a transform makes of what."""

    COMPLEX = "complex numbers of as many"
    HALF = "of real numbers the first half of a spectrum, which the rest mirrors"
    REAL = "real numbers of such a half"


COMPLEX, HALF, REAL = Kind
FORWARD, INVERSE = False, True


@dataclass(frozen=True)
class Transform:
    """What a transform is: from it come the functions that go along one dim, two, or several."""

    name: str
    kind: Kind
    inverse: bool

    def along_one(self, doc: str) -> Callable[..., Tensor]:
        """The op of one dim."""
        name, inverse = self.name, self.inverse

        def run(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
            key, result = _seen(name, input, n, dim, norm)
            if result is not None:
                return result
            x = self._operand(input)
            axis, points = along_one(name, x, n, dim, self.kind is REAL)
            if self.kind is COMPLEX:  # whose kernels cut the input, and put zeros behind it
                factor = factor_of(name, norm, points, inverse)
                return one_dim(x, axis, points, inverse, factor, None, key if x is input else None)
            x = self._resized(x, (axis,), (points,))
            return self._run(x, (axis,), (points,), norm, key if x is input else None)

        return self._entered(run, doc)

    def along_several(self, doc: str, dims: Ints | None = None) -> Callable[..., Tensor]:
        """The op of several dims, of `dims` where none are named."""

        def run(
            input: Tensor,
            s: int | Sequence[int] | None = None,
            dim: int | Sequence[int] | None = dims,
            norm: str | None = None,
        ) -> Tensor:
            x = self._operand(input)
            axes, points = along_several(self.name, x, s, dim, self.kind is REAL)
            if not axes and self.kind is not COMPLEX:
                raise errors_spectral.no_axis(self.name)
            return self._run(self._resized(x, axes, points), axes, points, norm)

        return self._entered(run, doc)

    def along_two(self) -> Callable[..., Tensor]:
        """The op of the last two dims."""
        doc = f"`{self.name.removesuffix('2')}n` along the last two dims."
        return self.along_several(doc, (-2, -1))

    def _operand(self, input: Any) -> Tensor:
        """The input in the dtype that is read."""
        x = numbers(self.name, input, self.kind is HALF)
        return x if self.kind is HALF else x.to(x._dtype.to_complex())

    def _resized(self, x: Tensor, dims: Ints, points: Ints) -> Tensor:
        """As many numbers as are read for so many `points`, or results, along `dims`."""
        if self.kind is REAL:
            points = (*points[:-1], points[-1] // 2 + 1)
        return resized(x, dims, points)

    def _run(self, x: Tensor, dims: Ints, points: Ints, norm: Any, also: Any = None) -> Tensor:
        """The transforms; `also` is a key under which `known` is to find the launch."""
        factor = factor_of(self.name, norm, numel(points), self.inverse)
        if self.kind is COMPLEX:
            return complex_to_complex(x, dims, self.inverse, factor)
        if self.kind is HALF:
            return real_to_complex(x, dims, factor, self.inverse, also)
        return complex_to_real(x, dims, points[-1], factor, self.inverse, also)

    def _entered(self, run: Callable[..., Tensor], doc: str) -> Callable[..., Tensor]:
        """The function, in the catalogue."""
        run.__name__ = run.__qualname__ = self.name
        run.__doc__ = doc
        check = real_out if self.kind is REAL else None
        return composed(namespace="fft", method=False, check=check)(run)


def _seen(op: str, input: Any, n: Any, dim: Any, norm: Any) -> tuple[Any, Tensor | None]:
    """A key for such a call, and its result where one like it was served before."""
    if type(input) is not Tensor or type(dim) is not int:
        return None, None
    key = (op, input._key, n, dim, norm)
    try:
        return key, known(key, input)
    except TypeError:  # something that is no number, which is refused elsewhere
        return None, None


fft = Transform("fft", COMPLEX, FORWARD).along_one("""
    The discrete Fourier transform along `dim`, of `n` points: cut, or padded with zeros.

    Element k is the sum of x[m] exp(-2 pi i k m / n), times 1/n for norm "forward" and 1/sqrt(n)
    for "ortho". The result is complex. RuntimeError for 16-bit dtypes, n < 1 and an unknown norm.
""")
ifft = Transform("ifft", COMPLEX, INVERSE).along_one("""
    The inverse of `fft`: exponents with the other sign, times 1/n for norm "backward", which is
    the default.
""")
rfft = Transform("rfft", HALF, FORWARD).along_one("""
    `fft` of real numbers: the first n // 2 + 1 of it, which the others mirror. RuntimeError for
    complex inputs.
""")
irfft = Transform("irfft", REAL, INVERSE).along_one("""
    The inverse of `rfft`: `n` real numbers, without `n` twice as many as the input less 2.
""")
hfft = Transform("hfft", REAL, FORWARD).along_one("""
    The transform of what is one half of a Hermitian signal: `n` real numbers.
""")
ihfft = Transform("ihfft", HALF, INVERSE).along_one("""
    The inverse of `hfft`: one half of a Hermitian signal from real numbers. RuntimeError for
    complex inputs.
""")

fftn = Transform("fftn", COMPLEX, FORWARD).along_several("""
    `fft` along several dims: those of `dim`, else the last ones that `s` has sizes for, else
    all. A size of -1 is the input's. RuntimeError for dims named twice and more sizes than dims.
""")
ifftn = Transform("ifftn", COMPLEX, INVERSE).along_several("The inverse of `fftn`.")
rfftn = Transform("rfftn", HALF, FORWARD).along_several("""
    `fftn` of real numbers: the first half of it along the last of the dims.
""")
irfftn = Transform("irfftn", REAL, INVERSE).along_several("""
    The inverse of `rfftn`: real numbers, of which the last dim's size is the last of `s`, else
    twice the input's less 2.
""")
hfftn = Transform("hfftn", REAL, FORWARD).along_several("""
    `fftn` of what is one half of a Hermitian signal along the last of the dims: real numbers.
""")
ihfftn = Transform("ihfftn", HALF, INVERSE).along_several("""
    The inverse of `hfftn`, of real numbers.
""")

fft2 = Transform("fft2", COMPLEX, FORWARD).along_two()
ifft2 = Transform("ifft2", COMPLEX, INVERSE).along_two()
rfft2 = Transform("rfft2", HALF, FORWARD).along_two()
irfft2 = Transform("irfft2", REAL, INVERSE).along_two()
hfft2 = Transform("hfft2", REAL, FORWARD).along_two()
ihfft2 = Transform("ihfft2", HALF, INVERSE).along_two()


def _shifted(op: str, input: Any, dim: Any, back: bool) -> Tensor:
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(op, "input", input)
    if dim is None:
        dims: Ints = tuple(range(input.ndim))
    else:
        dims = int_list([dim] if isinstance(dim, int) else dim, op, "dim")
        for d in dims:
            dim_of(op, input, d)
    if not input.ndim:
        raise errors_spectral.no_shift(op)
    sizes = [input._shape[d] for d in dims]
    return roll(input, tuple([(n + back) // 2 for n in sizes]), dims)


@op(namespace="fft", method=False)
def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The zero frequency brought from the front to the middle, along `dim` or all dims."""
    return _shifted("fftshift", input, dim, False)


@op(namespace="fft", method=False)
def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _shifted("ifftshift", input, dim, True)
