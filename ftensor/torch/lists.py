"""Ops of torch on lists of tensors (`_foreach_*`), of which its optimizers are made: one kernel for
sixteen of them.

Lists of another dtype than the floating ones go tensor by tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..errors import torch_device as errors
from ..graph.listed import listed
from .memory import lift, unwrap, wrap
from .registration import impl

_FLOATS = {torch.float32, torch.float64, torch.float16, torch.bfloat16}
# Methods, and the overloads that lists have of them; each also in place.
_OPS = {
    "add": "List Scalar ScalarList Tensor",
    "sub": "List Scalar ScalarList",
    "mul": "List Scalar ScalarList Tensor",
    "div": "List Scalar ScalarList Tensor",
    "addcmul": "Scalar ScalarList",
    "addcdiv": "Scalar ScalarList",
    "lerp": "List Scalar ScalarList",
    "sqrt": "",
    "neg": "",
    "reciprocal": "",
    "exp": "",
    "abs": "",
}


def _at(x: Any, k: int) -> Any:
    return x[k] if isinstance(x, (list, tuple)) else x


def _served(name: str) -> Callable[..., Any]:
    """The kernel of a method, by its name as torch has it: with "_" where it is in place."""
    inplace = name.endswith("_")

    def each(xs: Any, words: tuple[str, ...], *values: Any) -> list[Any] | None:
        many = len(values) - len(words)
        results = []
        for k, x in enumerate(xs):
            named = {word: _at(of, k) for word, of in zip(words, values[many:])}
            results.append(getattr(x, name)(*[_at(of, k) for of in values[:many]], **named))
        return None if inplace else results

    each.__qualname__ = f"_foreach_{name}"
    together = listed(each)

    def call(self: Sequence[torch.Tensor], *args: Any, **kwargs: Any) -> Any:
        if name.startswith("addc") and len(args) == 3:
            *args, kwargs["value"] = args  # type: ignore[assignment]
        values = (*args, *kwargs.values())
        lists = [x for x in values if isinstance(x, (list, tuple))]
        if not self or any(len(x) != len(self) for x in lists):
            lengths = ", ".join([str(len(x)) for x in (self, *lists)])
            raise errors.list_lengths(op=name, lengths=lengths)
        words = tuple(kwargs)
        if not all(t.dtype in _FLOATS for t in self):
            return each(self, words, *values)
        try:
            own = list(map(unwrap, self))
            brought = [list(map(lift, x)) if isinstance(x, (list, tuple)) else lift(x) for x in values]
        except RuntimeError:  # some lie on the CPU: torch takes or refuses each pair
            return each(self, words, *values)
        results = together(own, words, *brought)
        return None if results is None else list(map(wrap, results))

    return call


for _name, _overloads in _OPS.items():
    for _method in (_name, f"{_name}_"):
        _full = [f"_foreach_{_method}.{of}" for of in _overloads.split()]
        impl(*(_full or [f"_foreach_{_method}"]))(_served(_method))
