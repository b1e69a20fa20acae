"""Mistakes with sequences: recurrent layers, their losses, attention of several heads."""

from __future__ import annotations

from collections.abc import Sequence


def cell_input(op: str, shape: Sequence[int]) -> RuntimeError | IndexError:
    """A cell's input that is no matrix."""
    kind = IndexError if len(shape) < 2 else RuntimeError
    return kind(f"{op}(): input must have shape (batch, input size), not {tuple(shape)}")


def sizes(op: str, word: str, given: Sequence[int], weight: Sequence[int]) -> RuntimeError:
    """Vectors of another length than the weights' rows."""
    return RuntimeError(
        f"{op}(): {word} of shape {tuple(given)} does not fit weights of shape {tuple(weight)}: "
        f"its last dim must be {weight[1]}"
    )


def state_shape(op: str, needed: Sequence[int], given: Sequence[int]) -> RuntimeError:
    """States that don't fit the input and the weights."""
    return RuntimeError(f"{op}(): hx must have shape {tuple(needed)}, not {tuple(given)}")


def gates(op: str, count: int, hidden: int, weight: Sequence[int]) -> RuntimeError:
    """Weights that are not `count` gates of the hidden size."""
    return RuntimeError(
        f"{op}(): w_ih of shape {tuple(weight)} must have {count} * {hidden} rows, {count} gates "
        f"for a hidden size of {hidden}"
    )


def two_states(op: str, given: int) -> RuntimeError:
    """States of an LSTM that are not a pair."""
    return RuntimeError(
        f"{op}(): hx must be two tensors, the hidden and the cell state, not {given}"
    )


def layer_input(op: str, needed: str, shape: Sequence[int]) -> RuntimeError:
    """A layer's input that is no batch of sequences, or one of none."""
    return RuntimeError(f"{op}(): input must have shape {needed}, not {tuple(shape)}")


def weight_count(op: str, needed: int, given: int) -> RuntimeError:
    """A list of weights that does not hold those of all layers."""
    return RuntimeError(f"{op}(): the list of weights must hold {needed} tensors, not {given}")


def batch_sizes(op: str, given: object, rows: int) -> RuntimeError:
    """Sizes of the batches of a packed sequence that are none."""
    return RuntimeError(
        f"{op}(): batch_sizes must be 1-d int64 on the CPU, positive, never rise, and add up to "
        f"the {rows} rows of data; given were {given}"
    )


def lengths(op: str, word: str, found: str, batch: int, most: int | None = None) -> RuntimeError:
    """Lengths of sequences that are no lengths, or not one for each."""
    limit = "not negative" if most is None else f"from 0 to {most}"
    return RuntimeError(f"{op}(): {word} must be {batch} integers, {limit}; {found}")


def mixed_lengths(op: str) -> TypeError:
    """Lengths of which one is a tensor and one is not."""
    return TypeError(
        f"{op}(): input_lengths and target_lengths must both be tensors, or both lists"
    )


def labels(op: str, needed: Sequence[int], given: Sequence[int]) -> RuntimeError:
    """Targets that don't hold the labels of the batch."""
    shape = f"({needed[0]}, at least {needed[1]})" if len(needed) > 1 else tuple(needed)
    return RuntimeError(f"{op}(): targets must have shape {shape}, not {tuple(given)}")


def log_probs(op: str, shape: Sequence[int]) -> RuntimeError:
    """Log-probabilities that are no frames of classes."""
    return RuntimeError(
        f"{op}(): log_probs must have shape (steps, batch, classes), none of them 0, "
        f"not {tuple(shape)}"
    )


def blank(op: str, given: int, classes: int) -> RuntimeError:
    """A blank that is no class."""
    return RuntimeError(f"{op}(): blank must be one of the {classes} classes, not {given}")


def heads(op: str, what: str) -> AssertionError:
    """Arguments of attention that don't belong together: what has to hold."""
    return AssertionError(f"{op}(): it must hold that {what}")


def attention_mask(
    op: str, needed: Sequence[int], heads: int, given: Sequence[int]
) -> RuntimeError:
    """A mask that is not one for all heads, or one for each."""
    return RuntimeError(
        f"{op}(): attn_mask must have shape {tuple(needed)} or {(heads, *needed)}, "
        f"not {tuple(given)}"
    )


def chunks(needed: str) -> RuntimeError:
    """Tensors that cannot be cut into chunks side by side."""
    return RuntimeError(f"_chunk_cat(): tensors must have {needed}")


def linear_input(input: Sequence[int], weight: Sequence[int]) -> RuntimeError:
    """Samples that don't belong to the weights."""
    return RuntimeError(
        f"linear_cross_entropy(): an input of shape {tuple(input)} does not fit weights of shape "
        f"{tuple(weight)}: it is (batch, features), or (features,) where weights are a matrix"
    )


def ignored_probability(index: int) -> RuntimeError:
    """A class that is ignored where there are no classes."""
    return RuntimeError(
        f"linear_cross_entropy(): ignore_index={index} means nothing for targets of probabilities"
    )


def causal_mask(op: str) -> RuntimeError:
    """A hint that a mask is the causal one, without the mask."""
    return RuntimeError(f"{op}(): is_causal says of attn_mask that it is causal; give that, too")
