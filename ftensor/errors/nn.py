"""Mistakes with neural ops: losses, norms, attention."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from .message import Message

reduction = Message(ValueError, "{op}(): reduction={reduction!r} is none of 'mean', 'sum' and 'none'")


def warn_target_size(op: str, input: Sequence[int], target: Sequence[int], level: int) -> None:
    """Input and target of a loss that have to be broadcast; `level` as the caller sees it."""
    warnings.warn(
        f"{op}(): the target's shape {tuple(target)} is not the input's, {tuple(input)}; they are "
        "broadcast, which is seldom meant",
        stacklevel=level + 1,
    )


target_shape = Message(
    ValueError, "{op}(): the target's shape {target!t} must be the input's, {input!t}", "op input target"
)
negative = Message(RuntimeError, "{op}(): {name} must not be negative, but is {value}")
not_positive = Message(RuntimeError, "{op}(): {name} must be positive, but is {value}")
no_probability = Message(
    RuntimeError,
    "{op}(): all elements of input must be between 0 and 1; {op}_with_logits() takes what comes before a sigmoid",
)
variance_shape = Message(
    ValueError,
    "gaussian_nll_loss(): var of shape {var!t} fits no input of shape {input!t}: it has that "
    "shape, or one without, or with 1 for, the last dim",
    "input var",
)
negative_variance = Message(ValueError, "gaussian_nll_loss(): var has negative elements")
class_dims = Message(ValueError, "{op}(): input of shape {shape!t} has no dim of classes")
class_dtype = Message(RuntimeError, "{op}(): the target's classes must be int64, not {dtype}")


def class_shape(op: str, input: Sequence[int], target: Sequence[int]) -> RuntimeError | ValueError:
    """Targets that are not one for each position of the input: ValueError for another batch."""
    if len(input) > 1:
        batches = tuple(target[:1]) != tuple(input[:1])
    else:  # one sample, whose target may be a vector of one
        batches = len(target) == 1 and target[0] != 1
    kind = ValueError if batches else RuntimeError
    return kind(f"{op}(): a target of shape {tuple(target)} does not fit input {tuple(input)}")


probabilities = Message(RuntimeError, "cross_entropy(): {word} {value} does not go with probabilities")


def class_weights(op: str, classes: int, shape: Sequence[int], vector: bool = True) -> RuntimeError | ValueError:
    """Weights that are not one for each class; not `vector`: that are no vector."""
    return (RuntimeError if vector else ValueError)(
        f"{op}(): weight must have shape ({classes},), one for each class, not {tuple(shape)}"
    )


label_smoothing = Message(RuntimeError, "cross_entropy(): label_smoothing must be at most 1, but is {value}")


def batch_eps(eps: float, training: bool) -> ValueError:
    """What a variance may not be raised by."""
    needed = "positive in training" if training else "0 or more"
    return ValueError(f"batch_norm(): eps must be {needed}, but is {eps}")


def same_dims(op: str, *shapes: Sequence[int]) -> RuntimeError:
    """Inputs that must have equally many dims."""
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return RuntimeError(f"{op}(): all inputs must have the same number of dims, but are {listed}")


margin_input = Message(RuntimeError, "{op}(): input must have shape (classes,) or (batch, classes), not {shape!t}")
margin_target = Message(RuntimeError, "{op}(): target must have shape {needed!t}, not {shape!t}")
power = Message(ValueError, "{op}(): p must be 1 or 2, but is {p}")


def cosine_dims(target: Sequence[int], *inputs: Sequence[int]) -> RuntimeError:
    """Vectors and targets that don't belong together."""
    listed = " and ".join(str(tuple(shape)) for shape in inputs)
    return RuntimeError(
        f"cosine_embedding_loss(): a target of shape () goes with vectors, one of (n,) with "
        f"matrices of n rows; given were {tuple(target)} and {listed}"
    )


margin = Message(ValueError, "{op}(): margin must be positive, but is {value}")
floating_inputs = Message(RuntimeError, "{op}(): the inputs must be of a floating-point dtype, not {dtype}")
cdist_dims = Message(RuntimeError, "cdist(): both inputs need at least 2 dims, but have {x1!t} and {x2!t}")
cdist_columns = Message(RuntimeError, "cdist(): the rows must be of one length, but the shapes are {x1!t} and {x2!t}")
compute_mode = Message(ValueError, "cdist(): {mode!r} is no compute_mode; there are {known!c}")
matrix_needed = Message(RuntimeError, "{op}(): input must have 2 dims, not shape {shape!t}")
no_normalized_shape = Message(RuntimeError, "{op}(): normalized_shape must name one size at least, but is empty")
normalized_shape = Message(
    RuntimeError, "{op}(): input of shape {input!t} does not end with {shape!t}", "op shape input"
)
factor_shape = Message(RuntimeError, "{op}(): {name} must have shape {needed!t}, not {shape!t}")
groups = Message(RuntimeError, "{op}(): {channels} channels don't fall into {group} groups of one size")
few_dims = Message(RuntimeError, "{op}(): input needs at least {needed} dims, but has shape {shape!t}")
channels_needed = Message(ValueError, "{op}(): input needs at least 3 dims, but has shape {shape!t}")
one_value = Message(ValueError, "{op}(): statistics need more than one value a channel, but the shape is {shape!t}")
no_statistics = Message(RuntimeError, "{op}(): without training, running_mean and running_var are needed")


def attention_dtypes(*dtypes: object) -> RuntimeError:
    """Query, key and value of several dtypes."""
    listed = ", ".join(str(d) for d in dtypes)
    return RuntimeError(f"scaled_dot_product_attention(): query, key and value must have one dtype, not {listed}")


def attention_dims(*shapes: Sequence[int]) -> RuntimeError:
    """Query, key or value without positions and features."""
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return RuntimeError(f"scaled_dot_product_attention(): query, key and value need 2 dims at least, not {listed}")


two_masks = Message(RuntimeError, "{op}(): is_causal makes the mask, so attn_mask must be None")
attention_mask = Message(
    RuntimeError,
    "scaled_dot_product_attention(): attn_mask must be bool or {query}, as query, not {dtype}",
    "dtype query",
)


def bilinear_shapes(*shapes: Sequence[int]) -> RuntimeError:
    """Operands of a bilinear form that don't fit."""
    first, second, weight = (tuple(shape) for shape in shapes)
    return RuntimeError(
        f"bilinear(): (..., m), (..., n) and weight (k, m, n) are needed, not {first}, {second} and {weight}"
    )


odd_size = Message(RuntimeError, "{op}(): dim {dim} must have an even size, but has {size}")
prelu_weight_dims = Message(RuntimeError, "prelu(): weight must be a scalar or a vector, not of shape {shape!t}")
prelu_weights = Message(RuntimeError, "prelu(): {channels} channels need 1 or {channels} weights, not {count}")
same_dtype = Message(RuntimeError, "{op}(): {name} must have the input's dtype {needed}, not {dtype}")
index_dtype = Message(RuntimeError, "{op}(): indices must be int64 or int32, not {dtype}; use .to(ft.int64)")


def table_dims(op: str, shape: Sequence[int]) -> RuntimeError | ValueError:
    """A table that is no matrix."""
    kind = ValueError if op == "embedding_bag" else RuntimeError  # as torch has them
    return kind(f"{op}(): weight must have 2 dims, not shape {tuple(shape)}")


def padding_index(op: str, index: int, rows: int) -> AssertionError | RuntimeError:
    """A row that pads and is not there."""
    kind = RuntimeError if op == "embedding_bag" else AssertionError  # as torch has them
    return kind(f"{op}(): padding_idx {index} is not within the {rows} rows of weight")


bag_mode = Message(ValueError, "embedding_bag(): mode={mode!r} is none of 'sum', 'mean' and 'max'")
bag_weights = Message(
    ValueError, "embedding_bag(): per_sample_weights must have the input's shape {input!t}, not {shape!t}"
)
bag_weights_mode = Message(NotImplementedError, "embedding_bag(): per_sample_weights go with mode='sum', not {mode!r}")
bag_offsets = Message(ValueError, "embedding_bag(): {why}")
bag_starts = Message(RuntimeError, "embedding_bag(): {why}")
bag_bounds = Message(RuntimeError, "embedding_bag(): index {index} is out of range for {size} rows", "index dim size")
bag_of_gradients = Message(ValueError, "embedding_bag(): mode 'max' takes no {word}")
bag_input = Message(ValueError, "embedding_bag(): input must have 1 or 2 dims, not shape {shape!t}")
no_classes = Message(RuntimeError, "one_hot(): an empty tensor needs a positive num_classes")
negative_class = Message(RuntimeError, "one_hot(): classes must not be negative, but one is {low}")
class_beyond = Message(RuntimeError, "one_hot(): class {high} is not below num_classes {classes}")
not_divisible = Message(RuntimeError, "{op}(): {name} must be divisible by {by}, but is {size}", "op name size by")
