"""Messages about dtypes, numbers and printing."""

from __future__ import annotations

from collections.abc import Sequence


def not_a_dtype(function: str, argument: str, value: object, meant: object = None) -> TypeError:
    """Something else where a dtype is wanted; `meant` is the dtype that it spells, if any."""
    how = f"such as ftensor.float32, but was given {value!r} ({type(value).__name__})"
    if meant is not None:
        how = f"not {value!r} ({type(value).__name__}): write {meant}"
    return TypeError(f"{function}() needs an ftensor.dtype as `{argument}`, {how}")


def no_complex_dtype(dtype: object) -> RuntimeError:
    """to_complex() of a bool or an integer type."""
    return RuntimeError(f"{dtype} has no complex counterpart; convert to a floating-point dtype")


def no_promotion(first: object, second: object) -> RuntimeError:
    """Two dtypes of which neither holds the other, nor does a third as torch has it."""
    return RuntimeError(
        f"promotion is not supported for {first} and {second}: convert one with .to(dtype)"
    )


def default_dtype_not_float(value: object) -> TypeError:
    """A default dtype that Python floats cannot become."""
    return TypeError(
        f"the default dtype must be floating point (float16, bfloat16, float32 or float64), "
        f"not {value!r}"
    )


def not_a_number(value: object) -> TypeError:
    """An operand that is neither a tensor nor a number."""
    return TypeError(f"expected a Tensor or a number, not {value!r} ({type(value).__name__})")


def numpy_dtype_not_supported(numpy_dtype: object, supported: str) -> TypeError:
    """A NumPy array whose elements no tensor can hold; `supported` lists the names that work."""
    return TypeError(
        f"a NumPy array of {numpy_dtype} cannot become a tensor; "
        f"convert it with astype() to one of: {supported}"
    )


def numpy_byte_order(numpy_dtype: object) -> ValueError:
    """A NumPy array in the byte order of another kind of machine."""
    return ValueError(
        f"the NumPy dtype {numpy_dtype} is not in this machine's byte order; "
        f"convert the array with array.astype(array.dtype.newbyteorder('='))"
    )


def no_integer_limits(dtype: object) -> TypeError:
    """iinfo of a type without integer limits."""
    return TypeError(f"iinfo() needs an integer dtype, not {dtype}; floating ones have finfo()")


def no_floating_limits(dtype: object) -> TypeError:
    """finfo of a type that is not floating point."""
    return TypeError(f"finfo() needs a floating-point dtype, not {dtype}; integers have iinfo()")


def print_count(option: str, value: object) -> ValueError:
    """A print option that counts something and was given no count."""
    return ValueError(f"set_printoptions: `{option}` must be an integer >= 0, not {value!r}")


def print_profile(profile: object, profiles: Sequence[str]) -> ValueError:
    """A print profile that does not exist."""
    return ValueError(f"set_printoptions: no profile {profile!r}; there are {', '.join(profiles)}")


def integer_overflow(value: int) -> OverflowError:
    """A Python integer beyond 64 bits."""
    return OverflowError(f"{value} is too big: a Python integer must fit into 64 bits")
