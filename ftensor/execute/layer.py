"""Layers: ops that a kernel of a network or of stages may contain as a whole, as a trace records them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .dispatch import recorder

if TYPE_CHECKING:
    from .._tensor import Tensor

# The kind of filters, which are stages of rows; the other kinds are layers of networks.
FIR = "fir"


def layer(kind: str, inputs: Sequence[Tensor], settings: Mapping[str, Any], compute: Callable[[], Tensor]) -> Tensor:
    """Returns `compute()`, whose launches a trace records as one layer of this kind on `inputs`.

    `settings` are the op's other arguments; tensors among them are constants of the layer.
    """
    backend = inputs[0]._storage.backend
    tracer = None if backend.executor is None else recorder(backend)
    return compute() if tracer is None else tracer.layer(kind, inputs, settings, compute)
