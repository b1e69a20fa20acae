"""The names that torch has for a function of matrices: in linalg, there with `_ex`, and the older
one outside of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from ..._tensor import Tensor
from ...rows.spelling import declared, written
from ..compose import composed

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
