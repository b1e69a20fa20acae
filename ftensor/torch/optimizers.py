"""Optimizers' steps for all parameters in one call: `fused=True` of Adagrad, Adam, AdamW and
SGD.

A few launches for each parameter, without torch's dispatcher between; the formulas are in
`ops/nn/layers/updates.py`.
"""

from __future__ import annotations

from typing import Any

from ..ops.nn.layers.updates import Adam, adagrad, adam, descend
from .memory import lift, unwrap
from .registration import impl


def _skipped(grads: Any, grad_scale: Any, found_inf: Any) -> bool:
    """Whether a step is left out, as a gradient is no number; else gradients lose their scale."""
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
        of = Adam(float(lr), beta1, beta2, weight_decay, eps, maximize, decoupled)
        largest = list(map(unwrap, max_exp_avg_sqs)) if amsgrad else []
        adam(
            list(map(unwrap, self)),
            list(map(lift, grads)),
            list(map(unwrap, exp_avgs)),
            list(map(unwrap, exp_avg_sqs)),
            largest,
            list(map(lift, state_steps)),
            of,
        )

    return step


impl("_fused_adam_", "_fused_adam_.tensor_lr")(_adam(False))
impl("_fused_adamw_", "_fused_adamw_.tensor_lr")(_adam(True))


@impl("_fused_sgd_", "_fused_sgd_.tensor_lr")
def sgd(
    self: Any, grads: Any, momentum_buffer_list: Any, *, weight_decay: float, momentum: float,
    lr: Any, dampening: float, nesterov: bool, maximize: bool, is_first_step: bool,
    grad_scale: Any = None, found_inf: Any = None,
) -> None:  # fmt: skip
    """Gradient descent, with momentum where there are buffers."""
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


@impl("_fused_adagrad_", "_fused_adagrad_.tensor_lr")
def adagrad_step(
    self: Any, grads: Any, state_sums: Any, state_steps: Any, *, lr: Any, lr_decay: float,
    weight_decay: float, eps: float, maximize: bool, grad_scale: Any = None, found_inf: Any = None,
) -> None:  # fmt: skip
    """Steps that are the smaller, the larger the gradients before were."""
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
