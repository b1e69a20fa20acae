"""Messages about neural networks: losses, norms, attention, convolutions, quantized layers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from ..terminal import guess
from .message import Message, names_called_op, naming_called

reduction = Message(ValueError, "{op}(): reduction={reduction!r} is none of 'mean', 'sum' and 'none'")


def warn_target_size(op: str, input: Sequence[int], target: Sequence[int], level: int) -> None:
    """Warns about an input and a target of a loss that broadcast; `level` is the stack level of the
    caller."""
    warnings.warn(
        naming_called(
            f"{op}(): the target's shape {tuple(target)} is not the input's, {tuple(input)}; they are "
            "broadcast, which is seldom meant"
        ),
        stacklevel=level + 1,
    )


target_shape = Message(
    ValueError, "{op}(): the target's shape {target!t} must be the input's, {input!t}", "op input target"
)
negative = Message(RuntimeError, "{op}(): {name} must not be negative, but is {value}")
not_positive = Message(RuntimeError, "{op}(): {name} must be positive, but is {value}")
no_probability = Message(
    RuntimeError,
    "{op}(): all elements of input must be between 0 and 1; {op}_with_logits() takes the values before a sigmoid",
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


@names_called_op
def class_shape(op: str, input: Sequence[int], target: Sequence[int]) -> RuntimeError | ValueError:
    """Error for targets without one class for each position of the input; ValueError for another
    batch size."""
    if len(input) > 1:
        batches = tuple(target[:1]) != tuple(input[:1])
    else:  # a single sample, whose target may be a vector with one element
        batches = len(target) == 1 and target[0] != 1
    kind = ValueError if batches else RuntimeError
    return kind(f"{op}(): a target of shape {tuple(target)} does not fit input {tuple(input)}")


probabilities = Message(RuntimeError, "cross_entropy(): {word} {value} does not go with probabilities")


@names_called_op
def class_weights(op: str, classes: int, shape: Sequence[int], vector: bool = True) -> RuntimeError | ValueError:
    """Error for weights without one number for each class; with `vector=False`, for weights that
    are no vector."""
    return (RuntimeError if vector else ValueError)(
        f"{op}(): weight must have shape ({classes},), one for each class, not {tuple(shape)}"
    )


label_smoothing = Message(RuntimeError, "cross_entropy(): label_smoothing must be at most 1, but is {value}")


@names_called_op
def batch_eps(eps: float, training: bool) -> ValueError:
    """Error for an `eps` that can't be added to a variance."""
    requirement = "positive in training" if training else "0 or more"
    return ValueError(f"batch_norm(): eps must be {requirement}, but is {eps}")


@names_called_op
def same_dims(op: str, *shapes: Sequence[int]) -> RuntimeError:
    """Error for inputs with different numbers of dims."""
    shape_list = ", ".join(str(tuple(shape)) for shape in shapes)
    return RuntimeError(f"{op}(): all inputs must have the same number of dims, but are {shape_list}")


margin_input = Message(RuntimeError, "{op}(): input must have shape (classes,) or (batch, classes), not {shape!t}")
margin_target = Message(RuntimeError, "{op}(): target must have shape {needed!t}, not {shape!t}")
power = Message(ValueError, "{op}(): p must be 1 or 2, but is {p}")


@names_called_op
def cosine_dims(target: Sequence[int], *inputs: Sequence[int]) -> RuntimeError:
    """Error for vectors and targets whose shapes don't fit."""
    shape_list = " and ".join(str(tuple(shape)) for shape in inputs)
    return RuntimeError(
        f"cosine_embedding_loss(): a target of shape () goes with vectors, one of (n,) with "
        f"matrices of n rows; given were {tuple(target)} and {shape_list}"
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


@names_called_op
def attention_dtypes(*dtypes: object) -> RuntimeError:
    """Error for query, key and value of different dtypes."""
    dtype_list = ", ".join(str(d) for d in dtypes)
    return RuntimeError(f"scaled_dot_product_attention(): query, key and value must have one dtype, not {dtype_list}")


@names_called_op
def attention_dims(*shapes: Sequence[int]) -> RuntimeError:
    """Error for a query, key or value without dims of positions and features."""
    shape_list = ", ".join(str(tuple(shape)) for shape in shapes)
    return RuntimeError(f"scaled_dot_product_attention(): query, key and value need 2 dims at least, not {shape_list}")


two_masks = Message(RuntimeError, "{op}(): is_causal makes the mask, so attn_mask must be None")
attention_mask = Message(
    RuntimeError,
    "scaled_dot_product_attention(): attn_mask must be bool or {query}, as query, not {dtype}",
    "dtype query",
)


@names_called_op
def bilinear_shapes(*shapes: Sequence[int]) -> RuntimeError:
    """Error for operands of a bilinear form whose shapes don't fit."""
    first, second, weight = (tuple(shape) for shape in shapes)
    return RuntimeError(
        f"bilinear(): (..., m), (..., n) and weight (k, m, n) are needed, not {first}, {second} and {weight}"
    )


odd_size = Message(RuntimeError, "{op}(): dim {dim} must have an even size, but has {size}")
prelu_weight_dims = Message(RuntimeError, "prelu(): weight must be a scalar or a vector, not of shape {shape!t}")
prelu_weights = Message(RuntimeError, "prelu(): {channels} channels need 1 or {channels} weights, not {count}")
same_dtype = Message(RuntimeError, "{op}(): {name} must have the input's dtype {needed}, not {dtype}")
index_dtype = Message(RuntimeError, "{op}(): indices must be int64 or int32, not {dtype}; use .to(ft.int64)")


@names_called_op
def table_dims(op: str, shape: Sequence[int]) -> RuntimeError | ValueError:
    """Error for an embedding table that is not a matrix."""
    kind = ValueError if op == "embedding_bag" else RuntimeError  # as in torch
    return kind(f"{op}(): weight must have 2 dims, not shape {tuple(shape)}")


@names_called_op
def padding_index(op: str, index: int, rows: int) -> AssertionError | RuntimeError:
    """Error for a padding row out of range."""
    kind = RuntimeError if op == "embedding_bag" else AssertionError  # as in torch
    return kind(f"{op}(): padding_idx {index} is not within the {rows} rows of weight")


bag_mode = Message(ValueError, "embedding_bag(): mode={mode!r} is none of 'sum', 'mean' and 'max'")
bag_weights = Message(
    ValueError, "embedding_bag(): per_sample_weights must have the input's shape {input!t}, not {shape!t}"
)
bag_weights_mode = Message(NotImplementedError, "embedding_bag(): per_sample_weights go with mode='sum', not {mode!r}")
bag_offsets = Message(ValueError, "embedding_bag(): {why}")
bag_starts = Message(RuntimeError, "embedding_bag(): {why}")
bag_bounds = Message(RuntimeError, "index {index} is out of bounds for a weight of {size} rows", "index dim size")
bag_of_gradients = Message(ValueError, "embedding_bag(): mode 'max' takes no {word}")
bag_input = Message(ValueError, "embedding_bag(): input must have 1 or 2 dims, not shape {shape!t}")
no_classes = Message(RuntimeError, "one_hot(): an empty tensor needs a positive num_classes")
negative_class = Message(RuntimeError, "one_hot(): classes must not be negative, but one is {low}")
class_beyond = Message(RuntimeError, "one_hot(): class {high} is not below num_classes {classes}")
not_divisible = Message(RuntimeError, "{op}(): {name} must be divisible by {by}, but is {size}", "op name size by")


@names_called_op
def cell_input(op: str, shape: Sequence[int]) -> RuntimeError | IndexError:
    """Error for a cell's input that is not a matrix."""
    kind = IndexError if len(shape) < 2 else RuntimeError
    return kind(f"{op}(): input must have shape (batch, input size), not {tuple(shape)}")


@names_called_op
def sizes(op: str, word: str, shape: Sequence[int], weight: Sequence[int]) -> RuntimeError:
    """Error for vectors whose length differs from that of the weights' rows."""
    return RuntimeError(
        f"{op}(): {word} of shape {tuple(shape)} does not fit weights of shape {tuple(weight)}: "
        f"its last dim must be {weight[1]}"
    )


state_shape = Message(RuntimeError, "{op}(): hx must have shape {needed!t}, not {shape!t}")
gates = Message(
    RuntimeError,
    "{op}(): w_ih of shape {weight!t} must have {count} * {hidden} rows, {count} gates for a hidden size of {hidden}",
    "op count hidden weight",
)
two_states = Message(RuntimeError, "{op}(): hx must be two tensors, the hidden and the cell state, not {count}")
layer_input = Message(RuntimeError, "{op}(): input must have shape {needed}, not {shape!t}")
weight_count = Message(RuntimeError, "{op}(): the list of weights must hold {needed} tensors, not {count}")
batch_sizes = Message(
    RuntimeError,
    "{op}(): batch_sizes must be 1-d int64 on the CPU, positive, never rise, and add up to the "
    "{rows} rows of data; given were {batch_sizes}",
    "op batch_sizes rows",
)


@names_called_op
def lengths(op: str, word: str, problem: str, batch: int, most: int | None = None) -> RuntimeError:
    """Error for sequence lengths that are invalid, or not one for each sequence."""
    limit = "not negative" if most is None else f"from 0 to {most}"
    return RuntimeError(f"{op}(): {word} must be {batch} integers, {limit}; {problem}")


mixed_lengths = Message(TypeError, "{op}(): input_lengths and target_lengths must both be tensors, or both lists")


@names_called_op
def labels(op: str, expected: Sequence[int], targets: Sequence[int]) -> RuntimeError:
    """Error for targets that don't hold the labels of the batch."""
    shape = f"({expected[0]}, at least {expected[1]})" if len(expected) > 1 else tuple(expected)
    return RuntimeError(f"{op}(): targets must have shape {shape}, not {tuple(targets)}")


log_probs = Message(
    RuntimeError, "{op}(): log_probs must have shape (steps, batch, classes), none of them 0, not {shape!t}"
)
blank = Message(RuntimeError, "{op}(): blank must be one of the {classes} classes, not {blank}", "op blank classes")
heads = Message(AssertionError, "{op}(): it must hold that {what}")


@names_called_op
def attention_mask_shape(op: str, expected: Sequence[int], heads: int, shape: Sequence[int]) -> RuntimeError:
    """Error for a mask that fits neither all heads nor each head."""
    return RuntimeError(
        f"{op}(): attn_mask must have shape {tuple(expected)} or {(heads, *expected)}, not {tuple(shape)}"
    )


chunks = Message(RuntimeError, "_chunk_cat(): tensors must have {needed}")
linear_input = Message(
    RuntimeError,
    "linear_cross_entropy(): an input of shape {input!t} does not fit weights of shape "
    "{weight!t}: it is (batch, features), or (features,) where weights are a matrix",
)
ignored_probability = Message(
    RuntimeError, "linear_cross_entropy(): ignore_index={index} means nothing for targets of probabilities"
)
causal_mask = Message(RuntimeError, "{op}(): is_causal declares attn_mask causal; pass attn_mask, too")
count = Message(RuntimeError, "{op}(): {word} must be an int or {n} ints, but is {value!r}")
not_a_size = Message(TypeError, "{op}(): {word} must be an int or ints, not {value!r}")
negative_sizes = Message(RuntimeError, "{op}(): {word} must not be negative, but is {value!t}")
not_positive_sizes = Message(RuntimeError, "{op}(): {word} must be positive, but is {value!t}")


@names_called_op
def input_dims(op: str, n: int, shape: Sequence[int]) -> RuntimeError:
    """Error for an input that has neither n spatial dims with channels nor a batch of them."""
    return RuntimeError(
        f"{op}(): input must have {n + 1} dims, or {n + 2} with a batch, all but the batch's not "
        f"empty, but has shape {tuple(shape)}"
    )


@names_called_op
def weight_dims(op: str, n: int, shape: Sequence[int]) -> RuntimeError:
    """Error for a weight with a wrong number of dims."""
    return RuntimeError(f"{op}(): weight must have {n + 2} dims, but has shape {tuple(shape)}")


channels = Message(
    RuntimeError,
    "{op}(): the weight takes {wanted} channels in {groups} groups, but input has {channels}",
    "op wanted channels groups",
)
filters = Message(RuntimeError, "{op}(): {filters} filters don't fall into {groups} groups")
bias_shape = Message(RuntimeError, "{op}(): bias must have shape ({wanted},), not {shape!t}")
empty_weight = Message(RuntimeError, "{op}(): a weight of shape {shape!t} has no elements")
empty_planes = Message(
    RuntimeError, "{op}(): an input may have no samples or channels, but no sizes of 0, as in {shape!t}"
)
kernel_too_large = Message(
    RuntimeError, "{op}(): the kernel covers {kernel!t}, more than the padded input's {size!t}", "op size kernel"
)
padding_word = Message(RuntimeError, "{op}(): padding={padding!r} is neither a number nor 'valid' or 'same'")
same_strided = Message(RuntimeError, "{op}(): padding='same' needs stride 1, not {stride!t}")
output_padding = Message(
    RuntimeError, "{op}(): output_padding {output_padding!t} must be below the stride or the dilation, {below!t}"
)
empty_result = Message(
    RuntimeError,
    "{op}(): input sizes {given!t} would give a result of sizes {shape!t}; enlarge the input, or choose a smaller "
    "kernel or dilation, or more padding",
)
empty_transposed = Message(
    RuntimeError,
    "{op}(): input sizes {given!t} would give a result of sizes {shape!t}; choose less padding or a larger "
    "output_padding",
)
empty_interpolation = Message(
    RuntimeError, "{op}(): shape {given!t} to sizes {shape!t}: no size but the batch's may be 0"
)
pool_padding = Message(RuntimeError, "{op}(): padding {padding!t} is more than half of the kernel, {kernel!t}")
divisor = Message(RuntimeError, "{op}(): divisor_override must not be 0")
adaptive_dims = Message(ValueError, "{op}(): input needs at least {n} dims, but has shape {shape!t}")
unpool_shapes = Message(RuntimeError, "{op}(): indices must have the input's shape {input!t}, not {indices!t}")
unpool_bounds = Message(RuntimeError, "{op}(): indices are from {low} to {high}, but the output has {size} positions")
unpool_size = Message(ValueError, "{op}(): output_size {output_size!t} {why}")
fractional_size = Message(
    RuntimeError, "{op}(): an output with a kernel {kernel!t} does not fit into sizes {size!t}", "op size kernel"
)
one_of_two = Message(ValueError, "{op}(): either {first} or {second} must be given, and not both")
pad_dims = Message(
    NotImplementedError,
    "pad(): mode {mode!r} takes pairs for the last 1 to 3 dims of an input with one or two more; "
    "given were pad={pad!t} and shape {shape!t}",
)
pad_wraps = Message(RuntimeError, "pad(): mode {mode!r} cannot pad shape {shape!t} by {pad!t}", "mode pad shape")
pad_value = Message(ValueError, "pad(): mode {mode!r} takes no value, but value={value!r} was given")
mode = Message(ValueError, "{op}(): mode {value!r} is none of {known!c}")


@names_called_op
def interpolation_mode(mode: object, shape: Sequence[int], known: Sequence[str]) -> NotImplementedError:
    """Error for a mode that does not exist, or not for as many dims as the input has."""
    dims = f"{len(shape)} dims has {', '.join(map(repr, known))}" if known else "3 to 5 dims is needed"
    return NotImplementedError(
        f"interpolate(): mode {mode!r} is not for shape {tuple(shape)}: an input of {dims}{guess(str(mode), known)}"
    )


align_corners = Message(ValueError, "interpolate(): align_corners is not for mode {mode!r}")
antialias = Message(ValueError, "interpolate(): antialias is for 'bilinear' and 'bicubic' of 4 dims, not {mode!r}")
scale_sizes = Message(ValueError, "{op}(): {word} must be one number or {n}, but is {value!r}")
recomputed = Message(ValueError, "{op}(): recompute_scale_factor goes with scale_factor, not with size")
grid = Message(RuntimeError, "{op}(): {why}")
columns = Message(RuntimeError, "{op}(): {why}")
lanczos = Message(ValueError, "interpolate(): mode 'lanczos' needs antialias=True and no align_corners")
affine = Message(ValueError, "affine_grid(): {why}")
affine_dims = Message(NotImplementedError, "{op}(): size must have 4 or 5 numbers, but is {size!t}")


# torch's `quantized_decomposed` ops raise AssertionError and ValueError.
not_float32 = Message(
    AssertionError, "{op}(): input must be ftensor.float32, float16 or bfloat16, not {dtype}: convert with .float()"
)
not_integers = Message(ValueError, "{op}(): dtype must be ftensor.uint8, int8 or int16, not {dtype}")
not_bytes = Message(
    RuntimeError,
    "{op}(): input must be ftensor.uint8 or int8, not {dtype}: quantize it, or use ftensor.nn.functional.{op}",
)
for_each = Message(ValueError, "{op}(): {name} must be a number, or {count} numbers, one for each tensor, not {found}")
no_tensors = Message(RuntimeError, "{op}(): expected at least one tensor")
joined_dtypes = Message(
    RuntimeError, "{op}(): all tensors must be ftensor.uint8, or all ftensor.int8, but they are {first} and {other}"
)
other_dtype = Message(AssertionError, "{op}(): input is {dtype}, but dtype says {wanted}")
bounds = Message(
    AssertionError, "{op}(): quant_min={low} and quant_max={high} must be in [{least}, {most}], which {dtype} holds"
)
scales = Message(
    RuntimeError, "{op}(): {name} must be 1-d with {wanted} elements, one for each channel, but its shape is {shape!t}"
)
scale = Message(ValueError, "{op}(): {name} must be a positive finite number, not {value!r}")
zero_point = Message(
    ValueError, "{op}(): {name}={value!r} must be an integer in [{least}, {most}], which {dtype} holds"
)
operands = Message(
    RuntimeError,
    "{op}(): expected an input of uint8 or int8 and a weight of int8, but got {input} and "
    "{weight}: ftensor.quantized.quantize_per_tensor makes them",
)
bias = Message(
    RuntimeError,
    "{op}(): bias must be ftensor.float32 of shape ({wanted},), not {dtype} of {shape!t}",
    "op wanted dtype shape",
)
pairs = Message(
    RuntimeError,
    "{op}(): input must be ftensor.int16 with a last dim of 2, (real, imag), not {dtype} of shape {shape!t}",
)
terms = Message(
    RuntimeError,
    "{op}(): both must have one dtype and shape, but are {first} of {shape!t} and {second} of {other!t}",
    "op first shape second other",
)
