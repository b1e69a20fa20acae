"""Mistakes with sequences: recurrent layers, their losses, attention of several heads."""

from __future__ import annotations

from collections.abc import Sequence

from .message import Message


def cell_input(op: str, shape: Sequence[int]) -> RuntimeError | IndexError:
    """A cell's input that is no matrix."""
    kind = IndexError if len(shape) < 2 else RuntimeError
    return kind(f"{op}(): input must have shape (batch, input size), not {tuple(shape)}")


def sizes(op: str, word: str, shape: Sequence[int], weight: Sequence[int]) -> RuntimeError:
    """Vectors of another length than the weights' rows."""
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


def lengths(op: str, word: str, problem: str, batch: int, most: int | None = None) -> RuntimeError:
    """Lengths of sequences that are no lengths, or not one for each."""
    limit = "not negative" if most is None else f"from 0 to {most}"
    return RuntimeError(f"{op}(): {word} must be {batch} integers, {limit}; {problem}")


mixed_lengths = Message(TypeError, "{op}(): input_lengths and target_lengths must both be tensors, or both lists")


def labels(op: str, needed: Sequence[int], targets: Sequence[int]) -> RuntimeError:
    """Targets that don't hold the labels of the batch."""
    shape = f"({needed[0]}, at least {needed[1]})" if len(needed) > 1 else tuple(needed)
    return RuntimeError(f"{op}(): targets must have shape {shape}, not {tuple(targets)}")


log_probs = Message(
    RuntimeError, "{op}(): log_probs must have shape (steps, batch, classes), none of them 0, not {shape!t}"
)
blank = Message(RuntimeError, "{op}(): blank must be one of the {classes} classes, not {blank}", "op blank classes")
heads = Message(AssertionError, "{op}(): it must hold that {what}")


def attention_mask(op: str, needed: Sequence[int], heads: int, shape: Sequence[int]) -> RuntimeError:
    """A mask that is not one for all heads, or one for each."""
    return RuntimeError(f"{op}(): attn_mask must have shape {tuple(needed)} or {(heads, *needed)}, not {tuple(shape)}")


chunks = Message(RuntimeError, "_chunk_cat(): tensors must have {needed}")
linear_input = Message(
    RuntimeError,
    "linear_cross_entropy(): an input of shape {input!t} does not fit weights of shape "
    "{weight!t}: it is (batch, features), or (features,) where weights are a matrix",
)
ignored_probability = Message(
    RuntimeError, "linear_cross_entropy(): ignore_index={index} means nothing for targets of probabilities"
)
causal_mask = Message(RuntimeError, "{op}(): is_causal says of attn_mask that it is causal; give that, too")
