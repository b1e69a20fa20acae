"""`torch.autocast("fpga")`: lists of ops that run in the lower dtype, float32 or the widest dtype.

The lists follow torch's documentation of autocast on accelerators ("Autocast Op Reference").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.library import Library, fallthrough_kernel

from .internals import ExcludeKeys, Key, Keys, overload
from .registration import NAME

LOWER = """
    conv1d conv1d.padding conv2d conv2d.padding conv3d conv3d.padding conv_transpose1d conv_transpose2d.input
    conv_transpose3d.input convolution _convolution prelu addmm addmv addr matmul einsum mm mv linalg_vecdot
    linalg_multi_dot linear addbmm baddbmm bmm chain_matmul scaled_dot_product_attention _thnn_fused_lstm_cell
    _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
"""
FLOAT = """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow.Tensor_Scalar pow.Tensor_Tensor
    pow.Scalar softplus layer_norm native_layer_norm group_norm frobenius_norm.dim nuclear_norm nuclear_norm.dim
    cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss
    smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss
    multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp upsample_nearest1d
    upsample_nearest2d upsample_bilinear2d cross_entropy_loss
"""
# Ops with a dtype argument: they run in float32 if `dtype` is None.
FLOAT_UNLESS = """
    prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm sum sum.dim_IntList
"""
WIDEST = """
    addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put tensordot scatter_add stack cat
"""

_KEY = "AutocastPrivateUse1"
_keys = Keys(getattr(Key, _KEY))
_aten = Library("aten", "IMPL", _KEY)
_everything = Library("_", "IMPL")
# Cache of cast weights, (weight, cast weight) by id(weight): each weight is cast once in the
# outermost autocast region.
_cast: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
_clear = torch.clear_autocast_cache


@wraps(_clear)
def _clear_cache() -> None:
    _cast.clear()
    _clear()


def _floating(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.device.type == NAME and x.is_floating_point()


def _cast_list(x: Any, dtype: torch.dtype) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)([_cast_list(y, dtype) for y in x])
    if not _floating(x) or x.dtype in (dtype, torch.float64):
        return x
    weight = x.requires_grad and x.is_leaf and x.dtype is torch.float32
    if not weight or dtype is torch.float32 or not torch.is_autocast_cache_enabled():
        return x.to(dtype)
    cached = _cast.get(id(x))
    if cached is None or cached[1].dtype is not dtype:
        cached = _cast[id(x)] = x, x.to(dtype)
    return cached[1]


def _widest(args: Any, kwargs: Any) -> torch.dtype | None:
    widest = None
    for x in (*args, *kwargs.values()):
        for y in x if isinstance(x, (list, tuple)) else (x,):
            if _floating(y):
                widest = y.dtype if widest is None else torch.promote_types(widest, y.dtype)
    return widest


def _register(names: str, choose: Callable[[Any, Any], torch.dtype | None]) -> None:
    for name in names.split():
        op = overload(name)

        def kernel(*args: Any, _op: Any = op, **kwargs: Any) -> Any:
            with ExcludeKeys(_keys):
                dtype = choose(args, kwargs)
                if dtype is not None:
                    args = tuple([_cast_list(x, dtype) for x in args])
                    kwargs = {word: _cast_list(x, dtype) for word, x in kwargs.items()}
                return _op(*args, **kwargs)

        _aten.impl(name, kernel)


def install() -> None:
    """Registers the autocast kernels: torch has none for out-of-tree backends."""
    _register(LOWER, lambda args, kwargs: torch.get_autocast_dtype(NAME))
    _register(FLOAT, lambda args, kwargs: torch.float32)
    _register(FLOAT_UNLESS, lambda args, kwargs: torch.float32 if kwargs.get("dtype") is None else None)
    _register(WIDEST, _widest)
    _everything.fallback(fallthrough_kernel, _KEY)
    torch.clear_autocast_cache = _clear_cache
