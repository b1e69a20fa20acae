"""Arguments and results that factorizations and solvers share."""

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

# LAPACK's dtypes.
DTYPES = ("float32", "float64", "complex64", "complex128")


def matrices(op: str, *names: str, square: bool = False, **operands: Any) -> None:
    """Checks operands: raises TypeError if one is no tensor. Raises RuntimeError for fewer than 2
    dims (1 for `names`, which may be vectors), matrices that are not square with `square`,
    unsupported dtypes, and different dtypes."""
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
    batch = broadcast_shapes(A._shape[:-2], B._shape[:-2])
    return A.expand((*batch, *A._shape[-2:])), B.expand((*batch, *B._shape[-2:]))


def column_strides(shape: Ints) -> Ints:
    *batch, m, n = shape
    transposed_strides = output.contiguous_strides((*batch, n, m))
    return (*transposed_strides[:-2], transposed_strides[-1], transposed_strides[-2])


def new_column_major(shape: Ints, like: Tensor, result_dtype: Any = None) -> Tensor:
    device = like._storage.device
    return output.new(shape, result_dtype or like._dtype, device, column_strides(shape))


def to_column_major(x: Tensor) -> Tensor:
    return pointwise(COPY, (x,), (), new_column_major(x._shape, x), True)


def on_host(op: str, function: Callable[..., Any], *inputs: Tensor, columns: Ints = ()) -> tuple[Tensor, ...]:
    """Runs a NumPy function on matrices; results whose numbers are in `columns` get a column-major
    layout. Raises LinAlgError if its iteration doesn't converge."""

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
    """Waits for the kernel's `info`; raises `error(name, index in the batch, info)` for the first
    matrix that could not be factored."""
    codes = info.reshape(-1).tolist()
    for index, value in enumerate(codes):
        if value:
            raise error(name, index if info.ndim else None, value)


@dataclass(frozen=True)
class MatrixFunction:
    """A function of matrices, from which its forms are made: `linalg.name`, `linalg.name_ex`, and
    torch's older function. `compute` takes the name for messages, the operands, and options as
    keywords; `tuple_class` is the type of a tuple result.

    With an `error` the last result is info, whose nonzero elements mean that error, and the form
    `_ex` exists, whose result type is `ex`. `legacy` has the name and the parameter names of the
    older function outside linalg, whose arguments may all be positional.
    """

    name: str
    compute: Callable[..., Any]
    tuple_class: Any = None
    error: Callable[..., Exception] | None = None
    ex: Any = None
    legacy: tuple[str, ...] = ()

    def linalg(self, doc: str) -> Callable[..., Any]:
        """Returns the op in linalg. Its Python name has the prefix `linalg_` if the older function
        has the same name."""
        longer = f"linalg_{self.name}" if self.name in self.legacy[:1] else self.name
        function = self._written(longer, f"linalg.{self.name}", self._raising(), self._own(), doc)
        return composed(name=self.name, namespace="linalg", method=False)(function)

    def linalg_ex(self, doc: str) -> Callable[..., Any]:
        """Returns the op `_ex`, which also returns info and raises only with `check_errors`."""
        compute, error, ex = self.compute, self.error, self.ex

        def run(op: str, *operands: Any, check_errors: bool, **options: Any) -> Any:
            results = compute(op, *operands, **options)
            if check_errors:
                raise_for(results[-1], error, op)
            return ex(results)

        name, parameters = f"{self.name}_ex", [*self._own(), CHECK]
        function = self._written(name, f"linalg.{name}", run, parameters, doc, ex)
        return composed(namespace="linalg", method=False)(function)

    def legacy_function(self) -> Callable[..., Any]:
        name, *words = self.legacy
        doc = f"See `linalg.{self.name}`."
        return composed()(self._written(name, name, self._raising(), self._own(), doc, None, words))

    def _own(self) -> list[Parameter]:
        return list(signature(self.compute).parameters.values())[1:]

    def _raising(self) -> Callable[..., Any]:
        compute, error, has_tuple = self.compute, self.error, self.tuple_class

        def run(op: str, *operands: Any, **options: Any) -> Any:
            results = compute(op, *operands, **options)
            if error is not None:
                *results, info = results
                raise_for(info, error, op)
                results = results if has_tuple else results[0]
            return has_tuple(results) if has_tuple else results

        return run

    def _written(
        self,
        name: str,
        op: str,
        run: Callable[..., Any],
        parameters: Sequence[Parameter],
        doc: str,
        tuple_class: Any = None,
        legacy_names: Sequence[str] = (),
    ) -> Callable[..., Any]:
        """Returns a function with the parameters `parameters` that calls `run` with the op's name
        and its arguments."""
        tuple_class = tuple_class or self.tuple_class
        shown_parameters = [p.replace(name=w, kind=POSITIONAL) for p, w in zip(parameters, legacy_names)] or parameters
        arguments = [
            f"{p.name}={w.name}" if p.kind is KEYWORD else w.name for p, w in zip(parameters, shown_parameters)
        ]
        return written(
            name,
            declared(shown_parameters),
            f"return run({op!r}, {', '.join(arguments)})",
            doc,
            f"return_types.{tuple_class.__name__}" if tuple_class else "Tensor",
            __name__=self.compute.__module__,
            run=run,
        )
