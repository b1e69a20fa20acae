"""Mistakes with neural ops: losses, norms, attention."""

from __future__ import annotations

import warnings
from collections.abc import Sequence


def reduction(op: str, given: object) -> ValueError:
    """A way to reduce a loss that there is not."""
    return ValueError(f"{op}(): reduction={given!r} is none of 'mean', 'sum' and 'none'")


def warn_target_size(op: str, input: Sequence[int], target: Sequence[int]) -> None:
    """Input and target of a loss that have to be broadcast."""
    warnings.warn(
        f"{op}(): the target's shape {tuple(target)} is not the input's, {tuple(input)}; they are "
        "broadcast, which is seldom meant",
        stacklevel=4,
    )


def target_shape(op: str, input: Sequence[int], target: Sequence[int]) -> ValueError:
    """A target that must have the input's shape."""
    return ValueError(
        f"{op}(): the target's shape {tuple(target)} must be the input's, {tuple(input)}"
    )


def negative(op: str, name: str, value: object) -> RuntimeError:
    """A number that must not be negative."""
    return RuntimeError(f"{op}(): {name} must not be negative, but is {value}")


def not_positive(op: str, name: str, value: object) -> RuntimeError:
    """A number that must be positive."""
    return RuntimeError(f"{op}(): {name} must be positive, but is {value}")


def no_probability(op: str) -> RuntimeError:
    """Inputs of a cross entropy outside [0, 1]."""
    return RuntimeError(
        f"{op}(): all elements of input must be between 0 and 1; "
        f"{op}_with_logits() takes what comes before a sigmoid"
    )


def variance_shape(input: Sequence[int], var: Sequence[int]) -> ValueError:
    """Variances that belong to no element of the input."""
    return ValueError(
        f"gaussian_nll_loss(): var of shape {tuple(var)} fits no input of shape {tuple(input)}: "
        "it has that shape, or one without, or with 1 for, the last dim"
    )


def negative_variance() -> ValueError:
    """A variance below 0."""
    return ValueError("gaussian_nll_loss(): var has negative elements")


def class_dims(op: str, shape: Sequence[int]) -> ValueError:
    """Log-probabilities without a dim of classes."""
    return ValueError(f"{op}(): input of shape {tuple(shape)} has no dim of classes")


def class_dtype(op: str, given: object) -> RuntimeError:
    """Classes that are no int64."""
    return RuntimeError(f"{op}(): the target's classes must be int64, not {given}")


def class_shape(op: str, input: Sequence[int], target: Sequence[int]) -> RuntimeError | ValueError:
    """Targets that are not one for each position of the input: ValueError for another batch."""
    if len(input) > 1:
        batches = tuple(target[:1]) != tuple(input[:1])
    else:  # one sample, whose target may be a vector of one
        batches = len(target) == 1 and target[0] != 1
    kind = ValueError if batches else RuntimeError
    return kind(f"{op}(): a target of shape {tuple(target)} does not fit input {tuple(input)}")


def probabilities(word: str, given: object) -> RuntimeError:
    """What doesn't go with a target that holds a probability for each class."""
    return RuntimeError(f"cross_entropy(): {word} {given} does not go with probabilities")


def class_weights(
    op: str, classes: int, given: Sequence[int], vector: bool = True
) -> RuntimeError | ValueError:
    """Weights that are not one for each class; not `vector`: that are no vector."""
    return (RuntimeError if vector else ValueError)(
        f"{op}(): weight must have shape ({classes},), one for each class, not {tuple(given)}"
    )


def label_smoothing(value: float) -> RuntimeError:
    """A share of smoothing that is none."""
    return RuntimeError(f"cross_entropy(): label_smoothing must be at most 1, but is {value}")


def batch_eps(eps: float, training: bool) -> ValueError:
    """What a variance may not be raised by."""
    needed = "positive in training" if training else "0 or more"
    return ValueError(f"batch_norm(): eps must be {needed}, but is {eps}")


def same_dims(op: str, *shapes: Sequence[int]) -> RuntimeError:
    """Inputs that must have equally many dims."""
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return RuntimeError(f"{op}(): all inputs must have the same number of dims, but are {listed}")


def margin_input(op: str, shape: Sequence[int]) -> RuntimeError:
    """Scores that are neither a vector nor a matrix."""
    return RuntimeError(
        f"{op}(): input must have shape (classes,) or (batch, classes), not {tuple(shape)}"
    )


def margin_target(op: str, needed: Sequence[int], given: Sequence[int]) -> RuntimeError:
    """Targets that don't fit the scores."""
    return RuntimeError(f"{op}(): target must have shape {tuple(needed)}, not {tuple(given)}")


def power(op: str, p: object) -> ValueError:
    """A power other than 1 and 2."""
    return ValueError(f"{op}(): p must be 1 or 2, but is {p}")


def cosine_dims(target: Sequence[int], *inputs: Sequence[int]) -> RuntimeError:
    """Vectors and targets that don't belong together."""
    listed = " and ".join(str(tuple(shape)) for shape in inputs)
    return RuntimeError(
        f"cosine_embedding_loss(): a target of shape () goes with vectors, one of (n,) with "
        f"matrices of n rows; given were {tuple(target)} and {listed}"
    )


def margin(op: str, value: object) -> ValueError:
    """A margin that is not positive."""
    return ValueError(f"{op}(): margin must be positive, but is {value}")


def floating_inputs(op: str, given: object) -> RuntimeError:
    """Inputs that must be of floating point."""
    return RuntimeError(f"{op}(): the inputs must be of a floating-point dtype, not {given}")


def cdist_dims(x1: Sequence[int], x2: Sequence[int]) -> RuntimeError:
    """Rows that are no matrices."""
    return RuntimeError(
        f"cdist(): both inputs need at least 2 dims, but have {tuple(x1)} and {tuple(x2)}"
    )


def cdist_columns(x1: Sequence[int], x2: Sequence[int]) -> RuntimeError:
    """Rows of different lengths."""
    return RuntimeError(
        f"cdist(): the rows must be of one length, but the shapes are {tuple(x1)} and {tuple(x2)}"
    )


def compute_mode(given: object, known: Sequence[str]) -> ValueError:
    """A way to compute distances that there is not."""
    return ValueError(f"cdist(): {given!r} is no compute_mode; there are {', '.join(known)}")


def matrix_needed(op: str, shape: Sequence[int]) -> RuntimeError:
    """A tensor that must be a matrix."""
    return RuntimeError(f"{op}(): input must have 2 dims, not shape {tuple(shape)}")


def no_normalized_shape(op: str) -> RuntimeError:
    """Nothing to normalize over."""
    return RuntimeError(f"{op}(): normalized_shape must name one size at least, but is empty")


def normalized_shape(op: str, shape: Sequence[int], input: Sequence[int]) -> RuntimeError:
    """An input that does not end with the dims to normalize over."""
    return RuntimeError(f"{op}(): input of shape {tuple(input)} does not end with {tuple(shape)}")


def factor_shape(op: str, name: str, needed: Sequence[int], given: Sequence[int]) -> RuntimeError:
    """A weight, bias or statistic of another shape than what is normalized."""
    return RuntimeError(f"{op}(): {name} must have shape {tuple(needed)}, not {tuple(given)}")


def groups(op: str, channels: int, group: int) -> RuntimeError:
    """Channels that don't fall into groups of one size."""
    return RuntimeError(f"{op}(): {channels} channels don't fall into {group} groups of one size")


def few_dims(op: str, needed: int, shape: Sequence[int]) -> RuntimeError:
    """An input with too few dims."""
    return RuntimeError(f"{op}(): input needs at least {needed} dims, but has shape {tuple(shape)}")


def channels_needed(op: str, shape: Sequence[int]) -> ValueError:
    """An input without batch, channels and one dim more."""
    return ValueError(f"{op}(): input needs at least 3 dims, but has shape {tuple(shape)}")


def one_value(op: str, shape: Sequence[int]) -> ValueError:
    """Statistics over a single value."""
    return ValueError(
        f"{op}(): statistics need more than one value a channel, but the shape is {tuple(shape)}"
    )


def no_statistics(op: str) -> RuntimeError:
    """Neither a batch's statistics nor running ones."""
    return RuntimeError(f"{op}(): without training, running_mean and running_var are needed")


def attention_dtypes(*given: object) -> RuntimeError:
    """Query, key and value of several dtypes."""
    listed = ", ".join(str(d) for d in given)
    return RuntimeError(
        f"scaled_dot_product_attention(): query, key and value must have one dtype, not {listed}"
    )


def attention_dims(*shapes: Sequence[int]) -> RuntimeError:
    """Query, key or value without positions and features."""
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return RuntimeError(
        f"scaled_dot_product_attention(): query, key and value need 2 dims at least, not {listed}"
    )


def two_masks(op: str) -> RuntimeError:
    """A mask and the causal one."""
    return RuntimeError(f"{op}(): is_causal makes the mask, so attn_mask must be None")


def attention_mask(given: object, query: object) -> RuntimeError:
    """A mask that is neither bool nor of the query's dtype."""
    return RuntimeError(
        f"scaled_dot_product_attention(): attn_mask must be bool or {query}, as query, not {given}"
    )


def bilinear_shapes(*shapes: Sequence[int]) -> RuntimeError:
    """Operands of a bilinear form that don't fit."""
    first, second, weight = (tuple(shape) for shape in shapes)
    return RuntimeError(
        f"bilinear(): (..., m), (..., n) and weight (k, m, n) are needed, not {first}, {second} "
        f"and {weight}"
    )


def odd_size(op: str, dim: int, size: int) -> RuntimeError:
    """A dim that has no halves."""
    return RuntimeError(f"{op}(): dim {dim} must have an even size, but has {size}")


def prelu_weight_dims(shape: Sequence[int]) -> RuntimeError:
    """Slopes that are neither one number nor a vector."""
    return RuntimeError(
        f"prelu(): weight must be a scalar or a vector, not of shape {tuple(shape)}"
    )


def prelu_weights(channels: int, given: int) -> RuntimeError:
    """Slopes that are not one for each channel."""
    return RuntimeError(f"prelu(): {channels} channels need 1 or {channels} weights, not {given}")


def same_dtype(op: str, name: str, needed: object, given: object) -> RuntimeError:
    """An argument that must have the input's dtype."""
    return RuntimeError(f"{op}(): {name} must have the input's dtype {needed}, not {given}")


def index_dtype(op: str, given: object) -> RuntimeError:
    """Indices that are no integers."""
    return RuntimeError(f"{op}(): indices must be int64 or int32, not {given}; use .to(ft.int64)")


def table_dims(op: str, shape: Sequence[int]) -> RuntimeError | ValueError:
    """A table that is no matrix."""
    kind = ValueError if op == "embedding_bag" else RuntimeError  # as torch has them
    return kind(f"{op}(): weight must have 2 dims, not shape {tuple(shape)}")


def padding_index(op: str, given: int, rows: int) -> AssertionError | RuntimeError:
    """A row that pads and is not there."""
    kind = RuntimeError if op == "embedding_bag" else AssertionError  # as torch has them
    return kind(f"{op}(): padding_idx {given} is not within the {rows} rows of weight")


def bag_mode(mode: object) -> ValueError:
    """A way to fold a bag that there is not."""
    return ValueError(f"embedding_bag(): mode={mode!r} is none of 'sum', 'mean' and 'max'")


def bag_weights(input: Sequence[int], given: Sequence[int]) -> ValueError:
    """Weights that are not one for each index."""
    return ValueError(
        f"embedding_bag(): per_sample_weights must have the input's shape {tuple(input)}, "
        f"not {tuple(given)}"
    )


def bag_weights_mode(mode: str) -> NotImplementedError:
    """Weights where rows are not summed up."""
    return NotImplementedError(
        f"embedding_bag(): per_sample_weights go with mode='sum', not {mode!r}"
    )


def bag_offsets(why: str) -> ValueError:
    """Offsets that make no bags."""
    return ValueError(f"embedding_bag(): {why}")


def bag_starts(why: str) -> RuntimeError:
    """Offsets that lie outside the indices, or are no whole numbers."""
    return RuntimeError(f"embedding_bag(): {why}")


def bag_bounds(index: int, dim: int, size: int) -> RuntimeError:
    """An index of no row."""
    return RuntimeError(f"embedding_bag(): index {index} is out of range for {size} rows")


def bag_of_gradients(word: str) -> ValueError:
    """An argument about gradients that the largest of a bag has not."""
    return ValueError(f"embedding_bag(): mode 'max' takes no {word}")


def bag_input(shape: Sequence[int]) -> ValueError:
    """Indices that are neither a vector nor a matrix."""
    return ValueError(f"embedding_bag(): input must have 1 or 2 dims, not shape {tuple(shape)}")


def no_classes() -> RuntimeError:
    """The number of classes of an empty tensor."""
    return RuntimeError("one_hot(): an empty tensor needs a positive num_classes")


def negative_class(low: int) -> RuntimeError:
    """A class below 0."""
    return RuntimeError(f"one_hot(): classes must not be negative, but one is {low}")


def class_beyond(high: int, classes: int) -> RuntimeError:
    """A class beyond the last."""
    return RuntimeError(f"one_hot(): class {high} is not below num_classes {classes}")


def not_divisible(op: str, name: str, size: int, by: int) -> RuntimeError:
    """A size that must be a multiple."""
    return RuntimeError(f"{op}(): {name} must be divisible by {by}, but is {size}")
