"""What `torch.amp.GradScaler` asks of the device: gradients divided by the scale, and the scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._tensor import Tensor
from ..execute.copy import copy
from ..ops.pointwise.ternary import where
from ..ops.rearrange.cat import stack
from ..ops.reduce.norm import vector_norm
from .memory import lift, unwrap
from .registration import impl


@impl("_amp_foreach_non_finite_check_and_unscale_")
def unscale(self: Sequence[Any], found_inf: Any, inv_scale: Any) -> None:
    """Multiply all by `inv_scale`; `found_inf` is 1 where an element was infinite or no number."""
    tensors = [unwrap(t) for t in self if t.numel()]
    if not tensors:
        return
    flag, factor = unwrap(found_inf), lift(inv_scale)
    largest = stack([_largest(x) for x in tensors])
    bad = largest.isfinite().all().logical_not().to(flag._dtype)
    copy(flag.maximum(bad).reshape(flag._shape), flag)
    for x in tensors:
        x.mul_(factor.reshape(()))


def _largest(x: Tensor) -> Tensor:
    """The largest absolute value, NaN where there is one, as float32."""
    largest: Tensor = vector_norm(x, float("inf")) if x.ndim else x.abs()
    return largest.float()


@impl("_amp_update_scale_")
def update_scale(
    self: Any,
    growth_tracker: Any,
    found_inf: Any,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Any:
    """The next scale: less after an infinity, more after so many steps without one.

    A scale that would be infinite stays as it is.
    """
    scale, tracker = unwrap(self), unwrap(growth_tracker)
    bad, steps = lift(found_inf).reshape(scale._shape) > 0, tracker + 1
    grows = steps.reshape(scale._shape) == growth_interval
    larger = scale * scale_growth_factor
    kept = where(grows & larger.isfinite(), larger, scale)
    copy(where(bad, scale * scale_backoff_factor, kept), scale)
    copy(where((bad | grows).reshape(tracker._shape), 0, steps).to(tracker._dtype), tracker)
    return self
