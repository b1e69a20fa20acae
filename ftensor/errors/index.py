"""Messages about indices."""

from __future__ import annotations

import warnings
from collections.abc import Sequence


def out_of_bounds(index: int, dim: int, size: int) -> IndexError:
    """An index beyond its dim."""
    return IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")


def index_dtype(dtype: object) -> IndexError:
    """An index tensor that is neither integer nor bool."""
    return IndexError(
        f"tensors used as indices must be int64, int32, uint8 or bool tensors, not {dtype}"
    )


def mask_shape(mask: Sequence[int], at: int, shape: Sequence[int], dim: int) -> IndexError:
    """A mask that does not fit the dims it covers."""
    return IndexError(
        f"the shape of the mask {list(mask)} at index {at} does not match the shape of the "
        f"indexed tensor {list(shape)} at index {dim}"
    )


def indices_do_not_broadcast(shapes: Sequence[Sequence[int]]) -> IndexError:
    """Index tensors of shapes that don't fit each other."""
    text = ", ".join(str(list(s)) for s in shapes)
    return IndexError(
        f"shape mismatch: indexing tensors could not be broadcast together with shapes {text}"
    )


def value_shape(value: Sequence[int], shape: Sequence[int]) -> RuntimeError:
    """Values that don't fit what an index selects."""
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(value)} cannot be broadcast to indexing "
        f"result of shape {list(shape)}"
    )


def bad_index(item: object) -> IndexError:
    """Something that no index can be."""
    return IndexError(
        "only integers, slices, ellipsis, None and integer or bool tensors (or sequences) are "
        f"valid indices, not {type(item).__name__}"
    )


def bad_index_type(item: object) -> TypeError:
    """A sequence (or string) of things that are no numbers."""
    return TypeError(f"an index must hold integers or bools, which {item!r} does not")


def index_of_scalar() -> IndexError:
    """An int or slice for a tensor without dims."""
    return IndexError("a 0-d tensor can't be indexed; t.item() gives its value as a Python number")


def warn_list_as_tuple() -> None:
    """torch's warning for a list that is taken for a tuple."""
    warnings.warn(
        "a list of indices is taken for a tuple of them; write t[tuple(indices)] or, for one "
        "index tensor, t[ft.tensor(indices)]",
        UserWarning, stacklevel=5,
    )  # fmt: skip


def warn_uint8_mask() -> None:
    """torch's warning for masks of the wrong dtype."""
    warnings.warn(
        "indexing with dtype uint8 is deprecated, use a bool tensor", UserWarning, stacklevel=4
    )


def assigned_type(value: object) -> TypeError:
    """An assignment of something that is neither a tensor nor a number."""
    return TypeError(
        f"can't assign a {type(value).__name__} to a tensor; ft.tensor(value) makes a Tensor of it"
    )


def put_dtypes(dtype: object, values: object) -> RuntimeError:
    """Values of another dtype than the tensor they are put into."""
    return RuntimeError(
        f"Index put requires the source and destination dtypes to match, got {dtype} for the "
        f"destination and {values} for the source; use values.to({dtype})"
    )


def mask_dtype(name: str, given: object) -> RuntimeError:
    """A mask that is no bool tensor."""
    return RuntimeError(f"{name}(): expected the mask to be a bool Tensor, but got {given}")


def fill_dims(name: str, shape: Sequence[int]) -> RuntimeError:
    """A fill value with dims."""
    return RuntimeError(
        f"{name}(): the value to fill with must be a number or a 0-d tensor, but its shape "
        f"is {tuple(shape)}"
    )


def put_indices(indices: object) -> TypeError:
    """The indices of index_put that are no sequence of tensors."""
    return TypeError(f"index_put_(): indices must be a tuple of Tensors, not {indices!r}")


def static_size(size: int) -> RuntimeError:
    """A negative number of rows."""
    return RuntimeError(f"nonzero_static(): size must be a non-negative integer, not {size}")


def same_dtypes(name: str, wanted: object, given: object) -> RuntimeError:
    """A source of another dtype than the tensor it is written to."""
    return RuntimeError(
        f"{name}(): the source's dtype must be that of the tensor, {wanted}, but it is {given}; "
        f"use source.to({wanted})"
    )


def too_few_to_scatter(have: int, need: int) -> RuntimeError:
    """A source with fewer elements than the mask has true ones."""
    return RuntimeError(
        f"masked_scatter_(): the mask has {need} true elements, but source only {have} elements"
    )


def index_dtype_of(name: str, wanted: str, given: object) -> RuntimeError:
    """An index tensor of a dtype that this op does not take."""
    return RuntimeError(f"{name}(): expected an index of {wanted}, but got {given}")


def index_fill_dtype(given: object) -> IndexError:
    """index_fill's index, which torch answers with another class."""
    return IndexError(f"index_fill_(): expected an index of int64, but got {given}")


def index_ndim(index: int, ndim: int, kind: type[Exception] = RuntimeError) -> Exception:
    """An index that must have as many dims as a tensor."""
    return kind(
        f"the index must have as many dims as the tensor, but it has {index} and the tensor {ndim}"
    )


def index_beyond(index: Sequence[int], shape: Sequence[int], at: int, dim: int) -> RuntimeError:
    """An index larger than the tensor in a dim that it does not index."""
    return RuntimeError(
        f"the index of shape {list(index)} is larger than the tensor of shape {list(shape)} in "
        f"dim {at}; only dim {dim} may be larger"
    )


def index_vector(name: str, ndim: int, kind: type[Exception]) -> Exception:
    """An index with more than one dim."""
    return kind(f"{name}(): the index must have one dim (or none), but it has {ndim}")


def index_of_one(name: str, count: int) -> RuntimeError:
    """Several indices into a 0-d tensor."""
    return RuntimeError(f"{name}(): a 0-d tensor takes one index, but got {count}")


def gather_bounds(index: int, dim: int, size: int) -> RuntimeError:
    """An index out of range where torch says so by RuntimeError."""
    return RuntimeError(f"index {index} is out of bounds for dimension {dim} with size {size}")


def class_bounds(index: int, dim: int, size: int) -> IndexError:
    """A target of a loss that is no class."""
    return IndexError(f"Target {index} is out of bounds: there are {size} classes.")


def take_bounds(index: int, dim: int, size: int) -> IndexError:
    """An index beyond a flattened tensor."""
    return IndexError(f"index {index} is out of range for a tensor of {size} elements")


def unravel_dtype(dtype: object) -> TypeError:
    """Indices that are no integers."""
    return TypeError(f"unravel_index(): the indices must be integers, but they are {dtype}")


def unravel_shape_type(shape: object) -> TypeError:
    """A shape of things that are no ints."""
    return TypeError(f"unravel_index(): the shape must be an int or a sequence of them: {shape!r}")


def unravel_shape(shape: Sequence[int]) -> ValueError:
    """A shape with a negative size."""
    return ValueError(f"unravel_index(): the shape {tuple(shape)} has a negative size")


def scatter_shapes(
    index: Sequence[int], shape: Sequence[int], dim: int, src: Sequence[int] | None
) -> RuntimeError:
    """An index larger than what it leads to or what it takes."""
    text = f"the index {list(index)} may be larger than the tensor {list(shape)} in dim {dim} only"
    return RuntimeError(text if src is None else f"{text}, and no larger than src {list(src)}")


def scatter_reduce_name(given: object, names: Sequence[str]) -> RuntimeError:
    """A reduction that there is not."""
    return RuntimeError(f"reduce must be one of {', '.join(names)}, not {given!r}")


def put_counts(source: int, index: int) -> IndexError:
    """put's source and index of unequal size."""
    return IndexError(f"put_(): the source has {source} elements, but the index {index}")


def source_ndim(name: str, source: int, ndim: int, kind: type[Exception]) -> Exception:
    """A source with other dims than the tensor."""
    return kind(f"{name}(): the source has {source} dims, but the tensor has {ndim}")


def source_count(name: str, source: int, index: int, kind: type[Exception]) -> Exception:
    """A source with another number of entries than there are indices."""
    return kind(f"{name}(): the source has {source} entries, but the index lists {index}")


def source_shape(name: str, source: Sequence[int], shape: Sequence[int], dim: int) -> RuntimeError:
    """A source whose entries have another shape than the tensor's."""
    return RuntimeError(
        f"{name}(): the source's shape {list(source)} must be the tensor's, {list(shape)}, but in "
        f"dim {dim}"
    )


def slice_shape(name: str, source: Sequence[int], shape: Sequence[int]) -> RuntimeError:
    """A source that does not have the shape of what it replaces."""
    return RuntimeError(f"{name}(): src has shape {list(source)}, but the place has {list(shape)}")


def index_check_mode(mode: object, modes: Sequence[str]) -> ValueError:
    """A word that set_index_check does not know."""
    return ValueError(f"index checks are {' or '.join(map(repr, modes))}, not {mode!r}")


def found_late(text: str, call: str, line: str) -> IndexError:
    """An index out of range that was found after its call, as the user asked for."""
    return IndexError(
        f"{text}; found now, since checks are deferred, in an earlier call of {call} at {line} "
        '(ft.set_index_check("now") raises it there)'
    )


def segments(why: str) -> RuntimeError:
    """Segments of a dim that are given in no way, in two, or that do not fit."""
    return RuntimeError(f"segment_reduce(): {why}")
