"""Messages about indices."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from .message import Message

out_of_bounds = Message(IndexError, "index {index} is out of bounds for dimension {dim} with size {size}")
index_dtype = Message(IndexError, "tensors used as indices must be int64, int32, uint8 or bool tensors, not {dtype}")
mask_shape = Message(
    IndexError,
    "the shape of the mask {mask!l} at index {at} does not match the shape of the indexed tensor "
    "{shape!l} at index {dim}",
)


def indices_do_not_broadcast(shapes: Sequence[Sequence[int]]) -> IndexError:
    """Index tensors of shapes that don't fit each other."""
    text = ", ".join(str(list(s)) for s in shapes)
    return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {text}")


value_shape = Message(
    RuntimeError,
    "shape mismatch: value tensor of shape {value!l} cannot be broadcast to indexing result of shape {shape!l}",
)
bad_index = Message(
    IndexError,
    "only integers, slices, ellipsis, None and integer or bool tensors (or sequences) are valid indices, not {item!k}",
)
bad_index_type = Message(TypeError, "an index must hold integers or bools, which {item!r} does not")
index_of_scalar = Message(IndexError, "a 0-d tensor can't be indexed; t.item() gives its value as a Python number")


def warn_list_as_tuple() -> None:
    """torch's warning for a list that is taken for a tuple."""
    warnings.warn(
        "a list of indices is taken for a tuple of them; write t[tuple(indices)] or, for one "
        "index tensor, t[ft.tensor(indices)]",
        UserWarning,
        stacklevel=5,
    )


def warn_uint8_mask() -> None:
    """torch's warning for masks of the wrong dtype."""
    warnings.warn("indexing with dtype uint8 is deprecated, use a bool tensor", UserWarning, stacklevel=4)


assigned_type = Message(TypeError, "can't assign a {value!k} to a tensor; ft.tensor(value) makes a Tensor of it")
put_dtypes = Message(
    RuntimeError,
    "Index put requires the source and destination dtypes to match, got {dtype} for the "
    "destination and {values} for the source; use values.to({dtype})",
)
mask_dtype = Message(RuntimeError, "{name}(): expected the mask to be a bool Tensor, but got {dtype}")
fill_dims = Message(
    RuntimeError, "{name}(): the value to fill with must be a number or a 0-d tensor, but its shape is {shape!t}"
)
put_indices = Message(TypeError, "index_put_(): indices must be a tuple of Tensors, not {indices!r}")
static_size = Message(RuntimeError, "nonzero_static(): size must be a non-negative integer, not {size}")
same_dtypes = Message(
    RuntimeError,
    "{name}(): the source's dtype must be that of the tensor, {wanted}, but it is {dtype}; use source.to({wanted})",
)
too_few_to_scatter = Message(
    RuntimeError, "masked_scatter_(): the mask has {need} true elements, but source only {have} elements", "have need"
)
index_dtype_of = Message(RuntimeError, "{name}(): expected an index of {wanted}, but got {dtype}")
# index_fill's index, which torch answers with another class
index_fill_dtype = Message(IndexError, "index_fill_(): expected an index of int64, but got {dtype}")


def index_ndim(index: int, ndim: int, kind: type[Exception] = RuntimeError) -> Exception:
    """An index that must have as many dims as a tensor."""
    return kind(f"the index must have as many dims as the tensor, but it has {index} and the tensor {ndim}")


index_beyond = Message(
    RuntimeError,
    "the index of shape {index!l} is larger than the tensor of shape {shape!l} in dim {at}; only "
    "dim {dim} may be larger",
)


def index_vector(name: str, ndim: int, kind: type[Exception]) -> Exception:
    """An index with more than one dim."""
    return kind(f"{name}(): the index must have one dim (or none), but it has {ndim}")


index_of_one = Message(RuntimeError, "{name}(): a 0-d tensor takes one index, but got {count}")
# An index out of range where torch says so by RuntimeError
gather_bounds = Message(RuntimeError, "index {index} is out of bounds for dimension {dim} with size {size}")
class_bounds = Message(IndexError, "Target {index} is out of bounds: there are {size} classes.", "index dim size")
take_bounds = Message(IndexError, "index {index} is out of range for a tensor of {size} elements", "index dim size")
unravel_dtype = Message(TypeError, "unravel_index(): the indices must be integers, but they are {dtype}")
unravel_shape_type = Message(TypeError, "unravel_index(): the shape must be an int or a sequence of them: {shape!r}")
unravel_shape = Message(ValueError, "unravel_index(): the shape {shape!t} has a negative size")


def scatter_shapes(index: Sequence[int], shape: Sequence[int], dim: int, src: Sequence[int] | None) -> RuntimeError:
    """An index larger than what it leads to or what it takes."""
    text = f"the index {list(index)} may be larger than the tensor {list(shape)} in dim {dim} only"
    return RuntimeError(text if src is None else f"{text}, and no larger than src {list(src)}")


scatter_reduce_name = Message(RuntimeError, "reduce must be one of {names!c}, not {reduce!r}", "reduce names")
put_counts = Message(IndexError, "put_(): the source has {source} elements, but the index {index}")


def source_ndim(name: str, source: int, ndim: int, kind: type[Exception]) -> Exception:
    """A source with other dims than the tensor."""
    return kind(f"{name}(): the source has {source} dims, but the tensor has {ndim}")


def source_count(name: str, source: int, index: int, kind: type[Exception]) -> Exception:
    """A source with another number of entries than there are indices."""
    return kind(f"{name}(): the source has {source} entries, but the index lists {index}")


source_shape = Message(
    RuntimeError, "{name}(): the source's shape {source!l} must be the tensor's, {shape!l}, but in dim {dim}"
)
slice_shape = Message(RuntimeError, "{name}(): src has shape {source!l}, but the place has {shape!l}")


def index_check_mode(mode: object, modes: Sequence[str]) -> ValueError:
    """A word that set_index_check does not know."""
    return ValueError(f"index checks are {' or '.join(map(repr, modes))}, not {mode!r}")


found_late = Message(
    IndexError,
    "{text}; found now, since checks are deferred, in an earlier call of {call} at {line} "
    '(ft.set_index_check("now") raises it there)',
)
segments = Message(RuntimeError, "segment_reduce(): {why}")
