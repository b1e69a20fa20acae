"""Messages about generators, seeds and distributions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from .message import Message, of_call

no_seed = Message(RuntimeError, "manual_seed(): a seed is an int, not {value!k}")
seed_out_of_range = Message(ValueError, "manual_seed(): {value} is not between -2**63 and 2**64 - 1")
bad_offset = Message(RuntimeError, "a generator's offset is an int from 0 to 2**48 - 1, not {value}")


def not_a_state(value: object) -> TypeError:
    """Error for a generator state that is not a tensor of bytes."""
    kind = getattr(value, "dtype", type(value).__name__)
    return TypeError(f"a generator's state is a uint8 tensor, as get_state() gives, not {kind}")


state_size = Message(RuntimeError, "a generator's state has shape ({size},), not {shape!t}", "shape size")


@of_call
def not_a_generator(function: str, value: object) -> TypeError:
    """Error for an argument that must be a generator."""
    kind = type(value).__name__
    return TypeError(f"{function}(): generator must be a ftensor.Generator, not {kind}")


unknown_argument = Message(TypeError, "{function}() has no argument {name!r}")
bad_parameter = Message(RuntimeError, "{function}(): {name} must be {wanted}, but is {value}")
not_continuous = Message(RuntimeError, "{function}(): fills floating-point tensors, not {dtype} ones")
empty_range = Message(RuntimeError, "{function}(): there is no number from {low} up to, but without, {high}")
beyond_dtype = Message(RuntimeError, "{function}(): {name}, which is {value}, is out of the range of {dtype}")
too_wide = Message(RuntimeError, "uniform_(): {dtype} cannot hold the distance from {low} to {high}", "low high dtype")
complex_integers = Message(RuntimeError, "{function}(): makes real numbers, not {dtype} ones")
complex_std = Message(RuntimeError, "normal(): a standard deviation is real; use std.real")
negative_std = Message(RuntimeError, "normal(): std has an element below 0")
weights_dims = Message(RuntimeError, "multinomial(): the input must have 1 or 2 dims, but has {ndim}")
weights_dtype = Message(RuntimeError, "multinomial(): the input must be floating-point, but is {dtype}")


@of_call
def sample_count(count: int, size: int) -> RuntimeError:
    """Error for more draws without replacement than categories, or for no draws."""
    return RuntimeError(
        f"multinomial(): num_samples must be from 1 to {size} (without replacement), not {count}"
        if count > 0
        else f"multinomial(): num_samples must be at least 1, not {count}"
    )


bad_weights = Message(
    RuntimeError, "multinomial(): each row of the input must have a finite, positive sum, and no element below 0"
)
binomial_dtype = Message(ValueError, "binomial(): {name} must be floating-point, but is {dtype}")
binomial_dtypes = Message(RuntimeError, "binomial(): count is {count} and prob {prob}; convert one of them")
poisson_rate = Message(RuntimeError, "poisson(): each rate must be from 0 to 9.2e18")
permutation_dtype = Message(RuntimeError, "randperm(): {dtype} cannot hold each number below {count}", "count dtype")


@of_call
def dropout_probability(value: object, type_: type[Exception]) -> Exception:
    """Error for a probability outside [0, 1]."""
    return type_(f"dropout(): the probability p must be from 0 to 1, but is {value}")


dropout_cast = Message(RuntimeError, "dropout(): multiplies by fractions, which {dtype} cannot hold")
feature_dims = Message(RuntimeError, "dropout of features: the input needs 2 dims or more, but has {ndim}")
dropout1d_dims = Message(RuntimeError, "dropout1d(): the input must have 2 or 3 dims, but has {ndim}")
slope_bounds = Message(RuntimeError, "rrelu(): lower is {lower}, which is above upper, {upper}")


def warn_channels(function: str, ndim: int, expected: Sequence[int]) -> None:
    """Warns about a channel dropout whose input has too few or too many dims, which torch still
    accepts."""
    text = f"{function}(): an input has {' or '.join(map(str, expected))} dims, this one {ndim}; "
    warnings.warn(text + "torch means to refuse it", stacklevel=3)


def warn_batch() -> None:
    """Warns about a `dropout2d` of three dims."""
    text = "dropout2d(): an input of 3 dims counts as (batch, channels, length); use dropout1d"
    warnings.warn(text, stacklevel=3)


parameter = Message(ValueError, "{kind}(): `{name}` must be {what}", "kind name what")
one_of_two = Message(
    ValueError, "{kind}() takes one of `{first}` and `{second}`, not both or none", "kind first second"
)
one_matrix = Message(ValueError, "MultivariateNormal() takes one of covariance_matrix, precision_matrix and scale_tril")
too_many_dims = Message(
    ValueError, "Independent(): {count} dims are more than the batch shape {shape!t} has", "count shape"
)
no_form = Message(NotImplementedError, "{kind} has no {name} in closed form here", "kind name")
no_divergence = Message(NotImplementedError, "kl_divergence() has no formula for {p} and {q}", "p q")
