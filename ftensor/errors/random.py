"""Messages about generators, seeds and distributions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence


def no_seed(value: object) -> RuntimeError:
    """A generator's seed that is no integer."""
    return RuntimeError(f"manual_seed(): a seed is an int, not {type(value).__name__}")


def seed_out_of_range(value: int) -> ValueError:
    """A seed of more than 64 bits."""
    return ValueError(f"manual_seed(): {value} is not between -2**63 and 2**64 - 1")


def bad_offset(value: object) -> RuntimeError:
    """A number of calls that a generator cannot have served."""
    return RuntimeError(f"a generator's offset is an int from 0 to 2**48 - 1, not {value}")


def not_a_state(value: object) -> TypeError:
    """A generator's state that is no tensor of bytes."""
    kind = getattr(value, "dtype", type(value).__name__)
    return TypeError(f"a generator's state is a uint8 tensor, as get_state() gives, not {kind}")


def state_size(shape: Sequence[int], size: int) -> RuntimeError:
    """A state of another length."""
    return RuntimeError(f"a generator's state has shape ({size},), not {tuple(shape)}")


def not_a_generator(function: str, value: object) -> TypeError:
    """Something else where a generator is meant."""
    kind = type(value).__name__
    return TypeError(f"{function}(): generator must be a ftensor.Generator, not {kind}")


def unknown_argument(function: str, name: str) -> TypeError:
    """A keyword that the function does not take."""
    return TypeError(f"{function}() has no argument {name!r}")


def bad_parameter(function: str, name: str, wanted: str, value: object) -> RuntimeError:
    """A distribution's parameter out of its range."""
    return RuntimeError(f"{function}(): {name} must be {wanted}, but is {value}")


def not_continuous(function: str, dtype: object) -> RuntimeError:
    """A continuous distribution's numbers asked for in integers."""
    return RuntimeError(f"{function}(): fills floating-point tensors, not {dtype} ones")


def empty_range(function: str, low: object, high: object) -> RuntimeError:
    """Bounds that leave no number."""
    return RuntimeError(f"{function}(): there is no number from {low} up to, but without, {high}")


def beyond_dtype(function: str, name: str, value: object, dtype: object) -> RuntimeError:
    """A bound that the dtype cannot hold."""
    return RuntimeError(f"{function}(): {name}, which is {value}, is out of the range of {dtype}")


def too_wide(low: object, high: object, dtype: object) -> RuntimeError:
    """An interval whose length is no number of the dtype."""
    return RuntimeError(f"uniform_(): {dtype} cannot hold the distance from {low} to {high}")


def complex_integers(function: str, dtype: object) -> RuntimeError:
    """Random integers asked for as complex numbers."""
    return RuntimeError(f"{function}(): makes real numbers, not {dtype} ones")


def complex_std() -> RuntimeError:
    """A standard deviation that is complex."""
    return RuntimeError("normal(): a standard deviation is real; use std.real")


def negative_std() -> RuntimeError:
    """A tensor of standard deviations with a negative one."""
    return RuntimeError("normal(): std has an element below 0")


def weights_dims(ndim: int) -> RuntimeError:
    """Weights that are neither one distribution nor a list of them."""
    return RuntimeError(f"multinomial(): the input must have 1 or 2 dims, but has {ndim}")


def weights_dtype(dtype: object) -> RuntimeError:
    """Weights that are not floating-point numbers."""
    return RuntimeError(f"multinomial(): the input must be floating-point, but is {dtype}")


def sample_count(count: int, size: int) -> RuntimeError:
    """More draws without replacement than there are categories, or none."""
    return RuntimeError(
        f"multinomial(): num_samples must be from 1 to {size} (without replacement), not {count}"
        if count > 0
        else f"multinomial(): num_samples must be at least 1, not {count}"
    )


def bad_weights() -> RuntimeError:
    """Weights that are no probabilities."""
    return RuntimeError(
        "multinomial(): each row of the input must have a finite, positive sum, and no element "
        "below 0"
    )


def binomial_dtype(name: str, dtype: object) -> ValueError:
    """A count or a probability that is no floating-point tensor."""
    return ValueError(f"binomial(): {name} must be floating-point, but is {dtype}")


def binomial_dtypes(count: object, prob: object) -> RuntimeError:
    """Counts of one dtype, probabilities of another."""
    return RuntimeError(f"binomial(): count is {count} and prob {prob}; convert one of them")


def poisson_rate() -> RuntimeError:
    """Rates that are none."""
    return RuntimeError("poisson(): each rate must be from 0 to 9.2e18")


def permutation_dtype(count: int, dtype: object) -> RuntimeError:
    """More numbers than the dtype tells apart."""
    return RuntimeError(f"randperm(): {dtype} cannot hold each number below {count}")


def dropout_probability(value: object, type_: type[Exception]) -> Exception:
    """A probability that is none."""
    return type_(f"dropout(): the probability p must be from 0 to 1, but is {value}")


def dropout_cast(dtype: object) -> RuntimeError:
    """Dropout of integers."""
    return RuntimeError(f"dropout(): multiplies by fractions, which {dtype} cannot hold")


def feature_dims(ndim: int) -> RuntimeError:
    """Dropout of channels where there are none."""
    return RuntimeError(f"dropout of features: the input needs 2 dims or more, but has {ndim}")


def dropout1d_dims(ndim: int) -> RuntimeError:
    """An input of `dropout1d` with too few or too many dims."""
    return RuntimeError(f"dropout1d(): the input must have 2 or 3 dims, but has {ndim}")


def slope_bounds(lower: object, upper: object) -> RuntimeError:
    """Bounds of `rrelu` in the wrong order."""
    return RuntimeError(f"rrelu(): lower is {lower}, which is above upper, {upper}")


def warn_channels(function: str, ndim: int, wanted: Sequence[int]) -> None:
    """Dropout of channels where the input has too few or too many dims, which torch still takes."""
    text = f"{function}(): an input has {' or '.join(map(str, wanted))} dims, this one {ndim}; "
    warnings.warn(text + "torch means to refuse it", stacklevel=3)


def warn_batch() -> None:
    """`dropout2d` of three dims."""
    text = "dropout2d(): an input of 3 dims counts as (batch, channels, length); use dropout1d"
    warnings.warn(text, stacklevel=3)
