"""The functions of ftensor.nn.functional, torch's.

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from .._device import DeviceLike, device as _device
from .._tensor import Tensor as _Tensor
from ..dtypes import dtype as _dtype
from ..formats import Size as _Size, layout as _layout, memory_format as _memory_format
from ..modules import Module as _Module
from .. import return_types as _return_types

_Number = _complex | np.generic

def adaptive_avg_pool1d(input: _Tensor, output_size: Any) -> _Tensor:
    """The means of windows that divide the last 1 dims into as many as `output_size` says (an int, or
    1, None being the input's). Those of one dim overlap by one where it does not divide. ValueError
    for too few dims, RuntimeError for other sizes.
    """
def adaptive_avg_pool2d(input: _Tensor, output_size: Any) -> _Tensor:
    """The means of windows that divide the last 2 dims into as many as `output_size` says (an int, or
    2, None being the input's). Those of one dim overlap by one where it does not divide. ValueError
    for too few dims, RuntimeError for other sizes.
    """
def adaptive_avg_pool3d(input: _Tensor, output_size: Any) -> _Tensor:
    """The means of windows that divide the last 3 dims into as many as `output_size` says (an int, or
    3, None being the input's). Those of one dim overlap by one where it does not divide. ValueError
    for too few dims, RuntimeError for other sizes.
    """
def adaptive_max_pool1d(input: _Tensor, output_size: Any, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The maxima, with `return_indices` also their positions, of windows that divide the last 1 dims into as many as `output_size` says (an int, or
    1, None being the input's). Those of one dim overlap by one where it does not divide. ValueError
    for too few dims, RuntimeError for other sizes.
    """
def adaptive_max_pool1d_with_indices(input: _Tensor, output_size: Any, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """The maxima, and their positions, of windows that divide the last 1 dims into as many as `output_size` says (an int, or
    1, None being the input's). Those of one dim overlap by one where it does not divide. ValueError
    for too few dims, RuntimeError for other sizes.
    """
def adaptive_max_pool2d(input: _Tensor, output_size: Any, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The maxima, with `return_indices` also their positions, of windows that divide the last 2 dims into as many as `output_size` says (an int, or
    2, None being the input's). Those of one dim overlap by one where it does not divide. ValueError
    for too few dims, RuntimeError for other sizes.
    """
def adaptive_max_pool2d_with_indices(input: _Tensor, output_size: Any, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """The maxima, and their positions, of windows that divide the last 2 dims into as many as `output_size` says (an int, or
    2, None being the input's). Those of one dim overlap by one where it does not divide. ValueError
    for too few dims, RuntimeError for other sizes.
    """
def adaptive_max_pool3d(input: _Tensor, output_size: Any, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The maxima, with `return_indices` also their positions, of windows that divide the last 3 dims into as many as `output_size` says (an int, or
    3, None being the input's). Those of one dim overlap by one where it does not divide. ValueError
    for too few dims, RuntimeError for other sizes.
    """
def adaptive_max_pool3d_with_indices(input: _Tensor, output_size: Any, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """The maxima, and their positions, of windows that divide the last 3 dims into as many as `output_size` says (an int, or
    3, None being the input's). Those of one dim overlap by one where it does not divide. ValueError
    for too few dims, RuntimeError for other sizes.
    """
def affine_grid(theta: _Tensor, size: _int | Sequence[_int], align_corners: _bool | None=None) -> _Tensor:
    """The grid (N, H, W, 2) or (N, D, H, W, 3) whose points are the affine maps `theta`, (N, 2, 3)
    or (N, 3, 4), of the elements' places in an image of `size` (N, C, *sizes), for `grid_sample`.
    ValueError for shapes that don't fit, NotImplementedError for other dims.
    """
def alpha_dropout(input: _Tensor, p: _float=0.5, training: _bool=False, inplace: _bool=False) -> _Tensor:
    """Where `training`, SELU's limit in place of elements, each with probability `p`, then scaled
    and shifted so that mean 0 and variance 1 stay; else the input. ValueError for what is no
    probability.
    """
def avg_pool1d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True) -> _Tensor:
    """The mean of each window of an input (N, C, L) or (C, L). Windows lie `stride` apart
    (`kernel_size` where it is not given); the zeros of `padding` count unless
    `count_include_pad=False`. RuntimeError for sizes that make no windows.
    """
def avg_pool2d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """The mean of each window of an input (N, C, H, W) or
    (C, H, W). Windows lie `stride` apart (`kernel_size` where it is not given); the zeros of
    `padding` count unless `count_include_pad=False`; `divisor_override` divides the sums in place of
    the number of elements. RuntimeError for sizes that make no windows.
    """
def avg_pool3d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """The mean of each window of an input (N, C, D, H, W) or
    (C, D, H, W). Windows lie `stride` apart (`kernel_size` where it is not given); the zeros of
    `padding` count unless `count_include_pad=False`; `divisor_override` divides the sums in place of
    the number of elements. RuntimeError for sizes that make no windows.
    """
def batch_norm(input: _Tensor, running_mean: _Tensor | None, running_var: _Tensor | None, weight: _Tensor | None=None, bias: _Tensor | None=None, training: _bool=False, momentum: _float=0.1, eps: _float=1e-05) -> _Tensor:
    """Each channel (dim 1) with mean 0 and variance 1: those of the batch in `training`, which also
    move the running ones by `momentum`, else the running ones. ValueError for a batch of one value
    a channel, an `eps` below 0 or, in `training`, 0, RuntimeError for shapes that don't fit.
    """
def bilinear(input1: _Tensor, input2: _Tensor, weight: _Tensor, bias: _Tensor | None=None) -> _Tensor:
    """input1^T @ weight[k] @ input2 + bias[k] for each k: (..., m), (..., n), (k, m, n) give
    (..., k). RuntimeError for shapes that don't fit.
    """
def binary_cross_entropy(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """-(target * log(input) + (1 - target) * log(1 - input)), no logarithm below -100. ValueError
    for other shapes, RuntimeError for an input outside [0, 1], and for targets of another dtype.
    """
def binary_cross_entropy_with_logits(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean', pos_weight: _Tensor | None=None) -> _Tensor:
    """`binary_cross_entropy` of sigmoid(input), without overflow; `pos_weight` multiplies what true
    targets cost. ValueError for other shapes, RuntimeError for dtypes that the target's can't hold.
    """
def celu(input: _Tensor, alpha: _float=1.0, inplace: _bool=False) -> _Tensor:
    """The value; for negative ones alpha * expm1(value / alpha). RuntimeError for alpha 0."""
def celu_(input: _Tensor, alpha: Any=1.0) -> _Tensor:
    """In-place form of `celu`."""
def channel_shuffle(input: _Tensor, groups: _int) -> _Tensor:
    """The channels (dim 1) of `groups` groups, taken from each in turn. RuntimeError for fewer than
    3 dims and channels that don't divide.
    """
def conv1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> _Tensor:
    """The cross-correlation of an input (N, C, length) or (C, length) with
    filters (O, C / groups, *kernel), and `bias` (O,): each size becomes
    (size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
    for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> _Tensor:
    """The cross-correlation of an input (N, C, height, width) or (C, height, width) with
    filters (O, C / groups, *kernel), and `bias` (O,): each size becomes
    (size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
    for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> _Tensor:
    """The cross-correlation of an input (N, C, depth, height, width) or (C, depth, height, width) with
    filters (O, C / groups, *kernel), and `bias` (O,): each size becomes
    (size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
    for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv_transpose1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> _Tensor:
    """What spreads each element of an input (N, C, length) or
    (C, length) over the result by a weight (C, O / groups, *kernel): each size becomes
    (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv_transpose2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> _Tensor:
    """What spreads each element of an input (N, C, height, width) or
    (C, height, width) over the result by a weight (C, O / groups, *kernel): each size becomes
    (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv_transpose3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> _Tensor:
    """What spreads each element of an input (N, C, depth, height, width) or
    (C, depth, height, width) over the result by a weight (C, O / groups, *kernel): each size becomes
    (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def cosine_embedding_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float=0, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """1 - cos(input1, input2) for a target 1, max(0, cos - margin) for -1; vectors lie in the last
    dim. RuntimeError for shapes that don't fit.
    """
@overload
def cosine_similarity(x1: _Tensor, x2: _Tensor, dim: _int=1, eps: _float=1e-08) -> _Tensor:
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along `dim`. RuntimeError for integers."""
@overload
def cosine_similarity(x1: _Tensor, x2: _Tensor, *, axis: _int | Sequence[_int]=1, eps: _float=1e-08) -> _Tensor: ...
def cross_entropy(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, ignore_index: _int=-100, reduce: Any=None, reduction: str='mean', label_smoothing: _float=0.0) -> _Tensor:
    """`nll_loss` of log_softmax(input); a floating-point target of the input's shape holds
    probabilities of all classes. A `label_smoothing` below 0 smooths nothing, as in torch;
    RuntimeError for one above 1.
    """
def ctc_loss(log_probs: _Tensor, targets: _Tensor, input_lengths: Any, target_lengths: Any, blank: _int=0, reduction: str='mean', zero_infinity: _bool=False) -> _Tensor:
    """-log of the probability that the frames of `log_probs` (steps, batch, classes) say `targets`,
    (batch, longest) or all labels in one dim, with blanks and repeated labels between them.

    `reduction` \"mean\" divides each sample's loss by the length of its target. `zero_infinity` makes
    0 of the losses of targets that don't fit into their frames. (steps, classes) is one sample.
    RuntimeError for shapes and lengths that don't fit, NotImplementedError for other dtypes than
    float32 and float64.
    """
def dropout(input: _Tensor, p: _float=0.5, training: _bool=True, inplace: _bool=False) -> _Tensor:
    """Where `training`, zeros in place of elements, each with probability `p`, and the others
    times 1 / (1 - p); else the input. ValueError for what is no probability.
    """
def dropout1d(input: _Tensor, p: _float=0.5, training: _bool=True, inplace: _bool=False) -> _Tensor:
    """`dropout` of whole channels of a (batch, channels, length) or (channels, length) input."""
def dropout2d(input: _Tensor, p: _float=0.5, training: _bool=True, inplace: _bool=False) -> _Tensor:
    """`dropout` of whole channels of a (batch, channels, height, width) input. One of 3 dims is
    taken as (batch, channels, length), which torch means to change.
    """
def dropout3d(input: _Tensor, p: _float=0.5, training: _bool=True, inplace: _bool=False) -> _Tensor:
    """`dropout` of whole channels of a (batch, channels, depth, height, width) input; one of 4
    dims has no batch.
    """
def elu(input: _Tensor, alpha: _float=1.0, inplace: _bool=False) -> _Tensor:
    """The value; for negative ones alpha * expm1(value)."""
def elu_(input: _Tensor, alpha: Any=1.0) -> _Tensor:
    """In-place form of `elu`."""
def embedding(input: _Tensor, weight: _Tensor, padding_idx: _int | None=None, max_norm: _float | None=None, norm_type: _float=2.0, scale_grad_by_freq: _bool=False, sparse: _bool=False) -> _Tensor:
    """The rows of `weight` that `input` names, (*) and (n, d) to (*, d). With `max_norm`, the rows
    that are used are first shortened in place. The other arguments are about gradients.

    RuntimeError for indices that are no integers, IndexError for a row that is not there.
    """
def embedding_bag(input: _Tensor, weight: _Tensor, offsets: _Tensor | None=None, max_norm: _float | None=None, norm_type: _float=2, scale_grad_by_freq: _bool=False, mode: str='mean', sparse: _bool=False, per_sample_weights: _Tensor | None=None, include_last_offset: _bool=False, padding_idx: _int | None=None) -> _Tensor:
    """Sums, means or the largest of rows of `weight`, bag by bag: the rows of a 2-d `input` are
    bags; a 1-d one is cut where `offsets` say. Rows `padding_idx` don't count; empty bags give
    zeros.

    ValueError for shapes and modes that there are not, RuntimeError for offsets, indices and
    dtypes that don't fit.
    """
def feature_alpha_dropout(input: _Tensor, p: _float=0.5, training: _bool=False, inplace: _bool=False) -> _Tensor:
    """`alpha_dropout` of whole channels, which the first two dims tell apart."""
def fold(input: _Tensor, output_size: Any, kernel_size: Any, dilation: Any=1, padding: Any=0, stride: Any=1) -> _Tensor:
    """Columns (N, C * kernel elements, windows), as `unfold` makes them, added up where they were
    in an image of `output_size`. RuntimeError for other shapes and sizes that don't fit.
    """
def fractional_max_pool2d(input: _Tensor, kernel_size: Any, output_size: Any=None, output_ratio: Any=None, return_indices: _bool=False, _random_samples: _Tensor | None=None) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The maxima, with `return_indices` also their positions, of windows of `kernel_size` whose steps, by random fractions, add up to the
    sizes of the last 2 dims (Graham, Fractional Max-Pooling). The result has `output_size`, or
    `output_ratio` times the input's. `_random_samples` (N, C, 2) in [0, 1) makes the result certain.
    ValueError where neither size nor ratio is given, RuntimeError for sizes that don't fit.
    """
def fractional_max_pool2d_with_indices(input: _Tensor, kernel_size: Any, output_size: Any=None, output_ratio: Any=None, return_indices: _bool=False, _random_samples: _Tensor | None=None) -> tuple[_Tensor, _Tensor]:
    """The maxima, and their positions, of windows of `kernel_size` whose steps, by random fractions, add up to the
    sizes of the last 2 dims (Graham, Fractional Max-Pooling). The result has `output_size`, or
    `output_ratio` times the input's. `_random_samples` (N, C, 2) in [0, 1) makes the result certain.
    ValueError where neither size nor ratio is given, RuntimeError for sizes that don't fit.
    """
def fractional_max_pool3d(input: _Tensor, kernel_size: Any, output_size: Any=None, output_ratio: Any=None, return_indices: _bool=False, _random_samples: _Tensor | None=None) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The maxima, with `return_indices` also their positions, of windows of `kernel_size` whose steps, by random fractions, add up to the
    sizes of the last 3 dims (Graham, Fractional Max-Pooling). The result has `output_size`, or
    `output_ratio` times the input's. `_random_samples` (N, C, 3) in [0, 1) makes the result certain.
    ValueError where neither size nor ratio is given, RuntimeError for sizes that don't fit.
    """
def fractional_max_pool3d_with_indices(input: _Tensor, kernel_size: Any, output_size: Any=None, output_ratio: Any=None, return_indices: _bool=False, _random_samples: _Tensor | None=None) -> tuple[_Tensor, _Tensor]:
    """The maxima, and their positions, of windows of `kernel_size` whose steps, by random fractions, add up to the
    sizes of the last 3 dims (Graham, Fractional Max-Pooling). The result has `output_size`, or
    `output_ratio` times the input's. `_random_samples` (N, C, 3) in [0, 1) makes the result certain.
    ValueError where neither size nor ratio is given, RuntimeError for sizes that don't fit.
    """
def gaussian_nll_loss(input: _Tensor, target: _Tensor, var: Any, full: _bool=False, eps: _float=1e-06, reduction: str='mean') -> _Tensor:
    """(log(var) + (input - target)^2 / var) / 2 with `var` at least `eps`; `full` adds
    log(2 pi) / 2. ValueError for a `var` of another shape or with negative elements.
    """
def gelu(input: _Tensor, *, approximate: str='none', out: _Tensor | None=None) -> _Tensor:
    """The value times the normal distribution function, or its approximation by \"tanh\"."""
def glu(input: _Tensor, dim: _int=-1, *, out: _Tensor | None=None) -> _Tensor:
    """The first half along `dim` times sigmoid of the second. RuntimeError for an odd size."""
def grid_sample(input: _Tensor, grid: _Tensor, mode: str='bilinear', padding_mode: str='zeros', align_corners: _bool | None=None) -> _Tensor:
    """An image (N, C, H, W) or (N, C, D, H, W) at the points (x, y) or (x, y, z) of a grid
    (N, ..., 2) or (N, ..., 3), -1 and 1 being its ends: the centers of the outer elements with
    `align_corners`, else their edges. 'bilinear', 'nearest' or, of two dims, 'bicubic'; outside are
    'zeros', the 'border', or a 'reflection'. ValueError for other modes, RuntimeError for shapes
    and dtypes that don't fit.
    """
def group_norm(input: _Tensor, num_groups: _int, weight: _Tensor | None=None, bias: _Tensor | None=None, eps: _float=1e-05) -> _Tensor:
    """Channels (dim 1) in `num_groups` groups, each with mean 0 and variance 1; then `weight` and
    `bias` of each channel. RuntimeError where the channels don't fall into groups.
    """
def gumbel_softmax(logits: _Tensor, tau: _float=1, hard: _bool=False, eps: _float=1e-10, dim: _int=-1) -> _Tensor:
    """A sample of the Gumbel-softmax distribution along `dim` at temperature `tau`; with `hard`,
    1 at its largest element and 0 elsewhere. `eps` has no meaning any more, as in torch.
    """
def hardshrink(input: _Tensor, lambd: _float=0.5, *, out: _Tensor | None=None) -> _Tensor:
    """0 within [-lambd, lambd]."""
def hardsigmoid(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """(input + 3) / 6, brought into [0, 1]."""
def hardswish(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Input * hardsigmoid(input)."""
def hardtanh(input: _Tensor, min_val: _float=-1.0, max_val: _float=1.0, inplace: _bool=False) -> _Tensor:
    """The value brought into [min_val, max_val]; RuntimeError where min_val is the larger, or is
    negative for uint8.
    """
def hardtanh_(input: _Tensor, min_val: Any=-1.0, max_val: Any=1.0) -> _Tensor:
    """In-place form of `hardtanh`."""
def hinge_embedding_loss(input: _Tensor, target: _Tensor, margin: _float=1.0, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """The input where the target is 1, and max(0, margin - input) where it is -1. RuntimeError for
    a margin that the input's dtype can't hold; an integer dtype drops its fraction.
    """
def huber_loss(input: _Tensor, target: _Tensor, reduction: str='mean', delta: _float=1.0, weight: _Tensor | None=None) -> _Tensor:
    """Half the square up to a distance of `delta`, then the line that touches it, in the input's
    dtype. RuntimeError unless `delta` is positive, or for a target that this dtype can't hold.
    """
def instance_norm(input: _Tensor, running_mean: _Tensor | None=None, running_var: _Tensor | None=None, weight: _Tensor | None=None, bias: _Tensor | None=None, use_input_stats: _bool=True, momentum: _float=0.1, eps: _float=1e-05) -> _Tensor:
    """`batch_norm` of each sample by itself; running statistics are moved by the samples' mean."""
def interpolate(input: _Tensor, size: _int | Sequence[_int] | None=None, scale_factor: Any=None, mode: str='nearest', align_corners: _bool | None=None, recompute_scale_factor: _bool | None=None, antialias: _bool=False) -> _Tensor:
    """An input (N, C, *sizes) with its 1 to 3 last dims in another `size`, or `scale_factor` times
    theirs: 'nearest' (the lower neighbour), 'nearest-exact', 'area' (means), 'linear', 'bilinear'
    and 'trilinear' (1, 2, 3 dims), 'bicubic' and 'lanczos' (2 dims). With `align_corners` the outer
    elements' centers stay where they are; `antialias` widens the kernel where the result is smaller
    (2 dims). ValueError for arguments that don't go together, NotImplementedError for other dims.
    """
def kl_div(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean', log_target: _bool=False) -> _Tensor:
    """target * (log(target) - input), the Kullback-Leibler divergence of a distribution whose
    logarithm is `input`; \"batchmean\" divides the sum by the first dim. RuntimeError for tensors
    that are not of floating point.
    """
def l1_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean', weight: _Tensor | None=None) -> _Tensor:
    """The distance of each element from its target; their mean, \"sum\", or \"none\" of both."""
def layer_norm(input: _Tensor, normalized_shape: Sequence[_int], weight: _Tensor | None=None, bias: _Tensor | None=None, eps: _float=1e-05) -> _Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dims, whose sizes, and those of
    `weight` and `bias`, are `normalized_shape`. RuntimeError where they are not.
    """
def leaky_relu(input: _Tensor, negative_slope: _float=0.01, inplace: _bool=False) -> _Tensor:
    """The value, negative ones times `negative_slope`."""
def leaky_relu_(input: _Tensor, negative_slope: Any=0.01) -> _Tensor:
    """In-place form of `leaky_relu`."""
def linear(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """`input @ weight.T + bias`; the dims of `input` before the last are kept."""
def linear_cross_entropy(input: _Tensor, linear_weight: _Tensor, target: _Tensor, *, linear_bias: _Tensor | None=None, weight: _Tensor | None=None, reduction: str='mean', ignore_index: _int | None=None, label_smoothing: _float=0.0, options: Any=None) -> _Tensor:
    """`cross_entropy` of `linear(input, linear_weight, linear_bias)`, where a weight (classes,
    *sizes, features) gives as many losses for each sample as sizes have elements.

    `options` say how torch saves memory, and change nothing here. Errors as those two, RuntimeError
    for an input of other dims, and for an `ignore_index` where targets are probabilities.
    """
def local_response_norm(input: _Tensor, size: _int, alpha: _float=0.0001, beta: _float=0.75, k: _float=1.0) -> _Tensor:
    """input / (k + alpha * mean of squares over `size` neighbouring channels) ** beta. ValueError
    for fewer than 3 dims.
    """
def log_softmax(input: _Tensor, dim: _int | None=None, _stacklevel: _int=3, dtype: _dtype | None=None) -> _Tensor:
    """The logarithm of `softmax`."""
def logsigmoid(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Log(sigmoid(input)), in contiguous memory."""
def lp_pool1d(input: _Tensor, norm_type: _float, kernel_size: Any, stride: Any=None, ceil_mode: _bool=False) -> _Tensor:
    """The p-norm, p being `norm_type`, of each window of an input
    (N, C, L) or (C, L). Windows lie `stride` apart (`kernel_size` where it is not given). RuntimeError for sizes
    that make no windows.
    """
def lp_pool2d(input: _Tensor, norm_type: _float, kernel_size: Any, stride: Any=None, ceil_mode: _bool=False) -> _Tensor:
    """The p-norm, p being `norm_type`, of each window of an input
    (N, C, H, W) or (C, H, W). Windows lie `stride` apart (`kernel_size` where it is not given). RuntimeError for sizes
    that make no windows.
    """
def lp_pool3d(input: _Tensor, norm_type: _float, kernel_size: Any, stride: Any=None, ceil_mode: _bool=False) -> _Tensor:
    """The p-norm, p being `norm_type`, of each window of an input
    (N, C, D, H, W) or (C, D, H, W). Windows lie `stride` apart (`kernel_size` where it is not given). RuntimeError for sizes
    that make no windows.
    """
def margin_ranking_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float=0, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """max(0, margin - target * (input1 - input2)). RuntimeError for different numbers of dims."""
def max_pool1d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The largest element of each window of an input (N, C, L) or (C, L); a NaN is the largest.
    Windows lie `stride` apart (`kernel_size` where it is not given), their elements `dilation`; at most
    half of one is `padding`, which no maximum takes. `ceil_mode` also takes a last window that ends
    beyond the input. With `return_indices` also their positions
    in the last 1 dims, flattened. RuntimeError for sizes that make no windows.
    """
def max_pool1d_with_indices(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """The largest element of each window of an input (N, C, L) or (C, L); a NaN is the largest.
    Windows lie `stride` apart (`kernel_size` where it is not given), their elements `dilation`; at most
    half of one is `padding`, which no maximum takes. `ceil_mode` also takes a last window that ends
    beyond the input. A pair: they, and their
    positions in the last 1 dims, flattened. RuntimeError for sizes that make no windows.
    """
def max_pool2d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The largest element of each window of an input (N, C, H, W) or (C, H, W); a NaN is the largest.
    Windows lie `stride` apart (`kernel_size` where it is not given), their elements `dilation`; at most
    half of one is `padding`, which no maximum takes. `ceil_mode` also takes a last window that ends
    beyond the input. With `return_indices` also their positions
    in the last 2 dims, flattened. RuntimeError for sizes that make no windows.
    """
def max_pool2d_with_indices(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """The largest element of each window of an input (N, C, H, W) or (C, H, W); a NaN is the largest.
    Windows lie `stride` apart (`kernel_size` where it is not given), their elements `dilation`; at most
    half of one is `padding`, which no maximum takes. `ceil_mode` also takes a last window that ends
    beyond the input. A pair: they, and their
    positions in the last 2 dims, flattened. RuntimeError for sizes that make no windows.
    """
def max_pool3d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The largest element of each window of an input (N, C, D, H, W) or (C, D, H, W); a NaN is the largest.
    Windows lie `stride` apart (`kernel_size` where it is not given), their elements `dilation`; at most
    half of one is `padding`, which no maximum takes. `ceil_mode` also takes a last window that ends
    beyond the input. With `return_indices` also their positions
    in the last 3 dims, flattened. RuntimeError for sizes that make no windows.
    """
def max_pool3d_with_indices(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """The largest element of each window of an input (N, C, D, H, W) or (C, D, H, W); a NaN is the largest.
    Windows lie `stride` apart (`kernel_size` where it is not given), their elements `dilation`; at most
    half of one is `padding`, which no maximum takes. `ceil_mode` also takes a last window that ends
    beyond the input. A pair: they, and their
    positions in the last 3 dims, flattened. RuntimeError for sizes that make no windows.
    """
def max_unpool1d(input: _Tensor, indices: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, output_size: Any=None) -> _Tensor:
    """Zeros with each element of `input` at its position in `indices`, as
    `max_pool1d` gives them. The result has the smallest size that a pool with these windows turns
    into the input's, or `output_size`. ValueError for one that it cannot have, RuntimeError for
    positions beyond it and for shapes that don't fit.
    """
def max_unpool2d(input: _Tensor, indices: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, output_size: Any=None) -> _Tensor:
    """Zeros with each element of `input` at its position in `indices`, as
    `max_pool2d` gives them. The result has the smallest size that a pool with these windows turns
    into the input's, or `output_size`. ValueError for one that it cannot have, RuntimeError for
    positions beyond it and for shapes that don't fit.
    """
def max_unpool3d(input: _Tensor, indices: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, output_size: Any=None) -> _Tensor:
    """Zeros with each element of `input` at its position in `indices`, as
    `max_pool3d` gives them. The result has the smallest size that a pool with these windows turns
    into the input's, or `output_size`. ValueError for one that it cannot have, RuntimeError for
    positions beyond it and for shapes that don't fit.
    """
def mish(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Input * tanh(softplus(input))."""
def mse_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean', weight: _Tensor | None=None) -> _Tensor:
    """The square of each distance from the target; their mean, \"sum\", or \"none\" of both."""
def multi_head_attention_forward(query: _Tensor, key: _Tensor, value: _Tensor, embed_dim_to_check: _int, num_heads: _int, in_proj_weight: _Tensor | None, in_proj_bias: _Tensor | None, bias_k: _Tensor | None, bias_v: _Tensor | None, add_zero_attn: _bool, dropout_p: _float, out_proj_weight: _Tensor, out_proj_bias: _Tensor | None, training: _bool=True, key_padding_mask: _Tensor | None=None, need_weights: _bool=True, attn_mask: _Tensor | None=None, use_separate_proj_weight: _bool=False, q_proj_weight: _Tensor | None=None, k_proj_weight: _Tensor | None=None, v_proj_weight: _Tensor | None=None, static_k: _Tensor | None=None, static_v: _Tensor | None=None, average_attn_weights: _bool=True, is_causal: _bool=False) -> tuple[_Tensor, _Tensor | None]:
    """(attention's result, its weights), of query (L, N, E), key and value (S, N, E) without or
    with a batch N: (L, N, E), and with `need_weights` (N, L, S), the heads' mean, or, without
    `average_attn_weights`, (N, heads, L, S).

    All three are projected, by the parts of `in_proj_weight` (3 E, E) or, with
    `use_separate_proj_weight`, by weights of their own, and cut into heads. `bias_k` and `bias_v`
    (1, 1, E), and zeros by `add_zero_attn`, are further keys and values; `static_k` and `static_v`
    (N * heads, S, E / heads) stand in place of the projected ones. Masks say what is not attended
    to, or are added: `key_padding_mask` (N, S), `attn_mask` (L, S) or (N * heads, L, S);
    `is_causal` says that it is the causal one. AssertionError and RuntimeError for shapes that
    don't fit.
    """
def multi_margin_loss(input: _Tensor, target: _Tensor, p: _int=1, margin: _float=1.0, weight: _Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """The mean over the wrong classes of max(0, margin - input[target] + input[class]) ** p, with
    `p` 1 or 2 and inputs of shape (classes,) or (batch, classes).
    """
def multilabel_margin_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """max(0, 1 - input[right] + input[wrong]) over all pairs of right and wrong classes, divided by
    the number of classes; the right ones stand in `target` before its first -1.
    """
def multilabel_soft_margin_loss(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """The mean over classes (the last dim) of binary cross entropy with logits."""
def nll_loss(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, ignore_index: _int=-100, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """-weight[target] * input[target]: what the right class costs, of log-probabilities in dim 1
    (dim 0 of a 1-d input). The mean is over the weights; targets `ignore_index` count nothing.
    IndexError for a class that is not there, RuntimeError and ValueError for shapes that don't fit,
    RuntimeError for weights of another dtype, NotImplementedError unless it is of floating point.
    """
def normalize(input: _Tensor, p: _float=2.0, dim: _int=1, eps: _float=1e-12, out: _Tensor | None=None) -> _Tensor:
    """The input over its p-norm along `dim`, which counts as `eps` at least."""
def one_hot(input: _Tensor, num_classes: _int=-1) -> _Tensor:
    """int64 of shape (*, num_classes), 1 at each element's class; -1 stands for the largest + 1.
    RuntimeError for negative classes, those beyond `num_classes`, and other dtypes.
    """
def pad(input: _Tensor, pad: Any, mode: str='constant', value: _float | None=None) -> _Tensor:
    """A copy with elements before and after: pairs of counts, for the last dim first; negative ones
    cut off. They are `value` (0); or, for the last one to three dims, those of the other side of
    the edge ('reflect'), of the edge ('replicate') or of the other end ('circular').
    """
def pairwise_distance(x1: _Tensor, x2: _Tensor, p: _float=2.0, eps: _float=1e-06, keepdim: _bool=False) -> _Tensor:
    """The p-norm of x1 - x2 + eps along the last dim."""
def pdist(input: _Tensor, p: _float=2) -> _Tensor:
    """The p-norm distances of all pairs of rows of a matrix, each pair once. RuntimeError for other
    numbers of dims and a negative `p`.
    """
def pixel_shuffle(input: _Tensor, upscale_factor: _int) -> _Tensor:
    """(*, C * r * r, H, W) to (*, C, H * r, W * r). RuntimeError for channels that don't divide."""
def pixel_unshuffle(input: _Tensor, downscale_factor: _int) -> _Tensor:
    """(*, C, H * r, W * r) to (*, C * r * r, H, W). RuntimeError for sizes that don't divide."""
def poisson_nll_loss(input: _Tensor, target: _Tensor, log_input: _bool=True, full: _bool=False, size_average: Any=None, eps: _float=1e-08, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """exp(input) - target * input, or input - target * log(input + eps) unless `log_input`; `full`
    adds Stirling's approximation of log(target!).
    """
def prelu(input: _Tensor, weight: _Tensor) -> _Tensor:
    """The value, negative ones times `weight`, which holds one number or one for each channel
    (dim 1). RuntimeError for another size or dtype.
    """
def relu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """The value, and 0 for negative ones."""
def relu6(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """The value brought into [0, 6]."""
def relu_(input: _Tensor) -> _Tensor:
    """In-place form of `relu`."""
def rms_norm(input: _Tensor, normalized_shape: Sequence[_int], weight: _Tensor | None=None, eps: _float | None=None) -> _Tensor:
    """x / sqrt(mean(x * x) + eps) * weight over the last dims; `eps` is the dtype's where it is not
    given. RuntimeError where shapes don't fit.
    """
def rrelu(input: _Tensor, lower: _float=0.125, upper: _float=0.3333333333333333, training: _bool=False, inplace: _bool=False) -> _Tensor:
    """Elements up to 0 times a slope, where `training` a random one from `lower` to `upper` for
    each, else their mean. RuntimeError where `lower` is above `upper`.
    """
def scaled_dot_product_attention(query: _Tensor, key: _Tensor, value: _Tensor, attn_mask: _Tensor | None=None, dropout_p: _float=0.0, is_causal: _bool=False, *, scale: _float | None=None, enable_gqa: _bool=False) -> _Tensor:
    """softmax(query @ key^T * scale + mask) @ value, for (..., L, E), (..., S, E), (..., S, V).

    `scale` is 1 / sqrt(E) where it is not given. A bool mask says what is attended, another is
    added; `is_causal` attends to positions up to the query's. With `enable_gqa`, heads of key and
    value (dim -3) serve several of the query's. RuntimeError for shapes that don't fit and for a
    mask beside `is_causal`.
    """
def selu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """A scaled elu that keeps mean and variance."""
def selu_(input: _Tensor) -> _Tensor:
    """In-place form of `selu`."""
def sigmoid(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """1 / (1 + exp(-input)).

    Integer and bool inputs are computed in the default dtype.
    `out` takes the result where its dtype can hold it, else RuntimeError.
    """
def silu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Input * sigmoid(input)."""
def smooth_l1_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean', beta: _float=1.0) -> _Tensor:
    """Half the square over `beta` where a distance is below `beta`, else the distance - beta / 2.
    RuntimeError for a negative `beta`.
    """
def soft_margin_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Log(1 + exp(-target * input)) for targets 1 and -1, in the input's dtype and shape;
    RuntimeError for targets that don't fit into these.
    """
def softmax(input: _Tensor, dim: _int | None=None, _stacklevel: _int=3, dtype: _dtype | None=None) -> _Tensor:
    """Exponentials along a dim, divided by their sum."""
def softmin(input: _Tensor, dim: _int | None=None, _stacklevel: _int=3, dtype: _dtype | None=None) -> _Tensor:
    """`softmax` of the negative input."""
def softplus(input: _Tensor, beta: _float=1, threshold: _float=20, *, out: _Tensor | None=None) -> _Tensor:
    """Log(1 + exp(beta * input)) / beta, and the value itself where beta * input > threshold."""
def softshrink(input: _Tensor, lambd: _float=0.5, *, out: _Tensor | None=None) -> _Tensor:
    """The value moved towards 0 by `lambd`, at most to 0. RuntimeError for a negative `lambd`."""
def softsign(input: _Tensor) -> _Tensor:
    """Input / (1 + abs(input))."""
def tanh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """The hyperbolic tangent.

    Integer and bool inputs are computed in the default dtype.
    `out` takes the result where its dtype can hold it, else RuntimeError.
    """
def tanhshrink(input: _Tensor) -> _Tensor:
    """Input - tanh(input)."""
def threshold(input: _Tensor, threshold: _float, value: _float, inplace: _bool=False) -> _Tensor:
    """`value` wherever the input is not above `threshold`."""
def threshold_(input: _Tensor, threshold: Any, value: Any) -> _Tensor:
    """In-place form of `threshold`."""
def triplet_margin_loss(anchor: _Tensor, positive: _Tensor, negative: _Tensor, margin: _float=1.0, p: _float=2, eps: _float=1e-06, swap: _bool=False, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """max(0, margin + |anchor - positive| - |anchor - negative|) by `pairwise_distance`; with
    `swap`, the smaller of the negative's distances to the other two counts.
    """
def triplet_margin_with_distance_loss(anchor: _Tensor, positive: _Tensor, negative: _Tensor, *, distance_function: Callable[[_Tensor, _Tensor], _Tensor] | None=None, margin: _float=1.0, swap: _bool=False, reduction: str='mean') -> _Tensor:
    """`triplet_margin_loss` with a distance of one's own."""
def unfold(input: _Tensor, kernel_size: Any, dilation: Any=1, padding: Any=0, stride: Any=1) -> _Tensor:
    """The windows of an image (N, C, H, W) or (C, H, W) as columns (N, C * kernel elements,
    windows). RuntimeError for other shapes and sizes that make no windows.
    """
def upsample(input: _Tensor, size: _int | Sequence[_int] | None=None, scale_factor: Any=None, mode: str='nearest', align_corners: _bool | None=None) -> _Tensor:
    """`interpolate` by its older name."""
def upsample_bilinear(input: _Tensor, size: _int | Sequence[_int] | None=None, scale_factor: Any=None) -> _Tensor:
    """`interpolate` with mode 'bilinear' and aligned corners."""
def upsample_nearest(input: _Tensor, size: _int | Sequence[_int] | None=None, scale_factor: Any=None) -> _Tensor:
    """`interpolate` with mode 'nearest'."""
