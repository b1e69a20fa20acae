"""Arguments and result forms that factors and solutions share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...errors import linalg as errors_factor
from ...execute import output
from ...execute.fallback import run_numpy
from ...execute.pointwise import pointwise
from ...iterator.shape import Ints, broadcast_shapes
from ...rows.copies import COPY
from ...rows.spelling import declared, written
from ..bind import composed

# What LAPACK computes in.
DTYPES = ("float32", "float64", "complex64", "complex128")


def matrices(op: str, *names: str, square: bool = False, **operands: Any) -> None:
    """TypeError for what is no tensor; RuntimeError for fewer than 2 dims, matrices that are not
    square, and dtypes that are not computed in, or are several. `names` may be vectors.
    """
    for name, x in operands.items():
        if type(x) is not Tensor:
            raise errors.not_a_tensor(op, name, x)
        if x.ndim < 2 and name not in names:
            raise errors_factor.needs_matrices(op, name, x._shape)
        if square and name not in names and x._shape[-1] != x._shape[-2]:
            raise errors_factor.not_square(op, name, x._shape)
        if x._dtype.name not in DTYPES:
            if x._dtype.bare and x._dtype.kind in "fc":
                raise errors.not_implemented_for(op, x._dtype)
            raise errors_factor.dtype(op, name, x._dtype)
    tensors = list(operands.values())
    if any(x._dtype is not tensors[0]._dtype for x in tensors):
        raise errors_factor.dtypes_differ(op, *[x._dtype for x in tensors])
    if any(x._storage.device is not tensors[0]._storage.device for x in tensors):
        raise errors.different_devices(op, [x.device for x in tensors])


def one_batch(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the batch dims that they have together."""
    batch = broadcast_shapes(A._shape[:-2], B._shape[:-2])
    return A.expand((*batch, *A._shape[-2:])), B.expand((*batch, *B._shape[-2:]))


def column_strides(shape: Ints) -> Ints:
    """The strides of matrices that lie one after the other, column after column."""
    *batch, m, n = shape
    turned = output.contiguous_strides((*batch, n, m))
    return (*turned[:-2], turned[-1], turned[-2])


def by_columns(shape: Ints, like: Tensor, of: Any = None) -> Tensor:
    """Memory for matrices, column after column, as LAPACK has them."""
    where = like._storage.device
    return output.new(shape, of or like._dtype, where, column_strides(shape))


def in_columns(x: Tensor) -> Tensor:
    """A copy of matrices, column after column."""
    return pointwise(COPY, (x,), (), by_columns(x._shape, x), True)


def on_host(op: str, function: Callable[..., Any], *inputs: Tensor, columns: Ints = ()) -> tuple[Tensor, ...]:
    """What a NumPy function makes of matrices; its results with numbers in `columns` are laid out
    column after column. LinAlgError where its iteration does not end."""

    def run(*arrays: Any) -> tuple[Any, ...]:
        results = function(*arrays)
        results = results if isinstance(results, tuple) else (results,)
        return tuple([a.swapaxes(-1, -2) if k in columns else a for k, a in enumerate(results)])

    try:
        with np.errstate(all="ignore"):
            results = run_numpy(op, run, inputs)
    except np.linalg.LinAlgError:
        raise errors_factor.no_convergence(op) from None
    return tuple([t.transpose(-1, -2) if k in columns else t for k, t in enumerate(results)])


POSITIONAL, KEYWORD = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
CHECK = Parameter("check_errors", KEYWORD, default=False, annotation="bool")


def raise_for(info: Tensor, error: Any, name: str) -> None:
    """Wait for what a kernel found, and raise `error(name, index in the batch, found)` for the
    first matrix that could not be factored."""
    codes = info.reshape(-1).tolist()
    for index, value in enumerate(codes):
        if value:
            raise error(name, index if info.ndim else None, value)


@dataclass(frozen=True)
class MatrixFunction:
    """`linalg.name`: what computes it, from the name that messages give, the operands, and options
    as keywords, and the type of its results where they are `several`.

    With an `error` the last result is info: what is not 0 in it means that error, and there is a
    form with `_ex`, whose results are of the type `ex`. `former` has the name and the parameters'
    names of the function before linalg was; there all arguments may be positional.
    """

    name: str
    compute: Callable[..., Any]
    several: Any = None
    error: Callable[..., Exception] | None = None
    ex: Any = None
    former: tuple[str, ...] = ()

    def linalg(self, doc: str) -> Callable[..., Any]:
        """The op in linalg. In its module its name is longer where the former one has it."""
        longer = f"linalg_{self.name}" if self.name in self.former[:1] else self.name
        function = self._written(longer, f"linalg.{self.name}", self._raising(), self._own(), doc)
        return composed(name=self.name, namespace="linalg", method=False)(function)

    def linalg_ex(self, doc: str) -> Callable[..., Any]:
        """The op that returns info, too, and raises only where it is told to."""
        compute, error, ex = self.compute, self.error, self.ex

        def run(op: str, *operands: Any, check_errors: bool, **options: Any) -> Any:
            results = compute(op, *operands, **options)
            if check_errors:
                raise_for(results[-1], error, op)
            return ex(results)

        name, own = f"{self.name}_ex", [*self._own(), CHECK]
        function = self._written(name, f"linalg.{name}", run, own, doc, ex)
        return composed(namespace="linalg", method=False)(function)

    def outside(self) -> Callable[..., Any]:
        """The former op."""
        name, *words = self.former
        doc = f"See `linalg.{self.name}`."
        return composed()(self._written(name, name, self._raising(), self._own(), doc, None, words))

    def _own(self) -> list[Parameter]:
        """Those of the functions, which are all but the first of `compute`."""
        return list(signature(self.compute).parameters.values())[1:]

    def _raising(self) -> Callable[..., Any]:
        compute, error, several = self.compute, self.error, self.several

        def run(op: str, *operands: Any, **options: Any) -> Any:
            results = compute(op, *operands, **options)
            if error is not None:
                *results, info = results
                raise_for(info, error, op)
                results = results if several else results[0]
            return several(results) if several else results

        return run

    def _written(
        self,
        name: str,
        op: str,
        run: Callable[..., Any],
        own: Sequence[Parameter],
        doc: str,
        several: Any = None,
        words: Sequence[str] = (),
    ) -> Callable[..., Any]:
        """A function that says its parameters, and has `run` called with them and the op's name."""
        several = several or self.several
        shown = [p.replace(name=w, kind=POSITIONAL) for p, w in zip(own, words)] or own
        arguments = [f"{p.name}={w.name}" if p.kind is KEYWORD else w.name for p, w in zip(own, shown)]
        return written(
            name,
            declared(shown),
            f"return run({op!r}, {', '.join(arguments)})",
            doc,
            f"return_types.{several.__name__}" if several else "Tensor",
            __name__=self.compute.__module__,
            run=run,
        )
