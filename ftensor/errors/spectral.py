"""Mistakes with Fourier transforms, windows and filters."""

from __future__ import annotations

from collections.abc import Sequence


def dtype(op: str, given: object) -> RuntimeError:
    """A dtype of 16 bits, which no transform takes."""
    return RuntimeError(f"{op}(): {given} is not transformed; convert with .to(ftensor.float32)")


def real_needed(op: str, given: object) -> RuntimeError:
    """A complex input of a transform of real numbers."""
    return RuntimeError(f"{op}() takes real numbers, not {given}; fft() takes complex ones")


def points(op: str, n: int) -> RuntimeError:
    """A transform of no numbers."""
    return RuntimeError(f"{op}(): a transform needs at least 1 point, but n is {n}")


def norm(op: str, given: object) -> RuntimeError:
    """A normalization that there is not."""
    return RuntimeError(f"{op}(): norm={given!r} is none of 'forward', 'backward' and 'ortho'")


def norm_type(op: str, given: object) -> TypeError:
    """A normalization that is no string."""
    return TypeError(f"{op}(): norm must be a string, not {type(given).__name__}")


def no_dims(op: str, dim: int) -> IndexError:
    """A 0-d input."""
    return IndexError(f"{op}(): dim {dim} of a 0-d tensor, which has none")


def repeated(op: str, dims: Sequence[int]) -> RuntimeError:
    """A dim that is transformed twice."""
    return RuntimeError(f"{op}(): dims must differ, but are {tuple(dims)}")


def lengths(op: str, s: Sequence[int], dims: Sequence[int]) -> RuntimeError:
    """Not one size for each dim."""
    return RuntimeError(
        f"{op}(): s={tuple(s)} and dim={tuple(dims)} must have the same number of entries"
    )


def too_many(op: str, s: Sequence[int], ndim: int) -> RuntimeError:
    """More sizes than dims."""
    return RuntimeError(f"{op}(): s={tuple(s)} has more sizes than the input's {ndim} dims")


def no_axis(op: str) -> RuntimeError:
    """A transform between real and complex numbers along nothing."""
    return RuntimeError(f"{op}(): at least one dim must be transformed")


def frequencies(op: str, given: object) -> RuntimeError:
    """Frequencies in a dtype without fractions."""
    return RuntimeError(f"{op}(): dtype must be floating point, not {given}")


def real_output(op: str, given: object) -> RuntimeError:
    """A complex `out=` of a real result."""
    return RuntimeError(f"{op}(): out must be floating point, not {given}")


def no_shift(op: str) -> RuntimeError:
    """A 0-d tensor has nothing to be shifted."""
    return RuntimeError(f"{op}(): a 0-d tensor has no dim to shift along")


def window_length(op: str, n: int, kind: type[Exception]) -> Exception:
    """A window of negative length."""
    return kind(f"{op}(): a window's length must not be negative, but is {n}")


def window_dtype(op: str, given: object, kind: type[Exception]) -> Exception:
    """A window in a dtype that it has not."""
    which = "float32 or float64" if kind is ValueError else "floating point"
    return kind(f"{op}(): dtype must be {which}, not {given}")


def coefficients(given: object) -> TypeError:
    """Coefficients of cosines that are no list."""
    return TypeError(f"general_cosine(): a must be a list or tuple, not {type(given).__name__}")


def no_coefficients() -> ValueError:
    """A sum of no cosines."""
    return ValueError("general_cosine(): a must have at least one coefficient")


def positive(op: str, name: str, value: float) -> ValueError:
    """A number that must be positive."""
    return ValueError(f"{op}(): {name} must be positive, but is {value}")


def not_negative(op: str, name: str, value: float) -> ValueError:
    """A number that must not be negative."""
    return ValueError(f"{op}(): {name} must not be negative, but is {value}")


def center(given: float) -> ValueError:
    """The middle of a symmetric window."""
    return ValueError(f"exponential(): center={given} goes with sym=False alone")


def stft_argument(op: str, what: str) -> RuntimeError:
    """Arguments of a short-time transform that fit neither each other nor the signal."""
    return RuntimeError(f"{op}(): {what}")


def filter_argument(op: str, what: str) -> ValueError:
    """Arguments of a filter or an estimate that do not fit."""
    return ValueError(f"{op}(): {what}")
