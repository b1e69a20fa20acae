"""Kernels of torch._foreach_* ops, fused optimizers and gradient scaling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .._tensor import Tensor
from ..errors import torch as errors
from ..execute.pointwise import copy
from ..graph.fused import fused_foreach
from ..ops.nn.layers.updates import Adam, adagrad, adam, descend
from ..ops.pointwise.ternary import where
from ..ops.rearrange.cat import stack
from ..ops.reduce.stats import vector_norm
from .memory import lift, unwrap, wrap
from .prepared_kernels import impl_prepared
from .registration import impl

_FLOATS = {torch.float32, torch.float64, torch.float16, torch.bfloat16}
# Methods, and the overloads of their _foreach_ ops; each op also has an in-place form.
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


def _item_at(value: Any, k: int) -> Any:
    return value[k] if isinstance(value, (list, tuple)) else value


def _foreach_kernel(name: str) -> Callable[..., Any]:
    """Returns the _foreach_ kernel of method `name`, in place if `name` ends in "_"."""
    inplace = name.endswith("_")

    def each(xs: Any, words: tuple[str, ...], *values: Any) -> list[Any] | None:
        tensor_count = len(values) - len(words)
        results = []
        for k, x in enumerate(xs):
            keywords = {word: _item_at(option, k) for word, option in zip(words, values[tensor_count:])}
            results.append(getattr(x, name)(*[_item_at(option, k) for option in values[:tensor_count]], **keywords))
        return None if inplace else results

    each.__qualname__ = f"_foreach_{name}"
    fused = fused_foreach(each)

    def call(self: Sequence[torch.Tensor], *args: Any, **kwargs: Any) -> Any:
        if name.startswith("addc") and len(args) == 3:
            *args, kwargs["value"] = args  # type: ignore[assignment]
        values = (*args, *kwargs.values())
        tensor_lists = [x for x in values if isinstance(x, (list, tuple))]
        if not self or any(len(x) != len(self) for x in tensor_lists):
            lengths = ", ".join([str(len(x)) for x in (self, *tensor_lists)])
            raise errors.list_lengths(op=name, lengths=lengths)
        words = tuple(kwargs)
        if not all(t.dtype in _FLOATS for t in self):
            return each(self, words, *values)
        try:
            unwrapped = list(map(unwrap, self))
            lifted = [list(map(lift, x)) if isinstance(x, (list, tuple)) else lift(x) for x in values]
        except RuntimeError:  # some are on the CPU: the dispatcher checks each pair
            return each(self, words, *values)
        results = fused(unwrapped, words, *lifted)
        if inplace:  # tells autograd that saved tensors and views have changed
            torch.autograd.graph.increment_version(self)
        return None if results is None else list(map(wrap, results))

    return call


for _name, _overloads in _OPS.items():
    for _method in (_name, f"{_name}_"):
        _full = [f"_foreach_{_method}.{of}" for of in _overloads.split()]
        _after = "increment_version(self)" if _method.endswith("_") else ""
        impl_prepared(*(_full or [f"_foreach_{_method}"]), after=_after)(_foreach_kernel(_method))


@impl("_amp_foreach_non_finite_check_and_unscale_")
def unscale(self: Sequence[Any], found_inf: Any, inv_scale: Any) -> None:
    """Multiplies all tensors by `inv_scale`; sets `found_inf` to 1 if an element is inf or NaN."""
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
    """Returns the largest absolute value as float32, or NaN if `x` has a NaN."""
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
    """Updates the loss scale in place and returns it.

    The scale shrinks after a step with inf or NaN, and grows after `growth_interval` steps without
    either, unless it would become infinite.
    """
    scale, tracker = unwrap(self), unwrap(growth_tracker)
    bad, steps = lift(found_inf).reshape(scale._shape) > 0, tracker + 1
    grows = steps.reshape(scale._shape) == growth_interval
    larger = scale * scale_growth_factor
    clamped = where(grows & larger.isfinite(), larger, scale)
    copy(where(bad, scale * scale_backoff_factor, clamped), scale)
    copy(where((bad | grows).reshape(tracker._shape), 0, steps).to(tracker._dtype), tracker)
    return self


def _skipped(grads: Any, grad_scale: Any, found_inf: Any) -> bool:
    """True if `found_inf` is set and the step must be skipped; else unscales the gradients."""
    if found_inf is not None and found_inf.item():
        return True
    if grad_scale is not None:
        for grad in grads:
            grad.div_(grad_scale)
    return False


def _adam(decoupled: bool) -> Any:
    def step(
        self: Any, grads: Any, exp_avgs: Any, exp_avg_sqs: Any, max_exp_avg_sqs: Any,
        state_steps: Any, *, lr: Any, beta1: float, beta2: float, weight_decay: float, eps: float,
        amsgrad: bool, maximize: bool, grad_scale: Any = None, found_inf: Any = None,
    ) -> None:  # fmt: skip
        if _skipped(grads, grad_scale, found_inf):
            return
        settings = Adam(float(lr), beta1, beta2, weight_decay, eps, maximize, decoupled)
        largest = list(map(unwrap, max_exp_avg_sqs)) if amsgrad else []
        adam(
            list(map(unwrap, self)),
            list(map(lift, grads)),
            list(map(unwrap, exp_avgs)),
            list(map(unwrap, exp_avg_sqs)),
            largest,
            list(map(lift, state_steps)),
            settings,
        )

    return step


impl_prepared("_fused_adam_", "_fused_adam_.tensor_lr")(_adam(False))
impl_prepared("_fused_adamw_", "_fused_adamw_.tensor_lr")(_adam(True))


@impl_prepared("_fused_sgd_", "_fused_sgd_.tensor_lr")
def sgd(
    self: Any, grads: Any, momentum_buffer_list: Any, *, weight_decay: float, momentum: float,
    lr: Any, dampening: float, nesterov: bool, maximize: bool, is_first_step: bool,
    grad_scale: Any = None, found_inf: Any = None,
) -> None:  # fmt: skip
    """Fused SGD step, with momentum if there are momentum buffers."""
    if _skipped(grads, grad_scale, found_inf):
        return
    descend(
        list(map(unwrap, self)),
        list(map(lift, grads)),
        list(map(unwrap, momentum_buffer_list)),
        float(lr),
        weight_decay,
        momentum,
        dampening,
        nesterov,
        maximize,
        is_first_step,
    )


@impl_prepared("_fused_adagrad_", "_fused_adagrad_.tensor_lr")
def adagrad_step(
    self: Any, grads: Any, state_sums: Any, state_steps: Any, *, lr: Any, lr_decay: float,
    weight_decay: float, eps: float, maximize: bool, grad_scale: Any = None, found_inf: Any = None,
) -> None:  # fmt: skip
    """Fused Adagrad step."""
    if _skipped(grads, grad_scale, found_inf):
        return
    adagrad(
        list(map(unwrap, self)),
        list(map(lift, grads)),
        list(map(unwrap, state_sums)),
        list(map(lift, state_steps)),
        float(lr),
        lr_decay,
        weight_decay,
        eps,
        maximize,
    )
