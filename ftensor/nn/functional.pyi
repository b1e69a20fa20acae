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
    """Returns the means of `output_size` windows, which cover the last 1 dims (an int, or a list of 1;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def adaptive_avg_pool2d(input: _Tensor, output_size: Any) -> _Tensor:
    """Returns the means of `output_size` windows, which cover the last 2 dims (an int, or a list of 2;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def adaptive_avg_pool3d(input: _Tensor, output_size: Any) -> _Tensor:
    """Returns the means of `output_size` windows, which cover the last 3 dims (an int, or a list of 3;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def adaptive_max_pool1d(input: _Tensor, output_size: Any, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the maxima, with `return_indices` also their positions, of `output_size` windows, which cover the last 1 dims (an int, or a list of 1;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def adaptive_max_pool1d_with_indices(input: _Tensor, output_size: Any, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """Returns (maxima, their positions) of `output_size` windows, which cover the last 1 dims (an int, or a list of 1;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def adaptive_max_pool2d(input: _Tensor, output_size: Any, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the maxima, with `return_indices` also their positions, of `output_size` windows, which cover the last 2 dims (an int, or a list of 2;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def adaptive_max_pool2d_with_indices(input: _Tensor, output_size: Any, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """Returns (maxima, their positions) of `output_size` windows, which cover the last 2 dims (an int, or a list of 2;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def adaptive_max_pool3d(input: _Tensor, output_size: Any, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the maxima, with `return_indices` also their positions, of `output_size` windows, which cover the last 3 dims (an int, or a list of 3;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def adaptive_max_pool3d_with_indices(input: _Tensor, output_size: Any, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """Returns (maxima, their positions) of `output_size` windows, which cover the last 3 dims (an int, or a list of 3;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def affine_grid(theta: _Tensor, size: _int | Sequence[_int], align_corners: _bool | None=None) -> _Tensor:
    """Returns the grid (N, H, W, 2) or (N, D, H, W, 3) of the affine maps `theta`, (N, 2, 3) or (N,
    3, 4), applied to the element coordinates of an image of `size` (N, C, *sizes), for
    `grid_sample`. Raises ValueError for shapes that don't fit, NotImplementedError for other dims.
    """
def alpha_dropout(input: _Tensor, p: _float=0.5, training: _bool=False, inplace: _bool=False) -> _Tensor:
    """If `training`, replaces each element by SELU's negative limit with probability `p`, then scales
    and shifts all, so that mean 0 and variance 1 are kept. Otherwise returns the input. ValueError if
    `p` is not in [0, 1].
    """
def avg_pool1d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True) -> _Tensor:
    """Returns the mean of each window of an input (N, C, L) or (C, L). `stride` defaults to
    `kernel_size`. The zeros of `padding` count unless `count_include_pad=False`. RuntimeError if no
    window fits.
    """
def avg_pool2d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the mean of each window of an input (N, C, H, W) or
    (C, H, W). `stride` defaults to `kernel_size`. The zeros of `padding` count unless
    `count_include_pad=False`. `divisor_override` replaces the number of elements as divisor.
    RuntimeError if no window fits.
    """
def avg_pool3d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the mean of each window of an input (N, C, D, H, W) or
    (C, D, H, W). `stride` defaults to `kernel_size`. The zeros of `padding` count unless
    `count_include_pad=False`. `divisor_override` replaces the number of elements as divisor.
    RuntimeError if no window fits.
    """
def batch_norm(input: _Tensor, running_mean: _Tensor | None, running_var: _Tensor | None, weight: _Tensor | None=None, bias: _Tensor | None=None, training: _bool=False, momentum: _float=0.1, eps: _float=1e-05) -> _Tensor:
    """Normalizes each channel (dim 1) to mean 0 and variance 1. In `training` the batch's
    statistics are used and move the running ones by `momentum`; otherwise the running ones are
    used. Raises ValueError for a batch with one value for each channel and for a negative `eps` (or
    0 in `training`), RuntimeError for shapes that don't fit.
    """
def bilinear(input1: _Tensor, input2: _Tensor, weight: _Tensor, bias: _Tensor | None=None) -> _Tensor:
    """Returns input1^T @ weight[k] @ input2 + bias[k] for each k: (..., m), (..., n), (k, m, n)
    give (..., k). Raises RuntimeError for shapes that don't fit.
    """
def binary_cross_entropy(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns -(target * log(input) + (1 - target) * log(1 - input)), with logarithms clamped at
    -100. Raises ValueError for other shapes, RuntimeError for an input outside [0, 1] and for
    targets of another dtype.
    """
def binary_cross_entropy_with_logits(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean', pos_weight: _Tensor | None=None) -> _Tensor:
    """Returns `binary_cross_entropy` of sigmoid(input), without overflow; `pos_weight` multiplies
    the cost of true targets. Raises ValueError for other shapes, RuntimeError for dtypes that the
    target's can't hold.
    """
def celu(input: _Tensor, alpha: _float=1.0, inplace: _bool=False) -> _Tensor:
    """Returns the element if it is positive, else alpha * expm1(element / alpha). RuntimeError for alpha 0."""
def celu_(input: _Tensor, alpha: Any=1.0) -> _Tensor:
    """In-place form of `celu`."""
def channel_shuffle(input: _Tensor, groups: _int) -> _Tensor:
    """Interleaves the channels (dim 1) of `groups` groups. Raises RuntimeError for fewer than 3
    dims and if `groups` doesn't divide the channels.
    """
def conv1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> _Tensor:
    """Returns the cross-correlation of an input (N, C, length) or (C, length)
    with filters (O, C / groups, *kernel), plus `bias` (O,). Each size becomes
    (size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
    for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> _Tensor:
    """Returns the cross-correlation of an input (N, C, height, width) or (C, height, width)
    with filters (O, C / groups, *kernel), plus `bias` (O,). Each size becomes
    (size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
    for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> _Tensor:
    """Returns the cross-correlation of an input (N, C, depth, height, width) or (C, depth, height, width)
    with filters (O, C / groups, *kernel), plus `bias` (O,). Each size becomes
    (size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
    for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv_transpose1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> _Tensor:
    """Returns the transposed convolution, the gradient of a convolution by its
    input: adds each element of an input (N, C, length) or (C, length), times the weight
    (C, O / groups, *kernel), to a window of the result. Each size becomes
    (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv_transpose2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> _Tensor:
    """Returns the transposed convolution, the gradient of a convolution by its
    input: adds each element of an input (N, C, height, width) or (C, height, width), times the weight
    (C, O / groups, *kernel), to a window of the result. Each size becomes
    (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv_transpose3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> _Tensor:
    """Returns the transposed convolution, the gradient of a convolution by its
    input: adds each element of an input (N, C, depth, height, width) or (C, depth, height, width), times the weight
    (C, O / groups, *kernel), to a window of the result. Each size becomes
    (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def cosine_embedding_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float=0, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns 1 - cos(input1, input2) for a target 1, max(0, cos - margin) for -1; vectors extend
    along the last dim. Raises RuntimeError for shapes that don't fit.
    """
@overload
def cosine_similarity(x1: _Tensor, x2: _Tensor, dim: _int=1, eps: _float=1e-08) -> _Tensor:
    """Returns x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along `dim`. Raises RuntimeError for
    integers.
    """
@overload
def cosine_similarity(x1: _Tensor, x2: _Tensor, *, axis: _int | Sequence[_int]=1, eps: _float=1e-08) -> _Tensor: ...
def cross_entropy(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, ignore_index: _int=-100, reduce: Any=None, reduction: str='mean', label_smoothing: _float=0.0) -> _Tensor:
    """Returns `nll_loss` of log_softmax(input). A floating-point target of the input's shape holds
    probabilities of all classes. A negative `label_smoothing` has no effect, as in torch; one above
    1 raises RuntimeError.
    """
def ctc_loss(log_probs: _Tensor, targets: _Tensor, input_lengths: Any, target_lengths: Any, blank: _int=0, reduction: str='mean', zero_infinity: _bool=False) -> _Tensor:
    """Returns -log of the probability of `targets` given the frames `log_probs` (steps, batch,
    classes), with blanks and repeated labels between the labels. `targets` are (batch, longest) or
    all labels in one dim.

    `reduction` \"mean\" divides each sample's loss by the length of its target. `zero_infinity` sets
    losses of targets that don't fit into their frames to 0. `log_probs` of (steps, classes) are one
    sample. Raises RuntimeError for shapes and lengths that don't fit, NotImplementedError for
    dtypes other than float32 and float64.
    """
def dropout(input: _Tensor, p: _float=0.5, training: _bool=True, inplace: _bool=False) -> _Tensor:
    """If `training`, replaces each element by 0 with probability `p` and multiplies the others by
    1 / (1 - p). Otherwise returns the input. ValueError if `p` is not in [0, 1].
    """
def dropout1d(input: _Tensor, p: _float=0.5, training: _bool=True, inplace: _bool=False) -> _Tensor:
    """Drops whole channels of a (batch, channels, length) or (channels, length) input."""
def dropout2d(input: _Tensor, p: _float=0.5, training: _bool=True, inplace: _bool=False) -> _Tensor:
    """Drops whole channels of a (batch, channels, height, width) input. An input of 3 dims counts
    as (batch, channels, length), which torch plans to change.
    """
def dropout3d(input: _Tensor, p: _float=0.5, training: _bool=True, inplace: _bool=False) -> _Tensor:
    """Drops whole channels of a (batch, channels, depth, height, width) input, or of one of 4 dims
    without a batch.
    """
def elu(input: _Tensor, alpha: _float=1.0, inplace: _bool=False) -> _Tensor:
    """Returns the element if it is positive, else alpha * expm1(element)."""
def elu_(input: _Tensor, alpha: Any=1.0) -> _Tensor:
    """In-place form of `elu`."""
def embedding(input: _Tensor, weight: _Tensor, padding_idx: _int | None=None, max_norm: _float | None=None, norm_type: _float=2.0, scale_grad_by_freq: _bool=False, sparse: _bool=False) -> _Tensor:
    """Returns the rows of `weight` that `input` names: (*) and (n, d) give (*, d). With `max_norm`,
    the rows in use are first scaled down in place. The other arguments concern gradients.

    Raises RuntimeError for indices that are no integers, IndexError for a row that does not exist.
    """
def embedding_bag(input: _Tensor, weight: _Tensor, offsets: _Tensor | None=None, max_norm: _float | None=None, norm_type: _float=2, scale_grad_by_freq: _bool=False, mode: str='mean', sparse: _bool=False, per_sample_weights: _Tensor | None=None, include_last_offset: _bool=False, padding_idx: _int | None=None) -> _Tensor:
    """Reduces rows of `weight` bag by bag, by sum, mean or max. The rows of a 2-d `input` are bags;
    `offsets` split a 1-d `input`. Rows `padding_idx` don't count; empty bags give zeros.

    Raises ValueError for unsupported shapes and modes, RuntimeError for offsets, indices and dtypes
    that don't fit.
    """
def feature_alpha_dropout(input: _Tensor, p: _float=0.5, training: _bool=False, inplace: _bool=False) -> _Tensor:
    """Like `alpha_dropout` on whole channels: (batch, channel) are the first two dims."""
def fold(input: _Tensor, output_size: Any, kernel_size: Any, dilation: Any=1, padding: Any=0, stride: Any=1) -> _Tensor:
    """Sums columns (N, C * kernel elements, windows), as returned by `unfold`, into an image of
    `output_size`. Raises RuntimeError for other shapes and sizes that don't fit.
    """
def fractional_max_pool2d(input: _Tensor, kernel_size: Any, output_size: Any=None, output_ratio: Any=None, return_indices: _bool=False, _random_samples: _Tensor | None=None) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the maxima, with `return_indices` also their positions, of windows of `kernel_size` at random steps, which cover the last 2 dims
    (Graham, Fractional Max-Pooling). The result has `output_size`, or `output_ratio` times the input's
    size. `_random_samples` (N, C, 2) in [0, 1) replace the random numbers. ValueError without size and
    ratio, RuntimeError for sizes that don't fit.
    """
def fractional_max_pool2d_with_indices(input: _Tensor, kernel_size: Any, output_size: Any=None, output_ratio: Any=None, return_indices: _bool=False, _random_samples: _Tensor | None=None) -> tuple[_Tensor, _Tensor]:
    """Returns (maxima, their positions) of windows of `kernel_size` at random steps, which cover the last 2 dims
    (Graham, Fractional Max-Pooling). The result has `output_size`, or `output_ratio` times the input's
    size. `_random_samples` (N, C, 2) in [0, 1) replace the random numbers. ValueError without size and
    ratio, RuntimeError for sizes that don't fit.
    """
def fractional_max_pool3d(input: _Tensor, kernel_size: Any, output_size: Any=None, output_ratio: Any=None, return_indices: _bool=False, _random_samples: _Tensor | None=None) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the maxima, with `return_indices` also their positions, of windows of `kernel_size` at random steps, which cover the last 3 dims
    (Graham, Fractional Max-Pooling). The result has `output_size`, or `output_ratio` times the input's
    size. `_random_samples` (N, C, 3) in [0, 1) replace the random numbers. ValueError without size and
    ratio, RuntimeError for sizes that don't fit.
    """
def fractional_max_pool3d_with_indices(input: _Tensor, kernel_size: Any, output_size: Any=None, output_ratio: Any=None, return_indices: _bool=False, _random_samples: _Tensor | None=None) -> tuple[_Tensor, _Tensor]:
    """Returns (maxima, their positions) of windows of `kernel_size` at random steps, which cover the last 3 dims
    (Graham, Fractional Max-Pooling). The result has `output_size`, or `output_ratio` times the input's
    size. `_random_samples` (N, C, 3) in [0, 1) replace the random numbers. ValueError without size and
    ratio, RuntimeError for sizes that don't fit.
    """
def gaussian_nll_loss(input: _Tensor, target: _Tensor, var: Any, full: _bool=False, eps: _float=1e-06, reduction: str='mean') -> _Tensor:
    """Returns (log(var) + (input - target)^2 / var) / 2 with `var` at least `eps`; `full` adds
    log(2 pi) / 2. Raises ValueError for a `var` of another shape or with negative elements.
    """
def gelu(input: _Tensor, *, approximate: str='none', out: _Tensor | None=None) -> _Tensor:
    """Returns the input times the normal distribution function, or times its approximation by
    \"tanh\".
    """
def glu(input: _Tensor, dim: _int=-1, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the first half along `dim` times sigmoid of the second. Raises RuntimeError for an
    odd size.
    """
def grid_sample(input: _Tensor, grid: _Tensor, mode: str='bilinear', padding_mode: str='zeros', align_corners: _bool | None=None) -> _Tensor:
    """Samples an image (N, C, H, W) or (N, C, D, H, W) at the points (x, y) or (x, y, z) of a grid
    (N, ..., 2) or (N, ..., 3). -1 and 1 are the image's ends: the centers of the outer elements
    with `align_corners`, else their edges. Modes are 'bilinear', 'nearest' and, for two dims,
    'bicubic'; padding modes are 'zeros', 'border' and 'reflection'. Raises ValueError for other
    modes, RuntimeError for shapes and dtypes that don't fit.
    """
def group_norm(input: _Tensor, num_groups: _int, weight: _Tensor | None=None, bias: _Tensor | None=None, eps: _float=1e-05) -> _Tensor:
    """Normalizes channels (dim 1) in `num_groups` groups, each to mean 0 and variance 1, then
    applies `weight` and `bias` of each channel. Raises RuntimeError if `num_groups` doesn't divide
    the channels.
    """
def gumbel_softmax(logits: _Tensor, tau: _float=1, hard: _bool=False, eps: _float=1e-10, dim: _int=-1) -> _Tensor:
    """Returns a sample of the Gumbel-softmax distribution along `dim` at temperature `tau`; `hard`
    gives 1 at its largest element and 0 elsewhere. `eps` has no effect, as in torch.
    """
def hardshrink(input: _Tensor, lambd: _float=0.5, *, out: _Tensor | None=None) -> _Tensor:
    """Replaces the elements in [-lambd, lambd] by 0."""
def hardsigmoid(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Returns (input + 3) / 6, limited to [0, 1]."""
def hardswish(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Returns input * hardsigmoid(input)."""
def hardtanh(input: _Tensor, min_val: _float=-1.0, max_val: _float=1.0, inplace: _bool=False) -> _Tensor:
    """The value brought into [min_val, max_val]; RuntimeError where min_val is the larger, or is
    negative for uint8.
    """
def hardtanh_(input: _Tensor, min_val: Any=-1.0, max_val: Any=1.0) -> _Tensor:
    """In-place form of `hardtanh`."""
def hinge_embedding_loss(input: _Tensor, target: _Tensor, margin: _float=1.0, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns the input where the target is 1, and max(0, margin - input) where it is -1. Raises
    RuntimeError for a margin that the input's dtype can't hold; an integer dtype drops its
    fraction.
    """
def huber_loss(input: _Tensor, target: _Tensor, reduction: str='mean', delta: _float=1.0, weight: _Tensor | None=None) -> _Tensor:
    """Returns half the square up to a distance of `delta`, and beyond it the tangent line, in the
    input's dtype. Raises RuntimeError unless `delta` is positive, or for a target that this dtype
    can't hold.
    """
def instance_norm(input: _Tensor, running_mean: _Tensor | None=None, running_var: _Tensor | None=None, weight: _Tensor | None=None, bias: _Tensor | None=None, use_input_stats: _bool=True, momentum: _float=0.1, eps: _float=1e-05) -> _Tensor:
    """Normalizes each sample separately, like `batch_norm`. The running statistics move by the mean
    over the samples.
    """
def interpolate(input: _Tensor, size: _int | Sequence[_int] | None=None, scale_factor: Any=None, mode: str='nearest', align_corners: _bool | None=None, recompute_scale_factor: _bool | None=None, antialias: _bool=False) -> _Tensor:
    """Resizes the 1 to 3 last dims of an input (N, C, *sizes) to `size`, or by `scale_factor`.
    Modes are 'nearest' (the lower neighbour), 'nearest-exact', 'area' (means), 'linear', 'bilinear'
    and 'trilinear' (1, 2, 3 dims), 'bicubic' and 'lanczos' (2 dims). With `align_corners` the
    centers of the outer elements stay in place; `antialias` widens the kernel when downsampling (2
    dims). Raises ValueError for arguments that don't go together, NotImplementedError for other
    dims.
    """
def kl_div(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean', log_target: _bool=False) -> _Tensor:
    """Returns target * (log(target) - input), the Kullback-Leibler divergence from a distribution
    whose logarithm is `input`; \"batchmean\" divides the sum by the first dim. Raises RuntimeError
    for tensors that are not floating-point.
    """
def l1_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean', weight: _Tensor | None=None) -> _Tensor:
    """Returns the absolute difference of input and target: the mean, the \"sum\", or with \"none\" that
    of each element.
    """
def layer_norm(input: _Tensor, normalized_shape: Sequence[_int], weight: _Tensor | None=None, bias: _Tensor | None=None, eps: _float=1e-05) -> _Tensor:
    """Returns (x - mean) / sqrt(var + eps) * weight + bias over the last dims, whose sizes are
    `normalized_shape`, as are those of `weight` and `bias`. Raises RuntimeError if they differ.
    """
def leaky_relu(input: _Tensor, negative_slope: _float=0.01, inplace: _bool=False) -> _Tensor:
    """Multiplies negative elements by `negative_slope`."""
def leaky_relu_(input: _Tensor, negative_slope: Any=0.01) -> _Tensor:
    """In-place form of `leaky_relu`."""
def linear(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input @ weight.T + bias`. The dims of `input` before the last are kept."""
def linear_cross_entropy(input: _Tensor, linear_weight: _Tensor, target: _Tensor, *, linear_bias: _Tensor | None=None, weight: _Tensor | None=None, reduction: str='mean', ignore_index: _int | None=None, label_smoothing: _float=0.0, options: Any=None) -> _Tensor:
    """Returns `cross_entropy` of `linear(input, linear_weight, linear_bias)`. A weight of shape
    (classes, *sizes, features) gives numel(sizes) losses for each sample.

    `options` are torch's ways to save memory and have no effect here. Raises the errors of both
    functions, and RuntimeError for an input of other dims and for an `ignore_index` with
    probabilities as targets.
    """
def local_response_norm(input: _Tensor, size: _int, alpha: _float=0.0001, beta: _float=0.75, k: _float=1.0) -> _Tensor:
    """Returns input / (k + alpha * mean of squares over `size` neighbouring channels) ** beta.
    Raises ValueError for fewer than 3 dims.
    """
def log_softmax(input: _Tensor, dim: _int | None=None, _stacklevel: _int=3, dtype: _dtype | None=None) -> _Tensor:
    """Returns the logarithm of `softmax`."""
def logsigmoid(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns log(sigmoid(input)) in contiguous memory."""
def lp_pool1d(input: _Tensor, norm_type: _float, kernel_size: Any, stride: Any=None, ceil_mode: _bool=False) -> _Tensor:
    """Returns the norm of order `norm_type` of each window of an input
    (N, C, L) or (C, L). `stride` defaults to `kernel_size`. RuntimeError if no window fits.
    """
def lp_pool2d(input: _Tensor, norm_type: _float, kernel_size: Any, stride: Any=None, ceil_mode: _bool=False) -> _Tensor:
    """Returns the norm of order `norm_type` of each window of an input
    (N, C, H, W) or (C, H, W). `stride` defaults to `kernel_size`. RuntimeError if no window fits.
    """
def lp_pool3d(input: _Tensor, norm_type: _float, kernel_size: Any, stride: Any=None, ceil_mode: _bool=False) -> _Tensor:
    """Returns the norm of order `norm_type` of each window of an input
    (N, C, D, H, W) or (C, D, H, W). `stride` defaults to `kernel_size`. RuntimeError if no window fits.
    """
def margin_ranking_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float=0, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns max(0, margin - target * (input1 - input2)). Raises RuntimeError for different
    numbers of dims.
    """
def max_pool1d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, L) or (C, L);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. With `return_indices` also returns their positions
    in the last 1 dims, flattened. RuntimeError if no window fits.
    """
def max_pool1d_with_indices(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, L) or (C, L);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. Returns (maxima, their
    positions) in the last 1 dims, flattened. RuntimeError if no window fits.
    """
def max_pool2d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, H, W) or (C, H, W);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. With `return_indices` also returns their positions
    in the last 2 dims, flattened. RuntimeError if no window fits.
    """
def max_pool2d_with_indices(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, H, W) or (C, H, W);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. Returns (maxima, their
    positions) in the last 2 dims, flattened. RuntimeError if no window fits.
    """
def max_pool3d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, D, H, W) or (C, D, H, W);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. With `return_indices` also returns their positions
    in the last 3 dims, flattened. RuntimeError if no window fits.
    """
def max_pool3d_with_indices(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, D, H, W) or (C, D, H, W);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. Returns (maxima, their
    positions) in the last 3 dims, flattened. RuntimeError if no window fits.
    """
def max_unpool1d(input: _Tensor, indices: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, output_size: Any=None) -> _Tensor:
    """Returns zeros with each element of `input` at its position in
    `indices`, the positions that `max_pool1d` returns. The result has `output_size`, by default the
    smallest that such a pool reduces to the input's size. ValueError for an `output_size` that no such
    pool reduces to it, RuntimeError for positions out of range and for shapes that don't fit.
    """
def max_unpool2d(input: _Tensor, indices: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, output_size: Any=None) -> _Tensor:
    """Returns zeros with each element of `input` at its position in
    `indices`, the positions that `max_pool2d` returns. The result has `output_size`, by default the
    smallest that such a pool reduces to the input's size. ValueError for an `output_size` that no such
    pool reduces to it, RuntimeError for positions out of range and for shapes that don't fit.
    """
def max_unpool3d(input: _Tensor, indices: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, output_size: Any=None) -> _Tensor:
    """Returns zeros with each element of `input` at its position in
    `indices`, the positions that `max_pool3d` returns. The result has `output_size`, by default the
    smallest that such a pool reduces to the input's size. ValueError for an `output_size` that no such
    pool reduces to it, RuntimeError for positions out of range and for shapes that don't fit.
    """
def mish(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Returns input * tanh(softplus(input))."""
def mse_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean', weight: _Tensor | None=None) -> _Tensor:
    """Returns the squared difference of input and target: the mean, the \"sum\", or with \"none\" that
    of each element.
    """
def multi_head_attention_forward(query: _Tensor, key: _Tensor, value: _Tensor, embed_dim_to_check: _int, num_heads: _int, in_proj_weight: _Tensor | None, in_proj_bias: _Tensor | None, bias_k: _Tensor | None, bias_v: _Tensor | None, add_zero_attn: _bool, dropout_p: _float, out_proj_weight: _Tensor, out_proj_bias: _Tensor | None, training: _bool=True, key_padding_mask: _Tensor | None=None, need_weights: _bool=True, attn_mask: _Tensor | None=None, use_separate_proj_weight: _bool=False, q_proj_weight: _Tensor | None=None, k_proj_weight: _Tensor | None=None, v_proj_weight: _Tensor | None=None, static_k: _Tensor | None=None, static_v: _Tensor | None=None, average_attn_weights: _bool=True, is_causal: _bool=False) -> tuple[_Tensor, _Tensor | None]:
    """Returns (result of attention, its weights), of query (L, N, E), key and value (S, N, E), with
    or without a batch N. The result is (L, N, E). With `need_weights` the weights are (N, L, S),
    the mean over the heads, or (N, heads, L, S) without `average_attn_weights`.

    Query, key and value are projected by the parts of `in_proj_weight` (3 E, E) or, with
    `use_separate_proj_weight`, by separate weights, and split into heads. `bias_k` and `bias_v` (1,
    1, E), and zeros with `add_zero_attn`, are additional keys and values. `static_k` and `static_v`
    (N * heads, S, E / heads) replace the projected ones. A bool mask is True where attention is not
    allowed; another mask is added. `key_padding_mask` is (N, S), `attn_mask` (L, S) or (N * heads,
    L, S); `is_causal` declares `attn_mask` causal. Raises AssertionError and RuntimeError for
    shapes that don't fit.
    """
def multi_margin_loss(input: _Tensor, target: _Tensor, p: _int=1, margin: _float=1.0, weight: _Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns the mean over the wrong classes of max(0, margin - input[target] + input[class]) **
    p, with `p` 1 or 2 and inputs of shape (classes,) or (batch, classes).
    """
def multilabel_margin_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns max(0, 1 - input[right] + input[wrong]) summed over all pairs of a right and a wrong
    class, divided by the number of classes. The right classes are the elements of `target` before
    its first -1.
    """
def multilabel_soft_margin_loss(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns the mean over classes (the last dim) of binary cross entropy with logits."""
def nll_loss(input: _Tensor, target: _Tensor, weight: _Tensor | None=None, size_average: Any=None, ignore_index: _int=-100, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns -weight[target] * input[target], the cost of the right class, for log-probabilities
    in dim 1 (dim 0 of a 1-d input). The mean is weighted; targets equal to `ignore_index` don't
    count. Raises IndexError for a class that does not exist, RuntimeError and ValueError for shapes
    that don't fit, RuntimeError for weights of another dtype, NotImplementedError unless the dtype
    is floating-point.
    """
def normalize(input: _Tensor, p: _float=2.0, dim: _int=1, eps: _float=1e-12, out: _Tensor | None=None) -> _Tensor:
    """Returns the input divided by its p-norm along `dim`; a norm below `eps` counts as `eps`."""
def one_hot(input: _Tensor, num_classes: _int=-1) -> _Tensor:
    """Returns int64 of shape (*, num_classes) with 1 at each element's class; -1 means the largest
    class + 1. Raises RuntimeError for negative classes, classes beyond `num_classes`, and other
    dtypes.
    """
def pad(input: _Tensor, pad: Any, mode: str='constant', value: _float | None=None) -> _Tensor:
    """Returns a copy with elements added before and after: pairs of counts, for the last dim first;
    negative counts remove elements. Added elements are `value` (0) or, for the last one to three
    dims, mirrored at the edge ('reflect'), copies of the edge ('replicate'), or from the other end
    ('circular').
    """
def pairwise_distance(x1: _Tensor, x2: _Tensor, p: _float=2.0, eps: _float=1e-06, keepdim: _bool=False) -> _Tensor:
    """Returns the p-norm of x1 - x2 + eps along the last dim."""
def pdist(input: _Tensor, p: _float=2) -> _Tensor:
    """Returns the p-norm distances of all pairs of rows of a matrix, each pair once. Raises
    RuntimeError for other numbers of dims and a negative `p`.
    """
def pixel_shuffle(input: _Tensor, upscale_factor: _int) -> _Tensor:
    """Rearranges (*, C * r * r, H, W) to (*, C, H * r, W * r). Raises RuntimeError if r * r doesn't
    divide the channels.
    """
def pixel_unshuffle(input: _Tensor, downscale_factor: _int) -> _Tensor:
    """Rearranges (*, C, H * r, W * r) to (*, C * r * r, H, W). Raises RuntimeError if r doesn't
    divide the sizes.
    """
def poisson_nll_loss(input: _Tensor, target: _Tensor, log_input: _bool=True, full: _bool=False, size_average: Any=None, eps: _float=1e-08, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns exp(input) - target * input, or input - target * log(input + eps) without
    `log_input`; `full` adds Stirling's approximation of log(target!).
    """
def prelu(input: _Tensor, weight: _Tensor) -> _Tensor:
    """Returns the input with negative elements multiplied by `weight`, which holds one number or
    one for each channel (dim 1). Raises RuntimeError for another size or dtype.
    """
def relu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Returns max(input, 0)."""
def relu6(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Limits the elements to [0, 6]."""
def relu_(input: _Tensor) -> _Tensor:
    """In-place form of `relu`."""
def rms_norm(input: _Tensor, normalized_shape: Sequence[_int], weight: _Tensor | None=None, eps: _float | None=None) -> _Tensor:
    """Returns x / sqrt(mean(x * x) + eps) * weight over the last dims; `eps` defaults to the
    dtype's. Raises RuntimeError for shapes that don't fit.
    """
def rrelu(input: _Tensor, lower: _float=0.125, upper: _float=0.3333333333333333, training: _bool=False, inplace: _bool=False) -> _Tensor:
    """Like `ft.rrelu`, with the default generator."""
def scaled_dot_product_attention(query: _Tensor, key: _Tensor, value: _Tensor, attn_mask: _Tensor | None=None, dropout_p: _float=0.0, is_causal: _bool=False, *, scale: _float | None=None, enable_gqa: _bool=False) -> _Tensor:
    """Returns softmax(query @ key^T * scale + mask) @ value, for (..., L, E), (..., S, E), (..., S,
    V).

    `scale` defaults to 1 / sqrt(E). A bool mask is True where attention is allowed; another mask, of
    float32 or the query's dtype, is added. `is_causal` attends to positions up to the query's. With
    `enable_gqa`, each head of key and value (dim -3) is shared by several heads of the query.
    Raises RuntimeError for shapes that don't fit and for a mask together with `is_causal`.
    """
def selu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Returns a scaled elu, whose scale keeps mean 0 and variance 1 of its input."""
def selu_(input: _Tensor) -> _Tensor:
    """In-place form of `selu`."""
def sigmoid(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 1 / (1 + exp(-input)).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def silu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Returns input * sigmoid(input)."""
def smooth_l1_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean', beta: _float=1.0) -> _Tensor:
    """Returns half the squared difference over `beta` where the difference is below `beta`, else
    the difference - beta / 2. Raises RuntimeError for a negative `beta`.
    """
def soft_margin_loss(input: _Tensor, target: _Tensor, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns log(1 + exp(-target * input)) for targets 1 and -1, in the input's dtype and shape.
    Raises RuntimeError for targets that don't fit the input.
    """
def softmax(input: _Tensor, dim: _int | None=None, _stacklevel: _int=3, dtype: _dtype | None=None) -> _Tensor:
    """Returns exp(input) divided by its sum along `dim`."""
def softmin(input: _Tensor, dim: _int | None=None, _stacklevel: _int=3, dtype: _dtype | None=None) -> _Tensor:
    """Returns `softmax` of the negated input."""
def softplus(input: _Tensor, beta: _float=1, threshold: _float=20, *, out: _Tensor | None=None) -> _Tensor:
    """Returns log(1 + exp(beta * input)) / beta; the input where beta * input > threshold."""
def softshrink(input: _Tensor, lambd: _float=0.5, *, out: _Tensor | None=None) -> _Tensor:
    """Moves each element towards 0 by `lambd`, at most to 0. RuntimeError for a negative `lambd`."""
def softsign(input: _Tensor) -> _Tensor:
    """Returns input / (1 + abs(input))."""
def tanh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the hyperbolic tangent.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def tanhshrink(input: _Tensor) -> _Tensor:
    """Returns input - tanh(input)."""
def threshold(input: _Tensor, threshold: _float, value: _float, inplace: _bool=False) -> _Tensor:
    """Returns `value` where the input is not above `threshold`, else the input."""
def threshold_(input: _Tensor, threshold: Any, value: Any) -> _Tensor:
    """In-place form of `threshold`."""
def triplet_margin_loss(anchor: _Tensor, positive: _Tensor, negative: _Tensor, margin: _float=1.0, p: _float=2, eps: _float=1e-06, swap: _bool=False, size_average: Any=None, reduce: Any=None, reduction: str='mean') -> _Tensor:
    """Returns max(0, margin + |anchor - positive| - |anchor - negative|) by `pairwise_distance`.
    `swap` uses the smaller of the negative's distances to anchor and positive.
    """
def triplet_margin_with_distance_loss(anchor: _Tensor, positive: _Tensor, negative: _Tensor, *, distance_function: Callable[[_Tensor, _Tensor], _Tensor] | None=None, margin: _float=1.0, swap: _bool=False, reduction: str='mean') -> _Tensor:
    """Returns `triplet_margin_loss` with a distance function of the caller."""
def unfold(input: _Tensor, kernel_size: Any, dilation: Any=1, padding: Any=0, stride: Any=1) -> _Tensor:
    """Returns the windows of an image (N, C, H, W) or (C, H, W) as columns (N, C * kernel elements,
    windows). Raises RuntimeError for other shapes and sizes that make no windows.
    """
def upsample(input: _Tensor, size: _int | Sequence[_int] | None=None, scale_factor: Any=None, mode: str='nearest', align_corners: _bool | None=None) -> _Tensor:
    """`interpolate` under its older name."""
def upsample_bilinear(input: _Tensor, size: _int | Sequence[_int] | None=None, scale_factor: Any=None) -> _Tensor:
    """`interpolate` with mode 'bilinear' and aligned corners."""
def upsample_nearest(input: _Tensor, size: _int | Sequence[_int] | None=None, scale_factor: Any=None) -> _Tensor:
    """`interpolate` with mode 'nearest'."""
