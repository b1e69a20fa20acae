"""Checks of user input for kernels: files, names, compiler options, numbers of work-items."""

from __future__ import annotations

import operator
import os
import shlex
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..errors import image as errors

Ints = tuple[int, ...]
File = str | bytes | os.PathLike[str]
Words = str | Sequence[str | os.PathLike[str]] | None
# Limit of one launch. Drivers don't check the product of sizes for overflow, and some crash.
MAX_WORK_ITEMS = 1 << 48


def file_of(file: Any) -> Path:
    """Returns the path of an existing file.

    Raises TypeError for a value that is not a path, FileNotFoundError if there is no such file.
    """
    if not isinstance(file, (str, bytes, os.PathLike)):
        raise errors.not_a_path(file)
    path = Path(os.fsdecode(file))
    try:
        found = path.is_file()
    except ValueError:  # a NUL in the name
        found = False
    if not found:
        raise errors.no_such_file(os.fsdecode(file))
    return path


def name_of(name: Any) -> str | None:
    """Returns a kernel's name or None; raises TypeError for anything else."""
    if name is None or isinstance(name, str):
        return name
    raise errors.not_a_name(name)


def text_of(text: Any) -> str:
    """Returns OpenCL C source; raises TypeError for a value that is not a str."""
    if isinstance(text, str):
        return text
    raise errors.not_a_text(text)


def words_of(parameter: str, words: Any) -> tuple[str, ...]:
    """Returns compiler options as a tuple, from a sequence or from a string split like in a shell.

    Raises TypeError for anything else, ValueError for a string with an unclosed quotation mark.
    """
    if words is None:
        return ()
    if isinstance(words, str):
        try:
            return tuple(shlex.split(words))
        except ValueError as e:
            raise errors.not_cut(parameter, words, str(e).lower()) from None
    listed = isinstance(words, Sequence) and not isinstance(words, (bytes, bytearray, memoryview))
    if not listed or not all(isinstance(word, (str, os.PathLike)) for word in words):
        raise errors.not_words(parameter, words)
    return tuple([os.fsdecode(word) for word in words])


def sizes_of(kernel: str, parameter: str, count: Any) -> Ints | None:
    """Returns work-items or compute units in one to three dims, from an integer or a sequence.

    Returns None for None. Raises ValueError for anything else, and for more than a launch can have.
    """
    if count is None:
        return None
    sequence = isinstance(count, (tuple, list)) or (isinstance(count, np.ndarray) and count.ndim == 1)
    try:
        sizes = tuple([_integer(n) for n in (count if sequence else (count,))])
    except TypeError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise errors.bad_sizes(kernel, parameter, count)
    if prod(sizes) > MAX_WORK_ITEMS:
        raise errors.too_many(kernel, parameter, count, MAX_WORK_ITEMS)
    return sizes


def _integer(n: Any) -> int:
    if isinstance(n, (bool, Tensor)):
        raise TypeError
    return operator.index(n)
