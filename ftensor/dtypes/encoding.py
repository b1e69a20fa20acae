"""Dtypes that NumPy lacks: their bits, as arrays of unsigned integers, and their values."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .element import bfloat16, complex32, dtype
from .limits import finfo

Array = np.ndarray[Any, Any]


def widened(bits: Array, of: dtype) -> Array:
    """The values of elements as they are stored, in float32 or complex64; any other dtype's as they
    are."""
    if of.in_numpy:
        return bits
    if of is bfloat16:
        return (bits.astype(np.uint32) << 16).view(np.float32)
    if of is complex32:
        parts = np.ascontiguousarray(bits).view(np.float16).astype(np.float32)
        return parts.view(np.complex64).reshape(bits.shape)
    values: Array = _float8_values(of)[bits]
    return values


def narrowed(values: Array, of: dtype) -> Array:
    """Double precision numbers in a dtype's storage, rounded to nearest even.

    By way of float32, as torch has it. e4m3fn has no infinities: what is too large, infinity too,
    becomes its largest number.
    """
    with np.errstate(over="ignore"):
        if of is complex32:
            parts = values.astype(np.complex64).view(np.float32).astype(np.float16)
            return parts.view(np.uint32)
        if of.kind == "f" and of.itemsize < 4:
            values = values.astype(np.float32)
        if of is bfloat16:
            bits = values.view(np.uint32)
            rounded = (bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))) >> 16
            return np.where(np.isnan(values), np.uint32(0x7FC0), rounded).astype(np.uint16)
        return values.astype(of.numpy, copy=False) if of.in_numpy else _float8(values, of)


@cache
def _float8_values(of: dtype) -> Array:
    """What each of the 256 bytes means."""
    fraction = 7 - of.exponent_bits
    limits, bits = finfo(of), np.arange(256)
    part, exponent = bits & ((1 << fraction) - 1), (bits & 0x7F) >> fraction
    scale = limits.tiny * limits.eps
    values = np.where(exponent == 0, part * scale, (part + (1 << fraction)) * scale * 2.0 ** (exponent - 1))
    values[values > limits.max] = np.nan
    if of.infinite:
        values[(exponent == exponent.max()) & (part == 0)] = np.inf
    return (values * np.where(bits & 0x80, -1.0, 1.0)).astype(np.float32)


def _float8(values: Array, of: dtype) -> Array:
    limits, size = finfo(of), np.abs(values)
    # Between two powers of two numbers lie evenly: the rounded multiple of that step is exact.
    _, exponent = np.frexp(np.where(np.isfinite(size), size, 1))
    step = np.maximum(np.ldexp(limits.eps, exponent - 1), limits.tiny * limits.eps)
    with np.errstate(invalid="ignore"):
        near = np.where(np.isfinite(size), np.rint(size / step) * step, size)
    near = np.where(near > limits.max, np.inf if of.infinite else limits.max, near)
    table = _float8_values(of)[:128]
    finite = table[~np.isnan(table)]
    bits = np.where(np.isnan(values), 0x7F, np.searchsorted(finite, near.astype(np.float32)))
    return (bits | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)
